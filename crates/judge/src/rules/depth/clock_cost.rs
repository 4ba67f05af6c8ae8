//! B16: reading the clock costs too much.

use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran, busiest};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::CLOCK_SHARE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B16",
        title: "clock reading costs too much",
        explanation: "candor times each operation with two clock readings. A reading of the TSC \
            costs some 20 ns. A reading of hpet or acpi_pm, or of any clock in some virtual \
            machines, costs more than a microsecond, which is significant for short operations. If \
            two readings exceed 5 % of the mean latency, latency and rate include the cost of the \
            clock. Boot with clocksource=tsc if the TSC is stable.",
    },
    stage: Stage::Artefact,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let mut lacked = false;
    let mut found = Vec::new();
    for ran in &observed.ran {
        match (cost_ns(observed, ran), busiest(ran.measured).1.latency.as_ref()) {
            (Some(cost_ns), Some(latency)) => {
                let share = ratio(2.0 * cost_ns, latency.mean_ns);
                if share > CLOCK_SHARE.value {
                    found.push(finding(observed, ran, cost_ns, share));
                }
            }
            (None, Some(_)) => lacked = true,
            (_, None) => {}
        }
    }
    match (found.is_empty(), lacked) {
        (true, true) => Outcome::lacks("the cost of reading the clock"),
        _ => found.into(),
    }
}

/// Cost of one reading: of the clock that was used, else of the kernel's.
fn cost_ns(observed: &Observed, ran: &Ran) -> Option<f64> {
    let own = Some(ran.measured.engine.clock_cost_ns);
    let known = |cost: &f64| cost.is_finite() && *cost > 0.0;
    own.filter(known).or(value(&observed.facts.host.clock_cost_ns).copied().filter(known))
}

fn finding(observed: &Observed, ran: &Ran, cost_ns: f64, share: f64) -> Finding {
    let source = value(&observed.facts.host.clocksource).cloned();
    let clock = source.unwrap_or_else(|| ran.measured.engine.clock.clone());
    let trusted_ns = 2.0 * cost_ns / CLOCK_SHARE.value;
    let sentence = format!(
        "Timestamps cost {} each ({clock}), {} of the mean latency; latencies below {} are not \
         trustworthy.",
        fmt::time(cost_ns),
        fmt::percent(share),
        fmt::time(trusted_ns)
    );
    FindingBuilder::new("B16", Severity::Caution, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Certain)
        .evidence("one reading of the clock", Quantity::ns(cost_ns), "candor")
        .evidence("two readings over mean latency", Quantity::share(share), "candor")
        .advice("Use the TSC as clock source if stable, or larger operations.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn hpet_is_named() {
        let mut case = TestCase::direct(4096, 1, 1, 50_000.0);
        case.measured().engine.clock_cost_ns = 1400.0;
        case.host.facts.host.clocksource = fact("hpet".into());
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Timestamps cost 1.4 µs each (hpet), 14 % of the mean latency; latencies below 56 µs \
             are not trustworthy."
        );
    }

    #[test]
    fn the_tsc_is_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 50_000.0).found(&RULE), []);
    }

    #[test]
    fn an_unknown_cost_is_said() {
        let mut case = TestCase::direct(4096, 1, 1, 50_000.0);
        case.measured().engine.clock_cost_ns = 0.0;
        assert!(case.lacked(&RULE).is_some());
    }
}
