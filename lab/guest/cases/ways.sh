# The same reads, seen in each of the ways that the eye has.
node=$(disk plain)
for way in raw tracepoint perf blktrace; do
    candor align --by $way --seconds 4 --json "$OUT/$way.json" "$node" &
    sleep 2
    candor fio --name=seen --filename="$node" --rw=randread --bs=4k --direct=1 --number_ios=300 --output=/dev/null
    wait
done
