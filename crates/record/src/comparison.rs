//! A comparison of runs with the first of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::results::{Area, FigureKind};

/// Version of the comparison's shape. Adding a field keeps it; anything else raises it.
pub const COMPARISON_VERSION: u32 = 1;

/// Runs beside the first of them, the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// [`COMPARISON_VERSION`].
    pub comparison_version: u32,
    /// Version of candor that compared.
    pub candor_version: String,
    /// The result in a sentence or two.
    pub headline: String,
    /// Confidence of every interval, and of all that is called real of one run together.
    pub confidence: f64,
    /// The runs in the order in which they were given; the first is the baseline.
    pub runs: Vec<ComparedRun>,
    /// Each other run beside the baseline.
    pub changes: Vec<RunChange>,
    /// Results of the conditions under which the comparison fails, where some were given.
    pub checks: Vec<Check>,
}

/// One of the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRun {
    /// The letter by which sentences name it: the baseline is `A`.
    pub label: String,
    /// Path from which it was read.
    pub source: String,
    /// Name of the run.
    pub name: String,
    /// Tool and version.
    pub tool: String,
    /// Start, RFC 3339 in UTC, where it is known.
    pub started: Option<String>,
    /// Verdict; absent where nobody judged it.
    pub verdict: Option<Verdict>,
    /// The verdict in one line; empty where nobody judged it.
    pub headline: String,
}

/// One run beside the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunChange {
    /// Label of the run.
    pub run: String,
    /// The result in a sentence or two.
    pub headline: String,
    /// Whether a change is one of the storage.
    pub fairness: Fairness,
    /// Conditions that differ, those that matter first.
    pub differences: Vec<Difference>,
    /// Reasons for not believing results of either, or for not setting them beside each other, each
    /// in a sentence.
    pub doubts: Vec<Doubt>,
    /// Results without a partner in the other run, each with the run that has it: `A: WRITE`.
    pub unmatched: Vec<String>,
    /// The figures that both have.
    pub figures: Vec<FigureChange>,
}

/// Whether a change of a figure is one of what was measured, and of nothing else.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Fairness {
    /// The same work under the same conditions, as far as these are known, or differing only in
    /// what the comparison is about.
    #[default]
    Fair,
    /// The same work in another environment.
    OtherEnvironment,
    /// Other work.
    OtherWork,
}

/// A condition that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Part of the run that it belongs to.
    pub area: Area,
    /// Name, with the job where that is needed to tell.
    pub name: String,
    /// Value in the baseline; absent where it has none.
    pub baseline: Option<String>,
    /// Value in the other run; absent where it has none.
    pub run: Option<String>,
    /// Results under another value answer another question.
    pub matters: bool,
    /// The comparison is about it, as whoever compares said.
    pub intended: bool,
}

/// A reason for not taking a change at its word.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Doubt {
    /// Label of the run that it concerns.
    pub run: String,
    /// Phase of the baseline that it concerns.
    pub phase: String,
    /// The reason, in a sentence.
    pub sentence: String,
    /// Results of the phase cannot be believed.
    pub unbelieved: bool,
}

/// A figure beside that of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureChange {
    /// Phase of the baseline.
    pub phase: String,
    /// Job of the baseline.
    pub job: String,
    /// Operation.
    pub operation: String,
    /// The figure.
    pub kind: FigureKind,
    /// Value in the baseline, the mean where it was repeated, in the unit of the kind.
    pub baseline: f64,
    /// Value in the other run.
    pub run: f64,
    /// Change as a share of the baseline: -0.03 is three percent less.
    pub change: f64,
    /// Interval of the change, with the comparison's confidence in this figure alone; absent where
    /// nothing shows how far the figure varies.
    pub interval: Option<ChangeInterval>,
    /// Probability of a change as large as this one where there is none; absent as above.
    pub p_value: Option<f64>,
    /// The same, corrected for the number of figures that were looked at (Holm).
    pub p_value_corrected: Option<f64>,
    /// Where the knowledge comes from of how far the figure varies.
    pub basis: Basis,
    /// The conclusion.
    pub outcome: Outcome,
    /// A result that the change rests on cannot be believed.
    pub unbelieved: bool,
}

/// Ends of an interval, as shares of the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Where the knowledge comes from of how far a figure varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Repeats of the phase.
    Repeats {
        /// Repeats of the baseline.
        baseline: u32,
        /// Repeats of the other run.
        run: u32,
    },
    /// Intervals within a run of each, and an assumption about how far runs differ.
    Intervals {
        /// Intervals of the baseline.
        baseline: u32,
        /// Intervals of the other run.
        run: u32,
    },
    /// The plan's rate, which both jobs kept: the figure is the plan's.
    Rate,
    /// Nothing, for a reason in a sentence.
    Nothing {
        /// The reason.
        why: String,
    },
}

/// Conclusion on a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A change to the better.
    Better,
    /// A change to the worse.
    Worse,
    /// Perhaps a change: by itself it would count, among so many figures it does not.
    Suspected,
    /// No change was shown; the interval says how large one could be.
    #[default]
    NotShown,
    /// Nobody can say.
    Unknown,
}

impl Outcome {
    /// A change was shown.
    pub fn is_change(self) -> bool {
        matches!(self, Outcome::Better | Outcome::Worse)
    }
}

/// A condition under which the comparison fails, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The condition, such as `iops < -5%`.
    pub condition: String,
    /// Label of the run that was looked at.
    pub run: String,
    /// Result.
    pub result: CheckResult,
    /// The reason, in a sentence.
    pub sentence: String,
}

/// Result of a check, from the least to the most severe.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// No change reaches so far.
    #[default]
    Passed,
    /// A change could reach so far, and was not shown.
    Undecided,
    /// A change was shown, and reaches so far.
    Failed,
}

impl Comparison {
    /// The most severe result of the checks.
    pub fn checked(&self) -> CheckResult {
        self.checks.iter().map(|check| check.result).max().unwrap_or_default()
    }
}

impl RunChange {
    /// The differences that make it unfair.
    pub fn unfair(&self) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(|difference| difference.matters && !difference.intended)
    }
}

impl FigureChange {
    /// The greatest change that the figure may hide or have: the end of its interval that is
    /// farther from zero.
    pub fn reach(&self) -> Option<f64> {
        self.interval.map(|of| if of.low.abs() > of.high.abs() { of.low } else { of.high })
    }
}
