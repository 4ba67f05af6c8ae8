//! C5: a partition or volume that starts between two sectors.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C5",
        title: "the device starts misaligned",
        explanation: "A partition or volume that starts in the middle of a physical sector turns \
            every aligned operation into one that crosses a sector boundary. Small writes then \
            read and write two sectors instead of writing one. The kernel reports the offset of \
            the start (alignment_offset) and the start of a partition. candor reports any offset \
            except zero, with a caution if the run writes. Create the partition again on a \
            multiple of 1 MiB.",
    },
    stage: Stage::Storage,
    limit: None,
    before: Some(before),
    after,
};

/// A device, how many bytes it is off, and where that was read.
type Off<'a> = (&'a DeviceFacts, u64, String);

fn before(setup: &SetupFacts) -> Outcome {
    let devices = setup.devices();
    // A partition may begin where its disk's offset is made up for; the kernel counts both.
    let is_reported = |disk: &&DeviceFacts| {
        let part =
            |d: &&DeviceFacts| d.kind == DeviceKind::Partition && d.below.contains(&disk.name);
        devices.iter().any(|device| part(device) && device.queue.alignment_offset_bytes.is_some())
    };
    match devices.iter().copied().filter(|device| !is_reported(device)).find_map(off) {
        Some(off) if !setup.jobs.is_empty() => Outcome::one(finding(setup, &off)),
        _ => Outcome::Nothing,
    }
}

fn after(observed: &Observed) -> Outcome {
    before(&observed.setup)
}

fn off(device: &DeviceFacts) -> Option<Off<'_>> {
    if let Some(fact) = &device.queue.alignment_offset_bytes {
        return (fact.value > 0).then(|| (device, fact.value, fact.from.clone()));
    }
    let start = device.partition_start_bytes.as_ref()?;
    let sector = value(&device.queue.physical_block_bytes).filter(|bytes| **bytes > 0)?;
    let off = start.value % sector;
    (off > 0).then(|| (device, off, start.from.clone()))
}

fn finding(setup: &SetupFacts, (device, bytes, from): &Off) -> Finding {
    let off = Quantity::bytes(*bytes as f64);
    let writes = setup.does(Direction::Write);
    let cost = if writes { "small writes cost twice" } else { "small reads cost twice" };
    let sentence = format!("{} starts {off} off a sector boundary: {cost}.", device.name);
    let severity = if writes { Severity::Caution } else { Severity::Explains };
    FindingBuilder::new("C5", severity, sentence)
        .confidence(Confidence::Likely)
        .evidence("off the boundary", off, from.clone())
        .advice("Create the partition or volume again on a multiple of 1 MiB.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn an_offset_that_the_kernel_tells_is_passed_on() {
        let mut case = TestCase::direct_write();
        case.disk().queue.alignment_offset_bytes = fact(3584);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "vda starts 3.5 KiB off a sector boundary: small writes cost twice."
        );
        assert_eq!(found[0].severity, Severity::Caution);
        assert_eq!(case.preflight().len(), 1);
    }

    #[test]
    fn a_partition_is_held_against_the_sectors() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.disk().partition_start_bytes = fact(63 * 512);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
        case.disk().queue.alignment_offset_bytes = fact(0);
        assert_eq!(
            case.found(&RULE),
            [],
            "the disk itself begins so far off, and the kernel knows"
        );
        case.disk().queue.alignment_offset_bytes = None;
        case.disk().partition_start_bytes = fact(1 << 20);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn a_partition_that_makes_up_for_its_disk_is_silent() {
        let mut case = TestCase::direct_write();
        case.disk().queue.alignment_offset_bytes = fact(3584);
        let mut part = case.disk().clone();
        (part.name, part.kind) = ("vda1".into(), DeviceKind::Partition);
        (part.below, part.queue.alignment_offset_bytes) = (vec!["vda".into()], fact(0));
        case.host.facts.devices.insert(0, part);
        case.host.facts.targets[0].device = fact("vda1".into());
        assert_eq!(case.found(&RULE), []);
        case.host.facts.devices[0].queue.alignment_offset_bytes = fact(512);
        assert!(case.found(&RULE)[0].sentence.starts_with("vda1 starts 512 bytes off"));
    }
}
