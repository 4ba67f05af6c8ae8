//! General parameters, which precede all definitions.

mod histogram;
mod repeat;

pub use histogram::Buckets;
pub use repeat::Repeat;

use smart_default::SmartDefault;

use super::commands::{Commands, commands};
use super::dedup::{self, Dedup};
use super::validation::{self, DataErrors, Journal, Validation};
use super::{Defined, put, put_some};
use crate::kind::{Parameter, known, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table};

/// General parameters.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct General {
    /// Compression ratio of written data.
    #[default(1.0)]
    pub compression_ratio: f64,
    /// Deduplication.
    pub dedup: Dedup,
    /// File with the data to write.
    pub pattern: Option<String>,
    /// Reaction to errors.
    pub data_errors: DataErrors,
    /// Data validation.
    pub validation: Validation,
    /// Journal of the validation.
    pub journal: Journal,
    /// Commands before the first run.
    pub start: Option<Commands>,
    /// Commands after the last run.
    pub end: Option<Commands>,
    /// Bytes per write of a format.
    pub format_transfer_size: Option<u64>,
    /// Fill luns: always, never, or if they are missing or short.
    pub format_sds: Option<bool>,
    /// Create anchor directories and their parents.
    pub create_anchors: bool,
    /// Additional result files.
    pub report: Reports,
    /// Report totals of all runs.
    pub run_totals: bool,
    /// Buckets of histograms.
    pub buckets: Buckets,
    /// File whose first line ends runs.
    pub monitor: Option<String>,
    /// Concatenate the luns of a workload.
    pub concatenate: bool,
    /// Deviation from a skew in percent that fails the run.
    pub abort_failed_skew: Option<f64>,
    /// Repeats of all runs.
    pub repeat: Option<Repeat>,
}

/// Additional result files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// Results of each slave and lun.
    pub slave_detail: bool,
    /// Results of each host and lun.
    pub host_detail: bool,
    /// No results of each lun.
    pub no_sd_detail: bool,
}

fn reports(text: &str) -> Result<Reports, Refused> {
    const WORDS: &[&str] = &["slave_detail", "host_detail", "no_sd_detail"];
    let mut reports = Reports::default();
    for word in values::words(text)? {
        match values::abbreviated(&word, WORDS) {
            Some("slave_detail") => reports.slave_detail = true,
            Some("host_detail") => reports.host_detail = true,
            Some("no_sd_detail") => reports.no_sd_detail = true,
            _ => return Err(values::no_choice(text, &word, WORDS)),
        }
    }
    Ok(reports)
}

/// Reads a compressed size in percent as a ratio.
fn compression(text: &str) -> Result<f64, Refused> {
    let percent = values::number(text, Unit::Size)?;
    if percent > 0.0 && percent <= 100.0 {
        Ok(100.0 / percent)
    } else {
        Err(Refused::whole(text, format!("{text} is no share"), "use compratio="))
    }
}

fn transfer(text: &str) -> Result<u64, Refused> {
    let bytes = values::whole(text, Unit::Size, 512..=1 << 30)?;
    match bytes % 512 {
        0 => Ok(bytes),
        _ => Err(Refused::whole(text, format!("{bytes} is no multiple of 512"), "use 128k")),
    }
}

fn skew(text: &str) -> Result<f64, Refused> {
    let percent = values::number(text, Unit::Size)?.abs();
    if percent > 0.0 {
        Ok(percent)
    } else {
        Err(Refused::whole(text, format!("{text} is no difference"), "give percent"))
    }
}

const NO_JVMS: &str = "there are no JVMs";
const ONE_PROCESS: &str = "one process does all the work, so there is no port and no heartbeat";
const DEBUG: &str = "flags of vdbench's own debugging mean nothing here";

type GeneralRow = Row<Parameter<General>>;

