//! Combinations without sense, and options whose name promises more than they do.

use super::{TestSetup, has};
use crate::options::{Api, Packet, TestScope};
use candor_front::Diagnostics;

/// Size of a content word in bytes.
const WORD: u64 = 8;

/// A rule: the option at fault, whether a test breaks the rule, the sentence, IOR's message, and
/// the remedy.
struct Rule {
    option: &'static str,
    is_broken: fn(&TestSetup, &TestScope<'_>) -> bool,
    sentence: fn(&TestSetup) -> String,
    known_as: &'static str,
    remedy: &'static str,
}

/// Refuses impossible combinations.
pub(super) fn check(test: &TestSetup, scope: &TestScope<'_>, out: &mut Diagnostics) {
    for rule in RULES.iter().filter(|rule| (rule.is_broken)(test, scope)) {
        // A default block size may not fit the given transfer size.
        let option = match rule.option {
            "blockSize" if !has(scope, "blockSize") => "transferSize",
            option => option,
        };
        out.wrong_known_as(scope, option, (rule.sentence)(test), rule.known_as, rule.remedy);
    }
}

#[rustfmt::skip]
const RULES: &[Rule] = &[
    Rule {
        option: "transferSize",
        is_broken: |test, _| test.options.layout.transfer_bytes == 0,
        sentence: |_| "a transfer of 0 bytes never ends".into(),
        known_as: "test will not complete with zero transfer size",
        remedy: "give bytes, such as -t 64k",
    },
    Rule {
        option: "transferSize",
        is_broken: |test, _| test.options.layout.transfer_bytes % WORD > 0,
        sentence: |test| {
            let bytes = test.options.layout.transfer_bytes;
            format!("a transfer of {bytes} bytes is no multiple of 8")
        },
        known_as: "transfer size must be a multiple of access size",
        remedy: "round it to 8 bytes",
    },
    Rule {
        option: "blockSize",
        is_broken: |test, _| test.options.layout.block_bytes % WORD > 0,
        sentence: |test| {
            let bytes = test.options.layout.block_bytes;
            format!("a block of {bytes} bytes is no multiple of 8")
        },
        known_as: "block size must be a multiple of access size",
        remedy: "round it to 8 bytes",
    },
    Rule {
        option: "blockSize",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            layout.block_bytes < layout.transfer_bytes
        },
        sentence: |test| {
            let layout = &test.options.layout;
            let (block, transfer) = (layout.block_bytes, layout.transfer_bytes);
            format!("a block of {block} bytes has no room for a transfer of {transfer}")
        },
        known_as: "block size must not be smaller than transfer size",
        remedy: "give -b a multiple of -t",
    },
    Rule {
        option: "blockSize",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            let (block, transfer) = (layout.block_bytes, layout.transfer_bytes);
            transfer > 0 && block > transfer && block % transfer > 0
        },
        sentence: |test| {
            let layout = &test.options.layout;
            let (block, transfer) = (layout.block_bytes, layout.transfer_bytes);
            format!("a block of {block} bytes is no multiple of a transfer of {transfer}")
        },
        known_as: "block size must be a multiple of transfer size",
        remedy: "give -b a multiple of -t",
    },
    Rule {
        option: "randomOffset",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            layout.random == 1 && layout.block_bytes == layout.transfer_bytes
        },
        sentence: |_| "-z shuffles the transfers of a block, and each block has one only".into(),
        known_as: "IOR will randomize access within a block and repeats the same pattern for all \
                   segments, therefore choose blocksize > transferSize",
        remedy: "give a larger -b and fewer segments",
    },
    Rule {
        option: "randomPrefill",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            layout.prefill_bytes > 0 && layout.random == 0
        },
        sentence: |_| "files are filled before random writes only".into(),
        known_as: "Setting the randomPrefill option without using random is not useful",
        remedy: "give -z, or leave the fill out",
    },
    Rule {
        option: "randomPrefill",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            let (block, fill) = (layout.block_bytes, layout.prefill_bytes);
            fill > 0 && (block % fill > 0 || fill % WORD > 0)
        },
        sentence: |test| {
            let layout = &test.options.layout;
            let (block, fill) = (layout.block_bytes, layout.prefill_bytes);
            format!("a block of {block} bytes cannot be filled by {fill} bytes at a time")
        },
        known_as: "The randomPrefill option must divide the blockSize",
        remedy: "give a divisor of -b that is a multiple of 8",
    },
    Rule {
        option: "reorderTasksRandom",
        is_broken: |test, _| test.options.order.constant && test.options.order.random > 0,
        sentence: |_| "-C and -Z exclude each other".into(),
        known_as: "Both Constant and Random task re-ordering specified. Choose one and resubmit",
        remedy: "give one of them",
    },
    Rule {
        option: "randomOffset",
        is_broken: |test, _| is_random_shared(test) && test.options.order.random > 0,
        sentence: |_| "-z on a shared file and -Z exclude each other".into(),
        known_as: "random offset and random reorder tasks specified with single-shared-file. \
                   Choose one and resubmit",
        remedy: "give -F, or one of them",
    },
    Rule {
        option: "randomOffset",
        is_broken: |test, _| is_random_shared(test) && test.options.order.constant,
        sentence: |_| "-z on a shared file and -C exclude each other".into(),
        known_as: "random offset and constant reorder tasks specified with single-shared-file. \
                   Choose one and resubmit",
        remedy: "give -F, or one of them",
    },
    Rule {
        option: "checkRead",
        is_broken: |test, _| {
            let run = &test.options.run;
            run.check_read && !run.write && test.options.data.signature == 0
        },
        sentence: |_| "what an earlier run wrote can be verified by its signature only".into(),
        known_as: "using readCheck only requires to write a timeStampSignature -- use -G",
        remedy: "give -G the number that the write had",
    },
    Rule {
        option: "checkWrite",
        is_broken: |test, _| {
            let run = &test.options.run;
            run.check_write && !run.write && test.options.data.signature == 0
        },
        sentence: |_| "what an earlier run wrote can be verified by its signature only".into(),
        known_as: "",
        remedy: "give -G the number that the write had",
    },
    Rule {
        option: "checkRead",
        is_broken: |test, _| {
            let layout = &test.options.layout;
            test.options.run.check_read && layout.random > 0 && layout.random_seed.is_none()
        },
        sentence: |_| "-R of random offsets needs their seed".into(),
        known_as: "random offset with read check option requires to set the random seed",
        remedy: "give --random-offset-seed=N",
    },
    Rule {
        option: "randomOffset",
        is_broken: |test, _| {
            let run = &test.options.run;
            test.options.layout.random > 1 && run.write && (run.check_write || run.check_read)
        },
        sentence: |_| "blocks that were written at random places cannot be verified: between them \
                       nothing was written".into(),
        known_as: "",
        remedy: "write in sequence, and give -z -z to a later read",
    },
    Rule {
        option: "stoneWallingWearOut",
        is_broken: |test, _| test.options.ends.wear_out && test.options.ends.deadline_s == 0,
        sentence: |_| "stoneWallingWearOut continues after a deadline, and there is none".into(),
        known_as: "the stoneWallingWearOut is only sensible when setting a stonewall deadline \
                   with -D",
        remedy: "give -D SECONDS",
    },
    Rule {
        option: "stoneWallingStatusFile",
        is_broken: |test, _| test.options.ends.status_file.is_some() && !test.options.run.keep,
        sentence: |_| "stoneWallingStatusFile is for a later read, and the files are removed"
            .into(),
        known_as: "a StoneWallingStatusFile is only sensible when splitting write/read into \
                   multiple executions of ior, please use -k",
        remedy: "give -k",
    },
    Rule {
        option: "stoneWallingStatusFile",
        is_broken: |test, _| {
            let ends = &test.options.ends;
            ends.status_file.is_some() && !ends.wear_out && test.options.run.write
        },
        sentence: |_| "without stoneWallingWearOut, tasks write different amounts, and no count \
                       holds for all".into(),
        known_as: "the StoneWallingStatusFile is only sensible for a write test when using \
                   stoneWallingWearOut",
        remedy: "give -O stoneWallingWearOut=1",
    },
    Rule {
        option: "testFile",
        is_broken: |test, _| {
            test.options.layout.test_file.contains('@') && !test.options.layout.file_per_process
        },
        sentence: |_| "several paths are dealt among the files of tasks, and there is one file"
            .into(),
        known_as: "",
        remedy: "give -F, or one path",
    },
    Rule {
        option: "uniqueDir",
        is_broken: |test, _| {
            test.options.layout.test_file.contains('@') && test.options.layout.unique_dir
        },
        sentence: |_| "-u and several paths exclude each other".into(),
        known_as: "cannot use multiple file names with unique directories",
        remedy: "give one path",
    },
    Rule {
        option: "randomOffset",
        is_broken: |test, _| {
            let io = &test.options.io;
            test.options.layout.random > 0 && io.api == Api::Mpiio && io.collective
        },
        sentence: |_| "collective calls of MPI-IO have no random offsets".into(),
        known_as: "random offset not available with collective MPIIO",
        remedy: "leave -c or -z out",
    },
    Rule {
        option: "posix.rangelocks",
        is_broken: |test, _| {
            let is_ring = matches!(test.options.io.api, Api::Aio | Api::IoUring);
            test.options.io.range_locks && is_ring && test.options.io.pending_max > 1
        },
        sentence: |_| "locks are for one transfer at a time, and there are several".into(),
        known_as: "",
        remedy: "give -a POSIX, or --aio.max-pending=1",
    },
    Rule {
        option: "api",
        is_broken: |test, _| {
            let run = &test.options.run;
            test.options.io.api == Api::Dummy && (run.check_write || run.check_read)
        },
        sentence: |_| "DUMMY moves no bytes, so that there is nothing to verify".into(),
        known_as: "",
        remedy: "leave -W and -R out",
    },
    Rule {
        option: "savePerOpDataCSV",
        is_broken: |test, _| {
            let is_drawn = is_random_shared(test) || test.options.order.random == 1;
            test.options.output.operations_csv.is_some() && is_drawn
        },
        sentence: |_| "the log of transfers has offsets, and here an offset does not identify its \
                       task".into(),
        known_as: "",
        remedy: "leave -Z out, and give -F to -z",
    },
];

