//! Facts about a job that the output needs in addition to its measurement.

use smart_default::SmartDefault;
use std::path::PathBuf;

use candor_plan::units::{Direction, PerDirection};
use candor_plan::{PathText, SteadyFigure, path_of};

/// One process in fio's reckoning: a clone of a section. In the plan it is a job of one worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJob {
    /// The section's name.
    pub name: String,
    /// `description`.
    pub description: Option<String>,
    /// The size of missing files is unknown.
    pub without_size: bool,
    /// The I/O priority of operations that have none of their own, in the kernel's form.
    pub io_priority: u16,
    /// The job's phase, as an index into the plan's phases.
    pub phase: usize,
    /// Index of the job in that phase.
    pub job: usize,
    /// Number of the reporting group, from 0.
    pub group_id: u32,
    /// True if the group is reported as one.
    pub group_reporting: bool,
    /// Options of the section as written, in order, without options of `[global]`; absent without
    /// any.
    pub options: Option<Vec<(String, String)>>,
    /// The number within its section, from 0: clones that `numjobs` makes count on.
    pub clone: u32,
    /// The number among all jobs, from 1: the one in names of log files.
    pub number: u32,
    /// The job's shape, for the lines before the run.
    pub shape: Shape,
    /// Direction under which fio counts operations without I/O; absent for I/O.
    pub counted_as: Option<Direction>,
    /// `continue_on_error`: count and report errors.
    pub counts_errors: bool,
    /// Blocks with wrong data are tolerated errors: the job ends with them, but does not fail.
    pub counts_mismatches: bool,
    /// `zonemode=zbd` of a job that writes or trims: report resets of zones.
    pub counts_zone_resets: bool,
    /// `verify_only`: verified blocks also count as written.
    pub verify_only: bool,
    /// Blocks are checked while more are written (`verify_backlog`).
    pub checks_beside: bool,
    /// Count of an operation on a name, which moves no bytes.
    pub per_name: Option<PerName>,
    /// `latency_target` and its kin.
    pub latency_goal: LatencyGoal,
    /// `steadystate`, if requested.
    pub steady: Option<SteadyGoal>,
    /// Log files to write.
    pub logs: Logs,
    /// Where to save the verification state, if at all.
    pub state: Option<StateFile>,
    /// Metrics to report, and their format.
    pub reporting: Reporting,
    /// `job_start_clock_id`: offset of the clock to the wall clock in ms.
    pub start_ahead_ms: i64,
}

impl FioJob {
    /// The job of one client, whose name is part of the names of logs and states.
    #[must_use]
    pub fn of_client(&self, client: &str) -> FioJob {
        let mut job = self.clone();
        job.logs.end = format!(".{client}");
        job.logs.trace = job.logs.trace.map(|name| format!("{name}.{client}"));
        if let Some(state) = &mut job.state {
            let name = state.path.file_name().map(PathText::text);
            let name = name.unwrap_or_default();
            let rest = name.strip_prefix("local-").unwrap_or(&name);
            state.path.set_file_name(path_of(&format!("{client}-{rest}")));
        }
        job
    }
}

/// The file that a job's state is saved in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFile {
    /// Path.
    pub path: PathBuf,
    /// Writes that may have been under way when the job was cut short.
    pub depth: u32,
    /// Writes in the state.
    pub holds: SavedWrites,
}

/// Writes that a saved state holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SavedWrites {
    /// All that completed.
    #[default]
    Completed,
    /// Writes that completed before a successful sync of their file.
    Synced {
        /// All files are synced at the end.
        at_end: bool,
    },
}

/// fio counts an operation on a name as if the file were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerName {
    /// Operations.
    pub ops: u64,
    /// Bytes that each of them counts as.
    pub bytes: u64,
}

/// The shape of a job, for the lines before the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// The value of `rw`, such as `randread`.
    pub rw: String,
    /// Minimum and maximum block size in bytes, per direction.
    pub sizes: PerDirection<(u64, u64)>,
    /// The first two of these are for sequential and random I/O (`bs_is_seq_rand`).
    pub sizes_by_order: bool,
    /// fio's name of the engine.
    pub engine: String,
    /// `iodepth`.
    pub depth: u32,
    /// `thread`: a thread in fio's reckoning and not a process.
    pub thread: bool,
    /// Lines about a job without I/O, of which only latencies are reported.
    pub instead: Option<String>,
    /// fio's lines about the section, before its results.
    pub remarks: String,
    /// `io_submit_mode=offload`: each thread has one operation; their number is the depth.
    pub offloads: bool,
    /// The engine runs one operation at a time, but `iodepth` is higher.
    pub depth_capped: bool,
    /// fio lays out missing or short files before the run, even if the job only writes them.
    pub lays_out: bool,
}

/// `latency_target` and its kin, as the results repeat them.
#[derive(Clone, Copy, Debug, PartialEq, SmartDefault)]
pub struct LatencyGoal {
    /// `latency_target`; 0 is none.
    pub target_ns: u64,
    /// `latency_window`.
    pub window_ns: u64,
    /// `latency_percentile`.
    #[default(100.0)]
    pub percentile: f64,
}

/// `steadystate` and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyGoal {
    /// Metric of the criterion.
    pub figure: SteadyFigure,
    /// True for a slope, false for the maximum deviation from the mean.
    pub slope: bool,
    /// The limit: in percent, or absolute.
    pub limit: f64,
    /// The limit is in percent of the mean.
    pub percent: bool,
    /// `steadystate_duration` in seconds.
    pub duration_s: u64,
    /// Windows of `steadystate_check_interval` in it.
    pub windows: u64,
}

