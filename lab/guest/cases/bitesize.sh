# Sizes that blktrace saw, and sizes that candor traced, of one mixed load.
node=$(disk plain)
blktrace -d "$node" -a complete -D "$OUT" -o trace >/dev/null &
tracer=$!
sleep 1
candor run --target "$node" --rw randread --bs 4k:50,16k:30,64k:20 --direct --block-trace all --ops 600 \
    --json "$OUT/report.json"
kill $tracer
wait $tracer || true
blkparse -q -D "$OUT" -i trace -f '%a %d %S %N %C\n' >"$OUT/parsed"
rm "$OUT"/trace.*
