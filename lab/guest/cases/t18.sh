# RAID-0 of a fast and a slow disk, chunks of 64 KiB: asked for 1 MiB at a time, then for one chunk.
slow=$(null slow18 size=64 completion_nsec=20000000 irqmode=2)
fast=$(null fast18 size=64 completion_nsec=1000000 irqmode=2)
# The disks keep nothing, so they carry no mark of the array either.
mdadm --build /dev/md18 --run --level=0 --raid-devices=2 --chunk=64 "$fast" "$slow"
candor inspect /dev/md18
run --target /dev/md18 --rw randread --bs 1m --direct --engine libaio --depth 120
candor run --seconds 2 --target /dev/md18 --rw randread --direct --engine libaio --depth 32 --range 0-64k --json "$OUT/chunk.json"
mdadm --stop /dev/md18
