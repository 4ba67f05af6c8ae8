//! The flags of a tree.

use candor_plan::entries::{EntriesEngine, Select};
use candor_plan::path_of;

use super::draft::{Draft, PHASES, PhaseKind};
use crate::flag::{Flag, Group, Takes, put, put_some};
use crate::parse::{number, one_of, seconds, unit};

/// All flags.
pub const GROUPS: &[Group<Draft>] = &[
    Group { title: "Tree", flags: SHAPE },
    Group { title: "Work", flags: WORK },
    Group { title: "Time and rate", flags: TIMING },
];

const SHAPE: &[Flag<Draft>] = &[
    Flag {
        long: "levels",
        takes: Takes::One("N"),
        help: "Levels of directories below the root [default: 0: files are in the root]",
        fields: &["target[0].tree.depth"],
        set: |draft, text| put(&mut draft.tree.depth, number(text)),
    },
    Flag {
        long: "width",
        takes: Takes::One("N"),
        help: "Directories in each directory [default: 1]",
        fields: &["target[0].tree.width"],
        set: |draft, text| put(&mut draft.tree.width, number(text)),
    },
    Flag {
        long: "files",
        takes: Takes::One("N"),
        help: "Files in each directory [default: 20000, with --levels 1000]",
        fields: &["target[0].tree.items"],
        set: |draft, text| put_some(&mut draft.items, number(text)),
    },
    Flag {
        long: "leaves-only",
        takes: Takes::Nothing,
        help: "Files are in the deepest directories only",
        fields: &["target[0].tree.leaves_only"],
        set: |draft, _| put(&mut draft.tree.leaves_only, Ok(true)),
    },
    Flag {
        long: "shared",
        takes: Takes::One("files|directories"),
        help: "One tree for all workers, instead of one for each: the workers divide its files, or \
               each worker has its own files in every directory",
        fields: &["target[0].tree.per_rank", "target[0].tree.items_per_rank"],
        set: |draft, text| {
            let own_files = one_of(text, &[("files", false), ("directories", true)])?;
            (draft.tree.per_rank, draft.tree.items_per_rank) = (false, own_files);
            Ok(())
        },
    },
    Flag {
        long: "size",
        takes: Takes::One("SIZE"),
        help: "Bytes of each file: 4k, a range 1k-64k/1k, or weights 4k/90:1m/10 [default: 0]",
        fields: &["target[0].tree.file_size"],
        set: |draft, text| put(&mut draft.tree.file_size, unit(text)),
    },
    Flag {
        long: "list",
        takes: Takes::One("FILE"),
        help: "Names from a file, instead of a shape: lines `d PATH` and `f BYTES PATH`, such as \
               `candor elbencho scan` writes",
        fields: &["target[0].listing.file"],
        set: |draft, text| put_some(&mut draft.list, Ok(path_of(text))),
    },
    Flag {
        long: "existing",
        takes: Takes::Nothing,
        help: "Work on what is there below the directory: stat, list and read, unless --phases \
               names others; changes take --overwrite",
        fields: &["target[0].listing", "target[0].create"],
        set: |draft, _| put(&mut draft.existing, Ok(true)),
    },
    Flag {
        long: "share-above",
        takes: Takes::One("SIZE"),
        help: "With --list or --existing, cut longer files among all workers [default: none]",
        fields: &["target[0].listing.share_above"],
        set: |draft, text| put_some(&mut draft.share_above, unit(text)),
    },
    Flag {
        long: "keep",
        takes: Takes::Nothing,
        help: "Keep what candor makes",
        fields: &["target[0].keep"],
        set: |draft, _| put(&mut draft.target.keep, Ok(true)),
    },
    Flag {
        long: "overwrite",
        takes: Takes::Nothing,
        help: "Consent to change files of this shape that an earlier run left",
        fields: &["target[0].overwrite"],
        set: |draft, _| put(&mut draft.target.overwrite, Ok(true)),
    },
];

