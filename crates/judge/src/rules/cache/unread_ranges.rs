//! Common parts of A8 and A9: files on whose bytes no disk needs to be asked.

use candor_plan::units::Direction;
use candor_record::facts::FileFacts;

use crate::coverage;
use crate::observed::Observed;
use crate::setup::SetupFacts;
use crate::thresholds::UNREAD_SHARE;

/// Meaning of such ranges for a phase that ran.
pub enum Verdict {
    /// The device was asked for all bytes, so no such range was read, or it is written by now.
    Untouched,
    /// Such ranges may have been touched.
    Remark,
    /// Such ranges were touched, and the number is not the device's.
    Decides,
}

/// Files that some job reads.
pub fn read_files<'a>(setup: &SetupFacts<'a>) -> Vec<&'a FileFacts> {
    setup.files(&setup.targets_of(|job| job.does(Direction::Read)))
}

/// The meaning of a share of such ranges, given what was fetched.
pub fn verdict(observed: &Observed, share: f64, exact: bool) -> Verdict {
    let cover = coverage::of_reads(observed);
    if cover.is_full() {
        return Verdict::Untouched;
    }
    match cover.share() {
        // Direct reads have nowhere else to come from; buffered ones may be cached, so that a
        // small hole is not to blame for all that the device was not asked for.
        Some(seen) if observed.all_direct() || share >= 0.5 * (1.0 - seen) => Verdict::Decides,
        Some(_) => Verdict::Remark,
        // Facts were read once, before phases that may have written since.
        None if observed.written_before() => Verdict::Untouched,
        None if exact && share >= UNREAD_SHARE.value => Verdict::Decides,
        None => Verdict::Remark,
    }
}
