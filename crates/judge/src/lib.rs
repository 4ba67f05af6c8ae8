//! Judging: facts and measurements in, findings out. Pure functions, one rule per file.
//!
//! [`judge()`] evaluates every rule for a phase that ran, [`judge_again`] for all phases of a
//! stored report. A rule finds something, finds nothing, or names the facts that are missing.
//! Findings with one cause are joined, so a reader sees the cause and not its symptoms. The result
//! has a verdict, a limit, ceilings of the path and a headline. [`questions()`] names short trials
//! that would show what the counters do not.
//!
//! ```
//! let rules = candor_judge::explanations();
//! let split = rules.iter().find(|rule| rule.rule == "C1").unwrap();
//! assert_eq!(split.title, "operations are split");
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `rules` | the rules, in folders by question |
//! | `observed`, `setup`, `flow` | a phase that ran; facts before a run; work of devices |
//! | `causes`, `stage` | joining of findings, by the depth of their causes |
//! | `headline`, `limit` | verdict and headline; the limit of a result |
//! | `hosts`, [`sweep()`] | several hosts; phases that differ in one setting |
//! | [`thresholds`] | every number that decides |

pub mod activity;
pub mod align;
mod bound;
mod builder;
mod case;
mod causes;
mod ceilings;
mod changes;
mod command;
mod compression;
mod coverage;
mod direct_io;
mod entry_jobs;
mod evidence;
mod expect;
mod flow;
mod follow_ups;
mod foreign;
mod headline;
mod hits;
mod hosts;
mod integrity;
mod job_limits;
mod limit;
mod more_load;
mod object_jobs;
mod object_load;
mod observed;
mod parts;
mod preflight;
mod questions;
mod rule;
mod rules;
mod series;
mod setup;
mod shared;
mod stage;
mod sweep;
pub mod thresholds;
mod trials;
mod wanted_cache;

#[cfg(test)]
mod testcase;
#[cfg(test)]
mod tests;

use candor_derive::summary;
use candor_record::{
    Ceiling, Explanation, Finding, JUDGEMENT_VERSION, Judgement, Limit, PhaseJudgement,
    PhaseRecord, Report, Verdict,
};

pub use case::Case;
pub use questions::{Question, questions};
pub use rule::RuleText;
pub use sweep::sweep;

use observed::Observed;

/// Judges a phase that ran: where several hosts ran it, host by host.
pub fn judge(case: &Case) -> PhaseJudgement {
    if parts::are_several(case.record) { hosts::judge(case, judge_one) } else { judge_one(case) }
}

/// Judges what one host did.
fn judge_one(case: &Case) -> PhaseJudgement {
    let observed = Observed::new(case);
    let (findings, not_evaluated) = rules::evaluate(&observed);
    let findings = causes::join(&observed, findings);
    let mut findings = wanted_cache::credit(observed.phase, findings);
    causes::keep_proposals(&mut findings);
    let verdict = headline::verdict(&observed, &findings);
    let job_limits = job_limits::of(case, &findings);
    let limited_by = limit::limited_by(&observed, &findings);
    let limited_by = job_limits::together(limited_by, &job_limits);
    if matches!(limited_by, Some(Limit::PlanRate { .. })) {
        lost_nothing(&mut findings);
    }
    job_limits::keep_one(&mut findings, case.record, limited_by.as_ref(), &job_limits);
    let answered_by = wanted_cache::answered(observed.phase, &findings);
    let limits = headline::HeadlineLimits { limited_by: limited_by.as_ref(), cache: answered_by };
    let headline = headline::headline(&observed, verdict, &findings, limits);
    let follow_ups = follow_ups::sentences(&observed);
    let ceilings = unpassed(&observed);
    let mut judged = PhaseJudgement {
        findings,
        not_evaluated,
        ceilings,
        verdict,
        headline,
        limited_by,
        answered_by,
        job_limits,
        follow_ups,
        hosts: Vec::new(),
    };
    judged.findings.extend(preflight::undecided(case, &judged));
    integrity::weigh(case.record, &mut judged);
    judged
}

/// A rate that the plan sets and that was reached is not too low, whatever disturbed its latencies.
fn lost_nothing(findings: &mut [Finding]) {
    let losses = findings.iter_mut().filter_map(|finding| finding.lost_share_max.as_mut());
    losses.for_each(|loss| *loss = 0.0);
}

