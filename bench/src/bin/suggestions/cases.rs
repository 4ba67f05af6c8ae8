//! Situations in which rules suggest another run.

/// A situation, and the run in it.
pub struct Case {
    /// Rule that is to speak.
    pub rule: &'static str,
    /// Shell lines that make the target `$T` below `$DIR`, with the functions of [`PRELUDE`].
    pub prepare: &'static str,
    /// Words behind `candor run`.
    pub given: &'static str,
}

/// Functions for the shell lines. Whatever is made has its undoing in `$DIR/undo`.
pub const PRELUDE: &str = r#"
set -e
undo() { echo "$*" >> "$DIR/undo"; }
file() { head -c "$2" /dev/urandom > "$DIR/$1"; sync "$DIR/$1"; T=$DIR/$1; }
ring() {
    file back "$1"; shift
    T=$(losetup --find --show "$@" "$DIR/back"); undo "losetup --detach $T"
}
queue() {
    p=/sys/block/${T#/dev/}/queue/$1; undo "echo $(cat "$p") > $p"; echo "$2" > "$p"
}
ext4() {
    mkfs.ext4 -q -F "$T"; mkdir "$DIR/mounted"; mount "$T" "$DIR/mounted"
    undo "umount $DIR/mounted"; T=$DIR/mounted/file
}
zram() {
    n=$(cat /sys/class/zram-control/hot_add); undo "echo $n > /sys/class/zram-control/hot_remove"
    echo "$1" > "/sys/block/zram$n/disksize"; T=/dev/zram$n
    head -c "$1" /dev/urandom > "$T"
}
spin() { (exec sh -c 'while :; do :; done') > "$DIR/spun" 2>&1 & undo "kill $!"; }
plan() { cat > "$DIR/plan.toml"; T=$DIR/plan.toml; }
"#;

/// The cases, a rule or two for some of them.
pub const CASES: &[Case] = &[
    Case {
        rule: "A1",
        prepare: "file f 64M; cat \"$T\" > \"$DIR/copy\"",
        given: "--target $T --rw randread --bs 4k --engine psync --buffered --seconds 2",
    },
    Case {
        rule: "A2",
        prepare: r#"plan <<PLAN
[[target]]
name = "data"
path = "$DIR/data"
size = "64m"
[[phase]]
name = "save"
job = [{ targets = ["data"], work.blocks = { mix = "write", size = "1m",
    durability = { fsync_at_end = true } } }]
[[phase]]
name = "restore"
job = [{ targets = ["data"], work.blocks = { mix = "read", size = "1m" } }]
PLAN"#,
        given: "$T",
    },
    Case {
        rule: "A3",
        prepare: "T=$DIR/new",
        given: "--target $T --rw write --bs 1m --engine psync --buffered --size 256m --passes 1",
    },
    Case {
        rule: "A3",
        prepare: "T=$DIR/new",
        given: "--target $T --rw write --bs 1m --engine psync --buffered --size 256m --seconds 2",
    },
    Case {
        rule: "A3",
        prepare: "T=$DIR/new",
        given: "--target $T --rw write --bs 1m --engine psync --buffered --size 64m --fsync-end \
                --seconds 2",
    },
    Case {
        rule: "A4",
        prepare: "T=$DIR/new",
        given: "--target $T --rw randwrite --bs 4k --engine psync --buffered --size 16m \
                --fsync-every 20000 --seconds 2",
    },
    Case {
        rule: "A13",
        prepare: "ring 64M --direct-io=off; cat \"$DIR/back\" > \"$DIR/copy\"",
        given: "--target $T --rw randread --bs 4k --engine psync --buffered --evict --seconds 2",
    },
    Case {
        rule: "B1",
        prepare: "file f 64M",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --depth 32 --seconds 2",
    },
    Case {
        rule: "B2",
        prepare: "file f 256M",
        given: "--target $T --rw randread --bs 64k --engine libaio --depth 16 --buffered --evict \
                --ops 2000",
    },
    Case {
        rule: "B4",
        prepare: "file f 64M; spin; spin; spin",
        given: "--target $T --rw randwrite --bs 4k --engine io_uring --depth 8 --direct \
                --overwrite --verify --seconds 2",
    },
    Case {
        rule: "B5",
        prepare: "ring 64M --direct-io=on; queue nr_requests 4",
        given: "--target $T --rw randread --bs 256k --engine io_uring --depth 16 --direct \
                --seconds 2",
    },
    Case {
        rule: "B6",
        prepare: r#"ring 64M --direct-io=on; plan <<PLAN
[[target]]
name = "d"
path = "$T"
[[phase]]
name = "alone"
stop = { time = "2s" }
job = [{ targets = ["d"], work.blocks = { engine = "io_uring", mix = "read", access = "random",
    size = "16k", direct = true, depth = 1 } }]
[[phase]]
name = "many"
stop = { time = "2s" }
job = [{ targets = ["d"], work.blocks = { engine = "io_uring", mix = "read", access = "random",
    size = "16k", direct = true, depth = 100 } }]
PLAN"#,
        given: "$T",
    },
    Case {
        rule: "B8",
        prepare: "zram 32M",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --workers 8 --seconds 3",
    },
    Case {
        rule: "B8",
        prepare: "file f 64M; spin; spin; spin; spin",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --workers 4 --seconds 3",
    },
    Case {
        rule: "C1",
        prepare: "ring 64M --direct-io=on; queue max_sectors_kb 128",
        given: "--target $T --rw read --bs 1m --engine psync --direct --seconds 2",
    },
    Case {
        rule: "C1",
        prepare: "ring 64M --direct-io=on; queue max_sectors_kb 1280",
        given: "--target $T --rw read --bs 1m --engine io_uring --depth 4 --direct \
                --no-huge-pages --seconds 2",
    },
    Case {
        rule: "C2",
        prepare: "ring 128M --direct-io=on; queue read_ahead_kb 128",
        given: "--target $T --rw read --bs 1m --engine psync --buffered --evict --passes 1",
    },
    Case {
        rule: "C4",
        prepare: "file f 64M",
        given: "--target $T --rw randread --bs 512 --engine psync --direct --seconds 2",
    },
    Case {
        rule: "C6",
        prepare: "ring 64M --direct-io=on",
        given: "--target $T --rw randread --bs 16k --engine psync --direct --seconds 2",
    },
    Case {
        rule: "C9",
        prepare: "file f 64M",
        given: "--target $T --rw randwrite --bs 4k --engine psync --direct --overwrite \
                --fsync-every 1 --seconds 2",
    },
    Case {
        rule: "C9",
        prepare: "file f 64M",
        given: "--target $T --rw randwrite --bs 4k --engine psync --direct --overwrite \
                --fdatasync-every 2 --seconds 2",
    },
    Case {
        rule: "C9",
        prepare: "file f 64M",
        given: "--target $T --rw randwrite --bs 4k --engine psync --direct --overwrite \
                --open-sync dsync --seconds 2",
    },
    Case {
        rule: "C10",
        prepare: "ring 64M --direct-io=on",
        given: "--target $T --rw randwrite --bs 4k --engine psync --direct --overwrite --seconds 2",
    },
    Case {
        rule: "G1",
        prepare: "file f 64M",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --seconds 1",
    },
    Case {
        rule: "G2",
        prepare: "file f 64M; (while :; do dd if=\"$T\" of=/dev/null bs=1M iflag=direct; sleep 2; \
                  done) > /dev/null 2>&1 & undo \"kill $!\"",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --seconds 12",
    },
    Case {
        rule: "G11",
        prepare: "zram 16M",
        given: "--target $T --rw randread --bs 4k --engine psync --direct --block-trace all \
                --seconds 2",
    },
    Case {
        rule: "H5",
        prepare: "file f 256M; dd if=\"$T\" iflag=nocache count=0 2> /dev/null",
        given: "--target $T --rw read --bs 1m --engine psync --buffered --passes 3",
    },
];

/// Rules whose situation takes what most hosts do not have, and what it takes.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("B7", "a device that outruns one processor, and is not memory"),
    ("C7", "an array with parity (md raid5); the recorded report of the lab proposes its stripe"),
    ("F1", "writes for minutes until a drive's cache is full; it proposes 600 s"),
    ("G3", "a rate that falls or rises all the time; it proposes 120 s"),
];
