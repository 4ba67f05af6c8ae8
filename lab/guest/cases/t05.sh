# libaio, direct, depth 32, on a device that answers after twenty milliseconds and takes 64 at once.
node=$(null t05 size=256 completion_nsec=20000000 irqmode=2 hw_queue_depth=64)
run --target "$node" --rw randread --engine libaio --direct --depth 32
