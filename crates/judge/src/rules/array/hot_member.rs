//! E1: one member of an array does the work.

use candor_record::facts::DeviceFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, HOT_MEMBER, MEMBER_REQUESTS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E1",
        title: "one member does most",
        explanation: "A striped array reaches the speed of all members only if the members share \
            the work. A working set smaller than a stripe, or steps of a multiple of a stripe, hit \
            the same member again and again. The array then has the speed of one disk. candor \
            compares the bytes of each member; a member with more than 1.3 times the mean is hot. \
            Spread the range over many stripes, and compare offsets and steps with the chunk.",
    },
    stage: Stage::Device,
    limit: Some(LimitClass::Array),
    before: None,
    after,
};

/// Work of a member.
struct Member<'a> {
    name: &'a str,
    bytes: f64,
    requests: f64,
}

fn after(observed: &Observed) -> Outcome {
    let mut found = Vec::new();
    for array in observed.devices().into_iter().filter(|device| observed.is_striped(device)) {
        let members: Option<Vec<Member>> =
            array.below.iter().map(|m| member(observed, m)).collect();
        match members {
            Some(members) if members.len() > 1 => found.extend(finding(observed, array, &members)),
            Some(_) => {}
            None => {
                return Outcome::lacks(format!("the counters of the members of {}", array.name));
            }
        }
    }
    found.into()
}

fn member<'a>(observed: &Observed, name: &'a str) -> Option<Member<'a>> {
    let flow = observed.flow_of(name)?;
    Some(Member { name, bytes: flow.bytes(), requests: flow.requests() })
}

fn finding(observed: &Observed, array: &DeviceFacts, members: &[Member]) -> Option<Finding> {
    let count = members.len() as f64;
    let mean = ratio(members.iter().map(|m| m.bytes).sum(), count);
    let requests = ratio(members.iter().map(|m| m.requests).sum(), count);
    let hot = members.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
    let over = ratio(hot.bytes, mean);
    let enough = mean * count >= BYTES_MIN.value && requests >= MEMBER_REQUESTS.value;
    if !enough || over <= HOT_MEMBER.value {
        return None;
    }
    let share = ratio(hot.bytes, mean * count);
    let sentence = format!(
        "{} of the bytes of {} went to {}, one of {} members ({}× the mean): the working set or \
         its steps do not spread over the stripes.",
        fmt::percent(share),
        array.name,
        hot.name,
        members.len(),
        fmt::number(over)
    );
    let mut draft = FindingBuilder::new("E1", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .limits(Limit::ArrayMember { array: array.name.clone(), member: hot.name.to_owned() });
    for member in members {
        let from = format!("/sys/class/block/{}/stat", member.name);
        draft = draft.evidence(
            format!("bytes on {}", member.name),
            Quantity::bytes(member.bytes),
            from,
        );
    }
    let chunk = observed.chunk(array);
    let chunk = chunk.map(|c| ("chunk".into(), Quantity::bytes(c.value as f64), c.from.clone()));
    let advice = "Use a range of many stripes, and steps that are not a multiple of a stripe.";
    Some(draft.evidence_if(chunk).advice(advice, None).done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn on(level: &str, shares: &[f64]) -> TestCase {
        TestCase::direct(4096, 8, 1, 10_000.0).on_array(level, shares)
    }

    #[test]
    fn a_working_set_of_one_chunk() {
        // 8831 : 0 in the lab.
        let case = on("raid0", &[1.0, 0.0]);
        let found = case.found(&RULE);
        assert!(
            found[0].sentence.starts_with(
                "100 % of the bytes of md0 went to sd0, one of 2 members (2× the mean)"
            ),
            "{}",
            found[0].sentence
        );
        assert_eq!(case.judge().limit().as_deref(), Some("one member of md0 (sd0)"));
    }

    #[test]
    fn even_members_mirrors_and_few_requests_are_silent() {
        assert_eq!(on("raid0", &[0.52, 0.48]).found(&RULE), []);
        assert_eq!(on("raid1", &[1.0, 0.0]).found(&RULE), []);
        let few = TestCase::direct(1 << 20, 1, 1, 30.0).on_array("raid0", &[0.7, 0.3]);
        assert_eq!(few.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 8, 1, 10_000.0).found(&RULE), []);
    }

    #[test]
    fn a_striped_volume_is_an_array_too() {
        let mut volume = on("linear", &[0.98, 0.02]);
        volume.host.facts.devices[0].kind = candor_record::facts::DeviceKind::Dm;
        assert_eq!(volume.found(&RULE), [], "a linear one fills its disks one after the other");
        volume.host.facts.devices[0].queue.optimal_io_bytes = crate::testcase::fact(2 * 65_536);
        assert_eq!(volume.judge().limit().as_deref(), Some("one member of md0 (sd0)"));
        assert!(volume.judge().finding("E4").is_none());
    }

    #[test]
    fn without_counters_it_says_so() {
        let mut case = on("raid0", &[1.0, 0.0]);
        case.host.after.devices.truncate(1);
        assert!(case.lacked(&RULE).unwrap().contains("members of md0"));
    }
}