fn is_random_shared(test: &TestSetup) -> bool {
    test.options.layout.random > 0 && !test.options.layout.file_per_process
}

/// Notes on options that do less than their names say.
pub(super) fn note(test: &TestSetup, scope: &TestScope<'_>, out: &mut Diagnostics) {
    reordering(test, scope, out);
    let run = &test.options.run;
    let deletes = !run.write && !run.keep && test.options.io.api != Api::Dummy;
    if deletes {
        let why = "IOR removes the files that it has read, also files of others, unless -k keeps \
                   them";
        out.note(scope, "keepFile", "files that were there are removed after the read", why);
    }
    content(test, scope, out);
    back_end(test, scope, out);
    let layout = &test.options.layout;
    if layout.unique_dir && !layout.file_per_process {
        let why = "-u gives each task's file a directory, and there is one file without -F";
        out.note(scope, "uniqueDir", "nothing", why);
    }
    let order = &test.options.order;
    if has(scope, "taskPerNodeOffset") && order.offset != 1 && !order.constant && order.random == 0
    {
        let why = "it is a distance of -C and of -Z, and neither is given";
        out.note(scope, "taskPerNodeOffset", "nothing", why);
    }
}

/// Notes on replaced back ends, and on options that these do not have.
fn back_end(test: &TestSetup, scope: &TestScope<'_>, out: &mut Diagnostics) {
    let io = &test.options.io;
    if io.api == Api::Mpiio {
        let why = "candor calls no MPI: each task reads and writes its part of the file by itself, \
                   as -a POSIX does; two-phase I/O and other collective buffering do not happen";
        out.note(scope, "api", "pread and pwrite", why);
    }
    if io.direct && !io.api.can_be_direct() {
        let option = if has(scope, "useO_DIRECT") { "useO_DIRECT" } else { "posix.odirect" };
        let why = match io.api {
            Api::Mmap => "mapped pages belong to the page cache, whatever flag opened the file",
            _ => "it is an option of POSIX",
        };
        out.note(scope, option, "I/O through the page cache", why);
    }
}

