//! The table of mdtest's options.

use super::{Options, Packet, SummaryFormat};
use candor_front::{Group, Plain, Refused, Row, Set, Table, bare, row, store};
use candor_ior_family::back_ends::{self, GPU, HINTS, LOCKS, STRIPES};
use candor_ior_family::reading::{self, Instead};
use candor_ior_family::words::{self, FLAG, put, put_flag};

/// The options so far, and what asks for something else than a run.
pub type Draft = reading::Draft<Options>;

/// The values of mdtest's options.
pub type Value = Plain<Draft>;

/// All options.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Operations", rows: PHASES },
    Group { title: "Items and directories", rows: TREE },
    Group { title: "Tasks and phases", rows: RUN },
    Group { title: "Bytes of files", rows: DATA },
    Group { title: "Results", rows: OUTPUT },
    Group { title: "Back ends", rows: BACK_ENDS },
]);

/// A number without a sign.
const NUMBER_MAX: u64 = i32::MAX as u64;
/// Items that are counted.
const ITEMS_MAX: u64 = 1 << 48;

/// A flag that has a letter.
const fn flag(letter: char, name: &'static str, set: Set<Draft>, help: &'static str) -> Row<Value> {
    row(name, Value::maybe(FLAG), set, help).letter(letter)
}

/// An option with a letter and a value.
const fn value(
    letter: char,
    (name, form): (&'static str, &'static str),
    set: Set<Draft>,
    help: &'static str,
) -> Row<Value> {
    row(name, Value::value(form), set, help).letter(letter)
}

#[rustfmt::skip]
const PHASES: &[Row<Value>] = &[
    flag('C', "C", |d, t| put_flag(&mut d.options.phases.create, t), "only create files/dirs")
        .exact("phase", "1"),
    flag('T', "T", |d, t| put_flag(&mut d.options.phases.stat, t), "only stat files/dirs")
        .exact("phase", "1"),
    flag('E', "E", |d, t| put_flag(&mut d.options.phases.read, t), "only read files")
        .exact("phase", "1"),
    flag('r', "r", |d, t| put_flag(&mut d.options.phases.remove, t),
        "only remove files or directories left by previous runs").exact("phase", "1"),
    flag('U', "U", |d, t| put_flag(&mut d.options.phases.rename, t),
        "rename directories, each to the name of the one before it")
        .exact("entries.rename_chain", "1"),
    flag('F', "F", |d, t| put_flag(&mut d.options.phases.files, t),
        "perform test on files only (no directories)").exact("phase", "1"),
    flag('D', "D", |d, t| put_flag(&mut d.options.phases.dirs, t),
        "perform test on directories only (no files)").exact("phase", "1"),
];

#[rustfmt::skip]
const TREE: &[Row<Value>] = &[
    value('d', ("d", "DIR[@DIR...]"), paths,
        "directory or directories in which the test runs").default("./out")
        .exact("target.path", "/a@/b"),
    value('n', ("n", "N"), |d, t| put(&mut d.options.tree.items, t, [0, ITEMS_MAX]),
        "items of each task").default("0").exact("target.tree.items", "100"),
    value('I', ("I", "N"), |d, t| put(&mut d.options.tree.items_per_dir, t, [0, ITEMS_MAX]),
        "items of each task in each directory").default("0").exact("target.tree.items", "10"),
    value('z', ("z", "N"), |d, t| put(&mut d.options.tree.depth, t, [0, 64]),
        "levels of directories").default("0").exact("target.tree.depth", "2"),
    value('b', ("b", "N"), |d, t| put(&mut d.options.tree.branch, t, [0, NUMBER_MAX]),
        "directories in each directory").default("1").exact("target.tree.width", "3"),
    flag('L', "L", |d, t| put_flag(&mut d.options.tree.leaf_only, t),
        "items in the deepest directories only").exact("target.tree.leaves_only", "1"),
    flag('u', "u", |d, t| put_flag(&mut d.options.tree.unique, t),
        "a tree for each task").exact("target.tree.per_rank", "1"),
    bare("t", Value::maybe(FLAG), "time the overhead of unique working directories").letter('t')
        .idle("1", "names are looked up from the test's directory: no task changes into another \
                    directory, so there is no such overhead"),
    flag('S', "S", |d, t| put_flag(&mut d.options.making.shared, t),
        "all tasks work on the same files")
        .near("entries.division", "1", "task 0 alone removes the files, and each removal counts \
              once; mdtest counts it once per task"),
    flag('c', "c", |d, t| put_flag(&mut d.options.making.collective, t),
        "task 0 does all creates and removals").exact("entries.division", "1"),
    flag('k', "k", |d, t| put_flag(&mut d.options.making.mknod, t),
        "make files by mknod").exact("entries.steps", "1"),
];

