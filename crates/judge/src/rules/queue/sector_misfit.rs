//! C4: operations smaller than a sector, or across sectors.

use candor_plan::Bytes;
use candor_plan::units::{Direction, Extent, PerDirection, SizeSpec};
use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::{Planned, SetupFacts};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C4",
        title: "operations do not fit sectors",
        explanation: "Many devices accept 512 bytes but work in sectors of 4096. Smaller or \
            misaligned reads fetch whole sectors and discard the rest; smaller writes must read \
            the sector first, change it and write it back. Buffered I/O is not affected, because \
            the page cache rounds it. A loop device that starts in the middle of a sector of its \
            file (losetup --offset) shifts every operation by the same offset. Use sizes and \
            offsets that are multiples of the physical sector.",
    },
    stage: Stage::Storage,
    limit: None,
    before: Some(before),
    after,
};

/// Size that fits every device on the market, used where the device does not say.
const USUAL_BYTES: u64 = 4096;

fn before(setup: &SetupFacts) -> Outcome {
    let physical = physical(setup);
    let sector = physical.unwrap_or(USUAL_BYTES);
    let misfits: Vec<_> = setup.jobs.iter().filter_map(|job| misfit(job, sector)).collect();
    let mut found = shifted(setup);
    match physical {
        None if !misfits.is_empty() && found.is_empty() => {
            return Outcome::lacks("the physical sector size of the device");
        }
        None => {}
        Some(sector) => {
            let misfits = misfits.into_iter();
            found.extend(misfits.map(|(job, what)| finding(setup, job, &what, sector)));
        }
    }
    found.into()
}

/// Loop devices that begin in the middle of a sector of the disk below, or of a page where they go
/// through the cache.
fn shifted(setup: &SetupFacts) -> Vec<Finding> {
    let Some(job) = setup.jobs.iter().find(|job| job.blocks.direct) else { return Vec::new() };
    let of = |device: &DeviceFacts| {
        let backing = device.loop_backing.as_ref()?;
        let offset = backing.offset_bytes.as_ref()?;
        let below = setup.chain(&device.name).into_iter().filter(|below| below.name != device.name);
        let sector = below.filter_map(|below| value(&below.queue.physical_block_bytes)).max()?;
        let page = if value(&backing.direct) == Some(&true) { 0 } else { setup.page_bytes() };
        let unit = page.max(*sector);
        (unit > 0 && offset.value % unit > 0).then(|| {
            let (at, unit_text) = (fmt::size(offset.value as f64), fmt::size(unit as f64));
            let what = format!("I/O to {}, which starts {at} into its file,", device.name);
            draft(setup, job, &what, unit)
                .evidence("offset in the file", Quantity::bytes(offset.value as f64), &*offset.from)
                .advice(format!("Set up the loop at a multiple of {unit_text} of its file."), None)
                .done()
        })
    };
    setup.devices().into_iter().filter_map(of).collect()
}

fn after(observed: &Observed) -> Outcome {
    before(&observed.setup)
}

/// The largest physical sector of the devices at the bottom, else of those on top.
fn physical(setup: &SetupFacts) -> Option<u64> {
    let of = |devices: Vec<&DeviceFacts>| {
        devices.iter().filter_map(|d| value(&d.queue.physical_block_bytes)).max().copied()
    };
    of(setup.tops()).or_else(|| of(setup.leaves())).filter(|bytes| *bytes > 0)
}

/// A direct job with a size, alignment or start that is no multiple of the sector.
fn misfit<'a, 'b>(job: &'b Planned<'a>, sector: u64) -> Option<(&'b Planned<'a>, String)> {
    if !job.blocks.direct {
        return None;
    }
    let odd = |bytes: &Bytes| !bytes.0.is_multiple_of(sector);
    let used = Direction::ALL.into_iter().filter(|op| job.does(*op));
    let mut sizes = used.flat_map(|op| sizes(job.blocks.size.of(op)));
    let start = match job.blocks.range.start {
        Extent::Bytes(bytes) => Some(bytes),
        Extent::Percent(_) => None,
    };
    let size = sizes.find(odd).map(|size| format!("{} I/O", fmt::size(size.0 as f64)));
    let aligns = job.blocks.align.iter().flat_map(PerDirection::iter);
    let mut aligns = aligns.filter(|(op, _)| job.does(*op)).map(|(_, align)| *align);
    let align = aligns.find(odd);
    let align = align.map(|by| format!("I/O aligned to {}", fmt::size(by.0 as f64)));
    let start = start.filter(odd).map(|at| format!("I/O starting at {at}"));
    size.or(align).or(start).map(|what| (job, what))
}

