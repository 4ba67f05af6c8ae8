//! What is written.

use candor_plan::Blocks;
use candor_plan::blocks::{Content, Fill};

use super::{Instance, Told};

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, _: &mut Told) {
    let said = &from.settings.buffers;
    let percent = |value: Option<u64>| value.map_or(0, |value| value.min(100) as u8);
    let fill = match (said.zero, said.refill) {
        (true, _) => Fill::Zero,
        (false, true) => Fill::Fresh,
        (false, false) => Fill::Pool,
    };
    blocks.content = Content {
        fill,
        compressible_percent: percent(said.compress),
        duplicate_percent: percent(said.dedupe),
        ..Content::default()
    };
}
