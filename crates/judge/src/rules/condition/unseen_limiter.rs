//! F5: a limit that is not on this host.

use candor_record::facts::value;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::Kind;
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::series::{self, Second};
use crate::stage::Stage;
use crate::thresholds::{CEILING_NEAR, FLAT, PLATEAU_S, ROUND};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F5",
        title: "flat rate, no visible limit",
        explanation: "Clouds and hypervisors sell volumes by rate and enforce this rate: the rate \
            is flatter than any medium, equals a round number, and the queue is full. In a virtual \
            machine, candor reports three signs together: the seconds differ by less than 2 %; the \
            mean is within 1 % of a round number of operations or bytes; and no control group and \
            no link on this host explains the rate. A round number can be chance, so the \
            confidence is only possible. Check the provisioned rate; on AWS the vendor log of \
            the drive counts the time above the limit.",
    },
    stage: Stage::Limiter,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

/// Numbers that limits are set to, but for powers of ten.
const CHOSEN: [f64; 12] = [1.0, 1.25, 1.5, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0];

fn after(observed: &Observed) -> Outcome {
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    let virtual_machine = value(&observed.facts.host.hypervisor) == Some(&true);
    let full = ran.concurrency() > 1.0 && observed.device_fed();
    if !virtual_machine
        || !full
        || observed.paced()
        || explained_here(observed)
        || observed.all_memory()
    {
        return Outcome::Nothing;
    }
    let seconds = series::seconds(ran.measured, |_| true);
    if (seconds.len() as f64) < PLATEAU_S.value {
        return Outcome::Nothing;
    }
    let of = |get: fn(&Second) -> f64| seconds.iter().map(get).collect::<Vec<f64>>();
    let (ops, bytes) = (of(|s| s.ops_per_s), of(|s| s.bytes_per_s));
    let flat = |values: &[f64]| {
        let spread = candor_stats::relative_deviation(values);
        (spread < FLAT.value).then(|| (candor_stats::mean(values), spread))
    };
    let ops = flat(&ops).and_then(|(mean, s)| Some(((None, Some(round(mean)?)), s)));
    let limit = ops.or_else(|| {
        let (mean, spread) = flat(&bytes)?;
        let binary = || round(mean / 1_048_576.0).map(|mib| mib * 1_048_576.0);
        Some(((Some(round(mean).or_else(binary)?), None), spread))
    });
    limit.map_or(Outcome::Nothing, |((bytes_per_s, ops_per_s), spread)| {
        Outcome::one(finding(observed, bytes_per_s, ops_per_s, spread))
    })
}

/// A link or a control group of this host comes near to what was measured.
fn explained_here(observed: &Observed) -> bool {
    let mut here =
        ceilings::bounds(observed).into_iter().filter(|bound| bound.kind != Kind::Earlier);
    here.any(|bound| bound.ceiling.used.is_some_and(|used| used >= CEILING_NEAR.value))
}

/// The number that somebody may have set, where the value is near one.
fn round(value: f64) -> Option<f64> {
    if !(value.is_finite() && value >= 10.0) {
        return None;
    }
    let power = 10f64.powf(value.log10().floor());
    let near = |chosen: &f64| ((value - chosen * power) / (chosen * power)).abs() <= ROUND.value;
    // 9.99 is near to ten.
    CHOSEN.iter().copied().chain([10.0]).find(near).map(|chosen| chosen * power)
}

fn finding(
    observed: &Observed,
    bytes_per_s: Option<f64>,
    ops_per_s: Option<f64>,
    spread: f64,
) -> Finding {
    let rate = candor_record::round_rate(bytes_per_s, ops_per_s);
    let sentence = format!(
        "The rate held {rate} to within {} from second to second, with the queue of {} full and no \
         limit on this host: a limiter below this host may enforce this rate.",
        fmt::percent(spread),
        observed.device_names()
    );
    FindingBuilder::new("F5", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .limits(Limit::UnseenLimiter { bytes_per_s, ops_per_s })
        .evidence("deviation of the seconds", Quantity::share(spread), "candor")
        .evidence(
            "in the device",
            Quantity::ratio(observed.queue_ops().unwrap_or(0.0)),
            "its statistics",
        )
        .advice("Check the provisioned rate of the volume and of the machine.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{TestCase, fact};

    /// A minute of such seconds in a virtual machine.
    fn rates(at: impl Fn(u64) -> f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 3000.0).seconds(60, at);
        let ops = case.measured().of(Direction::Read).ops;
        case.process_read(ops * 4096);
        let top = case.after_top();
        (top.reads, top.read_sectors, top.weighted_ms) = (ops, ops * 8, 31 * 60_000);
        case.host.after.at_ns = case.host.before.at_ns + 60_000_000_000;
        case.host.facts.host.hypervisor = fact(true);
        case
    }

    #[test]
    fn three_thousand_and_not_one_more() {
        let case = rates(|i| 3000.0 + (i % 3) as f64);
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("The rate held 3000 IOPS to within "), "{found:?}");
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(case.judge().limit().unwrap().ends_with("below this host (3000 IOPS)"));
        // 125 MiB/s in operations of 4 KiB.
        let bytes = rates(|_| 32_000.0);
        assert!(bytes.found(&RULE)[0].sentence.contains("125 MiB/s"));
    }

    #[test]
    fn media_odd_numbers_and_limits_of_this_host_are_silent() {
        assert_eq!(rates(|i| 3000.0 * (1.0 + 0.03 * (i % 3) as f64)).found(&RULE), []);
        assert_eq!(rates(|_| 3400.0).found(&RULE), []);
        let mut metal = rates(|_| 3000.0);
        metal.host.facts.host.hypervisor = fact(false);
        assert_eq!(metal.found(&RULE), []);
        let mut empty = rates(|_| 3000.0);
        empty.after_top().weighted_ms = 60_000;
        assert_eq!(empty.found(&RULE), [], "the queue was not full");
        let linked = rates(|_| 3000.0).sata(3000 * 4096);
        assert_eq!(linked.found(&RULE), []);
    }
}