#[rustfmt::skip]
const CONTENT: &[GeneralRow] = &[
    whole("compression", "PERCENT",
        |general: &mut General, text| put(&mut general.compression_ratio, compression(text)),
        "compressed size in percent").exact("blocks.content.compressible_percent", "50"),
    parameter("compratio", "RATIO",
        |general: &mut General, text| put(&mut general.compression_ratio, dedup::ratio(text)),
        "compression ratio of written data").default("1")
        .exact("blocks.content.compressible_percent", "2"),
    known("compressionseed", "N|tod", "seed of the data")
        .idle("1", "each run has new random bytes, whatever the seed"),
    whole("dedupratio", "RATIO",
        |general: &mut General, text| put_some(&mut general.dedup.ratio, dedup::ratio(text)),
        "deduplication ratio of written data")
        .exact("blocks.content.duplicate_percent", "2"),
    whole("dedupunit", "SIZE",
        |general: &mut General, text| put_some(&mut general.dedup.unit, dedup::unit(text)),
        "block size of deduplication").exact("blocks.content.duplicates", "8k"),
    whole("dedupsets", "N|PERCENT",
        |general: &mut General, text| put_some(&mut general.dedup.sets, dedup::sets(text)),
        "number of repeated blocks, or percent of all blocks").default("5%")
        .exact("blocks.content.duplicates", "10%"),
    whole("deduphotsets", "(SETS,BLOCKS,…)",
        |general: &mut General, text| put(&mut general.dedup.hot_sets, dedup::hot_sets(text)),
        "most frequently written sets").exact("blocks.content.hot_sets", "(10,2)"),
    whole("dedupflipflop", "yes|no|hotsets",
        |general: &mut General, text| put(&mut general.dedup.flip_flop, dedup::flip_flop(text)),
        "change blocks with each rewrite").default("no").exact("blocks.content.fill", "yes"),
    whole("dedupacross", "yes|no",
        |general: &mut General, text| put_some(&mut general.dedup.across, values::yes(text)),
        "make unique blocks unique across all luns").default("yes").exact("blocks.content", "no"),
    whole("dedupmaxkey", "N",
        |general: &mut General, text| put_some(&mut general.dedup.max_key, dedup::max_key(text)),
        "versions of a flip-flop block").idle("4", "a block that changes has new bytes each time"),
    known("port", "N", "port of the master").idle("5570", ONE_PROCESS),
    parameter("pattern", "FILE",
        |general: &mut General, text| put_some(&mut general.pattern, values::word(text)),
        "file with the data to write").exact("blocks.content.pattern", "/etc/hostname"),
];

#[rustfmt::skip]
const VALIDATION: &[GeneralRow] = &[
    parameter("data_errors", "N|COMMAND",
        |general: &mut General, text| put(&mut general.data_errors, validation::data_errors(text)),
        "end the run after N errors").alias(&["dataerrors"]).default("50")
        .exact("blocks.verify.mismatches_max", "5"),
    known("swat", "…", "charts of Swat").refused("x", "vdbench does not know it any more"),
    parameter("validate", "yes|no|read_after_write|no_preread|time",
        |general: &mut General, text| put(&mut general.validation, validation::validation(text)),
        "data validation").default("no").exact("blocks.verify", "yes"),
    whole("journal", "yes|no|recover|noflush|maponly|…",
        |general: &mut General, text| put(&mut general.journal, validation::journal(text)),
        "data validation with a journal").default("no").exact("blocks.verify.journal", "yes"),
];

