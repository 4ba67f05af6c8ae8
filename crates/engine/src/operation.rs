//! Operations in flight, and their outcomes. Each operation in flight has a slot, allocated once
//! per worker.

use std::ptr::NonNull;

use candor_plan::work::Operation;

use crate::clock::Ticks;

/// Index of an operation in the table of its work, and of its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Op(pub u8);

impl Op {
    /// Index as a `usize`.
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Row of a table of operations.
    pub fn row(self, table: &'static [Operation]) -> &'static Operation {
        &table[self.index()]
    }
}

/// A set of operations of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ops(u64);

impl Ops {
    /// All of them.
    pub const ALL: Ops = Ops(u64::MAX);

    /// Those operations.
    pub fn of(ops: impl Iterator<Item = Op>) -> Ops {
        Ops(ops.fold(0, |set, op| set | Ops::bit(op)))
    }

    /// True where the operation is one of the set.
    #[inline(always)]
    pub fn has(self, op: Op) -> bool {
        self.0 & Ops::bit(op) != 0
    }

    /// Bit of an operation; no table has as many rows as a word has bits.
    #[inline(always)]
    fn bit(op: Op) -> u64 {
        1 << (op.0 & 63)
    }
}

/// Location of an operation's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// None: the operation moves no bytes.
    None,
    /// The host's memory. This part belongs to the slot for the worker's whole life.
    Host(NonNull<u8>),
}

impl Buffer {
    /// Address in the host's memory; null where there is none.
    #[inline(always)]
    pub fn host(self) -> *mut u8 {
        match self {
            Buffer::Host(address) => address.as_ptr(),
            Buffer::None => std::ptr::null_mut(),
        }
    }
}

/// One operation. The completion carries the slot's index in the worker's slots.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Byte offset in the handle's target.
    pub offset: u64,
    /// Bytes to move.
    pub length: u64,
    /// Tick of its batch's submission.
    pub started: Ticks,
    /// Tick at which the submitting call returned, where that is a call of its own; else `started`.
    pub submitted: Ticks,
    /// Start that a schedule intended; meaningless without a schedule.
    pub intended: Ticks,
    /// Location of the bytes.
    pub buffer: Buffer,
    /// Number of the target: an open file, a name, later a connection or an object.
    pub handle: u32,
    /// A number of the family's own, such as the generation of a verified block.
    pub tag: u32,
    /// Operation of the work's table.
    pub op: Op,
    /// I/O priority in the kernel's form; 0 where the operation has none.
    pub priority: u16,
}

impl Slot {
    /// A slot without an operation.
    pub fn empty(buffer: Buffer) -> Slot {
        Slot {
            offset: 0,
            length: 0,
            started: Ticks(0),
            submitted: Ticks(0),
            intended: Ticks(0),
            buffer,
            handle: 0,
            tag: 0,
            op: Op(0),
            priority: 0,
        }
    }

    /// Takes another slot's operation, and keeps its own buffer.
    pub fn take_over(&mut self, other: &Slot) {
        *self = Slot { buffer: self.buffer, ..*other };
    }
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Bytes moved, or bytes of the target affected.
    Done(u64),
    /// Failed, for that reason.
    Failed(Failure),
    /// The work has nothing left to do and ends; this is no failure.
    Over,
}

/// Reason why an operation failed. It is as wide as a count, so that an outcome fits two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure(u64);

impl Failure {
    /// No byte moved and no error: the end of a file or device.
    pub const AT_END: Failure = Failure(0);

    /// The kernel's error number.
    #[inline(always)]
    pub fn os(errno: i32) -> Failure {
        Failure(u64::from(errno.unsigned_abs()))
    }

    /// The kernel's error number; 0 for the end of a file.
    pub fn errno(self) -> i32 {
        self.0 as i32
    }
}

impl Outcome {
    /// Outcome of a kernel result: a count, or a negated error number.
    #[inline(always)]
    pub fn of_kernel(result: i64) -> Outcome {
        if result >= 0 {
            Outcome::Done(result as u64)
        } else {
            Outcome::Failed(Failure(result.unsigned_abs()))
        }
    }

