//! The table of mdtest's options.

use super::{BackEnd, Options, Packet, SummaryFormat};
use candor_front::{Group, Plain, Refused, Set, Table, bare, store, store_text};
use candor_ior_family::back_ends::{GPU, STRIPES};
use candor_ior_family::rows::{
    NUMBER_MAX, Shared, count_flag, help as help_row, put, put_flag, put_some,
};
use candor_ior_family::words::{self, FLAG};

/// The values of mdtest's options.
pub type Value = Plain<Options>;

type Row = candor_front::Row<Value>;

/// All options.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Operations", rows: PHASES },
    Group { title: "Items and directories", rows: TREE },
    Group { title: "Tasks and phases", rows: RUN },
    Group { title: "Bytes of files", rows: DATA },
    Group { title: "Results", rows: OUTPUT },
    Group { title: "Back ends", rows: BACK_ENDS },
    Group { title: "Back ends", rows: Shared::FILESYSTEMS },
    Group { title: "Back ends", rows: REFUSED },
]);

/// Most items of a task.
const ITEMS_MAX: u64 = 1 << 48;

const fn flag(name: &'static str, set: Set<Options>, help: &'static str) -> Row {
    Row::flag(name, FLAG, set, help)
}

#[rustfmt::skip]
const PHASES: &[Row] = &[
    flag("C", |o, t| put_flag(&mut o.phases.create, t), "Create files and directories only")
        .exact("phase", "1"),
    flag("T", |o, t| put_flag(&mut o.phases.stat, t), "Stat files and directories only")
        .exact("phase", "1"),
    flag("E", |o, t| put_flag(&mut o.phases.read, t), "Read files only").exact("phase", "1"),
    flag("r", |o, t| put_flag(&mut o.phases.remove, t), "Remove files and directories only")
        .exact("phase", "1"),
    flag("U", |o, t| put_flag(&mut o.phases.rename, t),
        "Rename each directory to the name of the previous one").exact("entries.rename_chain", "1"),
    flag("F", |o, t| put_flag(&mut o.phases.files, t), "Test files only, no directories")
        .exact("phase", "1"),
    flag("D", |o, t| put_flag(&mut o.phases.dirs, t), "Test directories only, no files")
        .exact("phase", "1"),
];

#[rustfmt::skip]
const TREE: &[Row] = &[
    Row::value("d", "DIR[@DIR...]", paths, "Run the test in these directories").default("./out")
        .exact("target.path", "/a@/b"),
    Row::value("n", "N", |o, t| put(&mut o.tree.items, t, 0..=ITEMS_MAX), "Use N items per task")
        .default("0").exact("target.tree.items", "100"),
    Row::value("I", "N", |o, t| put(&mut o.tree.items_per_dir, t, 0..=ITEMS_MAX),
        "Use N items per task in each directory").default("0").exact("target.tree.items", "10"),
    Row::value("z", "N", |o, t| put(&mut o.tree.depth, t, 0..=64), "Make N levels of directories")
        .default("0").exact("target.tree.depth", "2"),
    Row::value("b", "N", |o, t| put(&mut o.tree.branch, t, 0..=NUMBER_MAX),
        "Make N directories in each directory").default("1").exact("target.tree.width", "3"),
    flag("L", |o, t| put_flag(&mut o.tree.leaf_only, t),
        "Put items into the deepest directories only").exact("target.tree.leaves_only", "1"),
    flag("u", |o, t| put_flag(&mut o.tree.unique, t), "Make a tree per task")
        .exact("target.tree.per_rank", "1"),
    bare("t", Value::maybe(FLAG), "Time the overhead of unique working directories").letter('t')
        .idle("1", "no task changes its working directory, so no such overhead exists"),
    flag("S", |o, t| put_flag(&mut o.making.shared, t), "Let all tasks work on the same files")
        .near("entries.division", "1", "task 0 alone removes the files, and each removal counts \
              once; mdtest counts it once per task"),
    flag("c", |o, t| put_flag(&mut o.making.collective, t),
        "Let task 0 create and remove all items").exact("entries.division", "1"),
    flag("k", |o, t| put_flag(&mut o.making.mknod, t), "Create files with mknod")
        .exact("entries.steps", "1"),
];