/// Log files of a job, and their format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logs {
    /// `write_bw_log`: how the name begins.
    pub bandwidth: Option<String>,
    /// `write_iops_log`.
    pub iops: Option<String>,
    /// `write_lat_log`.
    pub latency: Option<String>,
    /// `write_hist_log`.
    pub histogram: Option<String>,
    /// `log_avg_msec`; 0 logs every operation.
    pub window_ms: u64,
    /// `log_window_value`: value of a window.
    pub window_value: WindowValue,
    /// `log_hist_coarseness`: 0 to 6.
    pub coarseness: u32,
    /// `log_offset`.
    pub offset: bool,
    /// `log_prio`.
    pub priority: bool,
    /// `log_issue_time`.
    pub issue_time: bool,
    /// `log_unix_epoch` and related options: offset of the log's clock to the wall clock in ms;
    /// absent if times count from the job's start.
    pub epoch_ahead_ms: Option<i64>,
    /// `log_store_compressed`.
    pub compressed: bool,
    /// `per_job_logs`: the job's number is part of the name.
    pub per_job: bool,
    /// End of the names of all of them.
    pub end: String,
    /// `write_iolog`: the file that the job's own operations are added to.
    pub trace: Option<String>,
}

/// The value in a line of an averaged log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowValue {
    /// Mean of the window.
    #[default]
    Mean,
    /// Maximum of the window.
    Max,
    /// Both, in this order.
    Both,
}

/// Reported metrics of a job, and their units.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Reporting {
    /// Bytes in a "K": 1024 or 1000.
    #[default(1024)]
    pub kb_base: u32,
    /// 1 reports rates in bits, 8 in bytes, 0 decides by the target.
    pub unit_base: u32,
    /// 0 per direction, 1 mixed, 2 both.
    pub unified_rw: u32,
    /// Percentiles of completion latency.
    #[default(true)]
    pub clat_percentiles: bool,
    /// Percentiles of total latency.
    pub lat_percentiles: bool,
    /// Percentiles of submission latency.
    pub slat_percentiles: bool,
    /// Percentiles, ascending.
    #[default(PERCENTILES.to_vec())]
    pub percentiles: Vec<f64>,
    /// Decimals of all percentiles, if some were written with decimals.
    pub percentile_places: usize,
    /// Report total latency.
    #[default(true)]
    pub lat: bool,
    /// Report completion latency.
    #[default(true)]
    pub clat: bool,
    /// Report submission latency.
    #[default(true)]
    pub slat: bool,
    /// Report sampled bandwidth; false for a job that moves no bytes.
    #[default(true)]
    pub bandwidth: bool,
    /// Allow a line per operation in a bandwidth log.
    #[default(true)]
    pub bandwidth_by_operation: bool,
    /// Allow a line per operation in an IOPS log.
    #[default(true)]
    pub iops_by_operation: bool,
    /// Report counters of devices.
    #[default(true)]
    pub disk_util: bool,
    /// Significant digits of rounded values.
    #[default(4)]
    pub significant_figures: u32,
    /// Report the job.
    #[default(true)]
    pub stats: bool,
    /// Latency is from the intended start and not from hand-over.
    pub from_intended: bool,
}

impl Reporting {
    /// Copies the units of another, and its combination of directions.
    #[must_use]
    pub fn in_units_of(self, other: &Reporting) -> Reporting {
        let Reporting { kb_base, unit_base, unified_rw, significant_figures, .. } = *other;
        Reporting { kb_base, unit_base, unified_rw, significant_figures, ..self }
    }
}

/// Default percentiles of fio.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Destination and formats of the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Formats in requested order; empty means normal text.
    pub formats: Vec<Format>,
    /// Version of the terse line, 2 to 5; default 3.
    pub terse_version: u32,
    /// The file that results go to instead of standard output.
    pub file: Option<PathBuf>,
    /// The terse line follows the normal text.
    pub append_terse: bool,
    /// Options of `[global]` as written, in order; absent without any.
    pub global_options: Option<Vec<(String, String)>>,
    /// Position of candor's verdict in the results.
    pub verdict: VerdictPlace,
    /// CPU idleness, if measured.
    pub idleness: Option<Idleness>,
    /// Hosts that run the jobs, in the order of their numbers; empty for this host.
    pub clients: Vec<ClientName>,
}

/// Names of a host that runs jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientName {
    /// Unique name in text.
    pub name: String,
    /// The host as requested.
    pub host: String,
    /// Port of the host's server.
    pub port: u16,
}

/// Position of candor's verdict in the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerdictPlace {
    /// For a person: a key of the JSON; in text the last lines.
    #[default]
    AtEnd,
    /// A key of the JSON, and nothing in text.
    Document,
    /// Elsewhere, or nowhere.
    Absent,
}

/// Idleness of the CPUs while jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idleness {
    /// All CPUs together, in percent.
    pub system: f64,
    /// Number and percent of each CPU, if reported.
    pub per_cpu: Option<Vec<(u32, f64)>>,
    /// Mean time for a unit of the work that fills the rest, in µs.
    pub unit_mean_us: f64,
    /// The standard deviation of that time between the CPUs, in µs.
    pub unit_stddev_us: f64,
}

/// A form of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Normal,
    /// One line, fields separated by semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with the bins of every latency.
    JsonPlus,
}
