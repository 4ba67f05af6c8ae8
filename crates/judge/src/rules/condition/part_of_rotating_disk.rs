//! F11: only a part of a rotating disk was touched.

use candor_plan::units::Extent;
use candor_record::facts::{DeviceFacts, DeviceKind, PathKind, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::SPAN;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F11",
        title: "rotating disk partly covered",
        explanation: "The outer tracks of a rotating disk pass twice the bytes per turn of the \
            inner tracks, and a small range keeps the arm still. A test of the first tenth is \
            faster than any full disk. candor compares the range with the size of the disk, for \
            real rotating disks (virtual disks often only claim to rotate). Add a slice at the \
            end, or cover the whole disk.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if value(&observed.facts.host.hypervisor) == Some(&true) {
        return Outcome::Nothing;
    }
    let found = observed.ran.iter().filter_map(|ran| of(observed, ran));
    found.take(1).collect::<Vec<_>>().into()
}

fn of(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let ours = |other: &crate::setup::Planned| other.index == ran.index;
    let target = observed.targets_of(ours).into_iter().find(|t| t.kind == PathKind::Device)?;
    let disk = observed.facts.device(value(&target.device)?).filter(|device| turns(device))?;
    let size = disk.size_bytes as f64;
    let most = observed.plan.target(&target.target)?.size.map_or(size, |size| size.0 as f64);
    let start = bytes(&ran.blocks.range.start, most);
    let length = ran.blocks.range.length.as_ref().map(|length| bytes(length, most));
    let end = length.map_or(most, |length| (start + length).min(most));
    let share = ratio((end - start).max(0.0), size);
    (size > 0.0 && share < SPAN.value).then(|| finding(disk, share, ratio(start, size)))
}

fn bytes(extent: &Extent, whole: f64) -> f64 {
    match extent {
        Extent::Bytes(bytes) => bytes.0 as f64,
        Extent::Percent(percent) => whole * percent / 100.0,
    }
}

/// A disk that really turns: virtual disks often only say so.
pub fn turns(device: &DeviceFacts) -> bool {
    matches!(device.kind, DeviceKind::Ata | DeviceKind::Scsi | DeviceKind::Usb)
        && value(&device.queue.rotational) == Some(&true)
        && device.remote.is_none()
}

fn finding(disk: &DeviceFacts, share: f64, start: f64) -> Finding {
    let sentence = format!(
        "The run covered {} of {}, starting at {} of the disk: other regions may be up to twice as \
         fast or slow.",
        fmt::percent(share),
        disk.name,
        fmt::percent(start)
    );
    let from = disk.queue.rotational.as_ref().map_or("", |fact| &fact.from);
    FindingBuilder::new("F11", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("size of the disk", Quantity::bytes(disk.size_bytes as f64), "size")
        .evidence("rotating", "yes", from)
        .advice("Add a slice at the other end, or cover the whole disk.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};
    use candor_plan::Bytes;

    fn disk() -> TestCase {
        let mut case = TestCase::direct(4096, 8, 1, 200.0).sata(600_000_000);
        case.host.facts.targets[0].kind = PathKind::Device;
        case.disk().queue.rotational = fact(true);
        case
    }

    #[test]
    fn the_outer_tenth_is_not_the_disk() {
        let mut case = disk();
        case.blocks().range.length = Some(Extent::Bytes(Bytes(10 << 30)));
        assert!(
            case.found(&RULE)[0]
                .sentence
                .starts_with("The run covered 10 % of sda, starting at 0 %"),
            "{:?}",
            case.found(&RULE)
        );
        case.host.facts.host.hypervisor = fact(true);
        assert_eq!(case.found(&RULE), [], "no virtual disk turns");
    }

    #[test]
    fn the_whole_disk_a_file_and_flash_are_silent() {
        assert_eq!(disk().found(&RULE), []);
        let mut flash = disk();
        flash.blocks().range.length = Some(Extent::Bytes(Bytes(10 << 30)));
        flash.disk().queue.rotational = fact(false);
        assert_eq!(flash.found(&RULE), []);
        flash.disk().queue.rotational = fact(true);
        flash.host.facts.targets[0].kind = PathKind::File;
        assert_eq!(flash.found(&RULE), []);
    }
}
