//! The table of md-workbench's options.

use super::{Options, Packet, SummaryFormat};
use candor_front::{Group, Plain, Refused, Set, Table, bare, store, store_text};
use candor_ior_family::back_ends::{self, GPU};
use candor_ior_family::rows::{
    NUMBER_MAX, Shared, count_flag, help as help_row, put, put_flag, put_some,
};
use candor_ior_family::words::{self, FLAG};

/// The values of md-workbench's options.
pub type Value = Plain<Options>;

type Row = candor_front::Row<Value>;

/// All options.
pub const TABLE: Table<Value> = Table(&[
    Group { title: "Phases", rows: PHASES },
    Group { title: "Sets and objects", rows: OBJECTS },
    Group { title: "Processes and time", rows: RUN },
    Group { title: "Bytes of objects", rows: DATA },
    Group { title: "Results", rows: OUTPUT },
    Group { title: "Back ends", rows: BACK_ENDS },
    Group { title: "Back ends", rows: Shared::FILESYSTEMS },
    Group { title: "Back ends", rows: REFUSED },
]);

const fn flag(name: &'static str, set: Set<Options>, help: &'static str) -> Row {
    Row::flag(name, FLAG, set, help)
}

#[rustfmt::skip]
const PHASES: &[Row] = &[
    flag("run-precreate", |o, t| put_flag(&mut o.run.precreate, t), "Create sets and objects")
        .letter('1').exact("phase", "1"),
    flag("run-benchmark", |o, t| put_flag(&mut o.run.benchmark, t),
        "Stat, read and delete each set's oldest object, and create one").letter('2')
        .exact("entries.window", "1"),
    flag("run-cleanup", |o, t| put_flag(&mut o.run.cleanup, t), "Remove objects and sets")
        .letter('3').near("phase", "1", "all objects are removed before the first set; \
              md-workbench removes one set after another"),
    Row::value("iterations", "N", |o, t| put(&mut o.run.iterations, t, 1..=10_000),
        "Run N benchmarks, one after another").letter('R').default("3").exact("phase", "2"),
    flag("read-only", |o, t| put_flag(&mut o.run.read_only, t), "Stat and read only")
        .exact("entries.steps", "1"),
    flag("ignore-precreate-errors", |o, t| put_flag(&mut o.run.ignore_precreate_errors, t),
        "Continue if a set or an object cannot be created").exact("phase.on_failure", "1"),
];

#[rustfmt::skip]
const OBJECTS: &[Row] = &[
    Row::value("o", "DIR", |o, t| store(&mut o.objects.prefix, t.to_owned()),
        "Put the sets into DIR").default("./out").exact("target.path", "/a"),
    Row::value("data-sets", "N", |o, t| put(&mut o.objects.sets, t, 1..=NUMBER_MAX),
        "Use N sets per process").letter('D').default("10").exact("target.tree.width", "2"),
    Row::value("precreate-per-set", "N", |o, t| put(&mut o.objects.precreate, t, 1..=NUMBER_MAX),
        "Create N objects in each set").letter('P').default("3000")
        .exact("target.tree.items", "30"),
    Row::value("obj-per-proc", "N", |o, t| put(&mut o.objects.steps, t, 1..=NUMBER_MAX),
        "Benchmark N objects of each set").letter('I').default("1000").exact("entries.first", "10"),
    Row::value("offset", "N", |o, t| put(&mut o.objects.offset, t, 0..=NUMBER_MAX),
        "Read objects of the N-th next rank, N more per set").letter('O').default("1")
        .exact("entries.window.rank_step", "2"),
    Row::value("start-item", "N", |o, t| put(&mut o.objects.start_item, t, 0..=NUMBER_MAX),
        "Start with object N").default("0").exact("entries.window.start", "5"),
    Row::value("run-info-file", "FILE", |o, t| store(&mut o.run.run_info_file, t.to_owned()),
        "Store the number of the first object in FILE for later runs")
        .default("md-workbench.status").exact("entries.window.start", "f"),
];

