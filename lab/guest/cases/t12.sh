# 512 bytes, then 16 KiB, then 16 KiB by 32, from a disk with physical sectors of 4 KiB.
node=$(disk sata)
candor run --seconds 2 --target "$node" --rw randread --bs 512 --direct --json "$OUT/512.json"
candor run --seconds 2 --target "$node" --rw randread --bs 16k --direct --json "$OUT/16k.json"
candor run --seconds 5 --target "$node" --rw randread --bs 16k --direct --engine libaio --depth 32 --json "$OUT/deep.json"
