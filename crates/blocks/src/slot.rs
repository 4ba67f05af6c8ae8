//! Operations of blocks in slots.

use candor_engine::operation::{Op, Slot};
use candor_plan::units::Direction;
use candor_plan::work::BlocksOp;

/// Operation of a read that reads back.
pub const READ_BACK: Op = Op(BlocksOp::ReadBack as u8);

/// An operation as slots have it.
#[inline(always)]
pub fn op(op: impl Into<BlocksOp>) -> Op {
    Op(op.into() as u8)
}

/// A slot with an operation of blocks.
pub trait BlocksSlot {
    /// The operation to issue: a read that reads back is a read.
    fn issued(&self) -> BlocksOp;
    /// Direction of an operation that has one.
    fn direction(&self) -> Option<Direction>;
    /// True for an operation that moves no bytes and completes once all operations before it have.
    fn flushes(&self) -> bool;
    /// True for a read that reads back.
    fn reads_back(&self) -> bool;
    /// Sets another operation.
    fn set(&mut self, op: impl Into<BlocksOp>);
}

impl BlocksSlot for Slot {
    #[inline(always)]
    fn issued(&self) -> BlocksOp {
        const WRITE: u8 = BlocksOp::Write as u8;
        const TRIM: u8 = BlocksOp::Trim as u8;
        const FSYNC: u8 = BlocksOp::Fsync as u8;
        const FDATASYNC: u8 = BlocksOp::Fdatasync as u8;
        const SYNC_FILE_RANGE: u8 = BlocksOp::SyncFileRange as u8;
        const OPEN: u8 = BlocksOp::Open as u8;
        const CLOSE: u8 = BlocksOp::Close as u8;
        const COMMIT: u8 = BlocksOp::Commit as u8;
        match self.op.0 {
            WRITE => BlocksOp::Write,
            TRIM => BlocksOp::Trim,
            FSYNC => BlocksOp::Fsync,
            FDATASYNC => BlocksOp::Fdatasync,
            SYNC_FILE_RANGE => BlocksOp::SyncFileRange,
            OPEN => BlocksOp::Open,
            CLOSE => BlocksOp::Close,
            COMMIT => BlocksOp::Commit,
            _ => BlocksOp::Read,
        }
    }

    #[inline(always)]
    fn direction(&self) -> Option<Direction> {
        match self.issued() {
            BlocksOp::Read => Some(Direction::Read),
            BlocksOp::Write => Some(Direction::Write),
            BlocksOp::Trim => Some(Direction::Trim),
            _ => None,
        }
    }

    #[inline(always)]
    fn flushes(&self) -> bool {
        matches!(self.issued(), BlocksOp::Fsync | BlocksOp::Fdatasync | BlocksOp::SyncFileRange)
    }

    #[inline(always)]
    fn reads_back(&self) -> bool {
        self.op == READ_BACK
    }

    #[inline(always)]
    fn set(&mut self, op: impl Into<BlocksOp>) {
        self.op = self::op(op);
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;

    use candor_plan::work::Figure;

    use super::*;

    #[test]
    fn operations_are_those_of_the_table() {
        let mut slot = Slot::empty(Buffer::None);
        for (number, row) in BlocksOp::TABLE.iter().enumerate() {
            slot.op = Op(number as u8);
            let figure = if slot.reads_back() { Figure::Read } else { row.figure };
            assert_eq!(
                (slot.direction(), slot.flushes()),
                (figure.direction(), figure == Figure::Flush)
            );
            let issued = slot.issued();
            slot.set(issued);
            assert_eq!(slot.op == Op(number as u8), !matches!(row.figure, Figure::ReadBack));
            assert_eq!(slot.issued(), issued);
        }
    }
}
