//! Syncs between writes: `fsync`, `fdatasync` or `sync_file_range`. After a number of writes they
//! go to all of the worker's files at once; or one takes the next turn, and goes to the file of
//! that turn.

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
    /// File to sync; none for all files.
    file: Option<u32>,
    /// Number of its syncs that were submitted.
    done: usize,
}

/// A source with syncs between its writes.
pub struct Synced<S> {
    inner: S,
    plan: Durability,
    /// Files to sync.
    files: Box<[u32]>,
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
    pub fn new(inner: S, plan: Durability, files: Box<[u32]>) -> Synced<S> {
        let ranges = plan.range.map(|range| Ranges::new(range, files.len()));
        Synced { inner, plan, files, ranges, writes: 0, just_done: false, due: None }
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
        Some(Due { kind, file: Some(self.inner.pass_over()?), done: 0 })
    }

    /// Puts the next operation of a sync into the slot; false once the sync is done.
    fn sync(&mut self, due: Due, slot: &mut Slot) -> bool {
        let part = match due.kind {
            BlocksOp::SyncFileRange => self.next_range(due),
            _ => {
                let files = due.file.as_ref().map_or(&*self.files, std::slice::from_ref);
                files.get(due.done).map(|file| Range { file: *file, first: 0, end: 0 })
            }
        };
        let Some(Range { file, first, end }) = part else {
            (self.due, self.just_done) = (None, true);
            return false;
        };
        slot.set(due.kind);
        (slot.handle, slot.offset, slot.length) = (file, first, end - first);
        slot.tag = self.ranges.as_ref().map_or(0, Ranges::flags);
        self.due = Some(Due { done: due.done + 1, ..due });
        true
    }

    /// Next written range. Where the file of the turn was not written to, the sync has no bytes.
    fn next_range(&mut self, due: Due) -> Option<Range> {
        let range = self.ranges.as_mut()?.take(due.file);
        let empty = due.file.filter(|_| due.done == 0);
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
            self.due = self.kind().map(|kind| Due { kind, file: None, done: 0 });
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
