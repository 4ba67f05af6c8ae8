//! A phase that several hosts ran: each host judged as a phase of its own, and the results joined.
//!
//! A finding that hosts share is told once, with their names. What only shows where hosts stand
//! side by side is found by rules about all of them, which take in what they explain on a host.

mod ceilings;
mod findings;
mod limits;

use candor_record::{Ceiling, HostJudgement, NotEvaluated, PhaseJudgement, Verdict};

use crate::bound::Bound;
use crate::case::Case;
use crate::observed::Observed;
use crate::parts::{self, Part};
use crate::{causes, follow_ups, headline, integrity, job_limits, rules, wanted_cache};

/// Judges a phase of several hosts; `one` judges a phase of one.
pub fn judge(case: &Case, one: impl Fn(&Case) -> PhaseJudgement) -> PhaseJudgement {
    let parts = parts::of(case);
    let each: Vec<PhaseJudgement> = parts.iter().map(|part| one(&part.case(case))).collect();
    let whole = Observed::of_hosts(case, &parts);
    let (across, mut not_evaluated) = rules::evaluate(&whole);
    let across = wanted_cache::credit(whole.phase, causes::join(&whole, across));
    let mut findings = findings::joined(&whole, &each, across);
    not_evaluated.extend(lacking(&whole, &each));
    let job_limits = limits::of_jobs(&each);
    let limited_by = limits::of(case, &whole, &each, &findings, &one);
    let limited_by = job_limits::together(limited_by, &job_limits);
    job_limits::keep_one(&mut findings, case.record, limited_by.as_ref(), &job_limits);
    let answered_by = wanted_cache::answered(whole.phase, &findings)
        .filter(|cache| each.iter().all(|judged| judged.answered_by == Some(*cache)));
    let verdict = verdict(&whole, &each, headline::verdict(&whole, &findings));
    let limits = headline::HeadlineLimits { limited_by: limited_by.as_ref(), cache: answered_by };
    let headline = headline::headline(&whole, verdict, &findings, limits);
    let mut judged = PhaseJudgement {
        hosts: of_hosts(case, &parts, &each),
        follow_ups: follow_ups::sentences(&whole),
        ceilings: bounds(case, &parts).into_iter().map(|bound| bound.ceiling).collect(),
        findings,
        not_evaluated,
        verdict,
        headline,
        limited_by,
        answered_by,
        job_limits,
    };
    integrity::weigh(case.record, &mut judged);
    judged
}

/// The ceilings of all hosts together.
pub fn ceilings(case: &Case) -> Vec<Ceiling> {
    bounds(case, &parts::of(case)).into_iter().map(|bound| bound.ceiling).collect()
}

fn bounds(case: &Case, parts: &[Part]) -> Vec<Bound> {
    let whole = Observed::of_hosts(case, parts);
    let bounds = ceilings::together(&whole).into_iter();
    bounds.filter(|bound| !bound.is_passed()).collect()
}

/// The verdict of the findings, and no better than that of any host which did something.
fn verdict(whole: &Observed, each: &[PhaseJudgement], of_findings: Verdict) -> Verdict {
    let did = whole.hosts.iter().zip(each).filter(|(on, _)| !on.observed.nothing_done());
    let worst = did.map(|(_, judged)| judged.verdict).max().unwrap_or_default();
    // A cache that all wanted is credited on each host, and corruption said by the whole.
    of_findings.max(worst)
}

/// The judgement on each host that was not lost.
fn of_hosts(case: &Case, parts: &[Part], each: &[PhaseJudgement]) -> Vec<HostJudgement> {
    let names = case.record.host_names();
    let of = |(part, judged): (&Part, &PhaseJudgement)| -> Vec<(usize, HostJudgement)> {
        let one = |at: &usize| {
            let (verdict, limited_by) = (judged.verdict, judged.limited_by.clone());
            (*at, HostJudgement { host: names[*at].clone(), verdict, limited_by })
        };
        part.hosts.iter().map(one).collect()
    };
    let mut all: Vec<(usize, HostJudgement)> = parts.iter().zip(each).flat_map(of).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, judged)| judged).collect()
}

/// Rules that lacked facts on hosts, each once; one that lacked them on some hosts names these.
fn lacking(whole: &Observed, each: &[PhaseJudgement]) -> Vec<NotEvaluated> {
    let mut all: Vec<(NotEvaluated, Vec<&str>)> = Vec::new();
    for (on, judged) in whole.hosts.iter().zip(each) {
        for lacked in judged.not_evaluated.iter().filter(|of| !rules::is_across(&of.rule)) {
            match all.iter_mut().find(|(known, _)| known == lacked) {
                Some((_, hosts)) => hosts.push(&on.name),
                None => all.push((lacked.clone(), vec![&on.name])),
            }
        }
    }
    all.into_iter()
        .map(|(of, hosts)| {
            if hosts.len() == each.len() {
                of
            } else {
                let lacked = format!("{}, on {}", of.lacked, parts::listed(&hosts));
                NotEvaluated { lacked, ..of }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
