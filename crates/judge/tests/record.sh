#!/usr/bin/env bash
# Records the cases of recorded.rs on the kernel at hand. Needs root, jq, a candor to record with,
# and a scratch directory on a disk's filesystem. What identifies the machine is taken out.
#
#   crates/judge/tests/record.sh CANDOR SCRATCH_DIR
set -euo pipefail
candor=$(realpath "$1"); scratch=$(realpath "$2")
out=$(realpath "$(dirname "${BASH_SOURCE[0]}")")/recorded
work=$(mktemp -d "$scratch/record.XXXXXX"); loop=; zram=; mounted=; group=
finish() {
    [ -z "$mounted" ] || umount "$mounted"
    [ -z "$loop" ] || losetup -d "$loop"
    [ -z "$zram" ] || echo "${zram#/dev/zram}" >/sys/class/zram-control/hot_remove
    [ -z "$group" ] || { echo $$ >"$(dirname "$group")/cgroup.procs"; rmdir "$group"; }
    rm -rf "$work"
}
trap finish EXIT

# record NAME FLAGS...: one run of four seconds, its report scrubbed and shortened.
record() { longer "$1" --seconds 4 "${@:2}"; }

# longer NAME WORDS...: the same of whatever length the words say.
longer() {
    local name=$1; shift
    "$candor" run --quiet --json "$work/report.json" "$@" >/dev/null || true
    jq -c --arg work "$work" '
        walk(if type == "string" then gsub($work; "/data") else . end)
        | .phases[].hosts[] |= (.host = "" | .during = [] | .facts.host.cpu_model = null
            | .facts.host.kernel.value |= sub("-.*"; ""))
        | .command = [] | .judgement.phases = []' "$work/report.json" >"$out/$name.json"
    echo "$name: $(jq -r .judgement.headline "$out/$name.json")"
}

file=$work/file
head -c 256M /dev/urandom >"$file"; sync "$file"; sleep 1
cat "$file" >/dev/null
record cached-read            --target "$file" --rw read --bs 1m
record cached-read-by-two     --target "$file" --rw read --bs 1m --workers 2
record cached-read-libaio     --target "$file" --rw randread --bs 4k --engine libaio --depth 16
record direct-read            --target "$file" --rw randread --bs 4k --direct
record direct-read-deep       --target "$file" --rw randread --bs 4k --direct --engine io_uring --depth 32
record direct-read-large      --target "$file" --rw read --bs 1m --direct --engine io_uring --depth 8
record evicted-read           --target "$file" --rw read --bs 1m --evict --bytes 200m
record depth-on-psync         --target "$file" --rw randread --bs 4k --direct --depth 32
record small-blocks           --target "$file" --rw randread --bs 512 --direct
record paced-read             --target "$file" --rw randread --bs 4k --direct --rate-iops 500
record buffered-write         --target "$work/new" --size 256m --rw write --bs 1m
record buffered-write-flushed --target "$work/new" --size 256m --rw write --bs 1m --fsync-end
record direct-write           --target "$work/new" --size 256m --rw randwrite --bs 4k --direct --fsync-end
record direct-write-no-flush  --target "$work/new" --size 256m --rw randwrite --bs 4k --direct
record durable-write          --target "$work/new" --size 256m --rw randwrite --bs 4k --direct --fsync-every 1
record rewritten-pages        --target "$work/small" --size 4m --rw randwrite --bs 4k --fsync-every 20000
record mapped-read            --target "$file" --rw randread --bs 4k --engine mmap --evict
longer later-passes           --target "$file" --rw read --bs 1m --evict --passes 12
record checked-writes         --target "$work/new" --size 256m --rw randwrite --bs 1m --direct --fsync-end --verify
# names NAME FILES PASSES STEP: one step over so many names.
names() {
    mkdir "$work/names"
    cat >"$work/plan.toml" <<EOF
[[target]]
name = "n"
path = "$work/names"
kind = "file_set"
files = $2
size = "128k"
keep = true
[[phase]]
name = "$4"
stop = { passes = $3 }
job = [{ targets = ["n"], entries = { over = "target_files", steps = ["$4"] } }]
EOF
    longer "$1" "$work/plan.toml"; rm -r "$work/names"
}
names names-made 12000 1 create
names names-looked-up 200 5000 stat
truncate -s 256M "$work/sparse"
record sparse-read            --target "$work/sparse" --rw randread --bs 4k --direct
fallocate -l 256M "$work/unwritten"; sync "$work/unwritten"
record unwritten-read         --target "$work/unwritten" --rw randread --bs 4k --direct

