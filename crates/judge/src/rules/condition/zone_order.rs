//! F12: random writes to a zoned device.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, value};
use candor_record::{Confidence, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::Planned;
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F12",
        title: "zone written out of order",
        explanation: "A zoned device (a shingled disk, a zoned SSD) writes its zones from start to \
            end. A host-managed device refuses any other order. A host-aware device takes random \
            writes into a cache; when the cache is full after minutes, the rate collapses. candor \
            reads the zone model from sysfs. Write the zones in order (zones in the plan), or \
            report the rate as the rate of the cache.",
    },
    stage: Stage::Failure,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let zoned =
        |device: &&DeviceFacts| value(&device.queue.zoned).is_some_and(|model| model != "none");
    let Some(device) = observed.devices().into_iter().find(zoned) else { return Outcome::Nothing };
    let Some(model) = &device.queue.zoned else { return Outcome::Nothing };
    let unaware = |job: &&Planned| job.does(Direction::Write) && job.blocks.zones.is_none();
    let writers: Vec<&Planned> = observed.jobs.iter().filter(unaware).collect();
    let head = format!("{} is zoned ({})", device.name, model.value);
    let (sentence, advice) = if writers.iter().any(|_| refused(observed)) {
        let sentence =
            format!("{head}: the device refused a write that was not at the zone's write pointer.");
        (sentence, "Give the job zones in a plan (`zones = {}`), which obeys the write pointers.")
    } else if writers.iter().any(|job| job.blocks.access.is_random()) {
        let sentence = format!("{head}: the device does not support random writes natively.");
        (sentence, "Write the zones in order, or run until the cache is full.")
    } else {
        return Outcome::Nothing;
    };
    let draft = FindingBuilder::new("F12", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("zones", model.value.clone(), model.from.clone())
        .advice(advice, None);
    Outcome::one(draft.done())
}

/// A write failed with an I/O error, which is how such a device says no.
fn refused(observed: &Observed) -> bool {
    const EIO: i32 = 5;
    let mut failures = observed.record.measurements.iter().flat_map(|measured| &measured.errors);
    failures.any(|failure| failure.op.as_deref() == Some("write") && failure.errno == EIO)
}

#[cfg(test)]
mod tests {
    use candor_plan::blocks::Access;
    use candor_record::IoFailure;

    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn random_writes_on_a_shingled_disk() {
        let mut case = TestCase::direct_write();
        case.disk().queue.zoned = fact("host-aware".into());
        assert!(case.found(&RULE)[0].sentence.starts_with("vda is zoned (host-aware)"));
    }

    #[test]
    fn a_write_that_was_refused() {
        // The second pass over zones that the first had filled, in the lab.
        let mut case = TestCase::direct_write();
        case.disk().queue.zoned = fact("host-managed".into());
        case.blocks().access = Access::default();
        assert_eq!(case.found(&RULE), []);
        case.measured().errors.push(IoFailure {
            op: Some("write".into()),
            path: "/dev/vda".into(),
            offset: 0,
            errno: 5,
            message: "Input/output error".into(),
            count: 1,
        });
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("the device refused a write"), "{}", found[0].sentence);
    }

    #[test]
    fn reads_and_ordinary_disks_are_silent() {
        let mut case = TestCase::direct(4096, 8, 1, 200.0);
        case.disk().queue.zoned = fact("host-aware".into());
        assert_eq!(case.found(&RULE), []);
        let mut case = TestCase::direct_write();
        case.disk().queue.zoned = fact("none".into());
        assert_eq!(case.found(&RULE), []);
    }
}
