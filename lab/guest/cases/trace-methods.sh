# The same reads, traced by each method of the block tracer.
node=$(disk plain)
for method in raw tracepoint perf blktrace; do
    candor align --by $method --seconds 120 --json "$OUT/$method.json" "$node" 2> "$OUT/$method.said" &
    until grep -q Tracing "$OUT/$method.said" || ! kill -0 $!; do sleep 0.2; done
    candor fio --name=seen --filename="$node" --rw=randread --bs=4k --direct=1 --number_ios=300 --output=/dev/null
    kill -INT $!
    wait
done
