//! Bytes that are written and compared: words that tell the task and the item.

use candor_plan::blocks::{Content, Fill, Format, WordKind, Words};
use candor_plan::entries::VerifyItems;

use crate::options::Packet;
use crate::setup::Setup;

/// Words of the kind that is asked for.
pub(super) fn content(setup: &Setup) -> Content {
    let kind = match setup.asked.data.packet {
        Packet::Timestamp => WordKind::Timestamp,
        Packet::Offset => WordKind::Offset,
        Packet::Incompressible => WordKind::Incompressible,
        Packet::Random => WordKind::Random,
    };
    // No seed above 31 bits passes.
    let words = Words { kind, seed: setup.data_seed as i32, rank_block: None };
    Content { fill: Fill::Words, words: Some(words), ..Content::default() }
}

/// Checks of what is read, or read back.
pub(super) fn verify() -> VerifyItems {
    VerifyItems { format: Format::Words, continue_on_mismatch: true, ..VerifyItems::default() }
}
