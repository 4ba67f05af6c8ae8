//! Facts and measurements in, findings out: pure functions, one rule per file.
//!
//! [`judge`] evaluates every rule of [`rules`] for a phase that ran, [`judge_again`] for all phases
//! of a report. A rule finds something, finds nothing, or names the facts that it lacked. A
//! finding that follows from another one joins it, so that a reader sees one cause and not its
//! five symptoms.

pub mod activity;
pub mod align;
mod bound;
mod builder;
mod case;
mod causes;
mod ceilings;
mod command;
mod coverage;
mod entry_jobs;
mod expect;
mod flow;
mod follow_ups;
mod headline;
mod integrity;
mod limit;
mod observed;
mod preflight;
mod questions;
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

use candor_record::{
    Explanation, Finding, JUDGEMENT_VERSION, Judgement, NotEvaluated, PhaseJudgement, Report,
    Verdict,
};

pub use case::Case;
pub use questions::{Question, questions};
pub use rule::RuleText;

use bound::{Bound, Kind};
use observed::Observed;
use rule::Outcome;
use stage::Stage;
use thresholds::CEILING_OVER;

/// Judges a phase that ran.
pub fn judge(case: &Case) -> PhaseJudgement {
    let observed = Observed::new(case);
    let (findings, not_evaluated) = ask_rules(&observed);
    let findings = causes::join(&observed, findings);
    let verdict = headline::verdict(&observed, &findings);
    let limited_by = limit::limited_by(&observed, &findings);
    let headline = headline::headline(&observed, verdict, &findings, limited_by.as_ref());
    let follow_ups = follow_ups::sentences(&observed);
    // What caches of the processor beat is nothing that memory allows "at most".
    let beaten = |bound: &Bound| {
        bound.kind == Kind::Memory
            && bound.ceiling.used.is_some_and(|used| used > CEILING_OVER.value)
    };
    let ceilings = ceilings::bounds(&observed).into_iter().filter(|bound| !beaten(bound));
    let ceilings = ceilings.map(|bound| bound.ceiling).collect();
    let mut judged = PhaseJudgement {
        findings,
        not_evaluated,
        ceilings,
        verdict,
        headline,
        limited_by,
        follow_ups,
    };
    judged.findings.extend(preflight::undecided(case, &judged));
    integrity::weigh(case.record, &mut judged);
    judged
}

/// Judges a report again, from what was seen.
pub fn judge_again(report: &Report) -> Judgement {
    let mut judged: Vec<Option<PhaseJudgement>> = Vec::new();
    for (index, record) in report.phases.iter().enumerate() {
        let earlier = &report.phases[..index];
        // What only chose the next step, or never began, is no result.
        let is_result = !record.search_step && !record.measurements.is_empty();
        let of = is_result.then(|| judge(&Case::new(&report.plan, record, earlier, &judged)));
        judged.push(of);
    }
    conclude(judged, report.cut_short.as_deref())
}

/// The judgement on a run whose phases were judged; `cut_short` says why it ended before its time.
pub fn conclude(phases: Vec<Option<PhaseJudgement>>, cut_short: Option<&str>) -> Judgement {
    let worst = phases.iter().flatten().max_by_key(|phase| phase.verdict);
    let verdict = worst.map_or(Verdict::NotVerifiable, |phase| phase.verdict);
    let headline = match (cut_short, worst) {
        // A run may well end for the sake of what is wrong.
        (_, Some(phase)) if verdict == Verdict::Corrupt => phase.headline.clone(),
        (Some(why), _) => format!("Cut short: {why}."),
        (None, Some(phase)) => phase.headline.clone(),
        (None, None) => "Nothing was measured.".into(),
    };
    let candor_version = env!("CARGO_PKG_VERSION").into();
    Judgement { judgement_version: JUDGEMENT_VERSION, candor_version, phases, verdict, headline }
}

/// Whether a phase moved data so fast that it matters how fast memory copies.
pub fn nears_memory(case: &Case) -> bool {
    rules::depth::memory_bandwidth::nears_memory(&Observed::new(case))
}

/// Runs every rule; where nothing was done there is nothing to judge, but perhaps a reason to tell.
fn ask_rules(observed: &Observed) -> (Vec<Finding>, Vec<NotEvaluated>) {
    let (mut findings, mut not_evaluated) = (Vec::new(), Vec::new());
    let nothing_done = observed.nothing_done();
    let applies = |rule: &&rule::Rule| !nothing_done || rule.stage == Stage::Failure;
    for rule in rules::all().filter(applies) {
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