/// The ceilings of the path that are known before a phase is measured.
pub fn ceilings(case: &Case) -> Vec<Ceiling> {
    if parts::are_several(case.record) {
        hosts::ceilings(case)
    } else {
        unpassed(&Observed::new(case))
    }
}

fn unpassed(observed: &Observed) -> Vec<Ceiling> {
    let bounds = ceilings::bounds(observed).into_iter().filter(|bound| !bound.is_passed());
    bounds.map(|bound| bound.ceiling).collect()
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
    let sweep = sweep(&report.plan, &report.phases, &judged);
    if sweep.is_some() {
        judged = with_later(report, &judged);
    }
    Judgement { sweep, ..conclude(&report.phases, judged, report.cut_short.as_deref()) }
}

/// Judges each result once more: phases of a sweep that ran later may answer what it left open.
fn with_later(report: &Report, judged: &[Option<PhaseJudgement>]) -> Vec<Option<PhaseJudgement>> {
    let again = |(index, before): (usize, &Option<PhaseJudgement>)| {
        before.as_ref()?;
        let phases = report.phases.iter().zip(judged).skip(index + 1);
        let later = phases.filter_map(|(record, judged)| {
            judged.as_ref().filter(|judged| judged.verdict <= Verdict::Caution).map(|_| record)
        });
        let later: Vec<&PhaseRecord> = later.collect();
        let (earlier, record) = (&report.phases[..index], &report.phases[index]);
        let case = Case::new(&report.plan, record, earlier, &judged[..index]);
        Some(judge(&Case { later: &later, ..case }))
    };
    judged.iter().enumerate().map(again).collect()
}

/// The judgement on a run of these phases, which were judged, without its [`sweep`]; `cut_short`
/// says why it ended before its time.
pub fn conclude(
    records: &[PhaseRecord],
    phases: Vec<Option<PhaseJudgement>>,
    cut_short: Option<&str>,
) -> Judgement {
    let results = records.iter().zip(&phases);
    let results: Vec<_> = results.filter_map(|(record, of)| Some((record, of.as_ref()?))).collect();
    let repeats = candor_derive::repeats(&results);
    let worst = results.iter().map(|(_, judged)| judged.verdict).max();
    let verdict = worst.unwrap_or(Verdict::Unverified);
    let headline = match (cut_short, &results[..]) {
        // A run may well end for the sake of what is wrong.
        (Some(why), _) if verdict != Verdict::Corrupt => format!("Cut short: {why}."),
        (_, []) => "Nothing was measured.".into(),
        (_, [(_, judged)]) => judged.headline.clone(),
        (_, several) => summary::of_results(several, &repeats),
    };
    let candor_version = env!("CARGO_PKG_VERSION").into();
    let judgement_version = JUDGEMENT_VERSION;
    Judgement { judgement_version, candor_version, phases, verdict, headline, repeats, sweep: None }
}

/// Whether a phase moved data so fast, on one host at least, that it matters how fast memory
/// copies.
pub fn nears_memory(case: &Case) -> bool {
    let nears = |case: &Case| rules::depth::memory_bandwidth::nears_memory(&Observed::new(case));
    if parts::are_several(case.record) {
        parts::of(case).iter().any(|part| nears(&part.case(case)))
    } else {
        nears(case)
    }
}

/// Every rule with its text and its thresholds, in the order of the evidence book.
pub fn explanations() -> Vec<Explanation> {
    rules::all().map(explanation).collect()
}

fn explanation(rule: &rule::Rule) -> Explanation {
    let serves = |threshold: &&thresholds::Threshold| threshold.rules.contains(&rule.text.id);
    fn of(threshold: &thresholds::Threshold) -> candor_record::Threshold {
        candor_record::Threshold {
            name: threshold.name.into(),
            value: threshold.value,
            source: threshold.source.into(),
            reason: threshold.reason.into(),
        }
    }
    Explanation {
        rule: rule.text.id.into(),
        title: rule.text.title.into(),
        text: rule.text.explanation.into(),
        preflight: rule.before.is_some(),
        limit: rule.limit,
        causes: causes::of(rule),
        thresholds: thresholds::all().filter(serves).map(of).collect(),
    }
}
