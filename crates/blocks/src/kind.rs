//! Kinds of operations of blocks, as engines use them.

use candor_engine::operation::{Op, Slot};
use candor_plan::trace::Action;
use candor_plan::units::Direction;
use candor_plan::work::BlocksOp;

/// Kind of an operation. A read that reads back is an ordinary read, but counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Moves bytes to the host.
    Read,
    /// Moves bytes to the target.
    Write,
    /// Discards blocks.
    Trim,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `sync_file_range`, with the flags in the slot's tag.
    SyncFileRange,
}

impl Kind {
    /// True for operations that move no bytes and complete once all operations before them have.
    #[inline(always)]
    pub fn flushes(self) -> bool {
        matches!(self, Kind::Fsync | Kind::Fdatasync | Kind::SyncFileRange)
    }

    /// The direction, for operations that have one.
    pub fn direction(self) -> Option<Direction> {
        match self {
            Kind::Read => Some(Direction::Read),
            Kind::Write => Some(Direction::Write),
            Kind::Trim => Some(Direction::Trim),
            _ => None,
        }
    }
}

/// Operation of a read that reads back.
pub const READ_BACK: Op = Op(BlocksOp::ReadBack as u8);

impl From<Kind> for Op {
    #[inline(always)]
    fn from(kind: Kind) -> Op {
        Op(match kind {
            Kind::Read => BlocksOp::Read,
            Kind::Write => BlocksOp::Write,
            Kind::Trim => BlocksOp::Trim,
            Kind::Fsync => BlocksOp::Fsync,
            Kind::Fdatasync => BlocksOp::Fdatasync,
            Kind::SyncFileRange => BlocksOp::SyncFileRange,
        } as u8)
    }
}

impl From<Direction> for Kind {
    #[inline(always)]
    fn from(direction: Direction) -> Kind {
        match direction {
            Direction::Read => Kind::Read,
            Direction::Write => Kind::Write,
            Direction::Trim => Kind::Trim,
        }
    }
}

impl From<Action> for Kind {
    fn from(action: Action) -> Kind {
        match action {
            Action::Move(direction) => direction.into(),
            Action::Fsync => Kind::Fsync,
            Action::Fdatasync => Kind::Fdatasync,
        }
    }
}

/// A slot with an operation of blocks.
pub trait BlocksSlot {
    /// Kind of the operation.
    fn kind(&self) -> Kind;
    /// Sets another kind of operation.
    fn set(&mut self, kind: Kind);
    /// True for a read that reads back.
    fn reads_back(&self) -> bool;
}

impl BlocksSlot for Slot {
    #[inline(always)]
    fn kind(&self) -> Kind {
        const WRITE: u8 = BlocksOp::Write as u8;
        const TRIM: u8 = BlocksOp::Trim as u8;
        const FSYNC: u8 = BlocksOp::Fsync as u8;
        const FDATASYNC: u8 = BlocksOp::Fdatasync as u8;
        const SYNC_FILE_RANGE: u8 = BlocksOp::SyncFileRange as u8;
        match self.op.0 {
            WRITE => Kind::Write,
            TRIM => Kind::Trim,
            FSYNC => Kind::Fsync,
            FDATASYNC => Kind::Fdatasync,
            SYNC_FILE_RANGE => Kind::SyncFileRange,
            _ => Kind::Read,
        }
    }

    #[inline(always)]
    fn set(&mut self, kind: Kind) {
        self.op = kind.into();
    }

    #[inline(always)]
    fn reads_back(&self) -> bool {
        self.op == READ_BACK
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;

    use super::*;

    #[test]
    fn kinds_keep_their_operations() {
        let mut slot = Slot::empty(Buffer::None);
        let kinds = [
            Kind::Read,
            Kind::Write,
            Kind::Trim,
            Kind::Fsync,
            Kind::Fdatasync,
            Kind::SyncFileRange,
        ];
        for kind in kinds {
            slot.set(kind);
            assert_eq!((slot.kind(), slot.reads_back()), (kind, false));
            assert_eq!(slot.op.row(BlocksOp::TABLE).figure.direction(), kind.direction());
        }
        slot.op = READ_BACK;
        assert_eq!((slot.kind(), slot.reads_back()), (Kind::Read, true));
    }
}
