//! G7: some workers were done long before others.

use candor_plan::work::Figure;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Ended, Finding, Measurement, Progress, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, measurement_of};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{STRAGGLE_S, STRAGGLED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G7",
        title: "some workers finished early",
        explanation: "If each worker has a fixed amount of work, a worker that ends early takes \
            its load away. From then on fewer workers run, and the rate over the whole time is \
            lower than the rate of all workers together. candor keeps the counts at the end of the \
            first worker and of the phase, and reports both rates if they differ by more than 10 \
            %. Use a time limit instead, or report both rates.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let moving = observed.ran.iter().filter_map(|ran| of_job(ran.measured));
    let names = names_ran(observed).filter_map(of_job);
    moving.chain(names).collect::<Vec<_>>().into()
}

/// Measurements of the jobs on names.
fn names_ran<'a>(observed: &Observed<'a>) -> impl Iterator<Item = &'a Measurement> {
    let record = observed.record;
    let jobs = observed.phase.jobs.iter().enumerate().filter(|(_, job)| job.entries().is_some());
    jobs.filter_map(|(index, job)| measurement_of(record, index, &job.name))
}

fn of_job(measured: &Measurement) -> Option<Finding> {
    let (first, last) = (measured.first_done.as_ref()?.progress(), measured.last_done);
    // Work on names is counted in operations, whether it moves bytes or not.
    let names = measured.operations.iter().any(|op| op.figure == Figure::Names);
    let rate = if names || last.bytes == 0 { ops_per_s } else { bytes_per_s };
    let counts = measured.workers > 1
        && measured.ended == Ended::Done
        && last.at_ns as f64 >= STRAGGLE_S.value * 1e9;
    let apart = ratio(rate(&first).0, rate(&last).0) - 1.0;
    (counts && apart > STRAGGLED.value).then(|| finding(measured, first, last, rate))
}

/// A rate up to a moment, and its text.
type Rate = fn(&Progress) -> (f64, String);

fn bytes_per_s(until: &Progress) -> (f64, String) {
    let rate = ratio(until.bytes as f64 * 1e9, until.at_ns as f64);
    (rate, fmt::rate(rate))
}

fn ops_per_s(until: &Progress) -> (f64, String) {
    let rate = ratio(until.ops as f64 * 1e9, until.at_ns as f64);
    (rate, format!("{} operations per second", fmt::count(rate)))
}

fn finding(measured: &Measurement, first: Progress, last: Progress, rate: Rate) -> Finding {
    let time = |at: &Progress| Quantity::ns(at.at_ns as f64);
    let sentence = format!(
        "While all workers were busy, until {}: {}. Over the whole {}: {}.",
        time(&first),
        rate(&first).1,
        time(&last),
        rate(&last).1
    );
    FindingBuilder::new("G7", Severity::Caution, sentence)
        .job(&measured.job)
        .during(first.at_ns, last.at_ns)
        .confidence(Confidence::Certain)
        .evidence("first worker done", time(&first), "candor")
        .evidence("last worker done", time(&last), "candor")
        .advice("Set a time limit instead of an amount, or report both rates.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_record::FirstDone;

    use super::*;
    use crate::testcase::{TestCase, Workload};

    fn ending(first_s: f64, last_s: f64) -> TestCase {
        let mut case = Workload { workers: 4, ..Workload::default() }.case();
        ends(case.measured(), &[first_s, last_s], &[12_000_000_000, 12_600_000_000]);
        case
    }

    fn ends(measured: &mut Measurement, times_s: &[f64], bytes: &[u64]) {
        let ns = |s: f64| (s * 1e9) as u64;
        measured.ended = Ended::Done;
        let (at_ns, ops) = (ns(times_s[0]), bytes[0] / 4096);
        measured.first_done =
            Some(FirstDone { at_ns, ops, bytes: bytes[0], ..FirstDone::default() });
        measured.last_done =
            Progress { at_ns: ns(times_s[1]), ops: bytes[1] / 4096, bytes: bytes[1] };
    }

    #[test]
    fn two_seconds_of_fourteen_are_reported_with_both_rates() {
        let found = ending(12.0, 14.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "While all workers were busy, until 12 s: 1 GB/s (954 MiB/s). Over the whole 14 s: \
             900 MB/s (858 MiB/s)."
        );
        assert_eq!(found[0].severity, Severity::Caution);
        let when = found[0].when.map(|of| (of.from_ns, of.until_ns));
        assert_eq!(when, Some((12_000_000_000, Some(14_000_000_000))));
    }

    #[test]
    fn names_are_told_in_operations() {
        let mut measured = Measurement { workers: 4, ..Measurement::default() };
        measured.operation_mut(Step::Stat.operation()).ops = 12_600_000;
        ends(&mut measured, &[12.0, 14.0], &[4096 * 12_000_000, 4096 * 12_600_000]);
        let found = of_job(&measured).expect("a finding");
        assert_eq!(
            found.sentence,
            "While all workers were busy, until 12 s: 1M operations per second. Over the whole \
             14 s: 900k operations per second."
        );
    }

    #[test]
    fn equal_rates_ends_close_together_and_ends_by_time_are_normal() {
        assert_eq!(ending(13.5, 14.0).found(&RULE), []);
        assert_eq!(ending(0.2, 0.4).found(&RULE), []);
        let mut as_fast_with_fewer = ending(12.0, 14.0);
        ends(as_fast_with_fewer.measured(), &[12.0, 14.0], &[12_000_000_000, 14_000_000_000]);
        assert_eq!(as_fast_with_fewer.found(&RULE), []);
        let mut by_time = ending(12.0, 14.0);
        by_time.measured().ended = Ended::Time;
        assert_eq!(by_time.found(&RULE), []);
    }
}
