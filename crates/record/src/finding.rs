//! Findings, notes and verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::{Limit, MeasuredInstead};
use crate::{Quantity, Unit, Value, fmt};

/// One diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule that found it, such as `A1`.
    pub rule: String,
    /// The rule's title, of five words or fewer.
    pub title: String,
    /// Meaning for the result.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// The moment or time within the phase at which it came about; absent where it is one of the
    /// whole phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<TimeRange>,
    /// The job it concerns; absent for the phase as a whole.
    pub job: Option<String>,
    /// The limit of the result, where the finding names one.
    pub limits: Option<Limit>,
    /// Object that was measured instead of the target, where that is so.
    pub measures: Option<MeasuredInstead>,
    /// One or two sentences for the user, with the numbers.
    pub sentence: String,
    /// Share of the undisturbed rate that the effect took at most, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_share_max: Option<f64>,
    /// The numbers it rests on.
    pub evidence: Vec<Evidence>,
    /// Findings that follow from it, or explain it, and say no more than it does.
    pub consequences: Vec<Consequence>,
    /// Advice, in a sentence.
    pub advice: String,
    /// Settings that try it: the run as given, with these changes.
    #[serde(default)]
    pub changes: Vec<Setting>,
    /// The run as given with these changes, as a command line; absent where there is nothing to
    /// change, or no command can say it, or it would be refused.
    pub next: Option<String>,
}

/// A moment of a phase, or a time from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeRange {
    /// Beginning in ns since the release of the barrier (after the ramp).
    pub from_ns: u64,
    /// End in ns since then; absent for a moment.
    pub until_ns: Option<u64>,
}

/// One setting of a run, changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Path of a key of the plan, such as `phase[0].job[0].work.blocks.depth`, or with its dashes
    /// an option of `candor run`.
    pub key: String,
    /// Value, as `--set` takes it.
    pub value: String,
}

/// Meaning of a finding for the result. Ordered from light to heavy.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Names what limits or shapes the result; takes nothing from it.
    Explains,
    /// The number is the storage's, but was disturbed, or holds under a condition.
    #[serde(alias = "remark")]
    Caution,
    /// No counter of the kernel can confirm the number.
    #[serde(alias = "not_verifiable")]
    Unverified,
    /// The number is not the storage's.
    #[serde(alias = "measures_else")]
    Wrong,
}

impl Severity {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Explains => "explains",
            Severity::Caution => "caution",
            Severity::Unverified => "unverified",
            Severity::Wrong => "wrong",
        }
    }
}

/// How sure a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Fits, but other causes would show the same.
    Possible,
    /// Other causes would be unusual.
    Likely,
    /// The counters leave no other reading.
    Certain,
}

/// A number that a finding rests on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Name of the quantity.
    pub quantity: String,
    /// Value.
    pub value: Value,
    /// Unit of the value.
    pub unit: Unit,
    /// File or counter from which it was read.
    pub source: String,
}

impl Evidence {
    /// A quantity, and where it was read.
    pub fn new(
        quantity: impl Into<String>,
        value: impl Into<Quantity>,
        source: impl Into<String>,
    ) -> Evidence {
        let Quantity { value, unit } = value.into();
        Evidence { quantity: quantity.into(), value, unit, source: source.into() }
    }

    /// The value as people read it, with its unit.
    pub fn text(&self) -> String {
        fmt::value(&self.value, self.unit)
    }
}

/// A finding that another one took in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Consequence {
    /// The rule that found it.
    pub rule: String,
    /// The rule's title.
    pub title: String,
    /// Sentence.
    pub sentence: String,
    /// Not what follows from the cause, but why it came about.
    pub is_reason: bool,
}

/// A rule that could not be evaluated for lack of facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotEvaluated {
    /// The rule.
    pub rule: String,
    /// Facts that it lacked.
    pub lacked: String,
}

/// Whether a result is the storage's number. Ordered from best to worst.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The storage's number, or a cache's where the plan wants the cache.
    #[default]
    #[serde(alias = "believable")]
    Ok,
    /// The storage's number, but disturbed, or under a condition that the findings name.
    #[serde(alias = "with_remarks")]
    Caution,
    /// No counter of the kernel can confirm it.
    #[serde(alias = "not_verifiable")]
    Unverified,
    /// Not the storage's number.
    #[serde(alias = "measures_else")]
    Wrong,
    /// Data read differs from the data written.
    Corrupt,
}

impl Verdict {
    /// All, from best to worst.
    pub const ALL: [Verdict; 5] =
        [Verdict::Ok, Verdict::Caution, Verdict::Unverified, Verdict::Wrong, Verdict::Corrupt];

    /// The word for it in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Caution => "caution",
            Verdict::Unverified => "unverified",
            Verdict::Wrong => "wrong",
            Verdict::Corrupt => "corrupt",
        }
    }

    /// The number is the storage's.
    pub fn is_trusted(self) -> bool {
        self <= Verdict::Caution
    }

    /// The verdict in words.
    pub fn label(self) -> &'static str {
        match self {
            Verdict::Ok => "The storage's number",
            Verdict::Caution => "The storage's number, with caution",
            Verdict::Unverified => "Cannot be verified",
            Verdict::Wrong => "Not the storage's number",
            Verdict::Corrupt => "Corrupt data",
        }
    }

    /// The verdict of a set of findings. Corruption is found by verifying, not by a rule.
    pub fn of(findings: &[Finding]) -> Verdict {
        match findings.iter().map(|finding| finding.severity).max() {
            None | Some(Severity::Explains) => Verdict::Ok,
            Some(Severity::Caution) => Verdict::Caution,
            Some(Severity::Unverified) => Verdict::Unverified,
            Some(Severity::Wrong) => Verdict::Wrong,
        }
    }
}

/// Share of the undisturbed rate that all cautions together took at most; absent without any, and
/// where one of them has no such share.
pub fn lost_share_max(findings: &[Finding]) -> Option<f64> {
    let mut cautions = findings.iter().filter(|f| f.severity == Severity::Caution).peekable();
    cautions.peek()?;
    let left: Option<f64> = cautions.map(|f| f.lost_share_max.map(|lost| 1.0 - lost)).product();
    left.map(|left| 1.0 - left)
}

/// A place where what ran is not exactly what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// The request.
    pub asked: String,
    /// The setting or action instead.
    pub did: String,
    /// Why.
    pub why: String,
    /// Where in the user's text, as `file:line:column`, where there is such a place.
    pub place: Option<String>,
}
