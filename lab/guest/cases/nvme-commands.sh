# NVMe commands to the generic device of a namespace; nothing counts them.
node=$(disk plain)
generic=/dev/ng${node#/dev/nvme}
candor run --seconds 1 --target "$generic" --engine io_uring_cmd --rw randread --bs 4k --depth 8 --json "$OUT/report.json"
# What is written so stands on the block device, and is gone once it was trimmed.
written() {
    candor fio --name=written --filename="$generic" --ioengine=io_uring_cmd --size=2m "$@"
}
held() {
    dd if="$node" bs=64k count=32 iflag=direct 2>/dev/null | tr -d '\0' | wc -c
}
written --rw=write --bs=64k --iodepth=4 --fixedbufs --registerfiles --writefua=1 --verify=crc32c --end_fsync=1 \
    --output-format=json --output="$OUT/fio.json"
held >"$OUT/held"
# The controller reads for itself.
written --rw=write --bs=64k --write_mode=verify --output-format=json --output="$OUT/verify.json"
held >"$OUT/verified"
written --rw=trim --bs=256k --iodepth=2 --output-format=json --output="$OUT/trim.json"
held >"$OUT/left"
# Two ranges in a command, over the first half; zeros over the second.
written --rw=write --bs=256k --output=/dev/null
written --rw=trim --bs=256k --size=1m --num_range=2 --output-format=json --output="$OUT/ranges.json"
written --rw=write --bs=256k --size=1m --offset=1m --write_mode=zeroes --deac=1 --output-format=json --output="$OUT/zeroes.json"
held >"$OUT/zeroed"
# Who uses the block device is asked for, and other engines send no commands.
echo "0 1000 linear $node 0" | dmsetup create taken
candor run --target "$generic" --engine io_uring_cmd --rw write --size 1m --overwrite 2>"$OUT/taken" && exit 1
dmsetup remove taken
candor run --target "$generic" --engine io_uring_cmd --rw write --size 1m 2>"$OUT/asked" && exit 1
written --rw=read --bs=1m 2>"$OUT/long" >/dev/null && exit 1
true
