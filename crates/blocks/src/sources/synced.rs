//! Syncs between writes: `fsync`, `fdatasync` or `sync_file_range`. After a number of writes they
//! go to each file that was written to since its last one; or one takes the next turn, and goes to
//! the file of that turn.

use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn, Wait};
use candor_plan::blocks::Durability;
use candor_plan::work::BlocksOp;

use super::ranges::{Range, Ranges};
use crate::slot::BlocksSlot;

/// A sync that is due or in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Due {
    kind: BlocksOp,
    /// File to sync; none for all that were written to.
    file: Option<u32>,
    /// A sync of it was submitted.
    begun: bool,
}

/// Files that were written to since their last sync of each kind.
struct Unsynced {
    /// Kinds of syncs that there are.
    kinds: u8,
    /// Kinds that are to come, by file.
    to_come: Box<[u8]>,
    /// Files with a kind to come, each once.
    files: Vec<u32>,
}

/// In [`Unsynced`], data and metadata are to be made durable.
const WHOLE: u8 = 1;
/// In [`Unsynced`], data is to be made durable.
const DATA: u8 = 2;

impl Unsynced {
    fn new(plan: &Durability, files: &[u32]) -> Unsynced {
        let kind = |every: u64, kind: u8| if every > 0 { kind } else { 0 };
        let count = files.iter().max().map_or(0, |last| *last as usize + 1);
        Unsynced {
            kinds: kind(plan.fsync_every, WHOLE) | kind(plan.fdatasync_every, DATA),
            to_come: vec![0; count].into(),
            files: Vec::with_capacity(files.len()),
        }
    }

    fn wrote(&mut self, file: u32) {
        let to_come = &mut self.to_come[file as usize];
        if *to_come == 0 && self.kinds > 0 {
            self.files.push(file);
        }
        *to_come = self.kinds;
    }

    /// Takes a file that this sync is to come for. `fsync` does all that `fdatasync` does.
    fn take(&mut self, sync: BlocksOp) -> Option<u32> {
        let (kind, done) =
            if sync == BlocksOp::Fsync { (WHOLE, WHOLE | DATA) } else { (DATA, DATA) };
        let at = self.files.iter().position(|file| self.to_come[*file as usize] & kind > 0)?;
        let file = self.files[at];
        let to_come = &mut self.to_come[file as usize];
        *to_come &= !done;
        if *to_come == 0 {
            self.files.swap_remove(at);
        }
        Some(file)
    }
}

/// A source with syncs between its writes.
pub struct Synced<S> {
    inner: S,
    plan: Durability,
    unsynced: Unsynced,
    ranges: Option<Ranges>,
    writes: u64,
    /// True where nothing was issued since the last sync.
    just_done: bool,
    due: Option<Due>,
}

/// True where a job syncs between its writes.
pub fn syncs(plan: &Durability) -> bool {
    plan.fsync_every > 0 || plan.fdatasync_every > 0 || plan.range.is_some()
}

impl<S: Source> Synced<S> {
    /// Wraps a source that writes to these files.
    pub fn new(inner: S, plan: Durability, files: &[u32]) -> Synced<S> {
        let ranges = plan.range.map(|range| Ranges::new(range, files.len()));
        let unsynced = Unsynced::new(&plan, files);
        Synced { inner, plan, unsynced, ranges, writes: 0, just_done: false, due: None }
    }

    /// Kind of the sync that is due after this many writes; of several, the most thorough one.
    fn kind(&self) -> Option<BlocksOp> {
        let ends = |every: u64| every > 0 && self.writes > 0 && self.writes.is_multiple_of(every);
        let range = self.plan.range.is_some_and(|range| ends(range.every));
        match (ends(self.plan.fsync_every), ends(self.plan.fdatasync_every), range) {
            (true, ..) => Some(BlocksOp::Fsync),
            (_, true, _) => Some(BlocksOp::Fdatasync),
            (.., true) => Some(BlocksOp::SyncFileRange),
            _ => None,
        }
    }

    /// Sync that takes the next turn, where one is due.
    fn turn_to_sync(&mut self) -> Option<Due> {
        let kind = self.kind().filter(|_| self.plan.in_turn && !self.just_done)?;
        Some(Due { kind, file: Some(self.inner.pass_over()?), begun: false })
    }

    /// Puts the next operation of a sync into the slot; false once the sync is done.
    fn sync(&mut self, due: Due, slot: &mut Slot) -> bool {
        let part = match due.kind {
            BlocksOp::SyncFileRange => self.next_range(due),
            _ => {
                let file = match due.file {
                    Some(file) => (!due.begun).then_some(file),
                    None => self.unsynced.take(due.kind),
                };
                file.map(|file| Range { file, first: 0, end: 0 })
            }
        };
        let Some(Range { file, first, end }) = part else {
            (self.due, self.just_done) = (None, true);
            return false;
        };
        slot.set(due.kind);
        (slot.handle, slot.offset, slot.length) = (file, first, end - first);
        slot.tag = self.ranges.as_ref().map_or(0, Ranges::flags);
        self.due = Some(Due { begun: true, ..due });
        true
    }

    /// Next written range. Where the file of the turn was not written to, the sync has no bytes.
    fn next_range(&mut self, due: Due) -> Option<Range> {
        let range = self.ranges.as_mut()?.take(due.file);
        let empty = due.file.filter(|_| !due.begun);
        range.or_else(|| empty.map(|file| Range { file, first: 0, end: 0 }))
    }

    fn wrote(&mut self, slot: &Slot) {
        self.just_done = false;
        if slot.issued() != BlocksOp::Write {
            return;
        }
        if let Some(ranges) = &mut self.ranges {
            ranges.wrote(slot);
        }
        self.writes += 1;
        if !self.plan.in_turn {
            self.unsynced.wrote(slot.handle);
            self.due = self.kind().map(|kind| Due { kind, file: None, begun: false });
        }
    }
}

impl<S: Source> Source for Synced<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.due.is_none() {
            self.due = self.turn_to_sync();
        }
        if let Some(due) = self.due {
            if turn.in_flight > 0 {
                return Next::Wait(Wait::InFlight);
            }
            if self.sync(due, slot) {
                return Next::Ready;
            }
        }
        let next = self.inner.next(slot, turn);
        if next == Next::Ready {
            self.wrote(slot);
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }
}
