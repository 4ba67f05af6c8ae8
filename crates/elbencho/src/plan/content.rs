//! Content of writes, verification, and rate limits.

use candor_plan::blocks::{Content, Fill, Format, Pace, Pattern, ReadBack, UnknownBlocks, Verify};
use candor_plan::entries::VerifyItems;
use candor_plan::units::Mix;
use candor_plan::{Bytes, BytesPerSec};

use crate::setup::Setup;

/// Rate limits of each worker as the limit of the whole job.
pub(super) fn pace(setup: &Setup, mix: Mix, workers: u32) -> Pace {
    let io = &setup.asked.io;
    // The write limit also slows the reads of its phase.
    let limit = match mix.write {
        0 => io.read_limit_bytes_per_s,
        _ => io.write_limit_bytes_per_s,
    };
    let all = BytesPerSec(limit.saturating_mul(workers.into()));
    Pace { bytes: (limit > 0).then_some(all), ..Pace::default() }
}

/// Words of 8 bytes with offset and salt, or random bytes.
pub(super) fn content(setup: &Setup) -> Content {
    let data = &setup.asked.data;
    if data.verify_salt > 0 {
        return Content {
            fill: Fill::Pattern,
            pattern: words(data.verify_salt),
            ..Content::default()
        };
    }
    if data.variance_percent == 0 {
        return Content { fill: Fill::Once, ..Content::default() };
    }
    let compressible_percent = 100 - data.variance_percent;
    let piece = (compressible_percent > 0).then_some(Bytes(0));
    Content { compressible_percent, compressible_piece: piece, ..Content::default() }
}

fn words(salt: u64) -> Option<Pattern> {
    let word = std::num::NonZeroUsize::new(8)?;
    Pattern::empty().then_offset().salted(salt).at_each(word).finish()
}

/// Verification of blocks on reads or after writes; blocks without words are only read back.
pub(super) fn verify(setup: &Setup, mix: Mix) -> Option<Verify> {
    let (format, reads_back) = checks(setup, mix.write > 0);
    let compares = format == Format::Pattern && mix.read > 0;
    let read_back = ReadBack { every: 1, batch: 1, ..ReadBack::default() };
    (compares || reads_back).then(|| Verify {
        interval: interval(setup),
        format,
        generations: false,
        unknown: UnknownBlocks::Check,
        read_back: reads_back.then_some(read_back),
        ..Verify::default()
    })
}

/// Verification of small files in a phase that writes or reads them.
pub(super) fn verify_items(setup: &Setup, writes: bool) -> Option<VerifyItems> {
    let (format, read_back) = checks(setup, writes);
    let is_wanted = format == Format::Pattern || read_back;
    (is_wanted && setup.has_bytes()).then(|| VerifyItems {
        interval: interval(setup),
        format,
        read_back,
        ..VerifyItems::default()
    })
}

/// Format of the verification, and whether each block is read back after its write.
fn checks(setup: &Setup, writes: bool) -> (Format, bool) {
    let asked = &setup.asked;
    let format = if asked.data.verify_salt > 0 { Format::Pattern } else { Format::Nothing };
    (format, writes && (asked.data.verify_direct || asked.tree.read_inline))
}

/// Largest common divisor of block and file sizes.
pub(super) fn interval(setup: &Setup) -> Bytes {
    let sizes = setup.bytes_of_paths.iter().chain([&setup.file_bytes]).copied();
    Bytes(sizes.fold(setup.block_bytes, gcd))
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