/// Every size that can occur; those of a range are sums of these.
fn sizes(spec: &SizeSpec) -> Vec<Bytes> {
    match spec {
        SizeSpec::Fixed(size) | SizeSpec::Range(size, _) => vec![*size],
        SizeSpec::Stepped(low, _, step) => vec![*low, *step],
        SizeSpec::Weighted(list) => list.iter().map(|(size, _)| *size).collect(),
    }
}

/// The finding without its advice.
fn draft(setup: &SetupFacts, job: &Planned, what: &str, sector: u64) -> FindingBuilder {
    let sector_text = fmt::size(sector as f64);
    let writes = job.does(Direction::Write);
    let cost =
        if writes { "writes need read-modify-write" } else { "reads fetch more than requested" };
    let from = setup.leaves().into_iter().find_map(|d| d.queue.physical_block_bytes.as_ref());
    FindingBuilder::new(
        "C4",
        Severity::Caution,
        format!("{what} on {sector_text} sectors: {cost}."),
    )
    .job(&job.job.name)
    .confidence(Confidence::Likely)
    .evidence_if(
        from.map(|fact| {
            ("physical sector".into(), Quantity::bytes(sector as f64), fact.from.clone())
        }),
    )
}

fn finding(setup: &SetupFacts, job: &Planned, what: &str, sector: u64) -> Finding {
    let sector_text = fmt::size(sector as f64);
    let writes = job.does(Direction::Write);
    let largest =
        job.blocks.size.of(if writes { Direction::Write } else { Direction::Read }).max().0;
    let rounded = largest.max(1).checked_next_multiple_of(sector).unwrap_or(sector);
    let command = Command::of(setup.plan, job);
    draft(setup, job, what, sector)
        .advice(
            format!("Use sizes and offsets that are multiples of {sector_text}."),
            command.map(|command| command.bs(rounded)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact, proposes};

    #[test]
    fn half_a_kilobyte_on_4k_sectors_is_remarked() {
        let case = TestCase::direct(512, 1, 1, 16_000.0);
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("512 bytes I/O on 4 KiB sectors: reads fetch"));
        assert!(proposes(&found[0], "blocks.size=4k"));
        assert_eq!(case.preflight()[0].rule, "C4");
    }

    #[test]
    fn writes_and_odd_alignments_too() {
        let mut case = TestCase::direct_write();
        case.blocks().align = Some(PerDirection::all(Bytes(512)));
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("aligned to 512 bytes on 4 KiB sectors: writes need"));
    }

    #[test]
    fn whole_sectors_and_buffered_io_are_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 16_000.0).found(&RULE), []);
        let mut case = TestCase::direct(512, 1, 1, 16_000.0);
        case.blocks().direct = false;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn a_loop_that_begins_off_a_sector_shifts_every_operation() {
        let mut case = TestCase::direct(4096, 1, 1, 16_000.0).on_loop(true);
        let offset = |case: &mut TestCase, bytes| {
            let backing = case.host.facts.devices[0].loop_backing.as_mut().unwrap();
            backing.offset_bytes = fact(bytes);
        };
        case.disk().queue.physical_block_bytes = fact(4096);
        offset(&mut case, 512);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "I/O to loop0, which starts 512 bytes into its file, on 4 KiB sectors: reads fetch \
             more than requested."
        );
        offset(&mut case, 1 << 20);
        assert_eq!(case.found(&RULE), []);
        offset(&mut case, 512);
        case.disk().queue.physical_block_bytes = fact(512);
        assert_eq!(case.found(&RULE), [], "512 bytes are a sector there");
        let backing = case.host.facts.devices[0].loop_backing.as_mut().unwrap();
        backing.direct = fact(false);
        assert_eq!(case.found(&RULE).len(), 1, "and half a page through the cache");
    }

    #[test]
    fn an_unknown_sector_matters_only_for_small_sizes() {
        let mut case = TestCase::direct(512, 1, 1, 16_000.0);
        case.disk().queue.physical_block_bytes = None;
        assert!(case.lacked(&RULE).is_some());
        let mut case = TestCase::direct(4096, 1, 1, 16_000.0);
        case.disk().queue.physical_block_bytes = None;
        assert_eq!(case.lacked(&RULE), None);
    }
}
