# RAID-5, written in pieces smaller than a stripe: each one reads the old data and the old parity.
members=
for n in 1 2 3; do
    members="$members $(null five$n size=64 memory_backed=1)"
done
mdadm --create /dev/md5 --run --level=5 --assume-clean --chunk=64 --metadata=1.2 --raid-devices=3 $members
candor inspect /dev/md5
run --target /dev/md5 --overwrite --rw randwrite --direct --depth 4 --engine libaio
mdadm --stop /dev/md5
