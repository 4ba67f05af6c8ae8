//! Bytes that are written and compared, and how fast.

use candor_plan::blocks::{Content, Fill, Format, Pace, Pattern, ReadBack, UnknownBlocks, Verify};
use candor_plan::entries::VerifyItems;
use candor_plan::units::Mix;
use candor_plan::{Bytes, BytesPerSec};

use crate::elbencho::setup::Setup;

/// Limits of each worker, as one of the whole job.
pub(super) fn pace(setup: &Setup, mix: Mix, workers: u32) -> Pace {
    let io = &setup.asked.io;
    let limit = match (mix.read, mix.write) {
        (100, _) => io.read_limit_bytes_per_s,
        (_, 100) => io.write_limit_bytes_per_s,
        _ => 0,
    };
    let all = BytesPerSec(limit.saturating_mul(workers.into()));
    Pace { bytes: (limit > 0).then_some(all), ..Pace::default() }
}

/// Words of 8 bytes with their offset and the salt; else random bytes, new for each write or not.
pub(super) fn content(setup: &Setup) -> Content {
    let data = &setup.asked.data;
    if data.verify_salt > 0 {
        return Content {
            fill: Fill::Pattern,
            pattern: words(data.verify_salt),
            ..Content::default()
        };
    }
    let fill = if data.variance_percent == 0 { Fill::Once } else { Fill::Pool };
    Content { fill, ..Content::default() }
}

fn words(salt: u64) -> Option<Pattern> {
    let word = std::num::NonZeroUsize::new(8)?;
    Pattern::empty().then_offset().salted(salt).anew_every(word).finish()
}

/// Words that are compared when blocks are read, or read back.
pub(super) fn verify(setup: &Setup, mix: Mix) -> Option<Verify> {
    let data = &setup.asked.data;
    let reads_back = data.verify_direct && mix.write > 0;
    if data.verify_salt == 0 || (mix.read == 0 && !reads_back) {
        return None;
    }
    let read_back = ReadBack { every: 1, batch: 1, ..ReadBack::default() };
    Some(Verify {
        interval: interval(setup),
        format: Format::Pattern,
        generations: false,
        unknown: UnknownBlocks::Check,
        read_back: reads_back.then_some(read_back),
        ..Verify::default()
    })
}

/// The same in small files, of a phase that writes or reads them.
pub(super) fn verify_items(setup: &Setup, writes: bool) -> Option<VerifyItems> {
    let verifies = setup.asked.data.verify_salt > 0 && setup.has_bytes();
    verifies.then(|| VerifyItems {
        interval: interval(setup),
        format: Format::Pattern,
        read_back: writes && setup.asked.data.verify_direct,
        ..VerifyItems::default()
    })
}

/// Longest piece of which blocks and files are multiples.
fn interval(setup: &Setup) -> Bytes {
    let sizes = setup.bytes_of_paths.iter().chain([&setup.file_bytes]);
    Bytes(sizes.fold(setup.block_bytes, |sum, size| gcd(sum, *size)))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
