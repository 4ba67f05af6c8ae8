//! B12: the CPU sleeps or runs slowly between single operations.

use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{FEW_IN_FLIGHT, WAKE_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B12",
        title: "CPU wake-up in the latency",
        explanation: "A CPU that waits for one operation goes to sleep, and waking from a deep \
            state takes up to some hundred microseconds. A power-saving governor also lets the CPU \
            run slowly at first. With one or two operations in flight this delay adds to every \
            latency, and the next run differs. candor compares the exit latency of the deepest \
            allowed state with the mean latency, and reads the governor. Choose the governor \
            `performance`, forbid deep states (cpuidle, or PM QoS), or compare with a run that \
            polls for completions.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let polls = observed.ran.iter().any(|ran| ran.polls());
    let few = !observed.ran.is_empty() && observed.requested() <= FEW_IN_FLIGHT.value;
    let Some(mean_ns) =
        observed.mean_latency_ns().filter(|_| few && !polls && observed.all_direct())
    else {
        return Outcome::Nothing;
    };
    let host = &observed.facts.host;
    let exit_ns = value(&host.cpu_idle_exit_ns).map_or(0.0, |ns| *ns as f64);
    let governor = value(&host.cpu_governor).filter(|name| *name != "performance");
    if ratio(exit_ns, mean_ns) > WAKE_SHARE.value {
        return Outcome::one(finding(observed, mean_ns, exit_ns, governor.map(String::as_str)));
    }
    Outcome::Nothing
}

fn finding(observed: &Observed, mean_ns: f64, exit_ns: f64, governor: Option<&str>) -> Finding {
    let governor = governor.map_or(String::new(), |name| format!(", and the governor is {name}"));
    let sentence = format!(
        "Between single operations the CPU may enter a sleep state with an exit latency of {}, \
         compared with a mean latency of {}{governor}.",
        fmt::time(exit_ns),
        fmt::time(mean_ns)
    );
    let exit = observed.facts.host.cpu_idle_exit_ns.as_ref();
    FindingBuilder::new("B12", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence_if(exit.map(|fact| {
            ("exit latency of the deepest state".into(), Quantity::ns(exit_ns), fact.from.clone())
        }))
        .evidence("mean latency", Quantity::ns(mean_ns), "candor")
        .advice("Choose the governor performance, or compare with a run that polls.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn sleepy(depth: u32, exit_ns: u64) -> TestCase {
        let mut case = TestCase::direct(4096, depth, 1, 10_000.0);
        case.host.facts.host.cpu_idle_exit_ns = fact(exit_ns);
        case.host.facts.host.cpu_governor = fact("powersave".into());
        case
    }

    #[test]
    fn a_deep_state_is_part_of_a_short_latency() {
        assert_eq!(
            sleepy(1, 133_000).found(&RULE)[0].sentence,
            "Between single operations the CPU may enter a sleep state with an exit latency of 133 \
             µs, compared with a mean latency of 100 µs, and the governor is powersave."
        );
    }

    #[test]
    fn depth_light_states_and_polling_are_silent() {
        assert_eq!(sleepy(32, 133_000).found(&RULE), []);
        assert_eq!(sleepy(1, 1000).found(&RULE), []);
        let mut polling = sleepy(1, 133_000);
        polling.uring().iopoll = true;
        assert_eq!(polling.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
