//! Syncs between writes: `fsync`, `fdatasync` or `sync_file_range`. After a number of writes they
//! go to each file that was written to since its last one; or one takes the next turn, and goes to
//! the file of that turn. A sync is an operation like any other: writes are in flight with it.

use candor_engine::clock::Ticks;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{Next, Source, Spans, Turn, Wait};
use candor_plan::blocks::Durability;
use candor_plan::work::BlocksOp;

use super::commits::Commits;
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
    order: SyncOrder,
    /// Writes may be in flight with a flush.
    overlaps: bool,
    unsynced: Unsynced,
    ranges: Option<Ranges>,
    commits: Option<Commits>,
    writes: u64,
    due: Option<Due>,
}

/// When a sync starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOrder {
    /// At once, like any other operation.
    AtOnce,
    /// Alone: the engine has one call in progress at a time, and those before it come first.
    Alone,
}

/// True where a job syncs between its writes.
pub fn syncs(plan: &Durability) -> bool {
    plan.fsync_every > 0 || plan.fdatasync_every > 0 || plan.range.is_some()
}

impl<S: Source> Synced<S> {
    /// Wraps the source of a worker that writes to these files, at that depth.
    pub fn new(
        inner: S,
        plan: Durability,
        order: SyncOrder,
        files: &[u32],
        depth: usize,
    ) -> Synced<S> {
        let ranges = plan.range.map(|range| Ranges::new(range, files.len()));
        let unsynced = Unsynced::new(&plan, files);
        let commits = Commits::new(&plan, files, depth);
        let overlaps = order == SyncOrder::AtOnce && depth > 1;
        Synced { inner, plan, order, overlaps, unsynced, ranges, commits, writes: 0, due: None }
    }

    /// Kind of the sync that is due after this many writes; of several, the most thorough one.
    fn kind(&self) -> Option<BlocksOp> {
        let ends = |every: u64| every > 0 && self.writes.is_multiple_of(every);
        let range = self.plan.range.is_some_and(|range| ends(range.every));
        match (ends(self.plan.fsync_every), ends(self.plan.fdatasync_every), range) {
            (true, ..) => Some(BlocksOp::Fsync),
            (_, true, _) => Some(BlocksOp::Fdatasync),
            (.., true) => Some(BlocksOp::SyncFileRange),
            _ => None,
        }
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
            self.due = None;
            return false;
        };
        slot.set(due.kind);
        (slot.handle, slot.offset, slot.length) = (file, first, end - first);
        slot.tag = self.ranges.as_ref().map_or(0, Ranges::flags);
        if due.kind != BlocksOp::SyncFileRange {
            self.commits.iter().for_each(|commits| commits.begin(slot));
            if self.overlaps {
                self.inner.flush_begins(file);
            }
        }
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
        if slot.issued() != BlocksOp::Write {
            return;
        }
        if let Some(ranges) = &mut self.ranges {
            ranges.wrote(slot);
        }
        self.writes += 1;
        if !self.plan.in_turn {
            self.unsynced.wrote(slot.handle);
        }
        self.due = self.kind().map(|kind| Due { kind, file: None, begun: false });
    }

    /// Sets the file of a sync that takes the next turn; without a further turn it is dropped.
    fn take_turn(&mut self) {
        let Some(due) = self.due.as_mut().filter(|due| self.plan.in_turn && !due.begun) else {
            return;
        };
        due.file = self.inner.pass_over();
        if due.file.is_none() {
            self.due = None;
        }
    }
}

impl<S: Source> Source for Synced<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.due.is_some() && self.order == SyncOrder::Alone && turn.in_flight > 0 {
            return Next::Wait(Wait::InFlight);
        }
        self.take_turn();
        if self.due.is_some_and(|due| self.sync(due, slot)) {
            return Next::Ready;
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

    /// A flush that ends while writes are in flight covers those that had ended when it began.
    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        match (slot.flushes() && self.overlaps, outcome) {
            (false, _) => self.inner.completed(slot, outcome, turn),
            (true, Outcome::Done(_)) => self.inner.flush_ended(slot.handle),
            (true, _) => {}
        }
    }

    fn spans_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool, spans: &mut Spans<'_>) {
        if let Some(commits) = self.commits.as_mut().filter(|_| is_done) {
            commits.ended(slot, started, spans);
        }
        self.inner.spans_ended(slot, started, is_done, spans);
    }
}
