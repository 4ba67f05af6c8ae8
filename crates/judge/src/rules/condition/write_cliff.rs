//! F2: the write rate falls off a cliff.

use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};
use candor_stats::{Step, step_down};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::condition::burst_allowance;
use crate::rules::condition::write_rate_unsettled;
use crate::series::{self, Second};
use crate::stage::Stage;
use crate::thresholds::{CLIFF, CLIFF_S, LEVEL_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F2",
        title: "the write rate fell sharply",
        explanation: "Drives write to a fast region first (flash cells with one bit each, or a \
            cache on a shingled disk). After tens or hundreds of gigabytes, the fast region is \
            full and writes go to the main cells, several times slower. A mean over both is the \
            rate of neither. candor detects a fall of more than 40 % in direct writes for at least \
            ten seconds, and reports the bytes written before the fall. Report both rates, or \
            write one and a half times the capacity beforehand.",
    },
    stage: Stage::WriteCourse,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter(|ran| write_rate_unsettled::writes_to_media(ran));
    found.filter_map(|ran| of(observed, ran)).collect::<Vec<_>>().into()
}

fn of(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let seconds = series::seconds(ran.measured, |op| op == Direction::Write);
    let rates: Vec<f64> = seconds.iter().map(|second| second.bytes_per_s).collect();
    let step = step_down(&rates, LEVEL_S.value as usize, CLIFF_S.value as usize)?;
    let last = seconds.get(step.at.checked_sub(1)?)?;
    let cliff =
        step.after < CLIFF.value * step.before && !burst_allowance::is_of_credits(observed, &step);
    cliff.then(|| finding(ran, &step, last))
}

/// `last` is the second before the fall.
fn finding(ran: &Ran, step: &Step, last: &Second) -> Finding {
    let sentence = format!(
        "{} for the first {} written, {} after: report both.",
        fmt::rate_decimal(step.before),
        fmt::size(last.bytes_so_far),
        fmt::rate_decimal(step.after)
    );
    FindingBuilder::new("F2", Severity::Caution, sentence)
        .job(&ran.job.name)
        .at_s(last.at_s)
        .confidence(Confidence::Likely)
        .evidence("written before the fall", Quantity::bytes(last.bytes_so_far), "candor")
        .evidence("rate before", Quantity::bytes_per_s(step.before), "candor")
        .evidence("rate after", Quantity::bytes_per_s(step.after), "candor")
        .advice(
            "Write one and a half times the capacity first, or report the rate as a burst.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn cliff() -> TestCase {
        // 4.7 GB/s for 10 s, then some 1.5 GB/s, as reviews show.
        TestCase::direct_write().seconds(60, |i| match i {
            0..10 => 1_147_000.0,
            i => 366_000.0 + 30_000.0 * (i % 3) as f64,
        })
    }

    #[test]
    fn both_rates_and_the_bytes_before_are_reported() {
        let found = cliff().found(&RULE);
        assert_eq!(
            found[0].sentence,
            "4.7 GB/s for the first 43.8 GiB written, 1.62 GB/s after: report both."
        );
        assert_eq!(found[0].when.map(|of| (of.from_ns, of.until_ns)), Some((10_000_000_000, None)));
        let judgement = cliff().judge();
        assert!(judgement.finding("G2").is_none(), "the spread is folded into it");
    }

    #[test]
    fn dips_level_writes_and_reads_are_silent() {
        let dips = TestCase::direct_write().seconds(60, |i| if i % 20 < 4 { 5e3 } else { 2e4 });
        assert_eq!(dips.found(&RULE), []);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
        let mut buffered = cliff();
        buffered.blocks().direct = false;
        assert_eq!(buffered.found(&RULE), [], "memory that has filled up is no cliff");
    }

    #[test]
    fn a_flat_level_in_a_virtual_machine_is_a_limiter() {
        let mut case = TestCase::direct_write().seconds(60, |i| if i < 20 { 3e3 } else { 300.0 });
        case.host.facts.host.hypervisor = fact(true);
        assert_eq!(case.found(&RULE), []);
    }
}
