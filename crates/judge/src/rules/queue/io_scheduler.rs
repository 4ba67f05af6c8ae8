//! C8: a scheduler that has its say.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::BYTES_MIN;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C8",
        title: "an I/O scheduler is active",
        explanation: "A scheduler sorts, delays and distributes requests. bfq provides fairness on \
            slow disks, but its locks cap the rate of fast disks; NVMe drives are fastest without \
            a scheduler. The result is correct, because the scheduler belongs to the host, but \
            another host with another scheduler gives another number. candor reports bfq on any \
            device, any scheduler on NVMe, and the write-back throttle (wbt) for buffered writes. \
            Compare with a run without (queue/scheduler, queue/wbt_lat_usec).",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.ran.is_empty() || observed.app_all().bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let found = observed.devices().into_iter().filter_map(finding).chain(held_back(observed));
    found.collect::<Vec<_>>().into()
}

/// Write-back from the page cache that is held back in favour of reads.
fn held_back(observed: &Observed) -> Option<Finding> {
    if !observed.ran.iter().any(|ran| ran.does(Direction::Write) && !ran.blocks.direct) {
        return None;
    }
    let devices = observed.devices();
    let device = devices
        .iter()
        .find(|device| value(&device.queue.writeback_latency_ns).is_some_and(|ns| *ns > 0))?;
    let fact = device.queue.writeback_latency_ns.as_ref()?;
    let latency = Quantity::ns(fact.value as f64);
    let sentence = format!(
        "The write-back throttle (wbt) delays writes to {} while reads take more than {latency}.",
        device.name
    );
    let draft = FindingBuilder::new("C8", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("target latency of reads", latency, fact.from.clone());
    Some(draft.advice("Compare with a run with queue/wbt_lat_usec at 0.", None).done())
}

fn finding(device: &DeviceFacts) -> Option<Finding> {
    // A partition shows that of its disk, which is looked at itself.
    let whole = device.kind != DeviceKind::Partition;
    let scheduler = value(&device.queue.scheduler).filter(|_| whole)?;
    let odd = scheduler == "bfq" || (device.kind == DeviceKind::Nvme && scheduler != "none");
    let from = device.queue.scheduler.as_ref().map(|fact| fact.from.clone()).unwrap_or_default();
    odd.then(|| {
        let sentence = format!("The scheduler {scheduler} is active on {}.", device.name);
        FindingBuilder::new("C8", Severity::Explains, sentence)
            .confidence(Confidence::Possible)
            .evidence("scheduler", scheduler.clone(), from)
            .advice("Compare with a run under none (queue/scheduler).", None)
            .done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn under(kind: DeviceKind, scheduler: &str) -> Vec<Finding> {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.disk().kind = kind;
        case.disk().queue.scheduler = fact(scheduler.to_owned());
        case.found(&RULE)
    }

    #[test]
    fn bfq_and_schedulers_on_nvme_are_named() {
        let found = under(DeviceKind::Ata, "bfq");
        assert_eq!(found[0].sentence, "The scheduler bfq is active on vda.");
        assert_eq!(under(DeviceKind::Nvme, "mq-deadline").len(), 1);
    }

    #[test]
    fn throttled_write_back_is_reported_of_buffered_writes() {
        let mut case = TestCase::buffered_write();
        case.disk().queue.writeback_latency_ns = fact(75_000_000);
        assert!(case.found(&RULE)[0].sentence.contains("take more than 75 ms"));
        case.blocks().direct = true;
        assert_eq!(case.found(&RULE), []);
        case.blocks().direct = false;
        case.disk().queue.writeback_latency_ns = fact(0);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn usual_ones_are_not() {
        assert_eq!(under(DeviceKind::Nvme, "none"), []);
        assert_eq!(under(DeviceKind::Virtio, "mq-deadline"), []);
    }
}
