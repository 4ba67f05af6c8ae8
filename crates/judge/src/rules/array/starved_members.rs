//! E7: what the members of an array have in flight: little of it, or one of them most.

use candor_record::facts::DeviceFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::array::slow_member;
use crate::rules::depth::device_queue_full;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, MEMBERS_SAW, QUEUE_WINDOW_S};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E7",
        title: "members starved or one slow",
        explanation: "Operations in flight on a striped array should be in flight on its members: \
            120 requests over eight disks are 15 on each disk. candor adds up the queues of the \
            members and counts the requests of one operation as one. If the members hold less than \
            half of the workers' operations in flight, the rest waits between the process and the \
            array. Threads, locks or CPUs hold that rest, and the disks are not the limit. If the \
            members hold all operations and are slow, the disks are the limit. Try the same depth \
            on one member, and an asynchronous engine instead of threads. If one member takes \
            three times as long for a request as the others, the array is as slow as this member. \
            The operations in flight then collect at this member, and the other members are idle. \
            candor compares the mean times of members with about equal load. Measure this member \
            alone, and check its link, errors and other users.",
    },
    stage: Stage::Member,
    limit: Some(LimitClass::Array),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let applies =
        observed.all_direct() && !observed.paced() && observed.window_s() >= QUEUE_WINDOW_S.value;
    let enough = observed.app_all().bytes >= BYTES_MIN.value;
    if !applies || !enough || observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    let slow: Vec<Finding> = observed
        .devices()
        .into_iter()
        .filter_map(|device| slow_member::of(observed, device))
        .collect();
    if !slow.is_empty() || device_queue_full::full_at(observed).is_some() {
        return slow.into();
    }
    let arrays = observed.tops().into_iter().filter(|top| observed.is_striped(top));
    arrays.filter_map(|array| saw_little(observed, array)).collect::<Vec<_>>().into()
}

fn saw_little(observed: &Observed, array: &DeviceFacts) -> Option<Finding> {
    let members = observed.flows_below(array)?;
    let of_array = observed.flow_of(&array.name)?;
    let in_flight = observed.occupancy();
    let pieces = ratio(members.iter().map(Flow::requests).sum(), of_array.requests()).max(1.0);
    let seen: f64 =
        members.iter().map(|flow| ratio(flow.weighted_ms / 1e3, observed.window_s())).sum();
    let count = members.len() as f64;
    let lost = seen / pieces < MEMBERS_SAW.value * in_flight && in_flight > count;
    (lost && count > 1.0).then(|| {
        let sentence = format!(
            "{} operations were in flight, and the {} members of {} held {} each: the rest waited \
             between the process and the array.",
            fmt::count(in_flight.round()),
            members.len(),
            array.name,
            fmt::number(ratio(seen, count))
        );
        FindingBuilder::new("E7", Severity::Explains, sentence)
            .confidence(Confidence::Likely)
            .limits(Limit::PathToMembers { array: array.name.clone() })
            .evidence("in flight in the workers", Quantity::ratio(in_flight), "candor")
            .evidence("in all members", Quantity::ratio(seen), "/sys/class/block/*/stat")
            .evidence("requests per operation", Quantity::ratio(pieces), "/sys/class/block/*/stat")
            .advice("Try the same depth on one member, and an asynchronous engine.", None)
            .done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn members(each: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 1, 120, 40_000.0).on_array("raid0", &[0.125; 8]);
        for (name, counters) in &mut case.host.after.devices {
            let queue = if name == "md0" { 8.0 * each } else { each };
            counters.weighted_ms = (queue * 1e4) as u64;
        }
        case
    }

    #[test]
    fn eight_disks_with_two_requests_each() {
        let case = members(2.0);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "120 operations were in flight, and the 8 members of md0 held 2 each: the rest waited \
             between the process and the array."
        );
        let judgement = case.judge();
        assert!(judgement.finding("B4").is_none(), "it follows from it");
        assert_eq!(judgement.limit().as_deref(), Some("the path between the process and md0"));
    }

    #[test]
    fn members_that_are_fed_and_single_disks_are_silent() {
        assert_eq!(members(14.0).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 120, 40_000.0).found(&RULE), []);
    }
}
