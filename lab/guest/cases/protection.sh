# Protection information that the controller makes when it writes, and checks when it reads.
node=$(disk guarded)
guarded() {
    candor fio --name=guarded --filename="/dev/ng${node#/dev/nvme}" --ioengine=io_uring_cmd --bs=64k --size=1m "$@"
}
guarded --rw=write --apptag=17 --pi_chk=GUARD,REFTAG,APPTAG --verify=crc32c --output-format=json --output="$OUT/fio.json"
# The tag of another writer.
guarded --rw=read --apptag=18 --pi_chk=APPTAG >"$OUT/other" 2>&1 && exit 1
# The host makes tags, which the controller checks, and checks what it reads.
guarded --rw=write --pi_act=0 --md_per_io_size=1k --apptag=19 --pi_chk=GUARD,REFTAG,APPTAG --verify=crc32c \
    --output-format=json --output="$OUT/made.json"
guarded --rw=read --pi_act=0 --apptag=20 --pi_chk=APPTAG >"$OUT/tag" 2>&1 && exit 1
# Blocks with metadata behind them, and guards of 64 bits.
wide=$(disk wide)
wide() {
    candor fio --name=wide --filename="/dev/ng${wide#/dev/nvme}" --ioengine=io_uring_cmd --bs=4224 --size=132k \
        --pi_chk=GUARD,REFTAG,APPTAG --apptag=21 "$@"
}
wide --rw=write --pi_act=0 --output-format=json --output="$OUT/wide.json"
wide --rw=read --pi_act=0 --output-format=json --output="$OUT/wide-back.json"
wide --rw=write --bs=16896 --pi_act=0 --verify=crc32c >"$OUT/both" 2>&1 && exit 1
# The controller takes off what it would have made itself.
wide --rw=read --bs=4096 --size=64k --output-format=json --output="$OUT/taken-off.json"
# Blocks without such information have nothing to check.
node=$(disk plain)
guarded --rw=read --pi_chk=GUARD >"$OUT/plain" 2>&1 && exit 1
true
