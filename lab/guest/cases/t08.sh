# One, four and eight workers on a device that takes four at once. Five seconds, because only then
# candor tries short slices with more load.
node=$(null t08 size=256 completion_nsec=5000000 irqmode=2 hw_queue_depth=4 submit_queues=1)
for workers in 1 4 8; do
    candor run --seconds 5 --json "$OUT/$workers.json" --target "$node" --rw randread --direct --workers $workers
done
