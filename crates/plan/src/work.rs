//! Kinds of work that a job can do, and the table of operations of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use crate::entries::Step;
use crate::objects::ObjectOp;
use crate::{Blocks, Burn, Entries, Memory, Objects, Program, entries, memory, objects};

pub use crate::operation::{BlocksOp, Figure, Operation};

/// Work of a job: exactly one kind of it.
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Reads, writes and trims of bytes.
    #[default]
    Blocks(Box<Blocks>),
    /// Operations on named files and directories.
    Entries(Box<Entries>),
    /// Requests on objects of buckets.
    Objects(Box<Objects>),
    /// Running a program.
    Program(Program),
    /// Burning CPU.
    Burn(Burn),
    /// Moving bytes within the host's memory.
    Memory(Memory),
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

    /// The objects, where that is the work.
    pub fn objects(&self) -> Option<&Objects> {
        match self {
            Work::Objects(objects) => Some(objects),
            _ => None,
        }
    }

    /// The key under which plans name it.
    pub fn name(&self) -> &'static str {
        match self {
            Work::Blocks(_) => "blocks",
            Work::Entries(_) => "entries",
            Work::Objects(_) => "objects",
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
            Work::Objects(_) => objects::OPERATIONS,
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
            Work::Objects(_) | Work::Program(_) | Work::Burn(_) | Work::Memory(_) => false,
        }
    }

    /// The first of its operations after which a target may hold something else or be gone; none
    /// where every target stays as it is. Running it needs consent.
    pub fn destroys(&self) -> Option<&'static Operation> {
        match self {
            Work::Blocks(blocks) => blocks.destroys().map(BlocksOp::operation),
            Work::Entries(entries) => {
                let empties = entries.truncate_at_open.then_some(Step::Truncate);
                let mut steps = empties.into_iter().chain(entries.all_steps()).map(Step::operation);
                steps.find(|step| step.destroys)
            }
            Work::Objects(objects) => {
                objects.ops().map(ObjectOp::operation).find(|operation| operation.destroys)
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
        Work::Entries(Box::new(entries))
    }
}

impl From<Objects> for Work {
    fn from(objects: Objects) -> Work {
        Work::Objects(Box::new(objects))
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

/// Names of all operations, of all kinds of work; some are in several tables.
pub fn operation_names() -> impl Iterator<Item = &'static str> {
    let tables = [
        BlocksOp::TABLE,
        entries::OPERATIONS,
        objects::OPERATIONS,
        memory::OPERATIONS,
        PROGRAM_OPERATIONS,
        BURN_OPERATIONS,
    ];
    tables.into_iter().flatten().map(|operation| operation.name)
}

/// True for the name of an operation that only work on objects has; `copy` and `list` are also
/// operations on files and directories.
pub fn is_request(name: &str) -> bool {
    has_row(objects::OPERATIONS, name)
        && !has_row(entries::OPERATIONS, name)
        && !has_row(memory::OPERATIONS, name)
}

fn has_row(table: &[Operation], name: &str) -> bool {
    table.iter().any(|operation| operation.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::Step;
    use crate::units::{Direction, Mix};

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
    fn requests_are_operations_of_objects_alone() {
        assert!(["get", "put", "put_part", "delete_many"].into_iter().all(is_request));
        assert!(!["read", "copy", "list", "stat", "wait", ""].into_iter().any(is_request));
    }

    #[test]
    fn every_operation_that_destroys_needs_consent() {
        for (mix, name) in
            [(Mix::READ, None), (Mix::WRITE, Some("write")), (Mix::TRIM, Some("trim"))]
        {
            let work = Work::from(Blocks { mix, ..Blocks::default() });
            assert_eq!(work.destroys().map(|row| row.name), name);
        }
        let destroying = [
            Step::Rmdir,
            Step::Write,
            Step::Truncate,
            Step::Rename,
            Step::Unlink,
            Step::Setxattr,
            Step::Removexattr,
            Step::Ftruncate,
            Step::Utimens,
            Step::Copy,
        ];
        for step in Step::ALL {
            let work = Work::from(Entries { steps: vec![step], ..Entries::default() });
            assert_eq!(work.destroys().is_some(), destroying.contains(&step), "{}", step.name());
        }
        let steps = vec![Step::Open, Step::Close];
        let work = Work::from(Entries { steps, truncate_at_open: true, ..Entries::default() });
        assert_eq!(work.destroys().map(|row| row.name), Some("truncate"));
    }
}
