//! Facts and measurements in, findings out: pure functions, one rule per file.
//!
//! [`judge`] evaluates every rule of [`rules`] for a phase that ran, [`preflight`] for one that is
//! about to run. A rule finds something, finds nothing, or names the facts that it lacked. A
//! finding that follows from another one joins it, so that a reader sees one cause and not its
//! five symptoms.

pub mod activity;
pub mod align;
mod builder;
mod causes;
mod ceilings;
mod command;
mod coverage;
mod entry_jobs;
mod expect;
mod flow;

mod follow_ups;
mod headline;
mod limit;
mod observed;
mod preflight;
mod rule;
mod rules;
mod series;
mod setup;
mod shared;
mod stage;
pub mod thresholds;

#[cfg(test)]
mod testcase;
#[cfg(test)]
mod tests;

use candor_plan::{Phase, Plan};
use candor_record::{
    Ceiling, Explanation, Facts, Finding, Limit, NotEvaluated, PhaseReport, Verdict,
};

pub use follow_ups::{Question, questions};
pub use preflight::{preflight, undecided};
pub use rule::RuleText;

use ceilings::{Bound, Kind};
use observed::Observed;
use rule::Outcome;
use stage::Stage;
use thresholds::CEILING_OVER;

/// A phase that ran, and everything known about it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The plan it belongs to.
    pub plan: &'a Plan,
    /// The phase as it was asked for.
    pub phase: &'a Phase,
    /// The host and the targets.
    pub facts: &'a Facts,
    /// What was measured and what the kernel counted; findings and verdict not yet filled in.
    /// Whether an eviction worked shows in the page cache of `report.before`.
    pub report: &'a PhaseReport,
    /// The phases that ran before it, in order.
    pub earlier: &'a [PhaseReport],
}

/// What a phase amounts to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Diagnoses, heaviest first.
    pub findings: Vec<Finding>,
    /// Rules that stayed silent for lack of facts.
    pub not_evaluated: Vec<NotEvaluated>,
    /// What the path to the device could carry at best.
    pub ceilings: Vec<Ceiling>,
    /// Whether the result can be believed.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// What limited it.
    pub limited_by: Option<Limit>,
    /// What each of the slices after it showed, in their order.
    pub follow_ups_reported: Vec<String>,
}

/// Judges a phase that ran.
pub fn judge(case: &Case) -> Judgement {
    let observed = Observed::new(case);
    let (findings, not_evaluated) = ask_rules(&observed);
    let findings = causes::join(&observed, findings);
    let verdict = headline::verdict(&observed, &findings);
    let limited_by = limit::limited_by(&observed, &findings);
    let headline = headline::headline(&observed, verdict, &findings, limited_by.as_ref());
    let follow_ups_reported = follow_ups::told(&observed);
    // What caches of the processor beat is nothing that memory allows "at most".
    let beaten = |bound: &Bound| {
        bound.kind == Kind::Memory
            && bound.ceiling.used.is_some_and(|used| used > CEILING_OVER.value)
    };
    let ceilings = observed.bounds.into_iter().filter(|bound| !beaten(bound));
    let ceilings = ceilings.map(|bound| bound.ceiling).collect();
    Judgement {
        findings,
        not_evaluated,
        ceilings,
        verdict,
        headline,
        limited_by,
        follow_ups_reported,
    }
}

/// Whether a phase moved data so fast that it matters how fast memory copies.
pub fn nears_memory(case: &Case) -> bool {
    rules::depth::memory_bandwidth::nears_memory(&Observed::new(case))
}

/// Runs every rule; where nothing was done there is nothing to judge, but perhaps a reason to tell.
fn ask_rules(observed: &Observed) -> (Vec<Finding>, Vec<NotEvaluated>) {
    let (mut findings, mut not_evaluated) = (Vec::new(), Vec::new());
    let nothing_done = observed.nothing_done();
    let asked = |rule: &&rule::Rule| !nothing_done || rule.stage == Stage::Failure;
    for rule in rules::all().filter(asked) {
        match rule.evaluate(observed) {
            Outcome::Nothing => {}
            Outcome::Found(found) => findings.extend(found),
            Outcome::NotEvaluated(lacked) => {
                not_evaluated.push(NotEvaluated { rule: rule.text.id.into(), lacked });
            }
        }
    }
    (findings, not_evaluated)
}

/// Every rule with its text and its thresholds, in the order of the evidence book.
pub fn explanations() -> Vec<Explanation> {
    rules::all().map(explanation).collect()
}

fn explanation(rule: &rule::Rule) -> Explanation {
    let serves = |threshold: &&thresholds::Threshold| threshold.rules.contains(&rule.text.id);
    let of = |threshold: &thresholds::Threshold| candor_record::Threshold {
        name: threshold.name.into(),
        value: threshold.value,
        source: threshold.source.into(),
        reason: threshold.reason.into(),
    };
    Explanation {
        rule: rule.text.id.into(),
        title: rule.text.title.into(),
        text: rule.text.explanation.into(),
        preflight: rule.before.is_some(),
        limit: rule.limit,
        causes: causes::of(rule),
        thresholds: thresholds::ALL.iter().filter(serves).map(of).collect(),
    }
}
