//! Logs, statistics and errors of a job.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::Done;
use crate::values::{self, Units};
use candor_front::{bare, choices, row};

choices! {
    /// `log_window_value`.
    pub enum LogValue {
        #[default]
        Average = "mean of a window": "avg" | "0",
        Max = "maximum of a window": "max" | "1",
        Both = "both": "both",
    }
}

/// Name of a log; an empty name is the job's, `None` disables the log.
pub type LogName = Option<String>;

/// Log files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logs {
    /// `write_bw_log`.
    pub bandwidth: LogName,
    /// `write_lat_log`.
    pub latency: LogName,
    /// `write_iops_log`.
    pub iops: LogName,
    /// `write_hist_log`.
    pub histogram: LogName,
    /// `per_job_logs`.
    pub per_job: bool,
    /// `log_avg_msec`.
    pub window_ms: u64,
    /// `log_window_value`.
    pub value: LogValue,
    /// `log_hist_msec`.
    pub histogram_ms: u64,
    /// `log_hist_coarseness`.
    pub coarseness: u64,
    /// `log_offset`.
    pub offset: bool,
    /// `log_prio`.
    pub priority: bool,
    /// `log_issue_time`.
    pub issue_time: bool,
    /// `log_compression`.
    pub compression: Option<u64>,
    /// `log_compression_cpus`.
    pub compression_cpus: Vec<u32>,
    /// `log_store_compressed`.
    pub store_compressed: bool,
    /// `log_alternate_epoch`, `log_unix_epoch`.
    pub alternate_epoch: bool,
    /// `log_alternate_epoch_clock_id`.
    pub epoch_clock: u64,
    /// `bwavgtime`.
    pub bandwidth_ms: u64,
    /// `iopsavgtime`.
    pub iops_ms: u64,
}

choices! {
    /// `kb_base`.
    pub enum KbBase {
        #[default]
        Binary = "k is 1024 and KiB is 1000 (legacy); results in binary units": "1024",
        Decimal = "k is 1000 and KiB is 1024 (IEC)": "1000",
    }
}

choices! {
    /// `unit_base`.
    pub enum UnitBase {
        #[default]
        Auto = "default of the engine": "0",
        Bytes = "results in bytes": "8",
        Bits = "results in bits": "1",
    }
}

choices! {
    /// `unified_rw_reporting`.
    pub enum Unified {
        #[default]
        None = "one result per direction": "none" | "0",
        Mixed = "one result for all directions": "mixed" | "1",
        Both = "results per direction and for all": "both" | "2",
    }
}

/// Statistics in the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// `kb_base`.
    pub kb_base: KbBase,
    /// `unit_base`.
    pub unit_base: UnitBase,
    /// `group_reporting`.
    pub group: bool,
    /// `stats`.
    pub stats: bool,
    /// `unified_rw_reporting`.
    pub unified: Unified,
    /// `clat_percentiles`.
    pub clat_percentiles: bool,
    /// `lat_percentiles`.
    pub lat_percentiles: bool,
    /// `slat_percentiles`.
    pub slat_percentiles: bool,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// `significant_figures`.
    pub figures: u64,
    /// `disk_util`.
    pub disk_util: bool,
    /// `gtod_reduce`.
    pub reduced: bool,
    /// `disable_lat`.
    pub no_lat: bool,
    /// `disable_clat`.
    pub no_clat: bool,
    /// `disable_slat`.
    pub no_slat: bool,
    /// `disable_bw_measurement`.
    pub no_bandwidth: bool,
}

choices! {
    /// `continue_on_error`.
    pub enum ContinueOn {
        #[default]
        None = "end the job at the first error": "none" | "0",
        Read = "count read errors": "read",
        Write = "count write errors": "write",
        Io = "count read and write errors": "io",
        Verify = "count verification errors": "verify",
        All = "count all errors": "all" | "1",
    }
}