#[rustfmt::skip]
const RUN: &[Row<Value>] = &[
    value('i', ("i", "N"), |d, t| put(&mut d.options.run.iterations, t, [1, 10_000]),
        "iterations").default("1").exact("phase", "2"),
    value('f', ("f", "N"), |d, t| put(&mut d.options.run.first, t, [1, NUMBER_MAX]),
        "fewest tasks").default("1").exact("job.workers", "2"),
    value('l', ("l", "N"), |d, t| put(&mut d.options.run.last, t, [0, NUMBER_MAX]),
        "most tasks").default("0").exact("job.workers", "2"),
    value('s', ("s", "N"), |d, t| put(&mut d.options.run.stride, t, [1, NUMBER_MAX]),
        "step between numbers of tasks").default("1").exact("job.workers", "2"),
    value('N', ("N", "N"), |d, t| put(&mut d.options.run.shift, t, [0, NUMBER_MAX]),
        "each phase works on items of the task N further on").default("0")
        .near("job.rank_shift", "1", "tasks of one host share its caches, which know what the \
              neighbour did"),
    flag('B', "B", |d, t| put_flag(&mut d.options.run.no_barriers, t),
        "no barriers between phases")
        .near("phase", "1", "phases begin together; each task's time ends with its own last \
              operation, as without a barrier at the end"),
    value('p', ("p", "SECONDS"), |d, t| put(&mut d.options.run.delay_s, t, [0, NUMBER_MAX]),
        "wait before the tests of an iteration").default("0").exact("phase.delay", "1"),
    value('W', ("W", "SECONDS"), |d, t| put(&mut d.options.run.stonewall_s, t, [0, NUMBER_MAX]),
        "end file creation after SECONDS, with as many files of each task").default("0")
        .exact("stop.stonewall", "5"),
    value('x', ("x", "FILE"), |d, t| text(&mut d.options.run.stonewall_file, t),
        "file with the number of files created, for later runs").exact("entries.first", "f"),
    flag('R', "R", |d, t| put_flag(&mut d.options.run.random, t),
        "stat and read in random order").exact("entries.select", "1"),
    row("random-seed", Value::value("N"),
        |d, t| put(&mut d.options.run.random_seed, t, [0, NUMBER_MAX]),
        "seed of the random order").default("0").exact("seed", "7"),
    flag('Y', "Y", |d, t| put_flag(&mut d.options.making.sync, t),
        "sync after each phase, in its time")
        .near("entries.syncfs_at_end", "1", "the filesystem of the test is synced, not all of the \
              host, after phases that change something"),
    row("run-cmd-before-phase", Value::value("COMMAND"), |d, t| text(&mut d.options.run.before, t),
        "command before each phase, not timed")
        .near("work.program", "x", "the command runs once, not once per task, and must succeed"),
    row("run-cmd-after-phase", Value::value("COMMAND"), |d, t| text(&mut d.options.run.after, t),
        "command after each phase, in its time")
        .near("work.program", "x", "the command runs once, not once per task, and must succeed"),
    row("warningAsErrors", Value::maybe(FLAG),
        |d, t| put_flag(&mut d.options.run.warnings_are_errors, t),
        "a warning ends the test").exact("phase.on_failure", "1"),
    flag('v', "v", |d, t| {
        d.options.run.verbosity = words::flag(t, d.options.run.verbosity)?;
        Ok(())
    }, "verbosity (each adds one)").near("", "1", LEVELS),
    value('V', ("V", "N"), |d, t| put(&mut d.options.run.verbosity, t, [0, NUMBER_MAX]),
        "verbosity").default("0").near("", "1", LEVELS),
];

const LEVELS: &str =
    "level 1 adds a line for each phase; higher ones, which name items, add no more";

#[rustfmt::skip]
const DATA: &[Row<Value>] = &[
    value('w', ("w", "BYTES"), |d, t| put(&mut d.options.data.write_bytes, t, [0, 1 << 40]),
        "bytes to write to each file after it is created").default("0")
        .exact("target.tree.file_size", "3901"),
    value('e', ("e", "BYTES"), |d, t| put(&mut d.options.data.read_bytes, t, [0, 1 << 40]),
        "bytes to read from each file").default("0").exact("target.tree.file_size", "3901"),
    flag('y', "y", |d, t| put_flag(&mut d.options.making.fsync, t),
        "sync each file after it is written").exact("entries.steps", "1"),
    flag('X', "verify-read", |d, t| put_flag(&mut d.options.data.verify_read, t),
        "compare what is read").exact("entries.verify", "1"),
    row("verify-write", Value::maybe(FLAG), |d, t| put_flag(&mut d.options.data.verify_write, t),
        "read each file back after it is written, and compare")
        .exact("entries.verify.read_back", "1"),
    row("dataPacketType", Value::value("o|i|t|r"),
        |d, t| store(&mut d.options.data.packet, Packet::of(t)?),
        "kind of data [offset|incompressible|timestamp|random]").default("t")
        .exact("entries.content", "r"),
    value('G', ("G", "N"), |d, t| {
        d.options.data.seed = Some(words::within(t, [0, NUMBER_MAX])?);
        Ok(())
    }, "seed of the data; the time without it").exact("entries.content", "7"),
];

