# SCSI commands to a disk and to its generic device; nothing counts them.
disk=$(disk sas)
sg=/dev/$(ls "/sys/block/${disk#/dev/}/device/scsi_generic")
candor run --seconds 1 --target "$disk" --engine sg --rw randread --bs 4k --json "$OUT/report.json"
candor fio --name=written --filename="$sg" --ioengine=sg --rw=write --bs=64k --size=1m --sg_write_mode=write_and_verify \
    --readfua=1 --verify=crc32c --end_fsync=1 --output-format=json --output="$OUT/fio.json"
dd if="$disk" bs=64k count=16 iflag=direct 2>/dev/null | tr -d '\0' | wc -c >"$OUT/held"
candor fio --name=unmapped --filename="$sg" --ioengine=sg --rw=trim --bs=256k --size=1m --output-format=json \
    --output="$OUT/trim.json"
# One block to many, and the disk reading for itself; this one compares nothing and knows no streams.
modes() {
    candor fio --name="$1" --filename="$sg" --ioengine=sg --rw=write --bs=64k --size=1m --sg_write_mode="$1" \
        --output-format=json --output="$OUT/$1.json"
}
modes write_same
modes verify_bytchk_00
dd if="$disk" bs=64k count=16 iflag=direct 2>/dev/null | tr -d '\0' | wc -c >"$OUT/same"
modes verify_bytchk_01 >"$OUT/compared" 2>&1 && exit 1
modes write_stream >"$OUT/stream" 2>&1 && exit 1
# A partition is no disk: commands to it would reach elsewhere. One entry of a table: 4 MiB from 1 MiB on.
dd if=/dev/zero of="$disk" bs=512 count=1 oflag=direct 2>/dev/null
printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\040\0\0' | dd of="$disk" bs=1 seek=446 conv=notrunc 2>/dev/null
printf '\125\252' | dd of="$disk" bs=1 seek=510 conv=notrunc 2>/dev/null
blockdev --rereadpt "$disk"
candor fio --name=part --filename="${disk}1" --ioengine=sg --rw=read 2>"$OUT/part" >/dev/null && exit 1
dd if=/dev/zero of="$disk" bs=512 count=1 oflag=direct 2>/dev/null
blockdev --rereadpt "$disk"