    /// Outcome of a C library call, with the error number in `errno`.
    #[inline(always)]
    pub fn of_call(returned: isize) -> Outcome {
        if returned >= 0 { Outcome::Done(returned as u64) } else { Outcome::last_error() }
    }

    /// Outcome of a C library call that moves all `length` bytes and returns 0, or none.
    #[inline(always)]
    pub fn of_whole_call(returned: libc::c_int, length: u64) -> Outcome {
        if returned == 0 { Outcome::Done(length) } else { Outcome::last_error() }
    }

    /// Failure with the error number of the last call.
    #[cold]
    pub fn last_error() -> Outcome {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        Outcome::Failed(Failure::os(errno))
    }

    /// Failure with that error number.
    pub fn error(errno: i32) -> Outcome {
        Outcome::Failed(Failure::os(errno))
    }
}

/// A finished operation.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Index of its slot.
    pub slot: u32,
    /// Outcome as one number, as the kernel gives it: a count, or a negated error number. An end of
    /// file is a count of 0.
    packed: i64,
}

impl Completion {
    const OVER: i64 = i64::MIN;

    /// An operation that finished with that outcome.
    #[inline(always)]
    pub fn new(slot: u32, outcome: Outcome) -> Completion {
        let packed = match outcome {
            Outcome::Done(count) => count as i64,
            Outcome::Failed(failure) => (failure.0 as i64).wrapping_neg(),
            Outcome::Over => Completion::OVER,
        };
        Completion { slot, packed }
    }

    /// True where all of that many bytes moved.
    #[inline(always)]
    pub fn is_whole(self, length: u64) -> bool {
        self.packed == length as i64
    }

    /// Result of the operation.
    #[inline(always)]
    pub fn outcome(self) -> Outcome {
        match self.packed {
            Completion::OVER => Outcome::Over,
            packed => Outcome::of_kernel(packed),
        }
    }
}

/// Completions of one turn, in a fixed array.
#[derive(Debug)]
pub struct Done {
    list: Box<[Completion]>,
    count: usize,
    most: usize,
}

impl Done {
    /// Room for `depth` completions, of which at most `most` are taken at a time.
    pub fn new(depth: usize, most: usize) -> Done {
        let none = Completion::new(0, Outcome::Done(0));
        Done { list: vec![none; depth].into(), count: 0, most }
    }

    /// Sets the most completions to take at a time.
    #[inline(always)]
    pub fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Number of completions that may still be added.
    #[inline(always)]
    pub fn wanted(&self) -> usize {
        self.most.saturating_sub(self.count)
    }

    /// Adds a completion. No more than the depth are in flight, so there is always room.
    #[inline(always)]
    pub fn push(&mut self, slot: u32, outcome: Outcome) {
        self.list[self.count] = Completion::new(slot, outcome);
        self.count += 1;
    }

    /// Moves the completions of these slots to the front; returns how many there are.
    pub fn partition(&mut self, first: impl Fn(u32) -> bool) -> usize {
        let list = &mut self.list[..self.count];
        list.sort_by_key(|completion| !first(completion.slot));
        list.iter().take_while(|completion| first(completion.slot)).count()
    }

    /// Removes the first completions, and gives them as completions of their own.
    pub fn take_first(&mut self, count: usize) -> Done {
        let mut first = Done::new(count, count);
        first.list.copy_from_slice(&self.list[..count]);
        first.count = count;
        self.list.copy_within(count..self.count, 0);
        self.count -= count;
        first
    }

    /// Number of completions.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All completions.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Completion] {
        &self.list[..self.count]
    }

    /// Removes all completions.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_completions_are_taken_in_their_order() {
        let mut done = Done::new(8, 8);
        (0..6).for_each(|slot| done.push(slot, Outcome::Done(u64::from(slot))));
        let slots = |done: &Done| done.as_slice().iter().map(|of| of.slot).collect::<Vec<_>>();
        let is_odd = |slot: u32| slot % 2 == 1;
        assert_eq!(done.partition(is_odd), 3);
        let first = done.take_first(3);
        assert_eq!((slots(&first), slots(&done)), (vec![1, 3, 5], vec![0, 2, 4]));
        assert_eq!(done.partition(is_odd), 0);
        assert_eq!((done.take_first(0).len(), done.len()), (0, 3));
    }
}