# Long enough for slices afterwards.
longer new-file               --target "$work/holes" --size 1g --layout sparse --rw randwrite --bs 4k --direct --workers 4 --seconds 5.5
mkdir "$work/own"
job='workers = 8, blocks = { engine = "psync", mix = "write", access = "random", direct = true }'
cat >"$work/plan.toml" <<EOF
[[target]]
name = "own"
path = "$work/own"
kind = "file_set"
files = 8
size = "8m"
layout = "sparse"
[[target]]
name = "one"
path = "$work/one"
size = "64m"
layout = "sparse"
[[phase]]
name = "own"
stop = { time = "3s" }
job = [{ targets = ["own"], sharing = "own", $job }]
[[phase]]
name = "one"
stop = { time = "3s" }
job = [{ targets = ["one"], $job }]
EOF
longer shared-file            "$work/plan.toml"

# tree NAME ITEMS SIZE: the phases that come in, over trees on the mounted filesystem: `all`, which
# workers share, and `own`, one of each worker.
tree() {
    { for kind in all own; do
        echo "[[target]]
name = \"$kind\"
path = \"$mounted/$kind\"
kind = \"tree\"
tree = { items = $2, file_size = \"$3\", per_rank = $([ $kind = own ] && echo true || echo false) }"
    done; cat; } >"$work/plan.toml"
    longer "$1" "$work/plan.toml" --block-trace off
}

# phase NAME TREE STEPS [MORE]: the steps "A,B" of two workers, with more of the job.
phase() {
    echo "[[phase]]
name = \"$1\"
job = [{ workers = 2, targets = [\"$2\"], ${4:+$4, }work.entries.steps = [\"${3//,/\", \"}\"] }]"
}
drop() { echo "hooks.before.command = \"sync; for i in 1 2; do echo $1 > /proc/sys/vm/drop_caches; done\""; }
eight() { phase "$@" | sed 's/workers = 2/workers = 8/'; }
sync='work.entries.syncfs_at_end = true'

# Names on filesystems of their own. Blocks that the journal of ext4 has yet to check in are dropped
# by the second try only.
for fs in ext4 xfs; do
    image=$work/$fs.img; truncate -s 1g "$image"
    case $fs in
        ext4) mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$image" ;;
        xfs) mkfs.xfs -q "$image" ;;
    esac
    loop=$(losetup --find --show --direct-io=on "$image")
    mounted=$work/$fs; mkdir "$mounted"; mount "$loop" "$mounted"; sleep 1
    made=$(phase make all create); files=$(phase make all create,write,close)
    phase make all create "$sync"                         | tree $fs-names-synced 10000 0
    { echo "$made"; phase look all stat; }                | tree $fs-names-cached 10000 0
    { echo "$made"; phase look all stat "$(drop 3)"; }    | tree $fs-names-cold 10000 0
    { eight own own create; eight delete own unlink "$sync"; eight all all create
      eight remove all unlink "$sync"; }                  | tree $fs-one-directory 4000 0
    phase make all create,fsync,close                     | tree $fs-names-durable 1000 0
    case $fs in
        ext4)
            { echo "$made"; phase look all stat "$(drop 2)"; }  | tree ext4-inodes-dropped 10000 0
            echo "$files"                                       | tree ext4-files-written 4000 16k
            { echo "$files"; phase read all open,read,close; }  | tree ext4-files-reread 4000 16k ;;
        xfs)
            { echo "$files"; phase read all open,read,close "$(drop 3)"; } | tree xfs-files-cold 4000 16k
            { echo "$made"; phase delete all unlink; }          | tree xfs-deletes-queued 200 0 ;;
    esac
    umount "$mounted"; mounted=; losetup -d "$loop"; loop=; rm "$image"