/// On one host, no order of tasks avoids the page cache.
fn reordering(test: &TestSetup, scope: &TestScope<'_>, out: &mut Diagnostics) {
    let order = &test.options.order;
    let option = match (order.constant, order.random > 0) {
        (true, _) => "reorderTasks",
        (_, true) => "reorderTasksRandom",
        _ => return,
    };
    if !test.reads() && !test.options.run.check_write {
        return;
    }
    if test.on_several_hosts {
        // The run reports the owner of the read data afterwards, per host.
        return;
    }
    let reads_own = order.constant && test.read_shift() == 0;
    let io = &test.options.io;
    let is_direct = io.direct && io.api.can_be_direct();
    let cached = !is_direct && io.api != Api::Dummy;
    let did = if reads_own {
        "each task reads what it wrote itself"
    } else {
        "tasks read what other tasks of this host wrote"
    };
    let why = match (reads_own, cached) {
        (true, true) => {
            "the distance counts nodes, and this is the only one: -C cannot avoid the cache here; \
             use --posix.odirect, or more data than memory"
        }
        (true, false) => "the distance counts nodes, and this is the only one",
        (false, true) => {
            "all tasks share this host's page cache: the order cannot avoid the cache here; use \
             --posix.odirect, or more data than memory"
        }
        (false, false) => return,
    };
    out.note(scope, option, did, why);
}

/// Notes on content that storage can compress, or that hides errors from verification.
fn content(test: &TestSetup, scope: &TestScope<'_>, out: &mut Diagnostics) {
    let run = &test.options.run;
    if !run.write || test.options.io.api == Api::Dummy {
        return;
    }
    let checks = run.check_write || run.check_read;
    match test.options.data.packet {
        Packet::Timestamp if checks => out.note(
            scope,
            "dataPacketType",
            "all transfers of a task are alike",
            "a block in the place of another one of its task is not found; -l offset finds it",
        ),
        Packet::Incompressible if has(scope, "dataPacketType") => out.note(
            scope,
            "dataPacketType",
            "one random word again and again",
            "IOR writes the same, which compresses 400 to 1; -l random does not",
        ),
        _ => {}
    }
}