const WORK: &[Flag<Draft>] = &[
    Flag {
        long: "phases",
        takes: Takes::One("NAME[,NAME...]"),
        help: "Phases: make, create, stat, list, read, delete, remove; without create, use the \
               tree that an earlier run kept [default: all]",
        fields: &["phase[].name"],
        set: |draft, text| {
            let named: Result<Vec<PhaseKind>, String> =
                text.split(',').map(|name| one_of(name.trim(), &PHASES)).collect();
            let named = named?;
            // Their order is that of the work: nothing is read before it is made.
            let all = PHASES.into_iter().map(|(_, phase)| phase);
            draft.phases = Some(all.filter(|phase| named.contains(phase)).collect());
            Ok(())
        },
    },
    Flag {
        long: "workers",
        takes: Takes::One("N"),
        help: "Threads [default: 1]",
        fields: &["phase[].job[].workers"],
        set: |draft, text| put(&mut draft.workers, number(text)),
    },
    Flag {
        long: "depth",
        takes: Takes::One("N"),
        help: "Operations on files in flight per worker, by io_uring or by single calls: the \
               faster of both in a probe, unless --engine names one [default: 1]",
        fields: &["phase[].job[].work.entries.depth"],
        set: |draft, text| put(&mut draft.depth, number(text)),
    },
    Flag {
        long: "engine",
        takes: Takes::One("calls|io_uring|libaio|mmap"),
        help: "How operations on files are issued; libaio and mmap read and write, and leave all \
               else to calls",
        fields: &["phase[].job[].work.entries.engine"],
        set: |draft, text| {
            let engines = EntriesEngine::ALL.map(|of| (of.name(), of));
            put_some(&mut draft.engine, one_of(text, &engines))
        },
    },
    Flag {
        long: "order",
        takes: Takes::One("sequential|shuffled|random"),
        help: "Order in which files are seen, read and deleted; random ones may repeat \
               [default: sequential]",
        fields: &["phase[].job[].work.entries.select"],
        set: |draft, text| {
            let orders = [
                ("sequential", Select::Sequential),
                ("shuffled", Select::Shuffled),
                ("random", Select::Random),
            ];
            put(&mut draft.select, one_of(text, &orders))
        },
    },
    Flag {
        long: "rank-shift",
        takes: Takes::One("N"),
        help: "After create, each worker uses the files of the N-th next worker [default: 0]",
        fields: &["phase[].job[].rank_shift"],
        set: |draft, text| put(&mut draft.rank_shift, number(text)),
    },
    Flag {
        long: "block",
        takes: Takes::One("SIZE"),
        help: "Bytes per read or write [default: the whole file at once]",
        fields: &["phase[].job[].work.entries.size"],
        set: |draft, text| put_some(&mut draft.block, unit(text)),
    },
    Flag {
        long: "direct",
        takes: Takes::Nothing,
        help: "Read and write files without the page cache",
        fields: &["phase[].job[].work.entries.direct"],
        set: |draft, _| put(&mut draft.direct, Ok(true)),
    },
    Flag {
        long: "fsync",
        takes: Takes::Nothing,
        help: "Make each file durable before it is closed",
        fields: &["phase[].job[].work.entries.steps"],
        set: |draft, _| put(&mut draft.fsync, Ok(true)),
    },
    Flag {
        long: "no-sync",
        takes: Takes::Nothing,
        help: "Leave out the sync of the filesystem that ends create and delete",
        fields: &["phase[].job[].work.entries.syncfs_at_end"],
        set: |draft, _| put(&mut draft.syncs, Ok(false)),
    },
    Flag {
        long: "verify",
        takes: Takes::Nothing,
        help: "Write data by which reads are checked: each block knows its file and offset",
        fields: &["phase[].job[].work.entries.verify"],
        set: |draft, _| put(&mut draft.verify, Ok(true)),
    },
];

const TIMING: &[Flag<Draft>] = &[
    Flag {
        long: "seconds",
        takes: Takes::One("N"),
        help: "Repeat stat, list and read for N seconds each, or for a time such as 5m [default: \
               one pass]",
        fields: &["phase[].stop.time"],
        set: |draft, text| put_some(&mut draft.time, seconds(text)),
    },
    Flag {
        long: "rate-ops",
        takes: Takes::One("N"),
        help: "Operations per second of all workers together",
        fields: &["phase[].job[].work.entries.pace.ops"],
        set: |draft, text| put_some(&mut draft.ops_per_s, unit(text)),
    },
    Flag {
        long: "rate-bytes",
        takes: Takes::One("SIZE"),
        help: "Bytes per second of all workers together, such as 100m",
        fields: &["phase[].job[].work.entries.pace.bytes"],
        set: |draft, text| put_some(&mut draft.bytes_per_s, unit(text)),
    },
    Flag {
        long: "continue-on-error",
        takes: Takes::Nothing,
        help: "Continue after an error, and count it",
        fields: &["phase[].stop.continue_on_error"],
        set: |draft, _| put(&mut draft.continue_on_error, Ok(true)),
    },
    Flag {
        long: "repeats",
        takes: Takes::One("N"),
        help: "Repeat N times; report mean, standard deviation and 95 % confidence interval",
        fields: &["repeats"],
        set: |draft, text| put_some(&mut draft.repeats, number(text)),
    },
    Flag {
        long: "seed",
        takes: Takes::One("N"),
        help: "Seed of all choices: sizes, orders, bytes",
        fields: &["seed"],
        set: |draft, text| put_some(&mut draft.seed, number(text)),
    },
];
