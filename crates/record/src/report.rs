//! The report: the one document that renderers read.

use candor_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::requests::RequestStats;
use crate::{Facts, Finding, Limit, Measurement, NotEvaluated, Note, Slice, Snapshot, Verdict};

/// Version of the report's shape. Adding a field keeps it; anything else raises it.
pub const REPORT_VERSION: u32 = 1;

/// Everything about a run: measurements, facts, findings, notes, and the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`REPORT_VERSION`].
    pub report_version: u32,
    /// Version of candor that wrote it.
    pub candor_version: String,
    /// When the run started, RFC 3339 in UTC.
    pub started: String,
    /// Its length in seconds, preparation included.
    pub elapsed_s: f64,
    /// The command line.
    pub command: Vec<String>,
    /// What ran; `candor run` on it repeats the run exactly.
    pub plan: Plan,
    /// What the host is.
    pub facts: Facts,
    /// One per phase that ran, in order; repeats are entries of their own.
    pub phases: Vec<PhaseReport>,
    /// Places where what ran is not exactly what was asked.
    pub notes: Vec<Note>,
    /// The worst verdict of any phase.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// What ended the run before its time, in a sentence; absent where it ran to its end.
    pub cut_short: Option<String>,
    /// The user interrupted it.
    pub interrupted: bool,
}

/// One phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// Its name.
    pub name: String,
    /// Its place in the plan's list of phases, from 0.
    pub plan_phase: usize,
    /// Which repeat it was, from 0.
    pub repeat: u32,
    /// A short slice that only served to choose the next step; it is not judged.
    #[serde(default)]
    pub probe: bool,
    /// One per job, in the plan's order.
    pub measurements: Vec<Measurement>,
    /// The kernel's counters when the barrier was released (after the ramp).
    pub before: Snapshot,
    /// When the last operation had completed.
    pub after: Snapshot,
    /// After the final flush, where there was one.
    pub after_flush: Option<Snapshot>,
    /// Every second in between.
    pub during: Vec<Snapshot>,
    /// What the block layer did, request by request, where that may be seen.
    #[serde(default)]
    pub requests: Option<RequestStats>,
    /// Traffic of others on the devices in the idle moment before the phase.
    pub idle: Option<IdleWindow>,
    /// Short slices of other work after it, where it could not tell by itself what limited it.
    #[serde(default)]
    pub slices: Vec<Slice>,
    /// How fast memory copies, measured after a phase that moved so many bytes that this may
    /// have been its limit.
    #[serde(default)]
    pub memory_copy: Option<MemoryCopy>,
    /// What the path to the device could carry at best.
    pub ceilings: Vec<Ceiling>,
    /// Diagnoses, heaviest first.
    pub findings: Vec<Finding>,
    /// Rules that could not be evaluated for lack of facts.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Whether it can be believed.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// What limited it.
    pub limited_by: Option<Limit>,
}

/// Two snapshots around a moment in which candor did nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleWindow {
    /// Its beginning.
    pub before: Snapshot,
    /// Its end.
    pub after: Snapshot,
}

/// A short pass of copying from memory to memory, on all CPUs that the run may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryCopy {
    /// Bytes copied per second, by all threads together; each was read once and written once.
    pub bytes_per_s: f64,
    /// Number of threads.
    pub threads: u32,
    /// Buffers of all threads, sources and destinations, in bytes.
    pub buffer_bytes: u64,
    /// What it took, in seconds: making the buffers, copying.
    pub cost_s: f64,
}

/// What one element of the path can carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ceiling {
    /// The element: a link, a device, a limit.
    pub element: String,
    /// Bytes per second, where it is bounded in bytes.
    pub bytes_per_s: Option<f64>,
    /// Operations per second, where it is bounded in operations.
    pub ops_per_s: Option<f64>,
    /// How the number comes about.
    pub arithmetic: String,
    /// Measured ÷ ceiling, where the phase has a measurement; the nearer to 1, the likelier the
    /// limit. Above 1.02 the ceiling is wrong or the data did not pass it.
    pub used: Option<f64>,
}
