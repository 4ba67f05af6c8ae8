# A slow disk behind a fast one, read until all of it is in the fast one.
slow=$(null bslow size=128 memory_backed=1 completion_nsec=3000000 irqmode=2)
fast=$(null bfast size=128 memory_backed=1)
make-bcache --bucket 64k -B "$slow" -C "$fast" >/dev/null
for node in "$slow" "$fast"; do
    echo "$node" >/sys/fs/bcache/register 2>/dev/null || true
done
sleep 1
dmesg | grep bcache
echo 0 >/sys/block/bcache0/bcache/sequential_cutoff
candor inspect /dev/bcache0
dd if=/dev/bcache0 of=/dev/null bs=64k count=256 2>/dev/null
run --target /dev/bcache0 --rw randread --direct --size 16m