#[rustfmt::skip]
const RUN: &[Row] = &[
    Row::value("i", "N", |o, t| put(&mut o.run.iterations, t, 1..=10_000), "Repeat N times")
        .default("1").exact("phase", "2"),
    Row::value("f", "N", |o, t| put(&mut o.run.first, t, 1..=NUMBER_MAX), "Start with N tasks")
        .default("1").exact("job.workers", "2"),
    Row::value("l", "N", |o, t| put(&mut o.run.last, t, 0..=NUMBER_MAX), "End with N tasks")
        .default("0").exact("job.workers", "2"),
    Row::value("s", "N", |o, t| put(&mut o.run.stride, t, 1..=NUMBER_MAX),
        "Add N tasks in each step").default("1").exact("job.workers", "2"),
    Row::value("N", "N", |o, t| put(&mut o.run.shift, t, 0..=NUMBER_MAX),
        "In each phase, use the items of the N-th next task").default("0")
        .near("job.rank_shift", "1", SHARED_CACHES),
    flag("B", |o, t| put_flag(&mut o.run.no_barriers, t), "Disable barriers between phases")
        .near("phase", "1", "phases begin together; the time of a task ends with its own last \
              operation, like without a barrier at the end"),
    Row::value("p", "SECONDS", |o, t| put(&mut o.run.delay_s, t, 0..=NUMBER_MAX),
        "Wait SECONDS before the tests of an iteration").default("0").exact("phase.delay", "1"),
    Row::value("W", "SECONDS", |o, t| put(&mut o.run.stonewall_s, t, 0..=NUMBER_MAX),
        "Stop creating files after SECONDS; all tasks reach the same count").default("0")
        .exact("stop.stonewall", "5"),
    Row::value("x", "FILE", |o, t| store_text(&mut o.run.stonewall_file, t),
        "Store the number of created files in FILE for later runs").exact("entries.first", "f"),
    flag("R", |o, t| put_flag(&mut o.run.random, t), "Stat and read in random order")
        .exact("entries.select", "1"),
    Row::value("random-seed", "N", |o, t| put(&mut o.run.random_seed, t, 0..=NUMBER_MAX),
        "Set the seed of the random order").default("0").exact("seed", "7"),
    flag("Y", |o, t| put_flag(&mut o.making.sync, t), "Sync after each phase, within its time")
        .near("entries.syncfs_at_end", "1", "the filesystem of the test is synced, not all of the \
              host, after phases that change something"),
    Row::value("run-cmd-before-phase", "COMMAND", |o, t| store_text(&mut o.run.before, t),
        "Run COMMAND before each phase, not timed").near("work.program", "x", ONE_COMMAND),
    Row::value("run-cmd-after-phase", "COMMAND", |o, t| store_text(&mut o.run.after, t),
        "Run COMMAND after each phase, within its time").near("work.program", "x", ONE_COMMAND),
    flag("warningAsErrors", |o, t| put_flag(&mut o.run.warnings_are_errors, t),
        "End the test at a warning").exact("phase.on_failure", "1"),
    flag("v", |o, t| count_flag(&mut o.run.verbosity, t), "Increase verbosity by one")
        .near("", "1", LEVELS),
    Row::value("V", "N", |o, t| put(&mut o.run.verbosity, t, 0..=NUMBER_MAX), "Set verbosity to N")
        .default("0").near("", "1", LEVELS),
];

const SHARED_CACHES: &str =
    "tasks on one host share its page cache, which already holds the neighbour's items";
const ONE_COMMAND: &str = "the command runs once, not once per task, and must succeed";
const LEVELS: &str =
    "level 1 adds a line for each phase; higher ones, which name items, add no more";

