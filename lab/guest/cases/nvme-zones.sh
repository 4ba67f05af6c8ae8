# Zones of a namespace, by commands to its generic device.
node=$(disk zns)
generic=/dev/ng${node#/dev/nvme}
zoned() {
    candor fio --name=zoned --filename="$generic" --ioengine=io_uring_cmd --zonemode=zbd --bs=256k --output-format=json "$@"
}
# Three zones are filled to their capacity, and read back.
zoned --rw=write --size=12m --iodepth=2 --verify=crc32c --output="$OUT/fio.json"
# Full zones are reset before they are written again.
zoned --rw=randwrite --size=12m --io_size=4m --output="$OUT/again.json"
# A trim resets a zone: its blocks are gone.
zoned --rw=trim --bs=4m --size=8m --output="$OUT/trim.json"
dd if="$node" bs=64k count=48 iflag=direct 2>/dev/null | tr -d '\0' | wc -c >"$OUT/left"
