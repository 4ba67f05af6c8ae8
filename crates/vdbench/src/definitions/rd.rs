//! `rd=`: runs, and loops over their parameters.

mod format;
mod loops;

pub use format::Format;
pub use loops::{Loop, LoopKind, LoopValues};

use smart_default::SmartDefault;

use super::commands::{Commands, commands};
use super::fwd::FileOperation;
use super::open_flags::{OpenFlags, open_flags};
use super::rate::{Distribution, Rate, distribution, rate};
use super::replay;
use super::shared::open_flags_row;
use super::{Defined, put, put_some};
use crate::kind::{Parameter, known, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table};

/// A run definition; loops make several runs of it.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Rd {
    /// Workloads, by name or wildcard.
    pub wds: Vec<String>,
    /// Luns, instead of the workloads' luns.
    pub sds: Vec<String>,
    /// File system workloads, by name or wildcard.
    pub fwds: Vec<String>,
    /// File systems, instead of the workloads' file systems.
    pub fsds: Vec<String>,
    /// `iorate`.
    pub io_rate: Rate,
    /// `fwdrate`.
    pub fwd_rate: Rate,
    /// Points of a curve, in percent of the maximum rate.
    pub curve: Vec<f64>,
    /// Response time in ms that ends a curve.
    pub curve_stop_ms: Option<f64>,
    /// Duration of a run in seconds.
    #[default(30)]
    pub elapsed_s: u64,
    /// Interval between two lines of results, in seconds.
    #[default(1)]
    pub interval_s: u64,
    /// Warm-up before `elapsed` in seconds, excluded from averages.
    pub warmup_s: u64,
    /// Pause after a run in seconds.
    pub pause_s: u64,
    /// Bytes that end a run; up to 100, multiples of the luns' bytes.
    pub data_max: Option<f64>,
    /// Bytes read that end a run.
    pub data_read_max: Option<f64>,
    /// Bytes written that end a run.
    pub data_written_max: Option<f64>,
    /// Inter-arrival times of operations.
    pub distribution: Distribution,
    /// Loops, the outermost first.
    pub loops: Vec<Loop>,
    /// Commands before a run.
    pub start: Option<Commands>,
    /// Commands after a run.
    pub end: Option<Commands>,
    /// Operations on files, instead of the workloads' operations.
    pub operations: Vec<FileOperation>,
    /// Format of file systems before a run.
    pub format: Format,
    /// Open flags of files, overriding others.
    pub open_flags: Option<OpenFlags>,
}

/// Maximum time in seconds, about three years.
const SECONDS_MAX: u64 = 99_999_998;

fn seconds(text: &str, min: u64) -> Result<u64, Refused> {
    values::whole(text, Unit::Time, min..=SECONDS_MAX)
}

fn curve(text: &str) -> Result<Vec<f64>, Refused> {
    let points = values::numbers(text, Unit::Size)?;
    let points: Vec<f64> = points.into_iter().map(f64::abs).collect();
    if points.iter().all(|point| *point > 0.0 && *point <= 1000.0) {
        Ok(points)
    } else {
        let message = format!("`{text}` has a point that is no share");
        Err(Refused::whole(text, message, "give percent above 0, such as (10,50,70,80,90,100)"))
    }
}

fn milliseconds(text: &str) -> Result<f64, Refused> {
    let ms = values::number(text, Unit::Size)?;
    if ms > 0.0 {
        Ok(ms)
    } else {
        Err(Refused::whole(text, format!("{text} is no time"), "give milliseconds"))
    }
}

fn data(text: &str) -> Result<f64, Refused> {
    let bytes = values::number(text, Unit::Size)?;
    if bytes > 0.0 {
        Ok(bytes)
    } else {
        Err(Refused::whole(text, format!("{text} is no amount"), "give a size"))
    }
}

fn operations(text: &str) -> Result<Vec<FileOperation>, Refused> {
    values::words(text)?.iter().map(|word| FileOperation::read(text, word)).collect()
}

type RdRow = Row<Parameter<Rd>>;

/// A loop whose name has the prefix `for`.
const fn looped(
    name: &'static str,
    form: &'static str,
    set: candor_front::Set<Rd>,
    help: &'static str,
) -> RdRow {
    parameter(name, form, set, help)
}

