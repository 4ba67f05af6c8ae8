# Protection information that the controller makes when it writes, and checks when it reads.
node=$(disk guarded)
guarded() {
    candor fio --name=guarded --filename="/dev/ng${node#/dev/nvme}" --ioengine=io_uring_cmd --bs=64k --size=1m "$@"
}
guarded --rw=write --apptag=17 --pi_chk=GUARD,REFTAG,APPTAG --verify=crc32c --output-format=json --output="$OUT/fio.json"
# The tag of another writer.
guarded --rw=read --apptag=18 --pi_chk=APPTAG >"$OUT/other" 2>&1 && exit 1
# Blocks without such information have nothing to check.
node=$(disk plain)
guarded --rw=read --pi_chk=GUARD >"$OUT/plain" 2>&1 && exit 1
true
