//! The table of md-workbench's options.

use super::{Options, Packet, SummaryFormat};
use candor_front::{Group, Plain, Refused, Row, Set, Table, bare, row, store};
use candor_ior_family::back_ends::{self, GPU, HINTS, LOCKS, STRIPES};
use candor_ior_family::reading::{self, Instead};
use candor_ior_family::words::{self, FLAG, put, put_flag};

/// The options so far, and what asks for something else than a run.
pub type Draft = reading::Draft<Options>;

/// The values of md-workbench's options.
pub type Value = Plain<Draft>;

/// All options.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Phases", rows: PHASES },
    Group { title: "Sets and objects", rows: OBJECTS },
    Group { title: "Processes and time", rows: RUN },
    Group { title: "Bytes of objects", rows: DATA },
    Group { title: "Results", rows: OUTPUT },
    Group { title: "Back ends", rows: BACK_ENDS },
]);

/// A number without a sign.
const NUMBER_MAX: u64 = i32::MAX as u64;

/// A flag.
const fn flag(name: &'static str, set: Set<Draft>, help: &'static str) -> Row<Value> {
    row(name, Value::maybe(FLAG), set, help)
}

/// An option with a value.
const fn value(
    (name, form): (&'static str, &'static str),
    set: Set<Draft>,
    help: &'static str,
) -> Row<Value> {
    row(name, Value::value(form), set, help)
}

#[rustfmt::skip]
const PHASES: &[Row<Value>] = &[
    flag("run-precreate", |d, t| put_flag(&mut d.options.run.precreate, t),
        "make sets and objects").letter('1').exact("phase", "1"),
    flag("run-benchmark", |d, t| put_flag(&mut d.options.run.benchmark, t),
        "stat, read and delete the oldest object of each set, and create a new one").letter('2')
        .exact("entries.window", "1"),
    flag("run-cleanup", |d, t| put_flag(&mut d.options.run.cleanup, t),
        "remove objects and sets").letter('3')
        .near("phase", "1", "objects are removed across the sets, and the sets after all of them; \
              md-workbench removes one set after another"),
    value(("iterations", "N"), |d, t| put(&mut d.options.run.iterations, t, [1, 10_000]),
        "benchmarks, one after another").letter('R').default("3").exact("phase", "2"),
    flag("read-only", |d, t| put_flag(&mut d.options.run.read_only, t),
        "the benchmark stats and reads only").exact("entries.steps", "1"),
    flag("ignore-precreate-errors",
        |d, t| put_flag(&mut d.options.run.ignore_precreate_errors, t),
        "continue where a set or an object cannot be created").exact("phase.on_failure", "1"),
];

#[rustfmt::skip]
const OBJECTS: &[Row<Value>] = &[
    value(("o", "DIR"), |d, t| store(&mut d.options.objects.prefix, t.to_owned()),
        "directory of the sets").letter('o').default("./out").exact("target.path", "/a"),
    value(("data-sets", "N"), |d, t| put(&mut d.options.objects.sets, t, [1, NUMBER_MAX]),
        "sets of each process").letter('D').default("10").exact("target.tree.width", "2"),
    value(("precreate-per-set", "N"),
        |d, t| put(&mut d.options.objects.precreate, t, [1, NUMBER_MAX]),
        "objects in each set").letter('P').default("3000").exact("target.tree.items", "30"),
    value(("obj-per-proc", "N"), |d, t| put(&mut d.options.objects.steps, t, [1, NUMBER_MAX]),
        "objects of each set that a benchmark works on").letter('I').default("1000")
        .exact("entries.first", "10"),
    value(("offset", "N"), |d, t| put(&mut d.options.objects.offset, t, [0, NUMBER_MAX]),
        "ranks between who makes an object and who reads it, for each set").letter('O')
        .default("1").exact("entries.window.rank_step", "2"),
    value(("start-item", "N"), |d, t| put(&mut d.options.objects.start_item, t, [0, NUMBER_MAX]),
        "number of the first object").default("0").exact("entries.window.start", "5"),
    value(("run-info-file", "FILE"),
        |d, t| store(&mut d.options.run.run_info_file, t.to_owned()),
        "file with the number of the first object, for a later run").default("md-workbench.status")
        .exact("entries.window.start", "f"),
];

#[rustfmt::skip]
const RUN: &[Row<Value>] = &[
    value(("stonewall-timer", "SECONDS"),
        |d, t| put(&mut d.options.run.stonewall_s, t, [0, NUMBER_MAX]),
        "end each benchmark after SECONDS").letter('w').default("0").exact("stop.time", "5"),
    flag("stonewall-wear-out", |d, t| put_flag(&mut d.options.run.wear_out, t),
        "all processes then continue to the furthest process's count").letter('W')
        .exact("stop.stonewall", "1"),
    value(("waiting-time", "FACTOR"), |d, t| factor(&mut d.options.run.waiting, t),
        "wait after each operation for FACTOR times its duration").letter('t').default("0")
        .near("pace.think.relative", "0.5", WAITS),
    flag("adaptive-waiting", |d, t| put_flag(&mut d.options.run.adaptive, t),
        "each benchmark again with waiting times from 0.0625 to 4").letter('T')
        .near("pace.think.relative", "1", WAITS),
    flag("verbose", |d, t| {
        d.options.output.verbosity = words::flag(t, d.options.output.verbosity)?;
        Ok(())
    }, "verbosity (each adds one)").letter('v')
        .near("", "1", "no level adds a line: the line about time that is up is always printed"),
];

