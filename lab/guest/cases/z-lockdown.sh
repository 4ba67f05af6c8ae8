# Under lockdown the block tracer works, and blktrace does not. Last, since nothing lifts it again.
echo integrity >/sys/kernel/security/lockdown
cat /sys/kernel/security/lockdown
node=$(disk virtio)
run --target "$node" --rw randread --direct --block-trace all
if candor align --by blktrace --seconds 1 "$node"; then
    echo "blktrace worked under lockdown"
    exit 1
fi
