//! Limits of several hosts together.

use candor_record::{Finding, Limit, PhaseJudgement};

use crate::case::Case;
use crate::observed::Observed;
use crate::parts;

/// The limit of the whole: that of a finding about all hosts, or the one that all hosts have. What
/// follow-ups showed on the first host counts where all have the same limit without them.
pub fn of(
    case: &Case,
    whole: &Observed,
    each: &[PhaseJudgement],
    findings: &[Finding],
    one: impl Fn(&Case) -> PhaseJudgement,
) -> Option<Limit> {
    let of_all = findings.iter().find(|finding| finding.rule == "D12");
    if let Some(limit) = of_all.and_then(|finding| finding.limits.clone()) {
        return Some(limit);
    }
    let did = whole.hosts.iter().zip(each).filter(|(on, _)| !on.observed.nothing_done());
    let mut limits: Vec<Option<Limit>> = did.map(|(_, of)| of.limited_by.clone()).collect();
    let with_follow_ups = limits.first().cloned().flatten();
    if !case.record.follow_ups.is_empty() {
        let first = parts::first(case)?.without_follow_ups();
        *limits.first_mut()? = one(&first.case(case)).limited_by;
    }
    let limits: Vec<Limit> = limits.into_iter().collect::<Option<_>>()?;
    let (first, rest) = limits.split_first()?;
    if !rest.iter().all(|other| std::mem::discriminant(other) == std::mem::discriminant(first)) {
        return None;
    }
    if case.record.follow_ups.is_empty() { Some(together(first, rest)) } else { with_follow_ups }
}

/// The limit of each job: that which all hosts have.
pub fn of_jobs(each: &[PhaseJudgement]) -> Vec<Option<Limit>> {
    let Some((first, rest)) = each.split_first() else { return Vec::new() };
    let of = |(at, limit): (usize, &Option<Limit>)| {
        limit.clone().filter(|_| {
            rest.iter().all(|judged| {
                let own =
                    judged.job_limits.get(at).and_then(Option::as_ref).map(std::mem::discriminant);
                own == limit.as_ref().map(std::mem::discriminant)
            })
        })
    };
    first.job_limits.iter().enumerate().map(of).collect()
}

/// A limit that all hosts have, with the numbers of all of them.
fn together(first: &Limit, rest: &[Limit]) -> Limit {
    rest.iter().fold(first.clone(), |sum, next| match (sum, next) {
        (
            Limit::Device { depth, in_flight, with_others, mean_latency_ns },
            Limit::Device { depth: d, in_flight: i, with_others: w, mean_latency_ns: m },
        ) => Limit::Device {
            depth: depth + d,
            in_flight: in_flight + i,
            with_others: with_others || *w,
            mean_latency_ns: (mean_latency_ns * depth + m * d) / (depth + d),
        },
        (sum, _) => sum,
    })
}
