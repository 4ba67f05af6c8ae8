//! What a worker syncs between its writes: `fsync`, `fdatasync` or `sync_file_range`, after so many
//! of them at once to all its files, or in place of the next turn to the file whose turn it is.

use candor_plan::blocks::Durability;

use super::Worker;
use super::ranges::{Range, Ranges};
use crate::operations::slots::{Kind, Slot};
use crate::targets::files::Files;

/// How a sync is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By an operation of this kind.
    Flush(Kind),
    /// By a call for what was written since the last one.
    Range,
}

/// A sync that waits or goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Due {
    way: Way,
    /// The only file, or all.
    file: Option<u32>,
    /// Flushes that were handed over.
    done: usize,
}

/// The syncs of a worker.
pub struct Syncs {
    plan: Durability,
    any: bool,
    ranges: Option<Ranges>,
    writes: u64,
    /// Nothing was issued since the last one.
    just_done: bool,
    due: Option<Due>,
    /// An operation that was drawn, and waits for the sync that takes its turn.
    held: Option<Slot>,
}

impl Syncs {
    /// Over that many files.
    pub fn new(plan: Durability, files: &Files) -> Syncs {
        Syncs {
            any: plan.fsync_every > 0 || plan.fdatasync_every > 0 || plan.range.is_some(),
            ranges: plan.range.map(|range| Ranges::new(range, files.all().len())),
            plan,
            writes: 0,
            just_done: false,
            due: None,
            held: None,
        }
    }

    /// Nothing else may start before a sync is done.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// Syncs take the turn of an operation.
    #[inline(always)]
    pub fn take_turns(&self) -> bool {
        self.any && self.plan.in_turn
    }

    /// An operation is about to be handed over.
    #[inline(always)]
    pub fn issues(&mut self, slot: &Slot) {
        if self.any {
            self.notes(slot);
        }
    }

    fn notes(&mut self, slot: &Slot) {
        self.just_done = false;
        if slot.kind != Kind::Write {
            return;
        }
        if let Some(ranges) = &mut self.ranges {
            ranges.wrote(slot);
        }
        self.writes += 1;
        if !self.plan.in_turn {
            self.due = self.way().map(|way| Due { way, file: None, done: 0 });
        }
    }

    /// What is to be done after as many writes as there were; of several the most thorough.
    fn way(&self) -> Option<Way> {
        let ends = |every: u64| every > 0 && self.writes > 0 && self.writes.is_multiple_of(every);
        let range = self.plan.range.is_some_and(|range| ends(range.every));
        match (ends(self.plan.fsync_every), ends(self.plan.fdatasync_every), range) {
            (true, ..) => Some(Way::Flush(Kind::Fsync)),
            (_, true, _) => Some(Way::Flush(Kind::Fdatasync)),
            (.., true) => Some(Way::Range),
            _ => None,
        }
    }
}

impl Worker {
    /// Goes on with the sync that is due, once everything before it has completed.
    #[cold]
    pub(super) fn sync(&mut self) {
        let (Some(due), 0) = (self.syncs.due, self.in_flight) else { return };
        let Way::Flush(kind) = due.way else {
            (self.syncs.due, self.syncs.just_done) = (None, true);
            return self.sync_ranges(due.file);
        };
        let file = match due.file {
            Some(file) => Some(file).filter(|_| due.done == 0),
            None => self.parts.own_files.get(due.done).copied(),
        };
        let Some(file) = file else {
            (self.syncs.due, self.syncs.just_done) = (None, true);
            return;
        };
        let Some(index) = self.free.pop() else { return };
        let slot = &mut self.slots[index as usize];
        (slot.kind, slot.read_back) = (kind, false);
        (slot.file, slot.length, slot.offset) = (file, 0, 0);
        self.hand_over(index);
        self.syncs.due = Some(Due { done: due.done + 1, ..due });
    }

    /// The next operation; none where there is none, or where a sync takes its turn.
    #[cold]
    pub(super) fn draw_or_sync(&mut self) -> Option<u32> {
        if self.free.is_empty() {
            return None;
        }
        if let Some(held) = self.syncs.held.take() {
            let index = self.free.pop()?;
            let slot = &mut self.slots[index as usize];
            *slot = Slot { buffer: slot.buffer, ..held };
            return Some(index);
        }
        let turn = self.turn_to_sync();
        let index = self.draw()?;
        let slot = self.slots[index as usize];
        let Some(due) = turn.filter(|_| !slot.read_back) else { return Some(index) };
        (self.syncs.held, self.syncs.due) = (Some(slot), Some(due));
        self.free.push(index);
        self.sync();
        // A call for a range is done by now.
        if self.syncs.is_due() { None } else { self.draw_or_sync() }
    }

    fn turn_to_sync(&mut self) -> Option<Due> {
        let reads_back = self.parts.read_back.as_ref().is_some_and(super::ReadBack::goes_first);
        if self.syncs.just_done || reads_back {
            return None;
        }
        let way = self.syncs.way()?;
        Some(Due { way, file: Some(self.parts.stream.pass_over()), done: 0 })
    }

    /// Makes the call for a file, or for each that was written to. It blocks whatever the engine:
    /// none of them queues it.
    fn sync_ranges(&mut self, only: Option<u32>) {
        let mut calls = 0;
        while let Some(range) = self.syncs.ranges.as_mut().and_then(|ranges| ranges.take(only)) {
            self.sync_range(range);
            calls += 1;
        }
        if only.is_some() && calls == 0 {
            // Nothing was written to the file whose turn it is: a sync that is done at once.
            let live = &self.parts.live[self.parts.rank as usize];
            live.bank(self.counting).all()[Kind::SYNC_FILE_RANGE].completed(1, 0, 0);
        }
    }

    fn sync_range(&mut self, Range { file, first, end }: Range) {
        let Some(ranges) = &self.syncs.ranges else { return };
        let (clock, flags) = (self.parts.clock, ranges.flags());
        let live = &self.parts.live[self.parts.rank as usize];
        let counters = &live.bank(self.counting).all()[Kind::SYNC_FILE_RANGE];
        let descriptor = self.parts.files.get(file).raw();
        let (from, length) = (first as libc::off64_t, (end - first) as libc::off64_t);
        let began = clock.now();
        // SAFETY: plain numbers and a descriptor that the worker's files keep open.
        let result = unsafe { libc::sync_file_range(descriptor, from, length, flags) };
        let now = clock.now();
        if result == 0 {
            return counters.completed(1, 0, clock.ns(now - began));
        }
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        let slot = Slot { file, offset: first, kind: Kind::Fsync, ..self.slots[0] };
        counters.did_fail();
        self.failures.add(&self.parts.files, &slot, errno);
        self.draining = true;
        self.ended = candor_record::Ended::Failed;
        self.parts.shared.command.end();
    }
}
