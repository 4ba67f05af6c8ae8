//! Direct I/O that a job could do: what its targets take, and its sizes and offsets.

use candor_plan::units::{Direction, Extent};
use candor_record::facts::{DirectIo, FileFacts, TargetFacts, value};

use crate::setup::{Planned, SetupFacts};

/// The targets of a job take direct operations of its sizes, at its offsets. Where nothing is known
/// of a target, whole pages fit.
pub fn fits(setup: &SetupFacts, planned: &Planned) -> bool {
    let is_used = |target: &&TargetFacts| planned.job.targets.contains(&target.target);
    let mut targets = setup.facts.targets.iter().filter(is_used);
    targets.all(|target| fits_target(setup, planned, target))
}

fn fits_target(setup: &SetupFacts, planned: &Planned, target: &TargetFacts) -> bool {
    // Opening a file with the flag fails on these filesystems; no other call of the kernel
    // reports this.
    let refuses = |kind: &str| matches!(kind, "squashfs" | "cramfs");
    if target.holding().is_some_and(|on| refuses(&on.kind)) {
        return false;
    }
    let of_file = |file: &FileFacts| match file.direct {
        DirectIo::Unsupported => None,
        DirectIo::Aligned { offset, .. } => Some(u64::from(offset)),
        DirectIo::Unknown => Some(sector(setup, target)),
    };
    let units: Option<Vec<u64>> = target.files.iter().map(of_file).collect();
    let Some(units) = units else { return false };
    let unit = units.into_iter().max().unwrap_or_else(|| sector(setup, target)).max(1);
    is_aligned(planned, unit)
}

fn sector(setup: &SetupFacts, target: &TargetFacts) -> u64 {
    let device = value(&target.device).and_then(|name| setup.facts.device(name));
    let logical = device.and_then(|device| value(&device.queue.logical_block_bytes).copied());
    logical.unwrap_or_else(|| setup.page_bytes())
}

/// Sizes and offsets of a job are multiples of a unit.
fn is_aligned(planned: &Planned, unit: u64) -> bool {
    let blocks = planned.blocks;
    let mut used = Direction::ALL.into_iter().filter(|op| planned.does(*op));
    let fits = |bytes: u64| bytes.is_multiple_of(unit);
    let starts = match blocks.range.start {
        Extent::Bytes(start) => fits(start.0),
        Extent::Percent(_) => true,
    };
    starts && used.all(|op| fits(blocks.size.of(op).unit().0) && fits(blocks.alignment(op).0))
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;
    use candor_plan::units::{PerDirection, SizeSpec};

    use super::*;
    use crate::testcase::TestCase;

    fn can(case: &TestCase) -> bool {
        let setup = case.setup();
        fits(&setup, &setup.jobs[0])
    }

    #[test]
    fn sizes_and_offsets_are_multiples_of_what_statx_names() {
        let mut case = TestCase::buffered_read();
        assert!(can(&case));
        case.blocks().align = Some(PerDirection::all(Bytes(100)));
        assert!(!can(&case), "offsets");
        case.blocks().align = None;
        case.blocks().range.start = Extent::Bytes(Bytes(700));
        assert!(!can(&case), "start of the range");
        case.blocks().range.start = Extent::Bytes(Bytes(0));
        case.blocks().size = PerDirection::all(SizeSpec::Fixed(Bytes(200)));
        assert!(!can(&case), "sizes");
        case.blocks().size = PerDirection::all(SizeSpec::Fixed(Bytes(2560)));
        assert!(can(&case));
        case.file().direct = DirectIo::Aligned { memory: 4, offset: 4096 };
        assert!(!can(&case));
    }

    #[test]
    fn filesystems_without_direct_io_take_none() {
        let mut case = TestCase::buffered_read();
        case.file().direct = DirectIo::Unsupported;
        assert!(!can(&case));
        case.file().direct = DirectIo::Unknown;
        assert!(can(&case), "sectors of the device");
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "squashfs".into();
        assert!(!can(&case));
        let found = case.judge().finding("A1").cloned().unwrap();
        let keys: Vec<_> = found.changes.iter().map(|change| change.key.as_str()).collect();
        assert_eq!(keys, ["phase[0].job[0].work.blocks.hints.evict"]);
    }
}
