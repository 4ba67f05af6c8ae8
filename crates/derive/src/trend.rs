//! Documents about the history: lists of runs, and trends of one figure of the same work.

use candor_record::Verdict;
use candor_record::results::{Area, Condition, FigureKind, Load};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the shape of documents about the history. Adding a field keeps it.
pub const HISTORY_VERSION: u32 = 1;

/// Least block size whose results are compared by bandwidth.
const LARGE_BLOCK_BYTES: u64 = 64 << 10;

/// Runs of the history, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// [`HISTORY_VERSION`].
    pub history_version: u32,
    /// Number of runs in the history.
    pub in_all: u64,
    /// Number of runs that match.
    pub matching: u64,
    /// The newest matching runs.
    pub runs: Vec<ListedRun>,
}

/// One run of the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRun {
    /// Number of the run.
    pub run: u64,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Tool and version.
    pub tool: String,
    /// Name of the plan or file.
    pub name: String,
    /// The command line, if known.
    pub command: String,
    /// Name of the host, if known.
    pub host: String,
    /// Paths of the targets.
    pub targets: Vec<String>,
    /// Verdict; absent if the run was not judged.
    pub verdict: Option<Verdict>,
    /// The verdict in one line.
    pub headline: String,
    /// False if the run was interrupted.
    pub is_whole: bool,
    /// Source file of an import.
    pub imported_from: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Results in order of phases.
    pub results: Vec<ListedResult>,
}

/// One figure of a run of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedResult {
    /// Name of the phase.
    pub phase: String,
    /// Name of the operation.
    pub operation: String,
    /// Kind of the figure.
    pub figure: FigureKind,
    /// Value in the unit of the kind; the median of repeats.
    pub value: f64,
}

/// Trends of several kinds of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trends {
    /// [`HISTORY_VERSION`].
    pub history_version: u32,
    /// One per kind of work, the one with the most runs first.
    pub trends: Vec<Trend>,
    /// Number of kinds of work with one run.
    pub single: u64,
}

/// Work that is the same from run to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Tool without its version.
    pub tool: String,
    /// Name of the host, if known.
    pub host: String,
    /// Paths of the targets.
    pub targets: Vec<String>,
    /// Name of the phase.
    pub phase: String,
    /// Name of the job.
    pub job: String,
    /// Load on the targets.
    pub load: Load,
    /// Name of the operation.
    pub operation: String,
    /// Conditions that are the same in all runs: plan, sizes, filesystem, device, limits of the
    /// control group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// One figure of the same work, oldest run first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The work.
    pub series: Series,
    /// Conditions that differ from another trend of the same work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Condition>,
    /// Kind of the figure.
    pub figure: FigureKind,
    /// One per run.
    pub points: Vec<TrendPoint>,
    /// Median of the points that count since the last change.
    pub level: Option<f64>,
    /// Noise from run to run as a share of the value: one robust standard deviation.
    pub noise_share: Option<f64>,
    /// Runs in which the figure changed, oldest first.
    pub changes: Vec<TrendChange>,
}

/// The figure in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendPoint {
    /// Number of the run.
    pub run: u64,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Start in ms since 1970.
    pub start_unix_ms: i64,
    /// Value in the unit of the kind; the median of repeats.
    pub value: f64,
    /// Verdict on the phase; absent if the run was not judged.
    pub verdict: Option<Verdict>,
    /// False if the run was interrupted.
    pub is_whole: bool,
}

/// A run in which the figure changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendChange {
    /// The first run after the change.
    pub run: u64,
    /// Start of that run, RFC 3339 in UTC.
    pub started: String,
    /// The last run before the change.
    pub run_before: u64,
    /// Median of the runs before, back to the change before this one.
    pub before: f64,
    /// Median of the runs after, up to the next change.
    pub after: f64,
    /// Change as a share of the value before.
    pub change_share: f64,
    /// Number of runs before.
    pub runs_before: u64,
    /// Number of runs after.
    pub runs_after: u64,
    /// Conditions that differ between `run_before` and `run`.
    pub differences: Vec<Difference>,
}

/// A condition that two runs do not share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Part of the run.
    pub area: Area,
    /// Name.
    pub name: String,
    /// Value before; empty if the run did not have the condition.
    pub before: String,
    /// Value after; empty if the run did not have the condition.
    pub after: String,
}

impl Series {
    /// Usual figures of the work, in order of preference: bandwidth for large blocks and memory,
    /// operations per second otherwise.
    pub fn usual_figures(&self) -> [FigureKind; 2] {
        let is_large = self.load.block_bytes.is_some_and(|bytes| bytes >= LARGE_BLOCK_BYTES);
        if is_large || self.load.access.is_none() {
            [FigureKind::BytesPerS, FigureKind::OpsPerS]
        } else {
            [FigureKind::OpsPerS, FigureKind::BytesPerS]
        }
    }
}

impl TrendPoint {
    /// Whether the run may show a change: it ended, and its verdict is ok or caution, or absent.
    pub fn counts(&self) -> bool {
        let is_believed = self.verdict.is_none_or(|verdict| verdict <= Verdict::Caution);
        self.is_whole && is_believed && self.value > 0.0
    }
}

impl Trend {
    /// Number of points that do not count for changes.
    pub fn left_out(&self) -> usize {
        self.points.iter().filter(|point| !point.counts()).count()
    }

    /// Whether the figure became worse.
    pub fn is_worse(&self, change: &TrendChange) -> bool {
        (change.change_share < 0.0) == self.figure.is_better_higher()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_runs_show_a_change() {
        let point = TrendPoint { value: 1.0, is_whole: true, ..TrendPoint::default() };
        let judged = |verdict| TrendPoint { verdict: Some(verdict), ..point.clone() };
        assert!(point.counts() && judged(Verdict::Caution).counts());
        assert!(!judged(Verdict::Wrong).counts() && !judged(Verdict::Unverified).counts());
        assert!(!TrendPoint { is_whole: false, ..point.clone() }.counts());
        assert!(!TrendPoint { value: 0.0, ..point }.counts());
    }
}
