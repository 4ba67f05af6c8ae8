//! Description of a block that differs from what was written.

use candor_record::{BadSector, BlockIdentity, MismatchKind, WrongByte};

/// Mismatch of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMismatch {
    /// Kind of the mismatch.
    pub kind: MismatchKind,
    /// Expected and found values, as text.
    pub detail: String,
    /// True where the header is wrong; the rest was then not checked.
    pub in_header: bool,
    /// The two blocks, where the format tells blocks apart.
    pub blocks: Box<MismatchedBlocks>,
}

/// A block that was expected, and the one that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MismatchedBlocks {
    /// Block that was expected, where the format tells blocks apart.
    pub expected: Option<BlockIdentity>,
    /// Block that is there instead, where it is a whole one.
    pub found: Option<BlockIdentity>,
    /// Wrong sectors, where they can be told from the others.
    pub sectors: Vec<BadSector>,
    /// First wrong byte, if every byte has an expected value.
    pub byte: Option<WrongByte>,
}

impl BlockMismatch {
    /// A mismatch of that kind.
    pub fn of(kind: MismatchKind, detail: String) -> BlockMismatch {
        BlockMismatch { kind, detail, ..BlockMismatch::default() }
    }
}
