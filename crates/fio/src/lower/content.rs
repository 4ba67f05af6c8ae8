//! Contents of buffers.

pub(super) mod durability;
mod patterns;
pub(super) mod seeds;
pub(super) mod verify;

use candor_plan::blocks::{Content, Duplicates, Fill};
use candor_plan::{Blocks, Bytes};

use super::instance::Instance;
use crate::options::{Buffers, DedupeMode};
use candor_front::Diagnostics;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let options = &from.options.buffers;
    let percent = |value: Option<u64>| value.map_or(0, |value| value.min(100) as u8);
    let pattern = options.pattern.as_deref();
    let pattern =
        pattern.and_then(|text| patterns::lower(from, "buffer_pattern", text, diagnostics));
    let compressed = percent(options.compress);
    let duplicates = percent(options.dedupe);
    let drawn = compressed > 0 || duplicates > 0;
    let fill = match () {
        () if options.zero => Fill::Zero,
        () if pattern.is_some() && !drawn => Fill::Pattern,
        () if options.refill => Fill::Fresh,
        // Reads use the same buffers, so old data is not content.
        () if drawn || from.options.rw.direction.reads() => Fill::Pool,
        () if options.scramble => Fill::Stamp,
        () => Fill::Once,
    };
    blocks.content = Content {
        fill,
        pattern,
        compressible_percent: compressed,
        compressible_piece: (options.compress_chunk != 512)
            .then_some(Bytes(options.compress_chunk)),
        duplicate_percent: duplicates,
        duplicates: if duplicates > 0 { which(options) } else { Duplicates::default() },
        ..Content::default()
    };
}

fn which(options: &Buffers) -> Duplicates {
    match options.dedupe_mode {
        DedupeMode::Repeat => Duplicates::Last,
        DedupeMode::WorkingSet => Duplicates::WorkingSet {
            percent: options.dedupe_set.clamp(1, 100) as u8,
            shared: options.dedupe_global,
        },
    }
}
