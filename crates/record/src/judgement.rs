//! Conclusions from what was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Limit, MeasuredInstead, NotEvaluated, Repeats, Sweep, Verdict};

/// Version of the judgement's shape. Adding a field keeps it; anything else raises it.
pub const JUDGEMENT_VERSION: u32 = 2;

/// Conclusions from what was seen. A judgement can be made again from the rest of a report, at any
/// time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// [`JUDGEMENT_VERSION`].
    pub judgement_version: u32,
    /// Version of candor that judged.
    pub candor_version: String,
    /// One per phase of the report, at the same index; absent for a phase that is not judged.
    pub phases: Vec<Option<PhaseJudgement>>,
    /// The worst verdict of any phase.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// Means and spread of phases that ran several times, in the order of their first results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<Repeats>,
    /// The phases beside each other, where they differ in one or two settings only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

impl Judgement {
    /// The judgement on the phase at that index of the report.
    pub fn of(&self, index: usize) -> Option<&PhaseJudgement> {
        self.phases.get(index)?.as_ref()
    }
}

/// Conclusions from what was seen of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseJudgement {
    /// Diagnoses, heaviest first.
    pub findings: Vec<Finding>,
    /// Rules that could not be evaluated for lack of facts.
    pub not_evaluated: Vec<NotEvaluated>,
    /// Ceilings of the path to the device.
    pub ceilings: Vec<Ceiling>,
    /// Whether the result can be believed.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// Limit of the phase; absent where its jobs have limits of their own.
    pub limited_by: Option<Limit>,
    /// The cache of this host that the work wanted or allowed, and that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<MeasuredInstead>,
    /// Limit of each job, in the order of the measurements, where the phase has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_limits: Vec<Option<Limit>>,
    /// Result and cost of each follow-up of the phase, in a sentence or two.
    pub follow_ups: Vec<String>,
    /// Judgement on each host that was not lost, where several ran the phase.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostJudgement>,
}

/// Conclusions on what one of several hosts did of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostJudgement {
    /// Name of the host.
    pub host: String,
    /// Whether its part of the result can be believed.
    pub verdict: Verdict,
    /// Limit of that host.
    pub limited_by: Option<Limit>,
}

impl PhaseJudgement {
    /// The rules that found something, in the order of the findings.
    pub fn rules(&self) -> Vec<&str> {
        self.findings.iter().map(|finding| finding.rule.as_str()).collect()
    }

    /// The limit, in words.
    pub fn limit(&self) -> Option<String> {
        self.limited_by.as_ref().map(Limit::to_string)
    }

    /// A rule found something, be it as the consequence of another one.
    pub fn tells(&self, rule: &str) -> bool {
        let follows = |finding: &Finding| finding.consequences.iter().any(|c| c.rule == rule);
        self.findings.iter().any(|finding| finding.rule == rule || follows(finding))
    }

    /// The finding of a rule.
    pub fn finding(&self, rule: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.rule == rule)
    }
}

/// The most that one element of the path can carry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