#[rustfmt::skip]
const RUN: &[Row] = &[
    Row::value("stonewall-timer", "SECONDS", |o, t| put(&mut o.run.stonewall_s, t, 0..=NUMBER_MAX),
        "End each benchmark after SECONDS").letter('w').default("0").exact("stop.time", "5"),
    flag("stonewall-wear-out", |o, t| put_flag(&mut o.run.wear_out, t),
        "Then let all processes reach the count of the furthest").letter('W')
        .exact("stop.stonewall", "1"),
    Row::value("waiting-time", "FACTOR", |o, t| factor(&mut o.run.waiting, t),
        "After each operation, wait FACTOR times its duration").letter('t').default("0")
        .near("pace.think.relative", "0.5", WAITS),
    flag("adaptive-waiting", |o, t| put_flag(&mut o.run.adaptive, t),
        "Repeat each benchmark with waiting times from 0.0625 to 4").letter('T')
        .near("pace.think.relative", "1", WAITS),
    flag("verbose", |o, t| count_flag(&mut o.output.verbosity, t), "Increase verbosity by one")
        .letter('v')
        .near("", "1", "no level adds a line: the line about the time limit is always printed"),
];

const WAITS: &str =
    "the waits follow the open, the read and the close of an object separately, not all three";

#[rustfmt::skip]
const DATA: &[Row] = &[
    Row::value("object-size", "BYTES", |o, t| put(&mut o.data.size, t, 0..=NUMBER_MAX),
        "Make objects of BYTES").letter('S').default("3901").exact("target.tree.file_size", "100"),
    flag("verify-read", |o, t| put_flag(&mut o.data.verify_read, t), "Verify the data of reads")
        .letter('X').exact("entries.verify", "1"),
    Row::value("G", "N", |o, t| put_some(&mut o.data.seed, t),
        "Set the seed of the data [default: the time]").exact("entries.content", "7"),
    Row::value("dataPacketType", "o|i|t|r", |o, t| store(&mut o.data.packet, Packet::of(t)?),
        "Write data of this type: offset, incompressible, timestamp or random").default("t")
        .exact("entries.content", "r"),
    flag("incompressible-data", incompressible, "Write incompressible data")
        .near("entries.content", "1", "the flag equals --dataPacketType=i; versions of \
              md-workbench that have this flag differ in the bytes"),
];

#[rustfmt::skip]
const OUTPUT: &[Row] = &[
    Row::value("latency", "PREFIX", |o, t| store_text(&mut o.output.latency_prefix, t),
        "Write operation times of process 0 as CSV, per phase and operation").letter('L')
        .exact("job.operations_log", "p"),
    flag("latency-all", |o, t| put_flag(&mut o.output.latency_all, t),
        "Write the operations of all processes to these files").exact("job.operations_log", "1"),
    flag("quiet", |o, t| put_flag(&mut o.output.quiet, t), "Print the lines of the phases only")
        .letter('q').exact("", "1"),
    flag("print-detailed-stats", |o, t| put_flag(&mut o.output.detailed, t),
        "Print counts of each phase in columns").near("", "1", "the line of a phase with errors is \
              printed in addition to its counts, which md-workbench leaves out"),
    bare("process-reports", Value::maybe(FLAG), "Print lines for each process")
        .refused("1", "latencies are not kept by process; --summary-format=JSON has objects and \
              seconds of each"),
    Row::value("summary-format", "default|JSON|CSV",
        |o, t| store(&mut o.output.summary_format, SummaryFormat::of(t)?),
        "Print results as one document (candor only)").alias(&["summaryFormat"]).default("default")
        .exact("", "JSON"),
    Row::value("summary-file", "FILE", |o, t| store_text(&mut o.output.summary_file, t),
        "Write that document to FILE (candor only)").alias(&["summaryFile"]).exact("", "f"),
    help_row(),
];

#[rustfmt::skip]
const BACK_ENDS: &[Row] = &[
    Row::value("api", "API", |_, t| back_ends::posix(t), "Select the back end: POSIX").letter('a')
        .default("POSIX")
        .idle("posix", "POSIX is the only back end of candor, and others are refused"),
    flag("posix.odirect", |o, t| put_flag(&mut o.data.direct, t), "Bypass the page cache")
        .exact("entries.direct", "1"),
];

const REFUSED: &[Row] =
    &[bare("allocateBufferOnGPU", Value::maybe(FLAG), "Allocate buffers on a GPU")
        .refused("1", GPU)];

fn incompressible(options: &mut Options, text: &str) -> Result<(), Refused> {
    let mut is_set = options.data.packet == Packet::Incompressible;
    put_flag(&mut is_set, text)?;
    options.data.packet = if is_set { Packet::Incompressible } else { Packet::Timestamp };
    Ok(())
}

/// Longest waiting time, as a multiple of an operation's duration.
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