done

mkdir "$work/tmpfs"; mount -t tmpfs -o size=300m none "$work/tmpfs"; mounted=$work/tmpfs
record tmpfs-read             --target "$work/tmpfs/file" --size 128m --rw read --bs 1m
umount "$mounted"; mounted=

# A file on a loop device that nothing else uses, and filesystems that compress.
image=$work/reads.img; truncate -s 700M "$image"; mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$image"
loop=$(losetup --find --show --direct-io=on "$image"); mounted=$work/reads; mkdir "$mounted"; mount "$loop" "$mounted"
cp "$file" "$mounted/file"; sync; reads=(--target "$mounted/file" --rw randread --bs 4k --evict)
longer random-reads-repeat    "${reads[@]}" --ops 45000
longer random-reads-advised   "${reads[@]}" --ops 24000 --advice random
longer mapped-reads-ahead     "${reads[@]}" --ops 12000 --engine mmap
umount "$mounted"; losetup -d "$loop"; loop=; mounted=
mkdir "$work/packed"; head -c 64M "$file" | od -An -v -tx1 -w16 >"$work/packed/file"
mkfs.erofs -zlz4 "$work/erofs.img" "$work/packed" >/dev/null
mksquashfs "$work/packed" "$work/squashfs.img" -b 1M -quiet >/dev/null
for packed in erofs squashfs; do
    loop=$(losetup --find --show --read-only --direct-io=on "$work/$packed.img")
    mounted=$work/$packed; mkdir "$mounted"; mount -o ro "$loop" "$mounted"
    case $packed in
        erofs) longer packed-cold-pass --target "$mounted/file" --rw read --bs 1m --evict --passes 1 ;;
        squashfs) longer packed-random-reads --target "$mounted/file" --rw randread --bs 4k --evict --ops 600 ;;
    esac
    umount "$mounted"; losetup -d "$loop"; loop=; mounted=
done

loop=$(losetup --find --show --direct-io=on "$file")
record loop-direct            --target "$loop" --rw randread --bs 4k --direct --engine io_uring --depth 16
longer load-limited           --target "$loop" --rw randread --bs 4k --direct --seconds 6
longer past-the-knee          --target "$loop" --rw randread --bs 4k --direct --engine io_uring --depth 64 --seconds 12
echo 256 >"/sys/block/${loop#/dev/}/queue/max_sectors_kb"
record loop-split             --target "$loop" --rw read --bs 1m --direct
losetup -d "$loop"
loop=$(losetup --find --show --direct-io=off "$file"); cat "$file" >/dev/null
record loop-buffered          --target "$loop" --rw randread --bs 4k --direct
losetup -d "$loop"; loop=

zram=/dev/zram$(cat /sys/class/zram-control/hot_add)
echo 256M >"/sys/block/${zram#/dev/}/disksize"
record zram-blank             --target "$zram" --rw randread --bs 4k --direct
dd if="$file" of="$zram" bs=1M oflag=direct status=none
record zram-read              --target "$zram" --rw randread --bs 4k --direct
record zram-traced            --target "$zram" --rw randread --bs 4k --direct --block-trace all

throttle=/sys/fs/cgroup/blkio
if [ -e "$throttle/blkio.throttle.read_iops_device" ]; then
    group=$throttle/candor-record; mkdir "$group"
    disk=$(lsblk -ndo MAJ:MIN "$(df --output=source "$file" | tail -1)" | tr -d ' ')
    echo "$disk 1000" >"$group/blkio.throttle.read_iops_device"
    echo $$ >"$group/cgroup.procs"
    record throttled-read     --target "$file" --rw randread --bs 4k --direct --engine io_uring --depth 32
    echo $$ >"$throttle/cgroup.procs"; rmdir "$group"; group=
fi
