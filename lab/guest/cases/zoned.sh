# A zoned device: written by a job that knows of zones, and by one that does not and meets full ones.
node=$(null zoned size=256 memory_backed=1 zoned=1 zone_size=16 zone_max_open=0)
candor inspect "$node"
cat >"$OUT/plan.toml" <<EOF
version = 2
[[target]]
name = "zoned"
path = "$node"
size = "64MiB"
overwrite = true
[[phase]]
name = "in order"
stop = { time = "2s" }
[[phase.job]]
name = "job"
targets = ["zoned"]
[phase.job.work.blocks]
mix = "write"
size = "64KiB"
direct = true
zones = {}
EOF
candor run "$OUT/plan.toml" --json "$OUT/report.json"
candor run --seconds 2 --json "$OUT/unaware.json" --target "$node" --overwrite --rw write --bs 64k --direct --size 64m || true
