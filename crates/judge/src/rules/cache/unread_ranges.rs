//! Common parts of A8 and A9: files on whose bytes no disk needs to be asked.

use candor_plan::blocks::{Format, Share};
use candor_plan::units::Direction;
use candor_record::facts::FileFacts;

use crate::coverage;
use crate::observed::Observed;
use crate::setup::{Planned, SetupFacts};
use crate::thresholds::UNREAD_SHARE;

/// Meaning of such ranges for a phase that ran.
pub enum Verdict {
    /// The device was asked for all bytes, so no such range was read, or it is written by now.
    Untouched,
    /// Such ranges may have been touched.
    Caution,
    /// Such ranges were touched, and the number is not the device's.
    Decides,
}

/// Files of which some job may read any part.
pub fn read_files<'a>(setup: &SetupFacts<'a>) -> Vec<&'a FileFacts> {
    setup.files(&setup.targets_of(|job| job.does(Direction::Read) && !repeats_writes(job)))
}

/// True where a count of operations ends the reads of segments, as it ended the writes whose bytes
/// they read: what lies behind these is not read.
fn repeats_writes(job: &Planned<'_>) -> bool {
    let stop = job.job.stop.as_ref().unwrap_or(&job.phase.stop);
    stop.ops.is_some() && matches!(job.blocks.share, Share::Segments { .. })
}

/// True where each byte that was read was checked, and is one that was written: no range without
/// data has such bytes.
fn found_what_was_written(observed: &Observed) -> bool {
    let readers = || observed.ran.iter().filter(|ran| ran.does(Direction::Read));
    readers().next().is_some()
        && readers().all(|ran| {
            let plan = ran.blocks.verify.as_ref();
            let plan =
                plan.filter(|plan| !matches!(plan.format, Format::Pattern | Format::Nothing));
            let (Some(plan), Some(found)) = (plan, &ran.measured.verify) else { return false };
            let checked = found.blocks.saturating_mul(plan.interval.0);
            found.mismatches() == 0 && checked >= ran.measured.of(Direction::Read).bytes
        })
}

/// The meaning of a share of such ranges, given what was fetched.
pub fn verdict(observed: &Observed, share: f64, exact: bool) -> Verdict {
    let cover = coverage::of_reads(observed);
    if cover.is_full() || found_what_was_written(observed) {
        return Verdict::Untouched;
    }
    match cover.share() {
        // Direct reads have nowhere else to come from; buffered ones may be cached, so that a
        // small hole is not to blame for all that the device was not asked for.
        Some(seen) if observed.all_direct() || share >= 0.5 * (1.0 - seen) => Verdict::Decides,
        Some(_) => Verdict::Caution,
        // Facts were read once, before phases that may have written since.
        None if observed.written_before() => Verdict::Untouched,
        None if exact && share >= UNREAD_SHARE.value => Verdict::Decides,
        None => Verdict::Caution,
    }
}
