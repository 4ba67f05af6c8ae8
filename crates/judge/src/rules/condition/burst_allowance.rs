//! F3: burst credits have run out.

use candor_record::facts::value;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};
use candor_stats::{Step, step_down};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::series::{self, Second};
use crate::stage::Stage;
use crate::thresholds::{CLIFF_S, CREDITS, FLAT, LEVEL_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F3",
        title: "a burst allowance ran out",
        explanation: "Cloud volumes may exceed their baseline rate for a limited time, on credit: \
            one gp2 volume does 3000 IOPS for half an hour and then 3 IOPS per gigabyte. The sign \
            is a step down to a level that is flatter than any medium. In virtual machines, candor \
            detects a fall of more than a quarter to seconds that differ by less than 2 %. Report \
            both rates, and run longer than the credits last.",
    },
    stage: Stage::Derating,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let found = observed.ran.iter().filter(|ran| !ran.paced() && ran.blocks.direct);
    found.filter_map(|ran| of(observed, ran)).collect::<Vec<_>>().into()
}

/// A step to a level that only a limiter makes, on a host that may have one above it.
pub fn is_of_credits(observed: &Observed, step: &Step) -> bool {
    let guest = value(&observed.facts.host.hypervisor).copied().unwrap_or(false);
    // A rate of zero is no level.
    guest && step.spread_after < FLAT.value && step.after > 0.0
}

fn of(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let seconds = series::seconds(ran.measured, |_| true);
    let step = |rate: fn(&Second) -> f64| {
        let rates: Vec<f64> = seconds.iter().map(rate).collect();
        let step = step_down(&rates, LEVEL_S.value as usize, CLIFF_S.value as usize)?;
        let fell = step.after < CREDITS.value * step.before;
        (fell && is_of_credits(observed, &step)).then_some(step)
    };
    let step = step(|second| second.ops_per_s)?;
    let at_s = seconds.get(step.at.checked_sub(1)?)?.at_s;
    Some(finding(ran, &step, at_s))
}

fn finding(ran: &Ran, step: &Step, at_s: f64) -> Finding {
    let sentence = format!(
        "After {} the rate fell from {} to a flat {}: a burst allowance ran out.",
        fmt::time(at_s * 1e9),
        fmt::iops(step.before),
        fmt::iops(step.after)
    );
    FindingBuilder::new("F3", Severity::Caution, sentence)
        .job(&ran.job.name)
        .at_s(at_s)
        .confidence(Confidence::Likely)
        .limits(Limit::BurstLimiter { ops_per_s: step.after })
        .evidence("rate before", Quantity::ops_per_s(step.before), "candor")
        .evidence("rate after", Quantity::ops_per_s(step.after), "candor")
        .evidence("deviation after", Quantity::share(step.spread_after), "candor")
        .advice("Report both rates; run longer than the allowance lasts.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    /// 3000 IOPS on credit, then 300.
    fn burst(after: impl Fn(u64) -> f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 3000.0)
            .seconds(90, |i| if i < 40 { 3000.0 } else { after(i) });
        case.host.facts.host.hypervisor = fact(true);
        case
    }

    #[test]
    fn a_flat_level_after_a_fall() {
        let case = burst(|_| 300.0);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "After 40 s the rate fell from 3000 IOPS to a flat 300 IOPS: a burst allowance ran \
             out."
        );
        let when = case.found(&RULE)[0].when;
        assert_eq!(when.map(|of| (of.from_ns, of.until_ns)), Some((40_000_000_000, None)));
        assert_eq!(case.judge().limit().as_deref(), Some("a limiter at 300 IOPS"));
    }

    #[test]
    fn a_rough_level_and_bare_metal_are_silent() {
        assert_eq!(burst(|i| 300.0 + 60.0 * (i % 3) as f64).found(&RULE), []);
        let mut metal = burst(|_| 300.0);
        metal.host.facts.host.hypervisor = fact(false);
        assert_eq!(metal.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 3000.0).found(&RULE), []);
    }
}
