//! Lines of `--json-stream`: a run while it happens, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Event, JobSample, Verdict};

/// Version of the shape of these lines. Adding a field keeps it; anything else raises it.
pub const STREAM_VERSION: u32 = 1;

/// One line. The first is `start`, the last is `end`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "line")]
pub enum StreamLine {
    /// The run began.
    Start {
        /// [`STREAM_VERSION`].
        stream_version: u32,
        /// Version of candor.
        candor_version: String,
        /// Now, in ms since 1970.
        unix_ms: u64,
        /// Name of the plan.
        name: String,
        /// Number of phases that will run, search steps left out.
        phases: usize,
        /// Length of the run in seconds, where it is known.
        expected_s: Option<f64>,
    },
    /// A phase began to be measured.
    Phase {
        /// Now, in ms since 1970.
        unix_ms: u64,
        /// Name.
        phase: String,
        /// A short trial that only serves to choose the next step.
        search_step: bool,
        /// Length in seconds, ramp included, where it is known.
        expected_s: Option<f64>,
    },
    /// An interval of a phase ended: a second, unless the plan sets another.
    Interval {
        /// Now, in ms since 1970.
        unix_ms: u64,
        /// The phase.
        phase: String,
        /// The phase is not measured yet.
        in_ramp: bool,
        /// Jobs that were at work.
        jobs: Vec<StreamJob>,
    },
    /// A phase ended and was judged.
    Result {
        /// Now, in ms since 1970.
        unix_ms: u64,
        /// The phase.
        phase: String,
        /// Whether its result is the storage's.
        verdict: Verdict,
        /// The verdict in one line.
        headline: String,
    },
    /// The run ended.
    End {
        /// Now, in ms since 1970.
        unix_ms: u64,
        /// Verdict on the run; absent where nothing ran.
        verdict: Option<Verdict>,
        /// The user interrupted it.
        interrupted: bool,
        /// Reason for which nothing ran, or the run ended early, in a sentence.
        error: Option<String>,
    },
}

/// A job in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamJob {
    /// Name.
    pub job: String,
    /// End of the interval in seconds since the phase began, ramp left out.
    pub at_s: f64,
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// Operations that completed in it.
    pub operations: Vec<StreamOp>,
}

/// An operation of a job in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StreamOp {
    /// Name, such as `read`.
    pub operation: String,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency in ns; absent where none is known.
    pub latency_ns_mean: Option<f64>,
    /// Median latency in ns; absent where none completed, and in intervals under a second.
    pub latency_ns_p50: Option<u64>,
    /// 99th percentile in ns, where ten operations lie beyond it.
    pub latency_ns_p99: Option<u64>,
    /// Greatest latency in ns; absent as the median is.
    pub latency_ns_max: Option<u64>,
}

impl StreamLine {
    /// The line of an event; none for an event that has no line. The last line is that of the
    /// report.
    pub fn of(event: &Event, candor_version: &str, unix_ms: u64) -> Option<StreamLine> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Some(match event {
            Event::RunStarted { name, phases, expected_ns } => StreamLine::Start {
                stream_version: STREAM_VERSION,
                candor_version: candor_version.to_owned(),
                unix_ms,
                name: name.clone(),
                phases: *phases,
                expected_s: expected_ns.map(seconds),
            },
            Event::PhaseStarted { phase, search_step, expected_ns, .. } => StreamLine::Phase {
                unix_ms,
                phase: phase.clone(),
                search_step: *search_step,
                expected_s: expected_ns.map(seconds),
            },
            Event::Sampled { phase, in_ramp, samples, .. } => StreamLine::Interval {
                unix_ms,
                phase: phase.clone(),
                in_ramp: *in_ramp,
                jobs: samples.iter().map(StreamJob::of).collect(),
            },
            Event::PhaseJudged { phase, verdict, headline } => StreamLine::Result {
                unix_ms,
                phase: phase.clone(),
                verdict: *verdict,
                headline: headline.clone(),
            },
            _ => return None,
        })
    }
}

impl StreamJob {
    fn of(of: &JobSample) -> StreamJob {
        let sample = &of.sample;
        let operations = sample.operations.iter().map(|op| {
            let interval = sample.interval(op);
            StreamOp {
                operation: op.name.clone(),
                ops_per_s: interval.ops_per_s.unwrap_or(0.0),
                bytes_per_s: interval.bytes_per_s.unwrap_or(0.0),
                latency_ns_mean: interval.latency_ns_mean,
                latency_ns_p50: interval.latency_ns_p50,
                latency_ns_p99: interval.latency_ns_p99,
                latency_ns_max: op.latency_ns_max,
            }
        });
        StreamJob {
            job: of.job.clone(),
            at_s: sample.at_ns as f64 / 1e9,
            length_s: sample.length_ns as f64 / 1e9,
            operations: operations.collect(),
        }
    }
}
