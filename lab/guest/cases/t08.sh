# One, four and eight workers on a device that takes four at once.
node=$(null t08 size=256 completion_nsec=10000000 irqmode=2 hw_queue_depth=4 submit_queues=1)
for workers in 1 4 8; do
    candor run --seconds 2 --json "$OUT/$workers.json" --target "$node" --rw randread --direct --workers $workers
done
