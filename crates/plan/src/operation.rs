//! Operations of all kinds of work, and the figures under which reports group them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Direction;

/// One row of a work's table of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Name in reports: the name of the system call, if there is one.
    pub name: &'static str,
    /// Figure under which reports group it.
    pub figure: Figure,
    /// Bytes move to or from the target.
    pub moves_bytes: bool,
    /// A target may hold something else afterwards, or be gone.
    pub destroys: bool,
}

impl Operation {
    /// An operation that moves no bytes and destroys nothing.
    pub const fn of(name: &'static str, figure: Figure) -> Operation {
        Operation { name, figure, moves_bytes: false, destroys: false }
    }

    /// The same, moving bytes.
    pub const fn moving(self) -> Operation {
        Operation { moves_bytes: true, ..self }
    }

    /// The same, destroying what was there.
    pub const fn destroying(self) -> Operation {
        Operation { destroys: true, ..self }
    }
}

/// Groups of operations in reports.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Bytes from the target.
    #[default]
    Read,
    /// Bytes to the target.
    Write,
    /// Blocks given back.
    Trim,
    /// Writes made durable.
    Flush,
    /// Reads that check what was written, counted apart from the work.
    ReadBack,
    /// Names made, looked up, changed or removed.
    Names,
    /// Files opened and closed around the work, counted separately.
    Opening,
    /// Whole items, from the start of their first operation, in addition to the operations.
    Item,
    /// Durable writes, from the start of the write to the end of the flush; both count as well.
    Commit,
    /// Work of the CPU alone.
    Compute,
    /// Bytes moved within the host's memory.
    Memory,
}

impl Figure {
    /// The direction of its bytes, where they have one.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Figure::Read | Figure::ReadBack => Some(Direction::Read),
            Figure::Write => Some(Direction::Write),
            Figure::Trim => Some(Direction::Trim),
            Figure::Flush | Figure::Names | Figure::Opening => None,
            Figure::Item | Figure::Commit => None,
            Figure::Compute | Figure::Memory => None,
        }
    }

    /// True for the requested work of a job: not for opening files, making data durable and
    /// checking it, nor for times that several operations make up.
    pub fn is_work(self) -> bool {
        !matches!(
            self,
            Figure::Flush | Figure::ReadBack | Figure::Opening | Figure::Item | Figure::Commit
        )
    }
}

impl From<Direction> for Figure {
    fn from(direction: Direction) -> Figure {
        match direction {
            Direction::Read => Figure::Read,
            Direction::Write => Figure::Write,
            Direction::Trim => Figure::Trim,
        }
    }
}

/// Operations of blocks, as indices into their table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlocksOp {
    /// Bytes to the host.
    Read = 0,
    /// Bytes to the target.
    Write = 1,
    /// Blocks given back.
    Trim = 2,
    /// `fsync`.
    Fsync = 3,
    /// `fdatasync`.
    Fdatasync = 4,
    /// `sync_file_range`, which makes nothing durable.
    SyncFileRange = 5,
    /// Reads that read back what was written.
    ReadBack = 6,
    /// A worker opens a file for itself, within the phase.
    Open = 7,
    /// A worker closes that file.
    Close = 8,
    /// A write and the flush that makes it durable. It is counted and never issued.
    Commit = 9,
}

impl BlocksOp {
    /// Number of operations.
    pub const COUNT: usize = BlocksOp::TABLE.len();

    /// One row per operation, in the order of their numbers.
    pub const TABLE: &'static [Operation] = &[
        Operation::of("read", Figure::Read).moving(),
        Operation::of("write", Figure::Write).moving().destroying(),
        Operation::of("trim", Figure::Trim).destroying(),
        Operation::of("fsync", Figure::Flush),
        Operation::of("fdatasync", Figure::Flush),
        Operation::of("sync_file_range", Figure::Flush),
        Operation::of("read_back", Figure::ReadBack).moving(),
        Operation::of("open", Figure::Opening),
        Operation::of("close", Figure::Opening),
        Operation::of("commit", Figure::Commit),
    ];

    /// The row.
    pub fn operation(self) -> &'static Operation {
        &BlocksOp::TABLE[self as usize]
    }
}

impl From<Direction> for BlocksOp {
    fn from(direction: Direction) -> BlocksOp {
        match direction {
            Direction::Read => BlocksOp::Read,
            Direction::Write => BlocksOp::Write,
            Direction::Trim => BlocksOp::Trim,
        }
    }
}
