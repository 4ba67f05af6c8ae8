# A device that is held to 30 MB/s.
node=$(null cap size=256 mbps=30 completion_nsec=100000 irqmode=2 hw_queue_depth=64)
run --target "$node" --rw randread --bs 64k --direct --engine libaio --depth 32
