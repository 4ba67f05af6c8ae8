//! Results of a run of any tool, in one form: pictures, comparisons and the history read these.
//!
//! A [`crate::Report`] has all of it, and much more; other tools' results have some of it. Absent
//! is a figure that its tool does not report: nothing here is estimated.

mod condition;
mod distribution;
mod figure;
mod latency_spans;
mod load;

use candor_plan::work::Figure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fmt::ratio;
use crate::measurement::is_flushed_each;
use crate::{Latency, LatencyCounts, OpSample, Sample, Verdict};

pub use condition::{Area, Condition};
pub use distribution::Bin;
pub use figure::{FigureKind, FigureValue};
pub use latency_spans::{LatencySpan, latency_spans};
pub use load::Load;

/// Results of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Results {
    /// Tool and version, such as `candor 0.1.0` or `fio-3.33`.
    pub tool: String,
    /// Name that tells the run from others: that of its plan or file.
    pub name: String,
    /// Start, RFC 3339 in UTC, where it is known.
    pub started: Option<String>,
    /// Words of the command line, where they are known.
    pub command: Vec<String>,
    /// Verdict on the run; absent where nobody judged it.
    pub verdict: Option<Verdict>,
    /// The verdict in one line; empty where nobody judged it.
    pub headline: String,
    /// Plan and environment, as far as they are known.
    pub conditions: Vec<Condition>,
    /// Phases in order; repeats are entries of their own, steps of a search are left out.
    pub phases: Vec<PhaseResults>,
}

/// Results of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseResults {
    /// Name of the phase.
    pub name: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Wall clock at its start in ms since 1970, where it is known.
    pub start_unix_ms: Option<u64>,
    /// Load of others meanwhile, each kind that was looked for.
    #[serde(default)]
    pub disturbances: Vec<Disturbance>,
    /// Verdict on the phase; absent where nobody judged it.
    pub verdict: Option<Verdict>,
    /// The verdict in one line; empty where nobody judged it.
    pub headline: String,
    /// Results of each job.
    pub jobs: Vec<JobResults>,
    /// Activity of each device meanwhile, whoever caused it.
    pub devices: Vec<DeviceResults>,
}

/// Load of others during a phase, or what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Disturbance {
    /// Kind of the load.
    pub kind: DisturbanceKind,
    /// Share of all there was, from 0 to 1.
    pub share: f64,
}

/// Kind of a disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DisturbanceKind {
    /// CPU time that the workers did not use, of the time of all CPUs.
    CpuOfOthers,
    /// Time for which workers were ready and waited for a CPU.
    WaitedForCpu,
    /// Bytes that others moved, of all that the device moved.
    TrafficOfOthers,
    /// Time in which the process was stopped, which rates leave out, of the time with it.
    Stopped,
}

impl DisturbanceKind {
    /// The kind in words.
    pub fn label(self) -> &'static str {
        match self {
            DisturbanceKind::CpuOfOthers => "CPU time of others",
            DisturbanceKind::WaitedForCpu => "time of workers waiting for a CPU",
            DisturbanceKind::TrafficOfOthers => "traffic of others on the device",
            DisturbanceKind::Stopped => "time in which the process was stopped",
        }
    }
}

/// Results of one job in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobResults {
    /// Name of the job.
    pub job: String,
    /// Load that it put on its targets.
    pub load: Load,
    /// Conditions of its work, and of that of its phase, as far as they are known.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Paths that it worked on.
    pub targets: Vec<String>,
    /// From its start to its last completion, in ns.
    pub elapsed_ns: u64,
    /// Results of each operation that occurred.
    pub operations: Vec<OpResults>,
}

/// Results of one operation of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpResults {
    /// Name of the operation, such as `read` or `fsync`.
    pub operation: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations that completed.
    pub ops: Option<u64>,
    /// Bytes that they moved.
    pub bytes: Option<u64>,
    /// Operations that failed.
    pub failed: Option<u64>,
    /// Operations per second.
    pub ops_per_s: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Latencies from submission to completion.
    pub latency: Option<LatencyResults>,
    /// Each interval of the run, ascending.
    pub intervals: Vec<Interval>,
}

/// Latencies of an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyResults {
    /// Mean in ns.
    pub mean_ns: Option<f64>,
    /// Least in ns.
    pub min_ns: Option<u64>,
    /// Greatest in ns.
    pub max_ns: Option<u64>,
    /// Standard deviation in ns.
    pub stddev_ns: Option<f64>,
    /// (percentile, ns), ascending.
    pub percentiles: Vec<(f64, u64)>,
    /// (middle of the bucket in ns, count) of the buckets that are not empty, ascending; none where
    /// the tool reports percentiles only.
    pub buckets: Vec<(u64, u64)>,
}

/// One interval of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Beginning in ns since the start of the phase, ramp left out.
    pub start_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Operations per second.
    pub ops_per_s: Option<f64>,
    /// Bytes per second.
    pub bytes_per_s: Option<f64>,
    /// Mean latency in ns.
    pub latency_ns_mean: Option<f64>,
    /// Median latency in ns.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile of latency in ns.
    pub latency_ns_p99: Option<u64>,
    /// Latencies by buckets; empty where they were not counted.
    #[serde(default, skip_serializing_if = "LatencyCounts::is_empty")]
    pub latency_counts: LatencyCounts,
}

/// Activity of one device during a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceResults {
    /// Name of the host, where it is known.
    pub host: String,
    /// Kernel name of the device.
    pub device: String,
    /// Each interval of the phase, ascending.
    pub intervals: Vec<DeviceInterval>,
}