/// Errors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// `continue_on_error`.
    pub continue_on: ContinueOn,
    /// `ignore_error`, as written.
    pub ignore: Option<String>,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("per_job_logs", Kind::Bool, |s, v| s.logs.per_job = v.bool(),
        "write log files per clone")
        .default("1").exact("output", "0"),
    row("write_bw_log", Kind::MaybeText, |s, v| s.logs.bandwidth = Some(v.text()),
        "write bandwidth to NAME_bw.N.log")
        .exact("blocks.measure.log", "x"),
    row("write_lat_log", Kind::MaybeText, |s, v| s.logs.latency = Some(v.text()),
        "write latencies to NAME_slat, _clat and _lat.N.log")
        .exact("blocks.measure.log", "x"),
    row("write_iops_log", Kind::MaybeText, |s, v| s.logs.iops = Some(v.text()),
        "write IOPS to NAME_iops.N.log")
        .exact("blocks.measure.log", "x"),
    row("write_hist_log", Kind::MaybeText, |s, v| s.logs.histogram = Some(v.text()),
        "write latency histograms to NAME_clat_hist.N.log")
        .exact("blocks.measure.log", "x"),
    bare("log_entries", Kind::Int(1024, 1 << 20), "initial number of log entries")
        .default("1024").idle("2048", "room is made as it is needed"),
    row("log_avg_msec", Kind::Int(0, MANY), |s, v| s.logs.window_ms = v.int(),
        "write one entry per N ms instead of per operation")
        .default("0").exact("blocks.measure.log", "500"),
    row("log_hist_msec", Kind::Int(0, MANY), |s, v| s.logs.histogram_ms = v.int(),
        "write one histogram per N ms")
        .default("0").exact("blocks.measure.log", "500"),
    row("log_hist_coarseness", Kind::Int(0, 6), |s, v| s.logs.coarseness = v.int(),
        "halve the histogram's bins N times")
        .default("0").exact("output", "2"),
    row("log_max_value", Kind::Choice(LogValue::CHOICES), |s, v| s.logs.value = v.of(LogValue::ALL),
        "mean or maximum of a window")
        .alias(&["log_window_value"]).default("avg").exact("blocks.measure.log", "max"),
    row("log_offset", Kind::Bool, |s, v| s.logs.offset = v.bool(), "add offsets to entries")
        .default("0").exact("output", "1"),
    row("log_prio", Kind::Bool, |s, v| s.logs.priority = v.bool(), "add I/O priorities to entries")
        .default("0").exact("output", "1"),
    row("log_issue_time", Kind::Bool, |s, v| s.logs.issue_time = v.bool(),
        "add issue times to entries")
        .default("0").exact("output", "1"),
    row("log_compression", Kind::Int(1024, 512 << 20), |s, v| s.logs.compression = Some(v.int()),
        "compress logs in memory, in chunks of SIZE")
        .idle("64k",
            "an entry takes 40 bytes of memory as it is, and the file is plain text as in fio"),
    bare("log_compression_cpus", Kind::Own("CPU[-CPU][,…]", &[], log_cpus),
        "CPUs for log compression")
        .under("log_compression").when(|s| s.logs.compression.is_some())
        .idle("0", "nothing is compressed"),
    row("log_store_compressed", Kind::Bool, |s, v| s.logs.store_compressed = v.bool(),
        "store log files compressed")
        .default("0").exact("output", "1"),
    row("log_alternate_epoch", Kind::Bool, |s, v| s.logs.alternate_epoch = v.bool(),
        "count times of entries from the epoch of a clock")
        .alias(&["log_unix_epoch"]).default("0").exact("output", "1"),
    row("log_alternate_epoch_clock_id", Kind::Int(0, 64), |s, v| s.logs.epoch_clock = v.int(),
        "clock id of log_alternate_epoch, as in clock_gettime")
        .default("0").when(|s| s.logs.alternate_epoch).exact("output", "1"),
    bare("block_error_percentiles", Kind::Bool, "percentiles of erases until a block failed")
        .default("0").refused("1", "errors are counted by job and operation, not by block; \
            continue_on_error=all counts them, and a log with log_offset=1 has each operation"),
    row("bwavgtime", Kind::Int(0, MANY), |s, v| s.logs.bandwidth_ms = v.int(),
        "milliseconds of a sample of bandwidth")
        .under("write_bw_log").default("500").near("phase.interval", "250",
            "bandwidth and operations of all jobs that run together are sampled in the shortest of \
            their intervals"),
    row("iopsavgtime", Kind::Int(0, MANY), |s, v| s.logs.iops_ms = v.int(),
        "milliseconds of a sample of operations")
        .under("write_iops_log").default("500").near("phase.interval", "250",
            "bandwidth and operations of all jobs that run together are sampled in the shortest of \
            their intervals"),
];

