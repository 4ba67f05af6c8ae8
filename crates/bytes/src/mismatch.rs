//! Description of a block that differs from what was written.

use candor_engine::operation::Slot;
use candor_plan::Bytes;
use candor_record::{BadSector, BlockIdentity, Mismatch, MismatchKind, WrongByte};

/// Mismatch of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMismatch {
    /// Kind of the mismatch.
    pub kind: MismatchKind,
    /// Expected and found values, as text.
    pub detail: String,
    /// True if the header is wrong; the rest was then not checked.
    pub in_header: bool,
    /// The expected and the found block, if the format identifies blocks.
    pub blocks: Box<MismatchedBlocks>,
}

/// The expected block, and the block found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MismatchedBlocks {
    /// Expected block, if the format identifies blocks.
    pub expected: Option<BlockIdentity>,
    /// Block found instead, if it is complete.
    pub found: Option<BlockIdentity>,
    /// Wrong sectors, if the format checks sectors separately.
    pub sectors: Vec<BadSector>,
    /// First wrong byte, if every byte has an expected value.
    pub byte: Option<WrongByte>,
}

impl BlockMismatch {
    /// A mismatch of that kind.
    pub fn of(kind: MismatchKind, detail: String) -> BlockMismatch {
        BlockMismatch { kind, detail, ..BlockMismatch::default() }
    }

    /// Mismatch in a read, without path and position of the block.
    pub fn of_read(self, slot: &Slot) -> Mismatch {
        let blocks = *self.blocks;
        Mismatch {
            kind: self.kind,
            detail: self.detail,
            read_offset: slot.offset,
            read_length: Bytes(slot.length),
            expected: blocks.expected,
            found: blocks.found,
            sectors: blocks.sectors,
            wrong_byte: blocks.byte,
            ..Mismatch::default()
        }
    }
}