#[rustfmt::skip]
const DATA: &[Row] = &[
    Row::value("w", "BYTES", |o, t| put(&mut o.data.write_bytes, t, 0..=1 << 40),
        "Write BYTES to each new file").default("0").exact("target.tree.file_size", "3901"),
    Row::value("e", "BYTES", |o, t| put(&mut o.data.read_bytes, t, 0..=1 << 40),
        "Read BYTES from each file").default("0").exact("target.tree.file_size", "3901"),
    flag("y", |o, t| put_flag(&mut o.making.fsync, t), "Sync each file after its write")
        .exact("entries.steps", "1"),
    flag("verify-read", |o, t| put_flag(&mut o.data.verify_read, t), "Verify the data of reads")
        .letter('X').exact("entries.verify", "1"),
    flag("verify-write", |o, t| put_flag(&mut o.data.verify_write, t),
        "Read each file back after its write, and verify the data")
        .exact("entries.verify.read_back", "1"),
    Row::value("dataPacketType", "o|i|t|r", |o, t| store(&mut o.data.packet, Packet::of(t)?),
        "Write data of this type: offset, incompressible, timestamp or random").default("t")
        .exact("entries.content", "r"),
    Row::value("G", "N", |o, t| put_some(&mut o.data.seed, t),
        "Set the seed of the data [default: the time]").exact("entries.content", "7"),
];

#[rustfmt::skip]
const OUTPUT: &[Row] = &[
    flag("P", |o, t| put_flag(&mut o.output.both, t), "Print rates and times").near("", "1", TITLE),
    flag("Z", |o, t| put_flag(&mut o.output.times, t), "Print times instead of rates")
        .near("", "1", TITLE),
    flag("print-all-procs", |o, t| put_flag(&mut o.output.all_procs, t), "Print rates of each task")
        .exact("", "1"),
    flag("showRankStatistics", |o, t| put_flag(&mut o.output.rank_statistics, t),
        "Print statistics over tasks").exact("", "1"),
    Row::value("saveRankPerformanceDetails", "FILE", |o, t| store_text(&mut o.output.rank_file, t),
        "Write rates of each task to FILE as CSV").exact("", "f"),
    Row::value("savePerOpDataCSV", "PREFIX", |o, t| store_text(&mut o.output.per_op_prefix, t),
        "Write operation times as CSV, one file per phase and task")
        .exact("job.operations_log", "p"),
    Row::value("summary-format", "default|JSON|CSV",
        |o, t| store(&mut o.output.summary_format, SummaryFormat::of(t)?),
        "Print results as one document (candor only)").alias(&["summaryFormat"]).default("default")
        .exact("", "JSON"),
    Row::value("summary-file", "FILE", |o, t| store_text(&mut o.output.summary_file, t),
        "Write that document to FILE (candor only)").alias(&["summaryFile"]).exact("", "f"),
    help_row(),
];

const TITLE: &str =
    "the block of times has the title and the unit seconds; mdtest's title is ms/op";

#[rustfmt::skip]
const BACK_ENDS: &[Row] = &[
    Row::value("a", "API", |o, t| store(&mut o.data.back_end, BackEnd::of(t)?),
        "Select the back end: POSIX or DUMMY").default("POSIX")
        .near("blocks.engine", "DUMMY", "DUMMY makes no files: rates measure candor's own loop"),
    flag("posix.odirect", |o, t| put_flag(&mut o.data.direct, t), "Bypass the page cache")
        .exact("entries.direct", "1"),
];

#[rustfmt::skip]
const REFUSED: &[Row] = &[
    bare("g", Value::maybe(FLAG), "Use the default layout of Lustre directories").letter('g')
        .refused("1", STRIPES),
    bare("allocateBufferOnGPU", Value::value("N"), "Allocate buffers on a GPU").refused("1", GPU),
    bare("GPUid", Value::value("N"), "Select the GPU").refused("0", GPU),
    bare("gpuDirect", Value::maybe(FLAG), "Transfer data from GPU memory").refused("1", GPU),
];

fn paths(options: &mut Options, text: &str) -> Result<(), Refused> {
    let paths = text.split(['@', '\n']).filter(|path| !path.is_empty());
    let paths: Vec<String> = paths.map(str::to_owned).collect();
    if paths.is_empty() {
        Err(Refused::whole(text, "no directory is named", "name one"))
    } else {
        store(&mut options.tree.paths, paths)
    }
}

/// The text of the help.
pub fn help() -> String {
    words::help("mdtest", &TABLE)
}
