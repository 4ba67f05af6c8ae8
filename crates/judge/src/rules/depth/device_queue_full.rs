//! B5: the device takes fewer commands than asked for.

use candor_record::facts::{Fact, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, DEVICE_FULL};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B5",
        title: "the device's queue is full",
        explanation: "Every device takes only so many commands at once: 31 or 32 on SATA, one \
            over plain USB storage, some hundreds on NVMe (device/queue_depth, mq/*/nr_tags). \
            What is asked beyond that waits in the kernel for a free place, a wait that adds to \
            the latency and that iostat does not show. candor compares the mean queue of the \
            devices with that number; from 85 % on they are full. The number stands, and more \
            depth only lengthens the latency.",
    },
    stage: Stage::DeviceQueue,
    limit: Some(LimitClass::Device),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    match full_at(observed) {
        Some(depth) => Outcome::one(finding(observed, depth)),
        None => Outcome::Nothing,
    }
}

/// The depth of the devices at the bottom, where it is smaller than what was asked for, and filled.
pub fn full_at(observed: &Observed) -> Option<f64> {
    let applies =
        !observed.paced() && observed.all_direct() && observed.app_all().bytes >= BYTES_MIN.value;
    let leaves = observed.leaves();
    let depths: Option<Vec<u64>> =
        leaves.iter().map(|leaf| value(&leaf.queue.device_depth).copied()).collect();
    let depth: f64 = depths?.into_iter().map(|depth| depth as f64).sum();
    let (queue, _) = observed.queue().filter(|_| applies)?;
    (depth > 0.0 && depth < observed.concurrency() && queue >= DEVICE_FULL.value * depth)
        .then_some(depth)
}

fn finding(observed: &Observed, depth: f64) -> Finding {
    let requested = observed.concurrency();
    let sentence = format!(
        "{} accepts {}; {} of your {} waited for their turn, a wait that iostat does not show.",
        observed.device_names(),
        fmt::plural(depth, "command", "commands"),
        fmt::count(requested - depth),
        fmt::count(requested)
    );
    let leaves = observed.leaves();
    let source = |fact: &Fact<u64>| fact.from.clone();
    let from = leaves.iter().find_map(|leaf| leaf.queue.device_depth.as_ref().map(source));
    let queue = observed.queue().map_or(0.0, |(queue, _)| queue);
    let stat = "/sys/class/block/*/stat: weighted time ÷ time";
    let command = observed.main_job().and_then(|job| {
        let workers = f64::from(job.job.workers.max(1)).min(depth);
        let command = Command::of(observed.plan, &job.planned)?.workers(workers as u32);
        Some(command.depth((depth / workers).floor() as u32))
    });
    FindingBuilder::new("B5", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(Limit::DeviceQueue { depth })
        .evidence(
            "commands that the device takes",
            Quantity::count(depth),
            from.unwrap_or_default(),
        )
        .evidence("in the device", Quantity::ratio(queue), stat)
        .evidence("in flight as asked", Quantity::count(requested), "plan")
        .advice(format!("Ask for no more than {} in flight.", fmt::count(depth)), command)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact, proposes};

    /// The figures of a disk of depth 8 under 32 requests.
    fn depth_8() -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 570.0);
        case.disk().queue.device_depth = fact(8);
        case.after_top().weighted_ms = 70_000;
        case
    }

    #[test]
    fn a_device_of_depth_8_is_the_limit_itself() {
        let case = depth_8();
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("accepts 8 commands; 24 of your 32"));
        assert!(proposes(&found[0], "blocks.depth=8"));
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("the device's own queue of 8"));
        assert!(judgement.finding("B4").is_none());
    }

    #[test]
    fn more_workers_than_the_device_takes_get_the_advice_of_fewer() {
        // Eight workers on a device that takes four at once, in the lab.
        let mut case = TestCase::direct(4096, 1, 8, 1239.0);
        case.disk().queue.device_depth = fact(4);
        case.after_top().weighted_ms = 38_000;
        let found = case.found(&RULE);
        assert!(proposes(&found[0], "workers=4") && found[0].changes.len() == 1, "{found:?}");
    }

    #[test]
    fn a_device_with_room_and_a_shallow_job_are_not_concerned() {
        let mut case = depth_8();
        case.after_top().weighted_ms = 30_000;
        assert_eq!(case.found(&RULE), []);
        let mut case = depth_8();
        case.blocks().depth = 8;
        assert_eq!(case.found(&RULE), []);
        let mut case = depth_8();
        case.disk().queue.device_depth = None;
        assert_eq!(case.found(&RULE), []);
    }
}