#[rustfmt::skip]
pub(super) const UNITS: &[Row] = &[
    row("kb_base", Kind::Choice(KbBase::CHOICES), |s, v| s.statistics.kb_base = v.of(KbBase::ALL),
        "meaning of kB and KiB")
        .default("1024").exact("sizes; output", "1000"),
    row("unit_base", Kind::Choice(UnitBase::CHOICES),
        |s, v| s.statistics.unit_base = v.of(UnitBase::ALL), "results in bytes or in bits")
        .default("0").exact("output", "1"),
];

#[rustfmt::skip]
pub(super) const STATISTICS: &[Row] = &[
    row("group_reporting", Kind::Flag, |s, v| s.statistics.group = v.bool(),
        "report one result per group")
        .exact("output", "1"),
    row("stats", Kind::Bool, |s, v| s.statistics.stats = v.bool(), "report the job")
        .default("1").exact("output", "0"),
    row("unified_rw_reporting", Kind::Choice(Unified::CHOICES),
        |s, v| s.statistics.unified = v.of(Unified::ALL),
        "report directions separately or together")
        .default("none").exact("output", "mixed"),
    row("clat_percentiles", Kind::Bool, |s, v| s.statistics.clat_percentiles = v.bool(),
        "report percentiles of completion latency")
        .default("1").exact("output", "0"),
    row("lat_percentiles", Kind::Bool, |s, v| s.statistics.lat_percentiles = v.bool(),
        "report percentiles of total latency")
        .default("0").exact("output", "1"),
    row("slat_percentiles", Kind::Bool, |s, v| s.statistics.slat_percentiles = v.bool(),
        "report percentiles of submission latency")
        .default("0").exact("output", "1"),
    row("percentile_list", Kind::Floats(0.0, 100.0, 20),
        |s, v| s.statistics.percentiles = v.floats(), "percentiles to report")
        .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99")
        .exact("output", "50:99.9"),
    row("significant_figures", Kind::Int(1, 10), |s, v| s.statistics.figures = v.int(),
        "significant digits in the normal output")
        .default("4").exact("output", "6"),
    row("disk_util", Kind::Bool, |s, v| s.statistics.disk_util = v.bool(),
        "report device utilization")
        .default("1").exact("output", "0"),
    row("gtod_reduce", Kind::Bool, |s, v| s.statistics.reduced = v.bool(),
        "measure no latencies; log no operation in bandwidth and IOPS logs")
        .default("0").exact("output", "1"),
    row("disable_lat", Kind::Bool, |s, v| s.statistics.no_lat = v.bool(), "skip total latency")
        .under("gtod_reduce").default("0").exact("output", "1"),
    row("disable_clat", Kind::Bool, |s, v| s.statistics.no_clat = v.bool(),
        "skip completion latency")
        .under("gtod_reduce").default("0").exact("output", "1"),
    row("disable_slat", Kind::Bool, |s, v| s.statistics.no_slat = v.bool(),
        "skip submission latency")
        .under("gtod_reduce").default("0").exact("output", "1"),
    row("disable_bw_measurement", Kind::Bool, |s, v| s.statistics.no_bandwidth = v.bool(),
        "log no operation in bandwidth logs")
        .alias(&["disable_bw"]).under("gtod_reduce").default("0").exact("output", "1"),
];

#[rustfmt::skip]
pub(super) const ERRORS: &[Row] = &[
    row("continue_on_error", Kind::Choice(ContinueOn::CHOICES),
        |s, v| s.errors.continue_on = v.of(ContinueOn::ALL),
        "errors to count instead of ending the job")
        .default("none").exact("stop.tolerate", "all"),
    row("ignore_error", Kind::Text, |s, v| s.errors.ignore = Some(v.text()),
        "errors to ignore in reads, writes, verification (EIO:ENOSPC or numbers)")
        .under("rw").exact("stop.tolerate", "ENOSPC"),
    bare("error_dump", Kind::Bool, "report each counted error")
        .default("0").near("report: errors", "1",
            "the report lists errors by kind, with the first of each"),
];

fn log_cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.logs.compression_cpus = read.value;
    Ok(read.remark)
}