#[rustfmt::skip]
const REST: &[GeneralRow] = &[
    whole("startcmd", "COMMAND,…",
        |general: &mut General, text| put_some(&mut general.start, commands(text)),
        "commands before the first run").alias(&["start_cmd"]).exact("", "sync"),
    whole("endcmd", "COMMAND,…",
        |general: &mut General, text| put_some(&mut general.end, commands(text)),
        "commands after the last run").alias(&["end_cmd"]).exact("", "sync"),
    whole("heartbeat_error", "COMMAND", |_: &mut General, _| Ok(()),
        "command to run if a host stops responding").idle("x", ONE_PROCESS),
    whole("debug", "N", |_: &mut General, _| Ok(()), "debugging").idle("25", DEBUG),
    known("unix2windows", "(FROM,TO)", "lun names on Windows")
        .refused("(a,b)", "candor runs on Linux"),
    parameter("formatxfersize", "SIZE",
        |general: &mut General, text| put_some(&mut general.format_transfer_size, transfer(text)),
        "bytes per write of a format").default("128k").exact("blocks.size", "1m"),
    parameter("create_anchors", "yes|no",
        |general: &mut General, text| put(&mut general.create_anchors, values::yes(text)),
        "create anchor directories and their parents").default("no")
        .exact("target.create", "yes"),
    parameter("formatsds", "yes|no",
        |general: &mut General, text| put_some(&mut general.format_sds, values::yes(text)),
        "fill all luns before the first run, or none").exact("phase", "yes"),
    parameter("report", "host_detail|slave_detail|no_sd_detail",
        |general: &mut General, text| put(&mut general.report, reports(text)),
        "additional result files").exact("", "host_detail"),
    parameter("report_run_totals", "yes|no",
        |general: &mut General, text| put(&mut general.run_totals, values::yes(text)),
        "report totals of all runs in totals_optional.html").default("no").exact("", "yes"),
    parameter("histogram", "(default,BUCKET,…)",
        |general: &mut General, text| put(&mut general.buckets, histogram::buckets(text)),
        "upper bounds of buckets in µs; suffix m for ms, s for seconds")
        .exact("", "(default,100,1m,10m)"),
    known("psrset", "N,…", "processors of Solaris")
        .refused("1", "candor runs on Linux; use taskset"),
    known("auxreport", "CLASS,…", "Java class that adds report columns")
        .refused("x", "classes of Java are not loaded"),
    parameter("monitor", "FILE",
        |general: &mut General, text| put_some(&mut general.monitor, values::word(text)),
        "file whose first line ends the current run (end_rd) or all (end_vdbench)")
        .exact("", "/tmp/monitor"),
    parameter("concatenatesds", "yes|no",
        |general: &mut General, text| put(&mut general.concatenate, values::yes(text)),
        "concatenate the luns of a workload").default("no").exact("blocks.share", "yes"),
    known("messagescan", "yes|no|nodisplay|noauth", "show lines of /var/log/messages").idle("no",
            "candor reads the kernel's counters of errors before and after each run instead"),
    parameter("abort_failed_skew", "PERCENT",
        |general: &mut General, text| put_some(&mut general.abort_failed_skew, skew(text)),
        "fail if the skew deviates by more than PERCENT").exact("", "5"),
    known("misc", "…", "internal settings of vdbench").idle("x", DEBUG),
    whole("pattern_buffer", "N", |_: &mut General, _| Ok(()), "size of the data pattern in MiB")
        .idle("4", "candor's data has no period"),
    whole("showlba", "yes|no", |_: &mut General, _| Ok(()), "trace all offsets").refused("yes",
            "operations are logged one by one by `candor run` with operations_log"),
    whole("loop", "N|TIME",
        |general: &mut General, text| put_some(&mut general.repeat, repeat::repeat(text)),
        "repeat all runs N times, or for a time").exact("repeats", "2"),
    known("timeout", "SECONDS", "end after N seconds without progress")
        .idle("60", "candor ends a run without progress by itself"),
    known("ios_per_jvm", "N", "operations per second of a JVM").idle("100000", NO_JVMS),
    known("fwd_thread_adjust", "yes|no", "adjust threads to JVMs").idle("no", NO_JVMS),
];

impl Defined for General {
    const WORD: &'static str = "";
    const WHAT: &'static str = "general parameters";
    const TABLE: Table<Parameter<General>> = Table(&[
        Group { title: "General: content of written data", rows: CONTENT },
        Group { title: "General: validation", rows: VALIDATION },
        Group { title: "General: runs and results", rows: REST },
    ]);
}
