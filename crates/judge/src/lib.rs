//! Facts and measurements in, findings out: pure functions, one rule per file.
//!
//! [`judge`] looks at a phase that ran, [`ahead`] at one that is about to. Both run every rule of
//! [`rules`] over what is known; a rule finds something, finds nothing, or says which facts it
//! lacked. What follows from another finding is folded into it, so that a reader sees one cause
//! and not its five symptoms.

pub mod activity;
mod ahead;
pub mod align;
mod ceilings;
mod command;
mod coverage;
mod draft;
mod expect;
mod flow;
mod fmt;
mod fold;
mod ground;
mod headline;
mod limit;
mod names;
mod rule;
mod rules;
mod series;
mod shared;
mod slices;
pub mod thresholds;
mod view;

#[cfg(test)]
mod testcase;
#[cfg(test)]
mod tests;

use candor_plan::{Phase, Plan};
use candor_record::{Ceiling, Explanation, Facts, Finding, PhaseReport, Silence, Verdict};

pub use ahead::{ahead, undecided};
pub use rule::RuleText;
pub use slices::{Question, questions};

use ceilings::{Bound, Kind};
use rule::Outcome;
use thresholds::CEILING_OVER;
use view::View;

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
    pub silent: Vec<Silence>,
    /// What the path to the device could carry at best.
    pub ceilings: Vec<Ceiling>,
    /// Whether the result can be believed.
    pub verdict: Verdict,
    /// The verdict in one line.
    pub headline: String,
    /// What limited it, in a few words.
    pub limited_by: Option<String>,
    /// What each of the slices after it showed, in their order.
    pub slices_told: Vec<String>,
}

/// Judges a phase that ran.
pub fn judge(case: &Case) -> Judgement {
    let view = View::new(case);
    let (findings, silent) = ask_rules(&view);
    let findings = fold::fold(&view, findings);
    let verdict = headline::verdict(&view, &findings);
    let limited_by = limit::limited_by(&view, &findings);
    let headline = headline::headline(&view, verdict, &findings, limited_by.as_deref());
    let slices_told = slices::told(&view);
    // What caches of the processor beat is nothing that memory allows "at most".
    let beaten = |bound: &Bound| {
        bound.kind == Kind::Memory
            && bound.ceiling.used.is_some_and(|used| used > CEILING_OVER.value)
    };
    let ceilings = view.bounds.into_iter().filter(|bound| !beaten(bound));
    let ceilings = ceilings.map(|bound| bound.ceiling).collect();
    Judgement { findings, silent, ceilings, verdict, headline, limited_by, slices_told }
}

/// Whether a phase moved data so fast that it matters how fast memory copies.
pub fn nears_memory(case: &Case) -> bool {
    rules::b15::nears_memory(&View::new(case))
}

/// Rules that may know why nothing was done.
const OF_FAILURES: &[&str] = &["F12", "F14"];

/// Runs every rule; where nothing was done there is nothing to judge, but perhaps a reason to tell.
fn ask_rules(view: &View) -> (Vec<Finding>, Vec<Silence>) {
    let (mut findings, mut silent) = (Vec::new(), Vec::new());
    let nothing_done = view.nothing_done();
    let asked = |rule: &&rule::Rule| !nothing_done || OF_FAILURES.contains(&rule.text.id);
    for rule in rules::RULES.iter().filter(asked) {
        match (rule.after)(view) {
            Outcome::Nothing => {}
            Outcome::Found(found) => findings.extend(found),
            Outcome::Silent(lacked) => {
                silent.push(Silence { rule: rule.text.id.into(), lacked });
            }
        }
    }
    (findings, silent)
}

/// Every rule with its text and its thresholds, in the order of the evidence book.
pub fn explanations() -> Vec<Explanation> {
    rules::RULES.iter().map(explanation).collect()
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
        ahead: rule.before.is_some(),
        thresholds: thresholds::ALL.iter().filter(serves).map(of).collect(),
    }
}
