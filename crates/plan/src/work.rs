//! Kinds of work that a job can do, and the table of operations of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Direction;
use crate::{Blocks, Burn, Entries, Memory, Program};

/// Work of a job: exactly one kind of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Reads, writes and trims of bytes.
    Blocks(Box<Blocks>),
    /// Operations on named things.
    Entries(Entries),
    /// Running a program.
    Program(Program),
    /// Burning CPU.
    Burn(Burn),
    /// Moving bytes within the host's memory.
    Memory(Memory),
}

impl Default for Work {
    fn default() -> Self {
        Work::Blocks(Box::default())
    }
}

impl Work {
    /// The blocks, where that is the work.
    pub fn blocks(&self) -> Option<&Blocks> {
        match self {
            Work::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Option<&mut Blocks> {
        match self {
            Work::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// The entries, where that is the work.
    pub fn entries(&self) -> Option<&Entries> {
        match self {
            Work::Entries(entries) => Some(entries),
            _ => None,
        }
    }

    /// The key under which plans name it.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Blocks(_) => "blocks",
            Work::Entries(_) => "entries",
            Work::Program(_) => "program",
            Work::Burn(_) => "burn",
            Work::Memory(_) => "memory",
        }
    }

    /// The table of operations: counters, samples, figures and rules follow it.
    pub fn operations(&self) -> &'static [Operation] {
        match self {
            Work::Blocks(_) => BlocksOp::TABLE,
            Work::Entries(_) => crate::entries::OPERATIONS,
            Work::Program(_) => PROGRAM_OPERATIONS,
            Work::Burn(_) => BURN_OPERATIONS,
            Work::Memory(_) => crate::memory::OPERATIONS,
        }
    }

    /// False where nothing is opened.
    pub fn uses_targets(&self) -> bool {
        match self {
            Work::Blocks(blocks) => blocks.uses_targets(),
            Work::Entries(_) => true,
            Work::Program(_) | Work::Burn(_) | Work::Memory(_) => false,
        }
    }

    /// The first of its operations after which a target may hold something else or be gone; none
    /// where every target stays as it is. Whoever runs it needs consent for that.
    pub fn destroys(&self) -> Option<&'static Operation> {
        match self {
            Work::Blocks(blocks) => blocks.destroys().map(BlocksOp::operation),
            Work::Entries(entries) => {
                entries.steps.iter().map(|step| step.operation()).find(|step| step.destroys)
            }
            Work::Program(_) | Work::Burn(_) | Work::Memory(_) => None,
        }
    }
}

impl From<Blocks> for Work {
    fn from(blocks: Blocks) -> Work {
        Work::Blocks(Box::new(blocks))
    }
}

impl From<Entries> for Work {
    fn from(entries: Entries) -> Work {
        Work::Entries(entries)
    }
}

impl From<Program> for Work {
    fn from(program: Program) -> Work {
        Work::Program(program)
    }
}

impl From<Burn> for Work {
    fn from(burn: Burn) -> Work {
        Work::Burn(burn)
    }
}

impl From<Memory> for Work {
    fn from(memory: Memory) -> Work {
        Work::Memory(memory)
    }
}

/// The first operation starts the program; each further one waits a moment for its end.
const PROGRAM_OPERATIONS: &[Operation] = &[Operation::of("wait", Figure::Compute)];
const BURN_OPERATIONS: &[Operation] = &[Operation::of("burn", Figure::Compute)];

/// One row of a work's table of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Name in reports: that of the system call, where there is one.
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
            Figure::Flush | Figure::Names | Figure::Compute | Figure::Memory => None,
        }
    }

    /// True for what a job was asked to do, apart from making it durable and checking it.
    pub fn is_work(self) -> bool {
        !matches!(self, Figure::Flush | Figure::ReadBack)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Step;
    use crate::units::Mix;

    #[test]
    fn rows_stand_where_their_numbers_say() {
        for (direction, name) in
            [(Direction::Read, "read"), (Direction::Write, "write"), (Direction::Trim, "trim")]
        {
            assert_eq!(BlocksOp::from(direction).operation().name, name);
        }
        for (op, name) in [
            (BlocksOp::Fsync, "fsync"),
            (BlocksOp::Fdatasync, "fdatasync"),
            (BlocksOp::SyncFileRange, "sync_file_range"),
            (BlocksOp::ReadBack, "read_back"),
        ] {
            assert_eq!(op.operation().name, name);
        }
        for step in Step::ALL {
            assert_eq!(step.operation().name, step.name());
        }
    }

    #[test]
    fn every_operation_that_destroys_needs_consent() {
        let mix = |mix| Work::from(Blocks { mix, ..Blocks::default() }).destroys();
        assert_eq!(mix(Mix::READ), None);
        assert_eq!(mix(Mix::WRITE).map(|row| row.name), Some("write"));
        assert_eq!(mix(Mix::TRIM).map(|row| row.name), Some("trim"));
        let destroying = [
            Step::Rmdir,
            Step::Write,
            Step::Truncate,
            Step::Rename,
            Step::Unlink,
            Step::Put,
            Step::Delete,
        ];
        for step in Step::ALL {
            let work = Work::from(Entries { steps: vec![step], ..Entries::default() });
            assert_eq!(work.destroys().is_some(), destroying.contains(&step), "{}", step.name());
        }
    }
}
