//! Findings, notes and verdicts.

use serde::{Deserialize, Serialize};

/// A rule of the catalogue, such as `A1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct RuleId(pub &'static str);

impl std::fmt::Display for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// One diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that found it, such as `A1`.
    pub rule: String,
    /// What it means for the result.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// The job it concerns; absent for the phase as a whole.
    pub job: Option<String>,
    /// What limits the result, in a few words, where this is the limit.
    pub limits: Option<String>,
    /// What was measured instead, in a few words, where that is so: `the page cache`.
    pub measures: Option<String>,
    /// One or two sentences for the user, with the numbers.
    pub sentence: String,
    /// The numbers it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do, in a sentence.
    pub advice: String,
    /// A command that tries it.
    pub next: Option<String>,
}

/// What a finding means for the result. Ordered from light to heavy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Names what limits or shapes the result; takes nothing from it.
    Explains,
    /// The result stands, with this said beside it.
    Remark,
    /// Linux cannot vouch for the result here.
    NotVerifiable,
    /// The number is that of something else.
    MeasuresElse,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What it is.
    pub what: String,
    /// Its value with its unit, for people.
    pub value: String,
    /// Where it was read.
    pub from: String,
}

impl Evidence {
    /// A number, and where it was read.
    pub fn new(
        what: impl Into<String>,
        value: impl Into<String>,
        from: impl Into<String>,
    ) -> Evidence {
        Evidence { what: what.into(), value: value.into(), from: from.into() }
    }
}

/// A rule that could not be evaluated for lack of facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotEvaluated {
    /// The rule.
    pub rule: String,
    /// What it lacked.
    pub lacked: String,
}

/// Whether a result can be believed. Ordered from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    #[default]
    Believable,
    /// Yes, with what the findings say beside it.
    WithRemarks,
    /// Linux cannot vouch for it here.
    NotVerifiable,
    /// No: it measures something else.
    MeasuresElse,
}

impl Verdict {
    /// The verdict that a set of findings amounts to.
    pub fn of(findings: &[Finding]) -> Verdict {
        match findings.iter().map(|finding| finding.severity).max() {
            None | Some(Severity::Explains) => Verdict::Believable,
            Some(Severity::Remark) => Verdict::WithRemarks,
            Some(Severity::NotVerifiable) => Verdict::NotVerifiable,
            Some(Severity::MeasuresElse) => Verdict::MeasuresElse,
        }
    }
}

/// A place where what ran is not exactly what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What was asked.
    pub asked: String,
    /// What was done.
    pub did: String,
    /// Why.
    pub why: String,
    /// Where in the user's text, as `file:line:column`, where there is such a place.
    pub place: Option<String>,
}
