//! G7: some workers were done long before others.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Ended, Finding, Measurement, Progress, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{STRAGGLE_S, STRAGGLED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G7",
        title: "some workers finished early",
        explanation: "Where workers have a fixed amount to do, the first one to end takes its \
            share of the load with it: from then on fewer work, and the rate over the whole time \
            is lower than what all of them together reach. candor keeps the counts of the moment \
            in which the first worker ended and of the end; a tail of more than 10 % of the time \
            is told with both rates. Use a time limit instead, or quote both.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter_map(|ran| of_job(ran.measured));
    found.collect::<Vec<_>>().into()
}

fn of_job(measured: &Measurement) -> Option<Finding> {
    let (first, last) = (measured.first_done?, measured.last_done);
    let tail = ratio(last.at_ns.saturating_sub(first.at_ns) as f64, last.at_ns as f64);
    let counts = measured.workers > 1
        && measured.ended == Ended::Done
        && last.at_ns as f64 >= STRAGGLE_S.value * 1e9;
    (counts && tail > STRAGGLED.value).then(|| finding(measured, &first, &last))
}

/// Bytes per second up to a moment.
fn rate(at: &Progress) -> f64 {
    ratio(at.bytes as f64 * 1e9, at.at_ns as f64)
}

fn finding(measured: &Measurement, first: &Progress, last: &Progress) -> Finding {
    let time = |at: &Progress| Quantity::ns(at.at_ns as f64);
    let sentence = format!(
        "The fastest worker was done at {}, the slowest at {}: {} until the first was done, {} \
         over the whole time.",
        time(first),
        time(last),
        fmt::rate(rate(first)),
        fmt::rate(rate(last))
    );
    FindingBuilder::new("G7", Severity::Remark, sentence)
        .job(&measured.job)
        .confidence(Confidence::Certain)
        .evidence("first worker done", time(first), "candor")
        .evidence("last worker done", time(last), "candor")
        .advice("Give workers a time instead of an amount, or quote both rates.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload};

    fn ending(first_s: f64, last_s: f64) -> TestCase {
        let mut case = Workload { workers: 4, ..Workload::default() }.case();
        let at = |s: f64, bytes: u64| Progress { at_ns: (s * 1e9) as u64, ops: 1, bytes };
        let measured = case.measured();
        measured.ended = Ended::Done;
        measured.first_done = Some(at(first_s, 12_000_000_000));
        measured.last_done = at(last_s, 12_600_000_000);
        case
    }

    #[test]
    fn two_seconds_of_fourteen_are_reported_with_both_rates() {
        let found = ending(12.0, 14.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The fastest worker was done at 12 s, the slowest at 14 s: 1 GB/s (954 MiB/s) until \
             the first was done, 900 MB/s (858 MiB/s) over the whole time."
        );
        assert_eq!(found[0].severity, Severity::Remark);
    }

    #[test]
    fn ends_close_together_and_ends_by_time_are_normal() {
        assert_eq!(ending(13.5, 14.0).found(&RULE), []);
        assert_eq!(ending(0.2, 0.4).found(&RULE), []);
        let mut by_time = ending(12.0, 14.0);
        by_time.measured().ended = Ended::Time;
        assert_eq!(by_time.found(&RULE), []);
    }
}
