//! G4: operations that were never sent while one took long.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Latency, OpStats, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran, finite};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BEYOND, INTENDED, OMITTED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G4",
        title: "percentiles leave out stalls",
        explanation: "A worker that waits for one slow operation sends no other operation. The \
            stall is counted once; operations that users would have sent in this time, all of them \
            late, are not counted (coordinated omission). candor divides the longest latency by \
            the mean latency: if more than 1 % of all operations were left out, the 99th \
            percentile is too low. With a fixed rate, candor also measures from the intended start \
            and reports a difference of a factor of two. Measure with a rate (--rate-iops) to see \
            the latency that users see.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let sides =
        observed.ran.iter().flat_map(|ran| ran.measured.directions().map(move |s| (ran, s)));
    let found = sides.filter_map(|(ran, (op, stats))| of_side(ran, op, stats));
    found.collect::<Vec<_>>().into()
}

fn of_side(ran: &Ran, op: Direction, stats: &OpStats) -> Option<Finding> {
    let latency = stats.latency.as_ref()?;
    // The longest latency is the stop, in which nothing was due.
    if ran.measured.stopped.is_some() {
        return None;
    }
    match &stats.from_intended {
        Some(intended) => paced(ran, op, latency, intended),
        None if ran.paced() => None,
        None => closed(ran, op, latency),
    }
}

/// Under a rate both are measured: they are told where they differ.
fn paced(ran: &Ran, op: Direction, latency: &Latency, intended: &Latency) -> Option<Finding> {
    let (served, wanted) = (latency.percentile_ns(99.0)?, intended.percentile_ns(99.0)?);
    let differ = served > 0 && ratio(wanted as f64, served as f64) >= INTENDED.value;
    differ.then(|| {
        let sentence = format!(
            "Counted from the intended start, p99 of {}s is {}, not {}: operations waited for slow \
             operations before them.",
            op.name(),
            fmt::time(wanted as f64),
            fmt::time(served as f64)
        );
        let evidence = Quantity::ns(intended.max_ns as f64);
        draft(ran, sentence, latency)
            .evidence("longest from the intended start", evidence, "candor")
            .advice("Report the latencies from the intended start.", None)
            .done()
    })
}

/// Without a rate, what was left out can only be estimated.
fn closed(ran: &Ran, op: Direction, latency: &Latency) -> Option<Finding> {
    let missed = ratio(latency.max_ns as f64, finite(latency.mean_ns));
    let many = missed > OMITTED.value * latency.count as f64 && missed >= BEYOND.value;
    many.then(|| {
        let sentence = format!(
            "During one {} of {}, some {} more operations were due and never sent; p99 and above \
             leave them out.",
            op.name(),
            fmt::time(latency.max_ns as f64),
            fmt::count(missed.round())
        );
        draft(ran, sentence, latency)
            .evidence("mean latency", Quantity::ns(latency.mean_ns), "candor")
            .advice(
                "Measure at a fixed rate (--rate-iops) to see the latency that users see.",
                None,
            )
            .done()
    })
}

fn draft(ran: &Ran, sentence: String, latency: &Latency) -> FindingBuilder {
    FindingBuilder::new("G4", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("longest latency", Quantity::ns(latency.max_ns as f64), "candor")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, latency};

    #[test]
    fn a_long_stall_hides_operations() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.measured().of_mut(Direction::Read).latency.as_mut().unwrap().max_ns = 800_000_000;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "During one read of 800 ms, some 8000 more operations were due and never sent; p99 and \
             above leave them out."
        );
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn a_short_one_does_not() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.measured().of_mut(Direction::Read).latency.as_mut().unwrap().max_ns = 20_000_000;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn under_a_rate_the_intended_start_tells() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.blocks().pace.ops = Some(candor_plan::OpsPerSec(10_000));
        case.measured().of_mut(Direction::Read).latency.as_mut().unwrap().max_ns = 800_000_000;
        case.measured().of_mut(Direction::Read).from_intended = Some(latency(100_000, 120_000.0));
        assert_eq!(case.found(&RULE), []);
        case.measured().of_mut(Direction::Read).from_intended =
            Some(latency(100_000, 412_000_000.0));
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("p99 of reads is 412 ms, not 100 µs"), "{found:?}");
    }
}
