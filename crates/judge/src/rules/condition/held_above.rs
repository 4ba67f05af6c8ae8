//! F17: operations were held above the device.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity, Snapshot};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::HELD_S;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F17",
        title: "operations held above the device",
        explanation: "A frozen filesystem (fsfreeze, the snapshot of a virtual machine), a \
            suspended volume or a lock of another process holds operations before they reach the \
            device. candor looks for a time in which the devices had no request while an operation \
            was in flight for at least as long. The rate of that time is not the device's. Find \
            the cause of the freeze, and run again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.blind() || observed.all_memory() || observed.working_top().is_none() {
        return Outcome::Nothing;
    }
    let all_operations = observed.ran.iter().flat_map(|ran| &ran.measured.operations);
    let longest_ns = all_operations.filter_map(|stats| stats.latency.as_ref()).map(|l| l.max_ns);
    let longest_ns = longest_ns.max().unwrap_or(0);
    let idle_ns = longest_idle_ns(observed);
    if idle_ns as f64 >= HELD_S.value * 1e9 && longest_ns >= idle_ns {
        Outcome::one(finding(observed, idle_ns, longest_ns))
    } else {
        Outcome::Nothing
    }
}

/// The longest time between snapshots in which the devices on top had no request.
fn longest_idle_ns(observed: &Observed) -> u64 {
    let host = observed.host;
    let all = std::iter::once(&host.before).chain(&host.during).chain([&host.after]);
    let all: Vec<&Snapshot> = all.collect();
    let mut longest_ns = 0;
    let mut since_ns = None;
    for pair in all.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        since_ns = idle(observed, from, to).then(|| since_ns.unwrap_or(from.at_ns));
        let idle_ns = since_ns.map_or(0, |since| to.at_ns.saturating_sub(since));
        longest_ns = longest_ns.max(idle_ns);
    }
    longest_ns
}

fn idle(observed: &Observed, from: &Snapshot, to: &Snapshot) -> bool {
    let tops = observed.tops();
    let in_flight = |at: &Snapshot| {
        tops.iter().any(|top| at.device(&top.name).is_none_or(|device| device.in_flight != 0))
    };
    !in_flight(from)
        && !in_flight(to)
        && Flow::between(&tops, from, to).is_some_and(|flow| {
            flow.requests() + flow.trim.requests + flow.flushes == 0.0 && flow.weighted_ms == 0.0
        })
}

fn finding(observed: &Observed, idle_ns: u64, longest_ns: u64) -> Finding {
    let device = observed.device_names();
    let sentence = format!(
        "No request reached {device} for at least {} of {}, while an operation was in flight for \
         {}: it was held above the device.",
        fmt::time(idle_ns as f64),
        fmt::time(observed.elapsed_s() * 1e9),
        fmt::time(longest_ns as f64)
    );
    FindingBuilder::new("F17", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence(
            "without a request",
            Quantity::ns(idle_ns as f64),
            format!("/sys/class/block/{device}/stat"),
        )
        .evidence("longest operation", Quantity::ns(longest_ns as f64), "candor")
        .advice(
            "Find who froze the filesystem or suspended the volume (fsfreeze, a backup, a \
             snapshot), and run again.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::TestCase;

    /// Ten seconds at 10,000 IOPS, with a snapshot at each; the device rests from second 4 to 6,
    /// and one read lasted as long as `longest_ns`.
    fn frozen(longest_ns: u64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let (from, to) = (case.host.before.clone(), case.host.after.clone());
        let (start, end) = (from.devices[0].1.reads, to.devices[0].1.reads);
        let second_ns = (to.at_ns - from.at_ns) / 10;
        case.host.during = (1..10)
            .map(|second| {
                let mut at = from.clone();
                at.at_ns += second * second_ns;
                let worked = if second <= 4 { second } else { second.max(6) - 2 };
                let device = &mut at.devices[0].1;
                device.reads = start + (end - start) * worked / 10;
                device.weighted_ms += 900 * worked;
                at
            })
            .collect();
        let read = case.measured().of_mut(Direction::Read);
        read.latency.as_mut().unwrap().max_ns = longest_ns;
        case
    }

    #[test]
    fn an_operation_that_reached_no_device_for_two_seconds_was_held() {
        let case = frozen(2_030_000_000);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Caution);
        assert_eq!(
            found[0].sentence,
            "No request reached vda for at least 2 s of 10 s, while an operation was in flight \
             for 2.03 s: it was held above the device."
        );
    }

    #[test]
    fn a_device_that_stalls_and_a_load_that_rests_are_none() {
        assert_eq!(frozen(3_000_000).found(&RULE), [], "nothing was in flight: think time, a rate");
        let mut stalled = frozen(2_030_000_000);
        stalled.host.during.iter_mut().for_each(|at| at.devices[0].1.in_flight = 1);
        assert_eq!(stalled.found(&RULE), [], "the request was in the device");
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