const WAITS: &str =
    "the waits follow the open, the read and the close of an object one by one, not all three";

#[rustfmt::skip]
const DATA: &[Row<Value>] = &[
    value(("object-size", "BYTES"), |d, t| put(&mut d.options.data.size, t, [0, NUMBER_MAX]),
        "bytes of each object").letter('S').default("3901").exact("target.tree.file_size", "100"),
    flag("verify-read", |d, t| put_flag(&mut d.options.data.verify_read, t),
        "compare what is read").letter('X').exact("entries.verify", "1"),
    value(("G", "N"), |d, t| {
        d.options.data.seed = Some(words::within(t, [0, NUMBER_MAX])?);
        Ok(())
    }, "seed of the data; the time without it").letter('G').exact("entries.content", "7"),
    value(("dataPacketType", "o|i|t|r"),
        |d, t| store(&mut d.options.data.packet, Packet::of(t)?),
        "kind of data [offset|incompressible|timestamp|random]").default("t")
        .exact("entries.content", "r"),
    flag("incompressible-data", |d, t| {
        let mut is_set = d.options.data.packet == Packet::Incompressible;
        put_flag(&mut is_set, t)?;
        store(&mut d.options.data.packet, if is_set { Packet::Incompressible } else {
            Packet::Timestamp
        })
    }, "incompressible data").near("entries.content", "1", "it is --dataPacketType=i; versions of \
        md-workbench that have this flag differ in the bytes"),
];

#[rustfmt::skip]
const OUTPUT: &[Row<Value>] = &[
    value(("latency", "PREFIX"), |d, t| text(&mut d.options.output.latency_prefix, t),
        "time of each operation of process 0 as CSV, a file per phase and operation").letter('L')
        .exact("job.operations_log", "p"),
    flag("latency-all", |d, t| put_flag(&mut d.options.output.latency_all, t),
        "these files have the operations of all processes").exact("job.operations_log", "1"),
    flag("quiet", |d, t| put_flag(&mut d.options.output.quiet, t),
        "only the lines of the phases").letter('q').exact("", "1"),
    flag("print-detailed-stats", |d, t| put_flag(&mut d.options.output.detailed, t),
        "counts of each phase in columns")
        .near("", "1", "the line of a phase with errors is printed in addition to its counts, \
                        which md-workbench leaves out"),
    bare("process-reports", Value::maybe(FLAG), "lines for each process")
        .refused("1", "latencies are not kept by process; --summary-format=JSON has objects and \
                 seconds of each"),
    value(("summary-format", "default|JSON|CSV"),
        |d, t| store(&mut d.options.output.summary_format, SummaryFormat::of(t)?),
        "candor's own: results as one document").alias(&["summaryFormat"]).default("default")
        .exact("", "JSON"),
    value(("summary-file", "FILE"), |d, t| text(&mut d.options.output.summary_file, t),
        "candor's own: file of that document").alias(&["summaryFile"]).exact("", "f"),
    flag("help", |d, _| store(&mut d.instead, Some(Instead::Help)), "this text").letter('h')
        .exact("", "1"),
];

#[rustfmt::skip]
const BACK_ENDS: &[Row<Value>] = &[
    value(("api", "API"), |_, t| back_ends::posix(t), "API for I/O").letter('a').default("POSIX")
        .idle("posix", "POSIX is the only back end of candor, and others are refused"),
    flag("posix.odirect", |d, t| put_flag(&mut d.options.data.direct, t),
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
    bare("allocateBufferOnGPU", Value::maybe(FLAG), "buffers of a GPU").refused("1", GPU),
];

fn text(place: &mut Option<String>, text: &str) -> Result<(), Refused> {
    store(place, Some(text.to_owned()))
}

/// Longest waiting time, in times of an operation's.
const FACTOR_MAX: f64 = 1000.0;

fn factor(place: &mut f64, text: &str) -> Result<(), Refused> {
    let factor = text.parse().ok().filter(|factor| (0.0..=FACTOR_MAX).contains(factor));
    *place = factor.ok_or_else(|| {
        let message = format!("`{text}` is no factor of an operation's duration");
        Refused::whole(text, message, "give 0 to 1000; 1 waits as long as the operation took")
    })?;
    Ok(())
}

/// The text of the help.
pub fn help() -> String {
    words::help("md-workbench", &TABLE)
}
