# A device that is held to 30 MB/s: twice the depth gives no more.
node=$(null cap size=256 mbps=30 completion_nsec=100000 irqmode=2 hw_queue_depth=128)
candor run --seconds 10 --json "$OUT/report.json" --target "$node" --rw randread --bs 64k --direct --engine libaio --depth 32
