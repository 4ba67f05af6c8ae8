# A mirror of two disks, written durably.
one=$(null one1 size=64 memory_backed=1)
two=$(null two1 size=64 memory_backed=1)
mdadm --create /dev/md1 --run --level=1 --assume-clean --metadata=1.2 --raid-devices=2 "$one" "$two"
candor inspect /dev/md1
run --target /dev/md1 --overwrite --rw randwrite --direct --depth 4 --engine libaio
mdadm --stop /dev/md1