/// One interval of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceInterval {
    /// Beginning in ns since the start of the phase, ramp left out.
    pub start_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Requests per second of all kinds together, where only these are known.
    pub requests_per_s: Option<f64>,
    /// Reads per second, where it is known.
    pub reads_per_s: Option<f64>,
    /// Writes per second, where it is known.
    pub writes_per_s: Option<f64>,
    /// Bytes read per second, where it is known.
    pub bytes_read_per_s: Option<f64>,
    /// Bytes written per second, where it is known.
    pub bytes_written_per_s: Option<f64>,
    /// Mean wait of the reads in ns, where there were any and the kernel's clock shows it.
    pub read_wait_ns_mean: Option<f64>,
    /// Mean wait of the writes in ns, where there were any and the kernel's clock shows it.
    pub write_wait_ns_mean: Option<f64>,
    /// Mean number of requests in flight, where it is known.
    pub queue_mean: Option<f64>,
    /// Share of time with a request in flight, from 0 to 1, where it is known.
    pub utilisation: Option<f64>,
}

impl LatencyResults {
    /// The value of a percentile, if the tool reports it.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.percentiles.iter().find(|(p, _)| *p == percentile).map(|(_, ns)| *ns)
    }
}

impl From<&Latency> for LatencyResults {
    fn from(latency: &Latency) -> LatencyResults {
        LatencyResults {
            mean_ns: latency.valid_mean_ns(),
            min_ns: Some(latency.min_ns),
            max_ns: latency.valid_max_ns(),
            stddev_ns: Some(latency.stddev_ns).filter(|_| latency.stop_ns.is_none()),
            percentiles: latency.percentiles.clone(),
            buckets: latency
                .histogram
                .filled()
                .map(|(bucket, count)| (crate::histogram::bucket_middle(bucket), count))
                .filter(|(ns, _)| latency.stop_ns.is_none_or(|stop_ns| *ns < stop_ns))
                .collect(),
        }
    }
}

impl DeviceResults {
    /// Means over the time of all intervals; of waits, which weigh requests, there are none.
    pub fn mean(&self) -> DeviceInterval {
        let mean = |figure: fn(&DeviceInterval) -> Option<f64>| {
            let known =
                || self.intervals.iter().filter_map(|of| Some((figure(of)?, of.length_ns as f64)));
            let length: f64 = known().map(|(_, length)| length).sum();
            let sum: f64 = known().map(|(value, length)| value * length).sum();
            (length > 0.0).then(|| sum / length)
        };
        DeviceInterval {
            start_ns: self.intervals.first().map_or(0, |of| of.start_ns),
            length_ns: self.intervals.iter().fold(0, |sum, of| sum.saturating_add(of.length_ns)),
            requests_per_s: mean(|of| of.requests_per_s),
            reads_per_s: mean(|of| of.reads_per_s),
            writes_per_s: mean(|of| of.writes_per_s),
            bytes_read_per_s: mean(|of| of.bytes_read_per_s),
            bytes_written_per_s: mean(|of| of.bytes_written_per_s),
            read_wait_ns_mean: None,
            write_wait_ns_mean: None,
            queue_mean: mean(|of| of.queue_mean),
            utilisation: mean(|of| of.utilisation),
        }
    }
}

impl PhaseResults {
    /// The share of a disturbance, where it was looked for.
    pub fn disturbance(&self, kind: DisturbanceKind) -> Option<f64> {
        self.disturbances.iter().find(|of| of.kind == kind).map(|of| of.share)
    }
}

impl JobResults {
    /// The operation of that name.
    pub fn operation(&self, name: &str) -> Option<&OpResults> {
        self.operations.iter().find(|op| op.operation == name)
    }

    /// Operations that are work: flushes belong to writes, items consist of operations. Durable
    /// writes stand in place of writes that each have a flush.
    pub fn work(&self) -> impl Iterator<Item = &OpResults> {
        let durable = self.durable_writes();
        self.operations.iter().filter(|op| op.figure.is_work()).map(move |op| match durable {
            Some(durable) if op.figure == Figure::Write => durable,
            _ => op,
        })
    }

    /// Commits, where each write has a flush of its own.
    fn durable_writes(&self) -> Option<&OpResults> {
        let all = |figure| self.operations.iter().filter(move |op| op.figure == figure);
        let [commits, flushes, writes] = [Figure::Commit, Figure::Flush, Figure::Write]
            .map(|figure| all(figure).map(|op| op.ops.unwrap_or(0)).sum());
        all(Figure::Commit).next().filter(|_| is_flushed_each(commits, flushes, writes))
    }
}

impl Results {
    /// The phases that ran under one name, repeats in order.
    pub fn repeats_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a PhaseResults> {
        self.phases.iter().filter(move |phase| phase.name == name)
    }
}

impl Sample {
    /// Rates and latencies of one of its operations.
    pub fn interval(&self, op: &OpSample) -> Interval {
        let per_s = |count: u64| ratio(count as f64 * 1e9, self.length_ns as f64);
        Interval {
            start_ns: self.at_ns.saturating_sub(self.length_ns),
            length_ns: self.length_ns,
            ops_per_s: Some(per_s(op.ops)),
            bytes_per_s: Some(per_s(op.bytes)),
            // A job without latencies has a sum of 0.
            latency_ns_mean: Some(ratio(op.latency_sum_ns as f64, op.ops as f64))
                .filter(|mean| *mean > 0.0),
            latency_ns_p50: op.latency_ns_p50,
            latency_ns_p99: op.latency_ns_p99,
            latency_counts: op.latency_counts.clone(),
        }
    }
}
