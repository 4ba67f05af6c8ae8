//! Operation slots: everything about the operations in flight, allocated once per worker.

use candor_plan::trace::Action;
use candor_plan::units::Direction;
use candor_plan::work::BlocksOp;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
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
}

impl Kind {
    /// Number of operations with counters of their own: all of the table.
    pub const COUNTED: usize = BlocksOp::COUNT;
    /// Index of the counters of reads that read back.
    pub const READ_BACK: usize = BlocksOp::ReadBack as usize;
    /// Index of the counters of `sync_file_range`.
    pub const SYNC_FILE_RANGE: usize = BlocksOp::SyncFileRange as usize;

    /// Index of its counters.
    #[inline(always)]
    pub fn counted(self) -> usize {
        self as usize
    }

    /// True for operations that move no bytes and are done once all before them have ended.
    #[inline(always)]
    pub fn flushes(self) -> bool {
        matches!(self, Kind::Fsync | Kind::Fdatasync)
    }

    /// The direction, for operations that have one.
    pub fn op(self) -> Option<Direction> {
        match self {
            Kind::Read => Some(Direction::Read),
            Kind::Write => Some(Direction::Write),
            Kind::Trim => Some(Direction::Trim),
            Kind::Fsync | Kind::Fdatasync => None,
        }
    }
}

impl From<Direction> for Kind {
    fn from(op: Direction) -> Kind {
        match op {
            Direction::Read => Kind::Read,
            Direction::Write => Kind::Write,
            Direction::Trim => Kind::Trim,
        }
    }
}

impl From<Action> for Kind {
    fn from(action: Action) -> Kind {
        match action {
            Action::Move(op) => op.into(),
            Action::Fsync => Kind::Fsync,
            Action::Fdatasync => Kind::Fdatasync,
        }
    }
}

impl From<Kind> for Action {
    fn from(kind: Kind) -> Action {
        match kind {
            Kind::Read => Action::Move(Direction::Read),
            Kind::Write => Action::Move(Direction::Write),
            Kind::Trim => Action::Move(Direction::Trim),
            Kind::Fsync => Action::Fsync,
            Kind::Fdatasync => Action::Fdatasync,
        }
    }
}

/// One operation. Its index in the worker's slots is the `user_data` that comes back with its
/// completion; its buffer belongs to the slot for the worker's whole life.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Byte offset in the file.
    pub offset: u64,
    /// Tick at which the batch it belongs to was handed over.
    pub started: u64,
    /// Tick at which the call that handed it over returned, where that is a call of its own; else
    /// the same as `started`.
    pub submitted: u64,
    /// Tick at which it should have started, under a rate; else the same as `started`.
    pub intended: u64,
    /// Where its bytes are.
    pub buffer: *mut u8,
    /// Bytes to move.
    pub length: u32,
    /// Index into the worker's files.
    pub file: u32,
    /// Generation written, or expected when read; see [`crate::data::verify`].
    pub generation: u32,
    /// What it does.
    pub kind: Kind,
    /// It reads back what was written: counted apart.
    pub read_back: bool,
    /// Its I/O priority in the kernel's form; 0 where it has none.
    pub priority: u16,
}

impl Slot {
    /// Index of its counters.
    #[inline(always)]
    pub fn counted(&self) -> usize {
        if self.read_back { Kind::READ_BACK } else { self.kind.counted() }
    }

    /// A slot with its buffer and nothing to do yet.
    pub fn empty(buffer: *mut u8) -> Slot {
        Slot {
            offset: 0,
            started: 0,
            submitted: 0,
            intended: 0,
            buffer,
            length: 0,
            file: 0,
            generation: 0,
            kind: Kind::Read,
            read_back: false,
            priority: 0,
        }
    }
}

/// A finished operation: its slot and what the kernel answered (bytes, or a negated errno).
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// Index of its slot.
    pub slot: u32,
    /// Bytes moved, or a negated error number.
    pub result: i32,
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
        Done { list: vec![Completion { slot: 0, result: 0 }; depth].into(), count: 0, most }
    }

    /// How many more are to be taken.
    #[inline(always)]
    pub fn wanted(&self) -> usize {
        self.most.saturating_sub(self.count)
    }

    /// Adds one. More than the depth cannot be in flight, so there is always room.
    #[inline(always)]
    pub fn push(&mut self, slot: u32, result: i32) {
        self.list[self.count] = Completion { slot, result };
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
