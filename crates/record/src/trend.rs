//! Trends: one figure of the same work, run after run, and the runs in which it changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::fmt;
use crate::quantity::{Quantity, Unit};
use crate::results::{Area, Condition, FigureKind, Load};

/// Version of the shape of documents about the history. Adding a field keeps it.
pub const HISTORY_VERSION: u32 = 1;

/// Blocks from here on are compared by their bytes.
const LARGE_BLOCK_BYTES: u64 = 64 << 10;

/// Runs of the history, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// [`HISTORY_VERSION`].
    pub history_version: u32,
    /// Runs in the history, whether they match or not.
    pub in_all: u64,
    /// Runs that match.
    pub matching: u64,
    /// The newest of these.
    pub runs: Vec<ListedRun>,
}

/// One run of the history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRun {
    /// Number of the run, by which commands name it.
    pub run: u64,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Tool and version.
    pub tool: String,
    /// Name of its plan or file.
    pub name: String,
    /// The command line, where it is known.
    pub command: String,
    /// Name of the host, where it is known.
    pub host: String,
    /// Paths that it worked on.
    pub targets: Vec<String>,
    /// Verdict; absent where nobody judged it.
    pub verdict: Option<Verdict>,
    /// The verdict in one line.
    pub headline: String,
    /// False where it was cut short.
    pub is_whole: bool,
    /// File that it was imported from.
    pub imported_from: Option<String>,
    /// Tags, sorted.
    pub tags: Vec<String>,
    /// Results of it; in order of phases.
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
    /// Value in the unit of the kind: the median where the phase was repeated.
    pub value: f64,
}

/// Trends of several kinds of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trends {
    /// [`HISTORY_VERSION`].
    pub history_version: u32,
    /// One per kind of work, the one with the most runs first.
    pub trends: Vec<Trend>,
    /// Kinds of work that ran once only.
    pub single: u64,
}

/// Work that is the same from run to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Tool without its version.
    pub tool: String,
    /// Name of the host, where it is known.
    pub host: String,
    /// Paths that it worked on.
    pub targets: Vec<String>,
    /// Name of the phase.
    pub phase: String,
    /// Name of the job.
    pub job: String,
    /// Load that it put on them.
    pub load: Load,
    /// Name of the operation.
    pub operation: String,
    /// Conditions that are the same in all its runs: plan, sizes, filesystem, device, limits of the
    /// control group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// One figure of the same work, oldest run first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The work.
    pub series: Series,
    /// Conditions that differ from another trend of the same work, by which a reader distinguishes
    /// the two.
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
    /// Value in the unit of the kind: the median where the phase was repeated.
    pub value: f64,
    /// Verdict on the phase; absent where nobody judged it.
    pub verdict: Option<Verdict>,
    /// False where the run was cut short.
    pub is_whole: bool,
}

/// A run in which the figure changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrendChange {
    /// The first run after the change.
    pub run: u64,
    /// Start of that run, RFC 3339 in UTC.
    pub started: String,
    /// The last run before it.
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
    /// Conditions that were others in `run` than in `run_before`.
    pub differences: Vec<Difference>,
}

/// A condition that two runs do not share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Part of the run that it belongs to.
    pub area: Area,
    /// Name.
    pub name: String,
    /// Value before; empty where the run did not have it.
    pub before: String,
    /// Value after; empty where the run did not have it.
    pub after: String,
}

impl Series {
    /// Figures by which people compare such work, the first that is reported: bytes of large
    /// blocks and of memory, operations of all others.
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
    /// Only runs that ended and can be believed, or that nobody judged, tell of a change.
    pub fn counts(&self) -> bool {
        let is_believed = self.verdict.is_none_or(|verdict| verdict <= Verdict::Caution);
        self.is_whole && is_believed && self.value > 0.0
    }
}

impl Trend {
    /// Points that do not count for changes.
    pub fn left_out(&self) -> usize {
        self.points.iter().filter(|point| !point.counts()).count()
    }

    /// The change is one to the worse.
    pub fn is_worse(&self, change: &TrendChange) -> bool {
        (change.change_share < 0.0) == self.figure.is_better_higher()
    }
}

impl FigureKind {
    /// A value of the kind as people read it, without the families of units beside each other.
    pub fn text(self, value: f64) -> String {
        match self.unit() {
            Unit::BytesPerS => fmt::rate_decimal(value),
            unit => Quantity::new(value, unit).to_string(),
        }
    }
}

/// The work in a few words: `randread 4 KiB, depth 32`.
impl std::fmt::Display for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.block_bytes.map(|bytes| fmt::size(bytes as f64));
        let access: Vec<String> = self.access.iter().cloned().chain(size).collect();
        let depth = self.depth.map(|depth| format!("depth {depth}"));
        let workers = self.workers.filter(|workers| *workers > 1);
        let workers = workers.map(|workers| format!("{workers} workers"));
        let access = Some(access.join(" ")).filter(|access| !access.is_empty());
        let held = [
            (FigureKind::OpsPerS, self.held_ops_per_s),
            (FigureKind::BytesPerS, self.held_bytes_per_s),
        ];
        let held: Vec<String> = held
            .iter()
            .filter_map(|(kind, rate)| Some(format!("held at {}", kind.text((*rate)?))))
            .collect();
        let paced = (self.is_paced && held.is_empty()).then(|| "paced".to_owned());
        let words = access.into_iter().chain(depth).chain(workers).chain(held).chain(paced);
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_reads_as_people_say_it() {
        let load = Load {
            access: Some("randread".into()),
            block_bytes: Some(4096),
            depth: Some(32),
            workers: Some(4),
            ..Load::default()
        };
        assert_eq!(load.to_string(), "randread 4 KiB, depth 32, 4 workers");
        assert_eq!(Load { workers: Some(1), ..Load::default() }.to_string(), "");
        let paced = Load { is_paced: true, depth: Some(4), ..Load::default() };
        assert_eq!(paced.to_string(), "depth 4, paced");
        let held = Load { held_ops_per_s: Some(1800.0), ..paced };
        assert_eq!(held.to_string(), "depth 4, held at 1800 IOPS");
    }

    #[test]
    fn only_runs_that_can_be_believed_tell_of_a_change() {
        let point = TrendPoint { value: 1.0, is_whole: true, ..TrendPoint::default() };
        let judged = |verdict| TrendPoint { verdict: Some(verdict), ..point.clone() };
        assert!(point.counts() && judged(Verdict::Caution).counts());
        assert!(!judged(Verdict::Wrong).counts() && !judged(Verdict::Unverified).counts());
        assert!(!TrendPoint { is_whole: false, ..point.clone() }.counts());
        assert!(!TrendPoint { value: 0.0, ..point }.counts());
    }
}
