# A device that is held to 4 MiB/s, in ticks of a fiftieth of a second: 20 blocks fit into one.
node=$(null cap size=256 mbps=4 completion_nsec=100000 irqmode=2 hw_queue_depth=128)
candor run --seconds 10 --json "$OUT/report.json" --target "$node" --rw randread --bs 4k --direct --engine libaio --depth 32