#[rustfmt::skip]
const RUN: &[RdRow] = &[
    whole("wd", "NAME,…", |rd: &mut Rd, text| put(&mut rd.wds, values::names(text)),
        "workloads: names, ranges, or a prefix with *").exact("phase.job", "wd*"),
    whole("sd", "NAME,…", |rd: &mut Rd, text| put(&mut rd.sds, values::names(text)),
        "luns instead of the workloads'; single, setsofN, range: a run for each")
        .exact("phase.job", "sd*"),
    whole("fsd", "NAME,…", |rd: &mut Rd, text| put(&mut rd.fsds, values::names(text)),
        "file systems, instead of the workloads'").exact("phase.job", "fsd*"),
    parameter("iorate", "RATE,…|max|curve", |rd: &mut Rd, text| put(&mut rd.io_rate, rate(text)),
        "operations per second, or percent of the previous run's rate")
        .exact("blocks.pace.ops", "100"),
    whole("maxdata", "SIZE", |rd: &mut Rd, text| put_some(&mut rd.data_max, data(text)),
        "end a run after SIZE bytes; up to 100 are multiples of the lun size")
        .exact("stop.bytes", "1g"),
    whole("maxdataread", "SIZE", |rd: &mut Rd, text| put_some(&mut rd.data_read_max, data(text)),
        "end a run after SIZE bytes read").near("stop.bytes", "1g",
            "a workload of reads and writes ends after its share of both"),
    whole("maxdatawritten", "SIZE",
        |rd: &mut Rd, text| put_some(&mut rd.data_written_max, data(text)),
        "end a run after SIZE bytes written").near("stop.bytes", "1g",
            "a workload of reads and writes ends after its share of both"),
    parameter("curve", "PERCENT,…", |rd: &mut Rd, text| put(&mut rd.curve, curve(text)),
        "points of iorate=curve").default("(10,50,70,80,90,100)")
        .exact("blocks.pace.ops", "(50,100)"),
    parameter("stopcurve", "MS",
        |rd: &mut Rd, text| put_some(&mut rd.curve_stop_ms, milliseconds(text)),
        "end a curve above this response time").exact("phase", "5"),
    parameter("elapsed", "TIME", |rd: &mut Rd, text| put(&mut rd.elapsed_s, seconds(text, 1)),
        "duration of a run").default("30").exact("stop.time", "1m"),
    parameter("interval", "TIME", |rd: &mut Rd, text| put(&mut rd.interval_s, seconds(text, 1)),
        "interval between two lines of results").default("1").exact("phase.interval", "5"),
    parameter("warmup", "TIME", |rd: &mut Rd, text| put(&mut rd.warmup_s, seconds(text, 0)),
        "warm-up before elapsed, excluded from averages like the first interval")
        .default("0").exact("phase.ramp", "10"),
    whole("replay", "FILE,…", |_: &mut Rd, _| Ok(()), "trace to replay")
        .refused("x.bin.gz", replay::REFUSED),
    parameter("pause", "TIME", |rd: &mut Rd, text| put(&mut rd.pause_s, seconds(text, 0)),
        "wait after a run").default("0").exact("phase.delay", "5"),
];

