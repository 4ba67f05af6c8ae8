//! E9: another partition of the same disk was busy.

use candor_record::facts::{DeviceFacts, DeviceKind};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::flow::Flow;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, OTHER_PARTS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "E9",
        title: "another partition was busy",
        explanation: "Partitions share the heads, the queue and the link of their disk. The \
            counters of a partition hold only the traffic of this partition. The counters of the \
            disk hold the traffic of all partitions; the difference is the traffic of the other \
            partitions. More than 5 % during a run reduces the result. Stop all I/O to the other \
            partitions, and run again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let disks =
        observed.devices().into_iter().filter(|device| device.kind != DeviceKind::Partition);
    let found = disks.filter_map(|disk| of(observed, disk));
    found.collect::<Vec<_>>().into()
}

/// The bytes that the disk moved beyond our partitions of it.
fn of(observed: &Observed, disk: &DeviceFacts) -> Option<Finding> {
    let is_part =
        |d: &&DeviceFacts| d.kind == DeviceKind::Partition && d.below.contains(&disk.name);
    let parts: Vec<&DeviceFacts> = observed.devices().into_iter().filter(is_part).collect();
    // A target on the whole disk would look like the traffic of others.
    if parts.is_empty() || observed.tops().iter().any(|top| top.name == disk.name) {
        return None;
    }
    let (before, after) = (&observed.host.before, &observed.host.after);
    let all = Flow::of_device(&disk.name, before, after)?.bytes();
    let ours = Flow::between(&parts, before, after)?.bytes();
    let other = all - ours;
    let share = ratio(other, all);
    (other >= BYTES_MIN.value && share > OTHER_PARTS.value)
        .then(|| finding(observed, disk, other, share))
}

fn finding(observed: &Observed, disk: &DeviceFacts, other: f64, share: f64) -> Finding {
    let sentence = format!(
        "Other partitions caused {} of the traffic of {} ({}).",
        fmt::percent(share),
        disk.name,
        fmt::rate(ratio(other, observed.window_s()))
    );
    let from = format!("/sys/class/block/{}/stat less its partition's", disk.name);
    FindingBuilder::new("E9", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("bytes of other partitions", Quantity::bytes(other), from)
        .advice("Stop all I/O to the other partitions, and run again.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    /// A partition of the disk, which moved this share of what the disk moved.
    fn partition(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 10_000.0).on_array("none", &[1.0]);
        let part = &mut case.host.facts.devices[0];
        (part.kind, part.array) = (DeviceKind::Partition, None);
        let disk = &mut case.host.after.devices[1].1;
        disk.read_sectors = (disk.read_sectors as f64 / share) as u64;
        case
    }

    #[test]
    fn a_neighbour_is_seen_in_the_difference() {
        let found = partition(0.78).found(&RULE);
        assert!(
            found[0].sentence.starts_with("Other partitions caused 22 % of the traffic of sd0"),
            "{}",
            found[0].sentence
        );
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn a_quiet_neighbour_and_no_partition_are_silent() {
        assert_eq!(partition(0.99).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 8, 1, 10_000.0).found(&RULE), []);
    }
}
