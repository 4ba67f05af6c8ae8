# A slow disk behind 32 MiB of a fast one, as one map, read until much of it is in the fast one.
slow=$(null tslow size=64 memory_backed=1 completion_nsec=3000000 irqmode=2)
fast=$(null tfast size=32 memory_backed=1)
notes=$(null tnotes size=8 memory_backed=1)
dmsetup create tiers --table "0 131072 cache $notes $fast $slow 128 1 writethrough smq 0"
candor inspect /dev/mapper/tiers
for pass in 1 2 3; do
    dd if=/dev/mapper/tiers of=/dev/null bs=64k count=256 iflag=direct 2>/dev/null
done
run --target /dev/mapper/tiers --rw randread --direct --size 16m --engine libaio --depth 4
dmsetup status tiers
dmsetup remove tiers
