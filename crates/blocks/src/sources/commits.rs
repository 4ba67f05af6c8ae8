//! Commits: writes, each together with the flush that makes it durable.
//!
//! A flush covers the writes to its file that had completed when it began. A write is durable at
//! the end of the first such flush. Writes that no flush has covered are no commits.

use std::collections::VecDeque;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Slot};
use candor_engine::source::Spans;
use candor_plan::blocks::Durability;
use candor_plan::work::BlocksOp;

use crate::slot::{self, BlocksSlot};

/// Most writes of a file that wait for a flush and are remembered.
const WRITES_MAX: usize = 1 << 16;

/// True where each of a worker's writes can be followed to its flush.
pub fn counts_commits(plan: &Durability) -> bool {
    let every = [plan.fsync_every, plan.fdatasync_every];
    let least = every.into_iter().filter(|every| *every > 0).min();
    least.is_some_and(|least| least <= WRITES_MAX as u64 / 2)
}

/// Writes to a file that have completed and are not durable yet, oldest first.
#[derive(Default)]
struct Writes {
    started: VecDeque<Ticks>,
    /// Number of the oldest one, counted from the first write on.
    first: u32,
}

impl Writes {
    fn add(&mut self, started: Ticks) {
        if self.started.len() == WRITES_MAX {
            self.take();
        }
        self.started.push_back(started);
    }

    fn take(&mut self) -> Option<Ticks> {
        self.first = self.first.wrapping_add(1);
        self.started.pop_front()
    }

    /// Number of the next write that completes.
    fn next(&self) -> u32 {
        self.first.wrapping_add(self.started.len() as u32)
    }

    /// Number of writes before that one.
    fn before(&self, end: u32) -> usize {
        let count = end.wrapping_sub(self.first) as usize;
        // Another flush, which began later and ended earlier, may have covered them all.
        if count <= self.started.len() { count } else { 0 }
    }
}

/// A worker's writes that wait for a flush.
pub struct Commits {
    op: Op,
    files: Box<[Writes]>,
}

impl Commits {
    /// Commits of a worker that writes to these files, with that many writes between two flushes
    /// and that many operations in flight.
    pub fn new(plan: &Durability, files: &[u32], depth: usize) -> Option<Commits> {
        if !counts_commits(plan) {
            return None;
        }
        let count = files.iter().max().map_or(0, |last| *last as usize + 1);
        let mut all: Box<[Writes]> = (0..count).map(|_| Writes::default()).collect();
        let every = plan.fsync_every.max(plan.fdatasync_every).min(WRITES_MAX as u64) as usize;
        let room = (2 * every + depth).min(WRITES_MAX) / files.len().max(1);
        for file in files {
            all[*file as usize].started.reserve(room);
        }
        Some(Commits { op: slot::op(BlocksOp::Commit), files: all })
    }

    /// Marks a flush that is about to begin with the writes that it covers.
    pub fn begin(&self, flush: &mut Slot) {
        flush.tag = self.files[flush.handle as usize].next();
    }

    /// Takes an operation that has ended: a write waits for its flush, and a flush ends the commits
    /// that it covers.
    #[inline(always)]
    pub fn ended(&mut self, slot: &Slot, started: Ticks, spans: &mut Spans<'_>) {
        match slot.issued() {
            BlocksOp::Write => self.files[slot.handle as usize].add(started),
            BlocksOp::Fsync | BlocksOp::Fdatasync => {
                let writes = &mut self.files[slot.handle as usize];
                for _ in 0..writes.before(slot.tag) {
                    spans.end(writes.take().map(|started| (self.op, started)));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;

    use super::*;

    fn commits(fsync_every: u64) -> Option<Commits> {
        let plan = Durability { fsync_every, ..Durability::default() };
        Commits::new(&plan, &[0, 1], 4)
    }

    #[test]
    fn a_flush_covers_the_writes_to_its_file_that_completed_before_it_began() {
        let mut commits = commits(1).expect("flushes follow writes");
        let flush = |commits: &Commits, handle| {
            let mut slot = Slot { handle, ..Slot::empty(Buffer::None) };
            slot.set(BlocksOp::Fsync);
            commits.begin(&mut slot);
            slot
        };
        let wrote = |commits: &mut Commits, file: usize| commits.files[file].add(Ticks(7));
        wrote(&mut commits, 0);
        let first = flush(&commits, 0);
        wrote(&mut commits, 0);
        wrote(&mut commits, 1);
        let second = flush(&commits, 0);
        wrote(&mut commits, 0);
        let covers =
            |commits: &Commits, slot: &Slot| commits.files[slot.handle as usize].before(slot.tag);
        assert_eq!([covers(&commits, &first), covers(&commits, &second)], [1, 2]);
        assert_eq!(covers(&commits, &flush(&commits, 1)), 1);
        // The second one ends first, and leaves nothing to the first one.
        for _ in 0..2 {
            commits.files[0].take();
        }
        assert_eq!([covers(&commits, &first), covers(&commits, &second)], [0, 0]);
        assert_eq!(covers(&commits, &flush(&commits, 0)), 1);
    }

    #[test]
    fn writes_that_wait_are_bounded() {
        let mut commits = commits(1).expect("flushes follow writes");
        for _ in 0..WRITES_MAX + 5 {
            commits.files[0].add(Ticks(1));
        }
        assert_eq!((commits.files[0].started.len(), commits.files[0].first), (WRITES_MAX, 5));
        assert!(self::commits(0).is_none() && self::commits(WRITES_MAX as u64).is_none());
    }
}
