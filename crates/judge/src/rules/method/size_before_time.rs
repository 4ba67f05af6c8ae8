//! G21: the work of a job ended before its time.

use candor_record::fmt;
use candor_record::{Confidence, Ended, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{ENDED_EARLY, USABLE_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G21",
        title: "size reached before the time",
        explanation: "A job with a size and a time ends at the first of the two. A job that \
            reaches its size after a tenth of its time measures only this tenth, and the requested \
            time does not describe the result. candor compares the length of a job that did all \
            its work with its time limit and reports a length below nine tenths. The job must be \
            short, and its plan must have no other end: with a number of operations or of bytes as \
            the end, the time is only a bound. Repeat the work until the time ends (in fio: \
            time_based), or set a larger size.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

/// A job that did all its work, with its length and its time limit in ns.
struct Early<'a> {
    ran: &'a Ran<'a>,
    length: f64,
    limit: f64,
}

fn after(observed: &Observed) -> Outcome {
    let early: Vec<_> = observed.ran.iter().filter_map(early).collect();
    let last = early.iter().max_by(|one, other| one.length.total_cmp(&other.length));
    last.map_or(Outcome::Nothing, |last| Outcome::one(finding(last, early.len())))
}

fn early<'a>(ran: &'a Ran<'a>) -> Option<Early<'a>> {
    let stop = ran.job.stop.as_ref().unwrap_or(&ran.phase.stop);
    // Next to an amount of its own, or after seconds enough, the time was only a bound.
    let amount = stop.ops.is_some() || stop.bytes.is_some() || stop.at_least.is_some();
    let limit = stop.time.filter(|_| stop.passes.is_some() && !amount)?.0 as f64;
    let length = ran.measured.elapsed_ns as f64;
    let is_short = length / 1e9 < USABLE_S.value;
    let is_early =
        is_short && ran.measured.ended == Ended::Done && length < ENDED_EARLY.value * limit;
    is_early.then_some(Early { ran, length, limit })
}

/// One finding for all these jobs, with the times of the job that ended last.
fn finding(last: &Early<'_>, jobs: usize) -> Finding {
    let (length, limit) = (Quantity::ns(last.length), Quantity::ns(last.limit));
    let sentence = match jobs {
        1 => format!("The job reached its size after {length} of {limit}."),
        _ => format!(
            "{} jobs reached their sizes, the last after {length} of {limit}.",
            fmt::count(jobs as f64)
        ),
    };
    let draft = FindingBuilder::new("G21", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("length of the job", length, "candor")
        .evidence("time limit", limit, "plan")
        .advice("Repeat the work until the time ends, or set a larger size.", None);
    if jobs == 1 { draft.job(&last.ran.job.name).done() } else { draft.done() }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;
    use crate::testcase::TestCase;

    /// A job of one pass that took 5 s of its time limit.
    fn of_limit(limit_s: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.measured().elapsed_ns = 5_000_000_000;
        let stop = &mut case.plan.phases[0].stop;
        (stop.time, stop.passes) = (Some(Nanos::from_secs(limit_s)), Some(1));
        case.measured().ended = Ended::Done;
        case
    }

    #[test]
    fn a_size_that_was_reached_first_is_reported_without_a_doubt() {
        let case = of_limit(60);
        let found = case.found(&RULE);
        assert_eq!(found[0].sentence, "The job reached its size after 5 s of 60 s.");
        assert_eq!(found[0].severity, Severity::Explains);
        assert_eq!(case.judge().verdict, of_limit(5).judge().verdict);
    }

    #[test]
    fn jobs_with_stops_of_their_own_give_one_finding() {
        let mut case = of_limit(60);
        let mut second = case.plan.phases[0].jobs[0].clone();
        second.name = "second".into();
        let time = Some(Nanos::from_secs(20));
        second.stop = Some(candor_plan::Stop { time, passes: Some(1), ..Default::default() });
        case.plan.phases[0].jobs.push(second);
        let mut measured = case.measured().clone();
        (measured.job, measured.elapsed_ns) = ("second".into(), 7_000_000_000);
        case.record.measurements.push(measured);
        let found = case.found(&RULE);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "2 jobs reached their sizes, the last after 7 s of 20 s.");
    }

    #[test]
    fn ends_by_time_and_near_it_and_jobs_without_both_bounds_are_silent() {
        let silent = |case: TestCase| assert_eq!(case.found(&RULE), []);
        silent(of_limit(5));
        let mut by_time = of_limit(60);
        by_time.measured().ended = Ended::Time;
        silent(by_time);
        let mut no_time = of_limit(60);
        no_time.plan.phases[0].stop.time = None;
        silent(no_time);
        let mut no_size = of_limit(60);
        no_size.plan.phases[0].stop.passes = None;
        silent(no_size);
        let mut by_count = of_limit(60);
        by_count.plan.phases[0].stop.ops = Some(300_000);
        silent(by_count);
        let mut long = of_limit(60);
        long.measured().elapsed_ns = 20_000_000_000;
        silent(long);
    }
}
