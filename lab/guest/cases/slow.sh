# A fast and a slow disk as a stripe, then as a mirror that is written; then two that are alike.
slow=$(null mslow size=64 memory_backed=1 completion_nsec=20000000 irqmode=2)
fast=$(null mfast size=64 memory_backed=1 completion_nsec=1000000 irqmode=2)
like=$(null mlike size=64 memory_backed=1 completion_nsec=1000000 irqmode=2)
stripe="--level=0 --raid-devices=2 --chunk=64 $fast"
mdadm --build /dev/md20 --run $stripe "$slow"
run --target /dev/md20 --rw randread --direct --engine libaio --depth 16
mdadm --stop /dev/md20
mdadm --build /dev/md20 --run $stripe "$like"
candor run --seconds 2 --json "$OUT/alike.json" --target /dev/md20 --rw randread --direct --engine libaio --depth 16
mdadm --stop /dev/md20
mdadm --build /dev/md21 --run --level=1 --assume-clean --raid-devices=2 "$fast" "$slow"
candor run --seconds 2 --json "$OUT/mirror.json" --target /dev/md21 --overwrite --rw randwrite --direct \
    --engine libaio --depth 16
mdadm --stop /dev/md21