#[rustfmt::skip]
const LOOPS: &[RdRow] = &[
    looped("forxfersize", "SIZE,…", |rd, text| loops::add(rd, LoopKind::TransferSize, text),
        "a run for each transfer size").exact("blocks.size", "(4k,64k)"),
    looped("forthreads", "N,…", |rd, text| loops::add(rd, LoopKind::Threads, text),
        "a run for each number of threads").exact("blocks.depth, job.workers", "(1-64,d)"),
    looped("forrdpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::ReadPercent, text),
        "a run for each percentage of reads").exact("blocks.mix", "(0,70,100)"),
    looped("forrhpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::ReadHitPercent, text),
        "a run for each percentage of read hits").exact("blocks.access", "(0,50)"),
    looped("forwhpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::WriteHitPercent, text),
        "a run for each percentage of write hits").exact("blocks.access", "(0,50)"),
    looped("forseekpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::SeekPercent, text),
        "a run for each percentage of random offsets").exact("blocks.access", "(0,100)"),
    looped("forhitarea", "SIZE,…", |rd, text| loops::add(rd, LoopKind::HitArea, text),
        "a run for each hit area").exact("blocks.access", "(1m,8m)"),
    looped("forcompratio", "RATIO,…", |rd, text| loops::add(rd, LoopKind::CompressionRatio, text),
        "a run for each compression ratio")
        .exact("blocks.content.compressible_percent", "(1,2)"),
    looped("forcompression", "PERCENT,…", loops::add_compression,
        "a run for each compressed size in percent")
        .exact("blocks.content.compressible_percent", "(50,100)"),
    looped("fordepth", "N,…", |rd, text| loops::add(rd, LoopKind::Depth, text),
        "a run for each depth of the tree").exact("target.tree", "(1,2)"),
    looped("forwidth", "N,…", |rd, text| loops::add(rd, LoopKind::Width, text),
        "a run for each width of the tree").exact("target.tree", "(1,2)"),
    looped("forfiles", "N,…", |rd, text| loops::add(rd, LoopKind::Files, text),
        "a run for each number of files").exact("target.tree", "(10,100)"),
    looped("forsizes", "SIZE,…", |rd, text| loops::add(rd, LoopKind::FileSize, text),
        "a run for each size of files").exact("target.tree", "(4k,1m)"),
    looped("fortotalsize", "SIZE,…", |rd, text| loops::add(rd, LoopKind::TotalSize, text),
        "a run for each total of the files").exact("target.tree", "(1g,2g)"),
    looped("forwss", "SIZE,…", |rd, text| loops::add(rd, LoopKind::WorkingSet, text),
        "a run for each working set").alias(&["forworkingsetsize"]).exact("entries", "(1g,2g)"),
    looped("foroperations", "NAME,…", loops::add_operations, "a run for each operation")
        .exact("entries.steps", "(read,write)"),
    looped("xfersize", "SIZE,…", |rd, text| loops::add(rd, LoopKind::TransferSize, text),
        "forxfersize").exact("blocks.size", "8k"),
    looped("threads", "N,…", |rd, text| loops::add(rd, LoopKind::Threads, text), "forthreads")
        .exact("blocks.depth, job.workers", "16"),
    looped("rdpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::ReadPercent, text), "forrdpct")
        .exact("blocks.mix", "70"),
    looped("rhpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::ReadHitPercent, text),
        "forrhpct").exact("blocks.access", "50"),
    looped("whpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::WriteHitPercent, text),
        "forwhpct").exact("blocks.access", "50"),
    looped("seekpct", "PERCENT,…", |rd, text| loops::add(rd, LoopKind::SeekPercent, text),
        "forseekpct").exact("blocks.access", "0"),
    looped("hitarea", "SIZE,…", |rd, text| loops::add(rd, LoopKind::HitArea, text), "forhitarea")
        .exact("blocks.access", "8m"),
    looped("compratio", "RATIO,…", |rd, text| loops::add(rd, LoopKind::CompressionRatio, text),
        "forcompratio").exact("blocks.content.compressible_percent", "2"),
    looped("compression", "PERCENT,…", loops::add_compression, "forcompression")
        .exact("blocks.content.compressible_percent", "50"),
    looped("depth", "N,…", |rd, text| loops::add(rd, LoopKind::Depth, text), "fordepth")
        .exact("target.tree", "2"),
    looped("width", "N,…", |rd, text| loops::add(rd, LoopKind::Width, text), "forwidth")
        .exact("target.tree", "2"),
    looped("files", "N,…", |rd, text| loops::add(rd, LoopKind::Files, text), "forfiles")
        .exact("target.tree", "100"),
    looped("sizes", "SIZE,…", |rd, text| loops::add(rd, LoopKind::FileSize, text), "forsizes")
        .exact("target.tree", "1m"),
    looped("totalsize", "SIZE,…", |rd, text| loops::add(rd, LoopKind::TotalSize, text),
        "fortotalsize").exact("target.tree", "1g"),
    looped("wss", "SIZE,…", |rd, text| loops::add(rd, LoopKind::WorkingSet, text), "forwss")
        .alias(&["workingsetsize"]).exact("entries", "1g"),
];

#[rustfmt::skip]
const REST: &[RdRow] = &[
    parameter("distribution", "exponential|uniform|deterministic",
        |rd: &mut Rd, text| put(&mut rd.distribution, distribution(text)),
        "times between operations").default("exponential")
        .exact("blocks.pace.arrival", "deterministic"),
    parameter("startcmd", "COMMAND,…", |rd: &mut Rd, text| put_some(&mut rd.start, commands(text)),
        "commands before a run").alias(&["start_cmd"]).exact("", "sync"),
    parameter("endcmd", "COMMAND,…", |rd: &mut Rd, text| put_some(&mut rd.end, commands(text)),
        "commands after a run").alias(&["end_cmd"]).exact("", "sync"),
    whole("fwd", "NAME,…", |rd: &mut Rd, text| put(&mut rd.fwds, values::names(text)),
        "file system workloads: names, ranges, or a prefix with *").exact("phase.job", "fwd*"),
    parameter("fwdrate", "RATE,…|max|curve", fwd_rate, "operations on files per second")
        .exact("entries", "100"),
    parameter("operations", "NAME,…", |rd: &mut Rd, text| put(&mut rd.operations, operations(text)),
        "operations on files, instead of the workloads'").exact("entries.steps", "(read,write)"),
    parameter("format", "yes|no|restart|only|once|clean|directories|limited|complete",
        |rd: &mut Rd, text| put(&mut rd.format, format::format(text)),
        "format the file systems before a run").default("no").exact("phase", "yes"),
    open_flags_row(|rd: &mut Rd, text| put_some(&mut rd.open_flags, open_flags(text)),
        |rd| rd.open_flags.is_some_and(OpenFlags::is_sync),
        "open flags of files, overriding others", "blocks.direct, blocks.durability"),
    known("mount", "OPTIONS", "mount options of the file system for the run")
        .refused("noatime",
            "candor mounts nothing by itself; mount it before the run, or by startcmd="),
];

/// A list of rates is a loop, in the written order of loops.
fn fwd_rate(rd: &mut Rd, text: &str) -> Result<(), Refused> {
    let read = rate(text)?;
    if let Rate::Each(rates) = &read
        && rates.len() > 1
    {
        loops::put(
            rd,
            Loop { kind: LoopKind::FwdRate, values: LoopValues::Numbers(rates.clone()) },
        );
    }
    rd.fwd_rate = read;
    Ok(())
}

impl Defined for Rd {
    const WORD: &'static str = "rd";
    const WHAT: &'static str = "run definition";
    const TABLE: Table<Parameter<Rd>> = Table(&[
        Group { title: "Runs (rd=)", rows: RUN },
        Group { title: "Runs (rd=): loops", rows: LOOPS },
        Group { title: "Runs (rd=): files, commands", rows: REST },
    ]);
}
