//! Operations in flight: one slot each, allocated once per worker, and their outcomes.

use std::ptr::NonNull;

use candor_plan::work::Operation;

use crate::clock::Ticks;

/// Index of an operation in the table of its work, and of its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op(pub u8);

impl Op {
    /// The same as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Row of a table of operations.
    pub fn row(self, table: &'static [Operation]) -> &'static Operation {
        &table[self.index()]
    }
}

/// Where the bytes of an operation are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// It moves none.
    None,
    /// In the host's memory. The part belongs to the slot for the worker's whole life.
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

/// One operation. The index in the worker's slots comes back with the completion.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Byte offset in what the handle stands for.
    pub offset: u64,
    /// Bytes to move.
    pub length: u64,
    /// Hand-over of the batch it belongs to.
    pub started: Ticks,
    /// Return of the call that handed it over, where that is a call of its own; else `started`.
    pub submitted: Ticks,
    /// Start that a schedule intended; without one, meaningless.
    pub intended: Ticks,
    /// Where the bytes are.
    pub buffer: Buffer,
    /// Number of what it is done to: an open file, a name, later a connection or an object.
    pub handle: u32,
    /// A number of the family's own; a generation of verified blocks, for instance.
    pub tag: u32,
    /// Which operation of the work's table.
    pub op: Op,
    /// I/O priority in the kernel's form; 0 where it has none.
    pub priority: u16,
}

impl Slot {
    /// Nothing to do yet.
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

    /// Becomes another slot's operation, in its own buffer.
    pub fn take_over(&mut self, other: &Slot) {
        *self = Slot { buffer: self.buffer, ..*other };
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// So many bytes were moved, or of the target were concerned.
    Done(u64),
    /// Nothing was, for that reason.
    Failed(Failure),
    /// Nothing is left to be done: the work ends, which is no failure.
    Over,
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The kernel's error number.
    Os(i32),
    /// No byte was moved, and no error given: the end of a file or device.
    AtEnd,
}

impl Failure {
    /// The kernel's error number; 0 for the end of a file.
    pub fn errno(self) -> i32 {
        match self {
            Failure::Os(errno) => errno,
            Failure::AtEnd => 0,
        }
    }
}

impl Outcome {
    /// From what a system call or a completion queue of the kernel gave: a count, or a negated
    /// error number.
    #[inline(always)]
    pub fn of_kernel(result: i64) -> Outcome {
        match u64::try_from(result) {
            Ok(count) => Outcome::Done(count),
            Err(_) => Outcome::Failed(Failure::Os(-result as i32)),
        }
    }

    /// From what a function of the C library returned, with the error number in `errno`.
    #[inline(always)]
    pub fn of_call(returned: isize) -> Outcome {
        if returned >= 0 { Outcome::Done(returned as u64) } else { Outcome::last_error() }
    }

    /// Failed with the error number of the last call.
    #[cold]
    pub fn last_error() -> Outcome {
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        Outcome::Failed(Failure::Os(errno))
    }

    /// Failed with that error number.
    pub fn error(errno: i32) -> Outcome {
        Outcome::Failed(Failure::Os(errno))
    }
}

/// A finished operation.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Index of its slot.
    pub slot: u32,
    /// How it ended.
    pub outcome: Outcome,
}

/// Completions of one turn, in a fixed array.
#[derive(Debug)]
pub struct Done {
    list: Box<[Completion]>,
    count: usize,
    most: usize,
}

impl Done {
    /// Room for `depth` completions, of which `most` are to be taken at a time.
    pub fn new(depth: usize, most: usize) -> Done {
        let none = Completion { slot: 0, outcome: Outcome::Done(0) };
        Done { list: vec![none; depth].into(), count: 0, most }
    }

    /// How many more are to be taken.
    #[inline(always)]
    pub fn wanted(&self) -> usize {
        self.most.saturating_sub(self.count)
    }

    /// Adds one. More than the depth cannot be in flight, so there is always room.
    #[inline(always)]
    pub fn push(&mut self, slot: u32, outcome: Outcome) {
        self.list[self.count] = Completion { slot, outcome };
        self.count += 1;
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

    /// All of them.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Completion] {
        &self.list[..self.count]
    }

    /// Forgets all of them.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }
}
