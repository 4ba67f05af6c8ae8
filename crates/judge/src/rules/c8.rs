//! C8: a scheduler that has its say.

use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::{Confidence, Finding, Weight};

use crate::draft::Draft;
use crate::rule::{Outcome, Rule, RuleText};
use crate::thresholds::BYTES_MIN;
use crate::view::View;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C8",
        title: "an I/O scheduler has its say",
        explanation: "A scheduler sorts, delays and shares out requests. bfq is made for fairness \
            on slow disks and its locks cap the rate of fast ones; NVMe drives do best with none. \
            That is no fault of a result, for the scheduler belongs to the host, but another host \
            with another scheduler gives another number. candor names bfq anywhere and any \
            scheduler on NVMe. Compare with a run under none (queue/scheduler).",
    },
    before: None,
    after,
};

fn after(view: &View) -> Outcome {
    if view.ran.is_empty() || view.app_all().bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let found = view.devices().into_iter().filter_map(finding);
    found.collect::<Vec<_>>().into()
}

fn finding(device: &DeviceFacts) -> Option<Finding> {
    // A partition shows that of its disk, which is looked at itself.
    let whole = device.kind != DeviceKind::Partition;
    let scheduler = value(&device.queue.scheduler).filter(|_| whole)?;
    let odd = scheduler == "bfq" || (device.kind == DeviceKind::Nvme && scheduler != "none");
    let from = device.queue.scheduler.as_ref().map(|fact| fact.from.clone()).unwrap_or_default();
    odd.then(|| {
        let sentence = format!("The scheduler {scheduler} is active on {}.", device.name);
        Draft::new("C8", Weight::Explains, sentence)
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
    fn usual_ones_are_not() {
        assert_eq!(under(DeviceKind::Nvme, "none"), []);
        assert_eq!(under(DeviceKind::Virtio, "mq-deadline"), []);
    }
}
