# The same reads, traced by each method of the block tracer.
node=$(disk plain)
for method in raw tracepoint perf blktrace; do
    candor align --by $method --seconds 4 --json "$OUT/$method.json" "$node" &
    sleep 2
    candor fio --name=seen --filename="$node" --rw=randread --bs=4k --direct=1 --number_ios=300 --output=/dev/null
    wait
done
