//! Logs, statistics, errors: what is told about a job.

use candor_front::choices;

choices! {
    /// `log_window_value`.
    pub enum LogValue {
        #[default]
        Average = "the mean of a window": "avg" | "0",
        Max = "the largest of a window": "max" | "1",
        Both = "both": "both",
    }
}

/// A log to write: `None` is none, an empty name takes the job's.
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
        Binary = "k is 1024 and KiB is 1000 (an old habit); results in binary units": "1024",
        Decimal = "k is 1000 and KiB is 1024, as the standard has it": "1000",
    }
}

choices! {
    /// `unit_base`.
    pub enum UnitBase {
        #[default]
        Auto = "what the engine suggests": "0",
        Bytes = "results in bytes": "8",
        Bits = "results in bits": "1",
    }
}

choices! {
    /// `unified_rw_reporting`.
    pub enum Unified {
        #[default]
        None = "each direction by itself": "none" | "0",
        Mixed = "all directions together": "mixed" | "1",
        Both = "each by itself, then all together": "both" | "2",
    }
}

/// Statistics that are reported.
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
        None = "the first error ends the job": "none" | "0",
        Read = "read errors are counted": "read",
        Write = "write errors are counted": "write",
        Io = "read and write errors are counted": "io",
        Verify = "what does not verify is counted": "verify",
        All = "all of these are counted": "all" | "1",
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
