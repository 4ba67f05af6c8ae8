//! An item in progress: its next operation, and its state after the operations so far.

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Slot};
use candor_plan::entries::{CREATE_TO_CLOSE, OPEN_TO_CLOSE, READ_BACK, Step};

use super::step_of;
use crate::catalog::Known;
use crate::contents::Of;
use crate::generations::Part;
use crate::places::FileKey;
use crate::taker::Taken;

/// An item in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    pub(super) handle: u32,
    /// Number among the worker's names.
    pub(super) nth: u64,
    pub(super) list: u32,
    /// Index of the next step.
    pub(super) step: usize,
    /// Offset of its next read or write; 0 before the step has begun.
    pub(super) offset: u64,
    /// First byte of the part of the file that is worked on, and bytes of that part.
    pub(super) start: u64,
    pub(super) size: u64,
    /// Offset at which reads and writes in order begin, and bytes of the file for other orders.
    pub(super) from: u64,
    pub(super) file: u64,
    /// Planned length of the file, if items are taken.
    pub(super) planned: u64,
    /// Reads and writes that are left for this visit of the file.
    pub(super) moves_left: u64,
    /// The item as taken, if items are taken.
    pub(super) taken: Option<Taken>,
    /// Current state of the item, in its tree and in the destination tree.
    pub(super) now: Known,
    pub(super) other_now: Option<Known>,
    /// The item's file among all others.
    pub key: FileKey,
    /// Bytes that were read or written.
    pub(super) moved: u64,
    pub(super) in_flight: u32,
    /// Written blocks that wait to be read back.
    pub(super) unread: u32,
    /// A write whose blocks are read before it.
    pub(super) held: Option<Held>,
    /// Begin of the first operation.
    pub(super) began: Option<Ticks>,
    pub(super) has_read: bool,
    pub(super) has_failed: bool,
    /// The item is the one that enters a window.
    pub(super) enters: bool,
    /// The file was made as it was opened.
    pub(super) is_made: bool,
}

/// A write whose blocks are read before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// The blocks were read, and match: the write may start.
    pub(super) is_checked: bool,
}

/// A block that was written and is to be read back.
pub struct Unread {
    /// The item in progress.
    pub lane: u32,
    handle: u32,
    offset: u64,
    length: u64,
}

impl Lane {
    /// Notes the state of the item after an operation that succeeded.
    pub(super) fn changed_by(&mut self, slot: &Slot) {
        let Some(step) = step_of(slot) else { return };
        let Known { present, length } = &mut self.now;
        match step {
            Step::Create | Step::Mkdir => *present = true,
            Step::Write => {
                *length = (slot.offset + slot.length).max(*length);
                self.moved += slot.length;
            }
            Step::Read => self.moved += slot.length,
            Step::Truncate => *length = 0,
            Step::Ftruncate => *length = self.file,
            Step::Fallocate => *length = self.file.max(*length),
            Step::Unlink | Step::Rmdir => (*present, *length) = (false, 0),
            Step::Copy => self.other_now = Some(self.now),
            Step::Rename if self.taken.is_some_and(|taken| taken.other.is_some()) => {
                self.other_now = Some(std::mem::take(&mut self.now));
            }
            _ => {}
        }
    }

    /// The part of its file that an operation reads or writes, if items are taken.
    pub fn part(&self, slot: &Slot) -> Part {
        let nth = self.taken.map_or(0, |taken| taken.nth);
        Part { nth, file: self.planned, offset: slot.offset, length: slot.length }
    }

    /// The file and the part of it that an operation reads or writes.
    #[inline(always)]
    pub fn of(&self, slot: &Slot) -> Of {
        Of { key: self.key, part: self.part(slot) }
    }

    /// Replaces the write in the slot by a read; the write waits until the read has ended.
    pub fn read_first(&mut self, slot: &mut Slot) {
        slot.op = Op(READ_BACK);
        self.held = Some(Held { offset: slot.offset, length: slot.length, is_checked: false });
    }

    /// True while a write waits for the read in flight.
    pub fn reads_first(&self) -> bool {
        self.held.is_some_and(|held| !held.is_checked)
    }

    /// Ends the read before a write; the write starts if `may_write` is set.
    pub fn end_read_first(&mut self, may_write: bool) {
        let held = self.held.take().filter(|_| may_write);
        self.held = held.map(|held| Held { is_checked: true, ..held });
    }

    /// Puts the write whose blocks were read into the slot; false if there is none.
    pub fn draw_held(&mut self, number: u32, slot: &mut Slot) -> bool {
        let Some(held) = self.held.take_if(|held| held.is_checked) else { return false };
        slot.op = Op(Step::Write as u8);
        (slot.handle, slot.tag) = (self.handle, number);
        (slot.offset, slot.length) = (held.offset, held.length);
        self.in_flight += 1;
        true
    }

    /// Skips the operation in the slot, which is not issued.
    pub fn leave_out(&mut self) {
        self.in_flight -= 1;
    }

    /// Counts an operation on an item of a window; after the close, returns the time of the open.
    pub(super) fn open_ended(
        &mut self,
        slot: &Slot,
        started: Ticks,
        is_done: bool,
    ) -> Option<(Op, Ticks)> {
        match step_of(slot)? {
            step @ (Step::Open | Step::Create) => {
                (self.began, self.has_failed) = (Some(started), !is_done);
                self.is_made = step == Step::Create;
                None
            }
            Step::Close => {
                let began = self.began.take().filter(|_| is_done && !self.has_failed)?;
                Some((Op(if self.is_made { CREATE_TO_CLOSE } else { OPEN_TO_CLOSE }), began))
            }
            _ => {
                self.has_failed |= !is_done;
                None
            }
        }
    }

    /// True if no operation of the item is in flight, and no block waits to be read back.
    pub fn rests(&self) -> bool {
        self.in_flight == 0 && self.unread == 0
    }

    /// Records a written block to be read back.
    pub fn is_to_be_read(&mut self, written: &Slot) -> Unread {
        self.unread += 1;
        let Slot { tag, handle, offset, length, .. } = *written;
        Unread { lane: tag, handle, offset, length }
    }

    /// Puts the reading back of a block into the slot.
    pub fn draw_back(&mut self, unread: &Unread, slot: &mut Slot) {
        slot.op = Op(READ_BACK);
        (slot.handle, slot.tag) = (unread.handle, unread.lane);
        (slot.offset, slot.length) = (unread.offset, unread.length);
        self.unread -= 1;
        self.in_flight += 1;
    }

    /// True if the next operation is the first of its step.
    pub fn begins_step(&self) -> bool {
        self.offset == 0
    }

    /// Takes back an operation that was drawn, but is not issued.
    pub fn give_up(&mut self) {
        self.in_flight -= 1;
        self.has_failed = true;
    }
}
