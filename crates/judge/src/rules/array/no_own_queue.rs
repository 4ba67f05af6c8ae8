//! E8: a device without a queue of its own.

use candor_record::facts::value;
use candor_record::{Confidence, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E8",
        title: "device without its own queue",
        explanation: "Arrays, volumes and NVMe heads pass requests to their members without a \
            queue, a scheduler or tags. Older kernels show meaningless numbers for such devices. \
            Depth and wait time belong to the members. candor reports this if more than one \
            operation at a time was requested: tune the queues of the members instead. If the \
            upper device has no queue, this report shows the queue numbers of the members.",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.requested() <= 1.0 || observed.all_memory() {
        return Outcome::Nothing;
    }
    fn without(device: &&candor_record::facts::DeviceFacts) -> bool {
        value(&device.bio_based) == Some(&true) && !device.below.is_empty()
    }
    let Some(device) = observed.tops().into_iter().find(without) else { return Outcome::Nothing };
    let members = device.below.join(", ");
    let sentence = format!("{} has no queue; queue numbers are from {members}.", device.name);
    let from = device.bio_based.as_ref().map_or("", |fact| &fact.from);
    let draft = FindingBuilder::new("E8", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("requested in flight", Quantity::count(observed.requested()), "candor")
        .evidence("queue", "none", from)
        .advice("Tune scheduler and depth on the members.", None);
    Outcome::one(draft.done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn an_array_has_the_queues_of_its_members() {
        let found =
            TestCase::direct(4096, 32, 1, 10_000.0).on_array("raid0", &[0.5, 0.5]).found(&RULE);
        assert_eq!(found[0].sentence, "md0 has no queue; queue numbers are from sd0, sd1.");
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn one_at_a_time_single_disks_and_memory_are_silent() {
        let single = TestCase::direct(4096, 1, 1, 10_000.0).on_array("raid0", &[0.5, 0.5]);
        assert_eq!(single.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 10_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 32, 1, 10_000.0).on_zram().found(&RULE), []);
    }
}
