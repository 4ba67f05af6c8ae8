//! F12: random writes to a zoned device.

use candor_plan::units::Op;
use candor_record::facts::{DeviceFacts, value};
use candor_record::{Confidence, Weight};

use crate::draft::Draft;
use crate::rule::{Outcome, Rule, RuleText};
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F12",
        title: "random writes on a zoned device",
        explanation: "A zoned device (a shingled disk, a drive of zones) writes its zones from \
            front to back. One that is managed by the host refuses anything else; one that is \
            merely aware of zones takes random writes into a cache and pays later, so that their \
            rate collapses after minutes. candor reads the model of zones from sysfs. Write the \
            zones in order (zones in the plan), or take the rate for what the cache does.",
    },
    before: None,
    after,
};

fn after(view: &View) -> Outcome {
    let random = |job: &&crate::ground::Planned| {
        job.does(Op::Write) && job.blocks.access.is_random() && job.blocks.zones.is_none()
    };
    if !view.jobs.iter().any(|job| random(&job)) {
        return Outcome::Nothing;
    }
    let zoned =
        |device: &&DeviceFacts| value(&device.queue.zoned).is_some_and(|model| model != "none");
    let Some(device) = view.devices().into_iter().find(zoned) else { return Outcome::Nothing };
    let Some(model) = &device.queue.zoned else { return Outcome::Nothing };
    let sentence =
        format!("{} is zoned ({}): random writes are not native to it.", device.name, model.value);
    let draft = Draft::new("F12", Weight::Remark, sentence)
        .confidence(Confidence::Certain)
        .evidence("zones", model.value.clone(), model.from.clone())
        .advice("Write its zones in order, or run until its cache is full.", None);
    Outcome::one(draft.done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn random_writes_on_a_shingled_disk() {
        let mut case = TestCase::direct_write();
        case.disk().queue.zoned = fact("host-aware".into());
        assert!(case.found(&RULE)[0].sentence.starts_with("vda is zoned (host-aware)"));
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