#[rustfmt::skip]
const OUTPUT: &[Row<Value>] = &[
    flag('P', "P", |d, t| put_flag(&mut d.options.output.both, t), "print rate AND time")
        .near("", "1", "the block of times is titled in seconds, which is what it holds; mdtest \
              titles it in ms/op"),
    flag('Z', "Z", |d, t| put_flag(&mut d.options.output.times, t), "print time instead of rate")
        .near("", "1", "the block of times is titled in seconds, which is what it holds; mdtest \
              titles it in ms/op"),
    row("print-all-procs", Value::maybe(FLAG),
        |d, t| put_flag(&mut d.options.output.all_procs, t), "rates of each task").exact("", "1"),
    row("showRankStatistics", Value::maybe(FLAG),
        |d, t| put_flag(&mut d.options.output.rank_statistics, t), "statistics over tasks")
        .exact("", "1"),
    row("saveRankPerformanceDetails", Value::value("FILE"),
        |d, t| text(&mut d.options.output.rank_file, t), "rates of each task as CSV")
        .exact("", "f"),
    row("savePerOpDataCSV", Value::value("PREFIX"),
        |d, t| text(&mut d.options.output.per_op_prefix, t),
        "time of each operation as CSV, a file per phase and task")
        .exact("job.operations_log", "p"),
    row("summary-format", Value::value("default|JSON|CSV"),
        |d, t| store(&mut d.options.output.summary_format, SummaryFormat::of(t)?),
        "candor's own: results as one document").alias(&["summaryFormat"]).default("default")
        .exact("", "JSON"),
    row("summary-file", Value::value("FILE"), |d, t| text(&mut d.options.output.summary_file, t),
        "candor's own: file of that document").alias(&["summaryFile"]).exact("", "f"),
    row("help", Value::maybe(FLAG), |d, _| store(&mut d.instead, Some(Instead::Help)), "this text")
        .letter('h').exact("", "1"),
];

#[rustfmt::skip]
const BACK_ENDS: &[Row<Value>] = &[
    value('a', ("a", "API"),
        |d, t| store(&mut d.options.data.back_end, back_ends::posix_or_dummy(t)?),
        "API for I/O: POSIX, DUMMY").default("POSIX")
        .near("blocks.engine", "DUMMY", "DUMMY makes no file and no directory: rates measure \
              candor's own loop"),
    row("posix.odirect", Value::maybe(FLAG), |d, t| put_flag(&mut d.options.data.direct, t),
        "bypass the page cache").exact("entries.direct", "1"),
    bare("posix.rangelocks", Value::maybe(FLAG), "lock each range").refused("1", LOCKS),
    bare("posix.lustre.stripecount", Value::value("N"), "stripes of a file").refused("1", STRIPES),
    bare("posix.lustre.stripesize", Value::value("BYTES"), "bytes per stripe")
        .refused("1m", STRIPES),
    bare("posix.lustre.startost", Value::value("N"), "first target").refused("1", STRIPES),
    bare("posix.lustre.ignorelocks", Value::maybe(FLAG), "no locks of Lustre")
        .refused("1", STRIPES),
    bare("posix.gpfs.createsharing", Value::maybe(FLAG), "hint of GPFS").refused("1", HINTS),
    bare("posix.beegfs.NumTargets", Value::value("N"), "targets of BeeGFS").refused("1", HINTS),
    bare("posix.beegfs.ChunkSize", Value::value("BYTES"), "chunks of BeeGFS")
        .refused("64k", HINTS),
    bare("g", Value::maybe(FLAG), "default layout of Lustre directories").letter('g')
        .refused("1", STRIPES),
    bare("allocateBufferOnGPU", Value::value("N"), "buffers of a GPU").refused("1", GPU),
    bare("GPUid", Value::value("N"), "the GPU").refused("0", GPU),
    bare("gpuDirect", Value::maybe(FLAG), "I/O from a GPU's memory").refused("1", GPU),
];

fn text(place: &mut Option<String>, text: &str) -> Result<(), Refused> {
    store(place, Some(text.to_owned()))
}

fn paths(draft: &mut Draft, text: &str) -> Result<(), Refused> {
    let paths = text.split(['@', '\n']).filter(|path| !path.is_empty());
    let paths: Vec<String> = paths.map(str::to_owned).collect();
    if paths.is_empty() {
        Err(Refused::whole(text, "no directory is named", "name one"))
    } else {
        store(&mut draft.options.tree.paths, paths)
    }
}

/// The text of the help.
pub fn help() -> String {
    words::help("mdtest", &TABLE)
}
