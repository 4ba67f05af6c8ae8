# A zoned device: written at random, and in order.
node=$(null zoned size=256 memory_backed=1 zoned=1 zone_size=16 zone_max_open=0)
candor inspect "$node"
run --target "$node" --overwrite --rw write --bs 64k --direct --size 64m
