//! F7: a drive that was emptied.

use candor_plan::units::Direction;
use candor_record::facts::{DeviceFacts, DeviceKind, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::EMPTIED;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F7",
        title: "the drive was mostly trimmed",
        explanation: "A recently erased or trimmed flash drive has free blocks and writes faster \
            than after these blocks are used up. The kernel counts discards since boot. If \
            discards exceed half of the drive and writes are less than the discards, a write test \
            measures an empty drive. Discards before boot are unknown. Write the whole drive twice \
            first to measure the sustained rate, or report the rate as the rate of an empty drive.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if !observed.does(Direction::Write) {
        return Outcome::Nothing;
    }
    let flash = observed.leaves().into_iter().filter(is_flash);
    flash.filter_map(|device| of(observed, device)).collect::<Vec<_>>().into()
}

fn is_flash(device: &&DeviceFacts) -> bool {
    let kind = matches!(device.kind, DeviceKind::Nvme | DeviceKind::Ata | DeviceKind::Scsi);
    kind && value(&device.queue.rotational) == Some(&false)
}

fn of(observed: &Observed, device: &DeviceFacts) -> Option<Finding> {
    let since_boot = observed.host.before.device(&device.name)?;
    let size = device.size_bytes as f64;
    let discarded = since_boot.discard_sectors as f64 * 512.0;
    let written = since_boot.write_sectors as f64 * 512.0;
    (size > 0.0 && discarded >= EMPTIED.value * size && written < discarded).then(|| {
        let sentence = format!(
            "Since boot, {} of {} ({}) were discarded and {} written: this may be the speed of an \
             empty drive.",
            fmt::size(discarded),
            device.name,
            fmt::size(size),
            fmt::size(written)
        );
        let from = format!("/sys/class/block/{}/stat", device.name);
        FindingBuilder::new("F7", Severity::Explains, sentence)
            .confidence(Confidence::Possible)
            .evidence("discarded", Quantity::bytes(discarded), from.clone())
            .evidence("written", Quantity::bytes(written), from)
            .advice(
                "Write the whole drive twice first, or report the rate of an empty drive.",
                None,
            )
            .done()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};

    fn drive(discarded_gib: u64, written_gib: u64) -> TestCase {
        let mut case = TestCase::direct_write();
        let disk = case.disk();
        (disk.kind, disk.queue.rotational) = (DeviceKind::Nvme, fact(false));
        for snapshot in [&mut case.host.before, &mut case.host.after] {
            let counters = &mut snapshot.devices[0].1;
            counters.discard_sectors += discarded_gib << 21;
            counters.write_sectors += written_gib << 21;
        }
        case
    }

    #[test]
    fn a_drive_that_was_just_erased() {
        let found = drive(100, 3).found(&RULE);
        assert!(
            found[0].sentence.starts_with("Since boot, 100 GiB of vda (100 GiB) were discarded"),
            "{found:?}"
        );
    }

    #[test]
    fn used_drives_reads_and_virtual_disks_are_silent() {
        assert_eq!(drive(20, 3).found(&RULE), []);
        assert_eq!(drive(100, 300).found(&RULE), []);
        let mut disk = drive(100, 3);
        disk.disk().kind = DeviceKind::Virtio;
        assert_eq!(disk.found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
    }
}
