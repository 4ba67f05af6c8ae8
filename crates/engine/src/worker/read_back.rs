//! Reading back what a worker wrote: its stream again, from the start, writes taken for reads.
//!
//! Nothing about single operations is kept: a copy of the stream gives the same operations again,
//! and the map of blocks tells which of them still hold something that was not read back. Only
//! writes that zones have moved are kept one by one: where they went no stream can tell.

use std::collections::VecDeque;

use candor_plan::blocks::ReadBack as Plan;

use super::{Trims, Worker};
use crate::data::verifier::Verifier;
use crate::host::placement::Usage;
use crate::operations::slots::{Kind, Slot};
use crate::stream::Stream;
use crate::targets::files::Files;

/// A worker's reading back.
pub struct ReadBack {
    plan: Plan,
    /// The worker's operations that were not repeated yet.
    again: Again,
    /// A write that waits until all is read back.
    parked: Option<Write>,
    /// Writes since reading back was last due.
    writes: u64,
    /// Operations left of those that are due.
    due: u64,
    /// Times that the work is to be done again after this one.
    rounds_left: u64,
    /// Where it stands.
    stage: Stage,
    /// Spent in the last stage.
    spent: Spent,
    /// Nothing may be issued before what is under way has ended.
    settles: bool,
    /// Trims of some of what was written.
    trims: Option<Trims>,
}

/// What was done, once more.
enum Again {
    /// As the stream gives it, so many operations.
    Drawn(Box<Stream>, u64),
    /// As zones have moved it.
    Moved(VecDeque<Write>),
}

/// A write, as far as it is repeated.
#[derive(Clone, Copy)]
struct Write {
    file: u32,
    offset: u64,
    length: u32,
}

impl Write {
    fn of(slot: &Slot) -> Write {
        Write { file: slot.file, offset: slot.offset, length: slot.length }
    }

    fn put(self, slot: &mut Slot) {
        (slot.kind, slot.read_back) = (Kind::Write, false);
        (slot.file, slot.offset, slot.length) = (self.file, self.offset, self.length);
    }
}

impl Again {
    fn next(&mut self, slot: &mut Slot) -> bool {
        match self {
            Again::Drawn(stream, ahead) if *ahead > 0 => {
                *ahead -= 1;
                stream.next(slot)
            }
            Again::Drawn(..) => false,
            Again::Moved(writes) => writes.pop_front().map(|write| write.put(slot)).is_some(),
        }
    }
}

#[derive(Clone, Copy)]
enum Stage {
    /// The work goes on.
    Working,
    /// Only reads that read back are left, since that tick and with that usage.
    Alone(u64, Usage),
}

/// Time and CPU time spent on reading back alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Ticks.
    pub ticks: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
}

impl ReadBack {
    /// Over a copy of the worker's stream, or in zones without one; the work is done `rounds`
    /// times, each round being read back before the next.
    pub fn new(plan: Plan, stream: Option<Stream>, rounds: u64, trims: Option<Trims>) -> ReadBack {
        let moved = || Again::Moved(VecDeque::new());
        ReadBack {
            plan,
            again: stream.map_or_else(moved, |stream| Again::Drawn(Box::new(stream), 0)),
            parked: None,
            writes: 0,
            due: 0,
            rounds_left: rounds.saturating_sub(1),
            stage: Stage::Working,
            spent: Spent::default(),
            settles: false,
            trims,
        }
    }

    /// What was spent on it alone, where the last completion was at that tick.
    pub fn spent(&self, last_completion: u64) -> Spent {
        let mut spent = self.spent;
        if let Stage::Alone(since, before) = self.stage {
            let after = Usage::of_this_thread();
            spent.ticks += last_completion.saturating_sub(since);
            spent.user_ns += after.user_ns - before.user_ns;
            spent.system_ns += after.system_ns - before.system_ns;
        }
        spent
    }

    /// True while the worker only waits for what is under way.
    pub fn is_settling(&self) -> bool {
        self.settles
    }

    /// True while writes that zones have moved were not read back.
    pub fn holds(&self) -> bool {
        matches!(&self.again, Again::Moved(writes) if !writes.is_empty())
    }

    /// A write has its place in a zone.
    pub fn moved(&mut self, slot: &Slot) {
        if let Again::Moved(writes) = &mut self.again {
            writes.push_back(Write::of(slot));
        }
    }

    /// Puts a write off until all is read back: the slot becomes the first read, if there is one.
    pub fn park(&mut self, slot: &mut Slot, verifier: &Verifier) -> bool {
        let write = Write::of(slot);
        self.due = u64::MAX;
        let repeats = self.repeat(slot, verifier);
        match repeats {
            true => self.parked = Some(write),
            false => write.put(slot),
        }
        repeats
    }

    fn did(&mut self, kind: Kind) {
        if let Again::Drawn(_, ahead) = &mut self.again {
            *ahead += 1;
        }
        if let Some(trims) = &mut self.trims {
            trims.did(kind);
        }
        if kind == Kind::Write && self.plan.every > 0 {
            self.writes += 1;
            if self.writes >= self.plan.every {
                self.writes = 0;
                self.due = if self.plan.batch > 0 { self.plan.batch } else { self.plan.every };
            }
        }
    }

    /// The next operation reads back.
    pub fn goes_first(&self) -> bool {
        self.due > 0 || !matches!(self.stage, Stage::Working)
    }

    /// The next write that was not read back, as a read; false if there is none.
    fn repeat(&mut self, slot: &mut Slot, verifier: &Verifier) -> bool {
        while self.again.next(slot) {
            if slot.kind == Kind::Write && verifier.is_due(slot) {
                self.due = self.due.saturating_sub(1);
                (slot.kind, slot.read_back) = (Kind::Read, true);
                return true;
            }
        }
        self.due = 0;
        false
    }
}

impl Worker {
    /// Puts the next operation of the work, or one that reads back, into a free slot.
    pub(super) fn prepare_or_repeat(&mut self) -> Option<u32> {
        let index = self.free.pop()?;
        if self.next_or_repeat(index as usize) {
            return Some(index);
        }
        self.free.push(index);
        None
    }

    /// True if an operation would read what was not written any more: the work ends before it.
    #[inline(always)]
    pub(super) fn ends_before(&mut self, index: u32) -> bool {
        let slot = &self.slots[index as usize];
        let ends = self.parts.verifier.as_mut().is_some_and(|known| known.ends_before(slot));
        if ends {
            self.free.push(index);
            self.drain(candor_record::Ended::Done);
        }
        ends
    }

    fn next_or_repeat(&mut self, index: usize) -> bool {
        let (Some(back), Some(verifier)) = (&mut self.parts.read_back, &self.parts.verifier) else {
            return false;
        };
        let slot = &mut self.slots[index];
        slot.read_back = false;
        if back.due > 0 && back.repeat(slot, verifier) {
            return true;
        }
        slot.read_back = false;
        if let Some(write) = back.parked.take() {
            write.put(slot);
            return true;
        }
        if back.plan.only {
            return self.next_write_as_read(index);
        }
        if let Some(trims) = &mut back.trims
            && trims.next(slot, verifier)
        {
            return true;
        }
        if matches!(back.stage, Stage::Working) && self.parts.stream.next(slot) {
            back.did(slot.kind);
            return true;
        }
        if !matches!(back.stage, Stage::Alone(..)) && !self.begin_alone() {
            return false;
        }
        let (Some(back), Some(verifier)) = (&mut self.parts.read_back, &self.parts.verifier) else {
            return false;
        };
        let found = back.repeat(&mut self.slots[index], verifier);
        found || (self.begin_next_round() && self.next_or_repeat(index))
    }

    /// The writes of the work, each as a read that reads back.
    fn next_write_as_read(&mut self, index: usize) -> bool {
        let slot = &mut self.slots[index];
        while self.parts.stream.next(slot) {
            if slot.kind == Kind::Write {
                (slot.kind, slot.read_back) = (Kind::Read, true);
                return true;
            }
        }
        self.drain(candor_record::Ended::Done);
        false
    }

    /// The work is done: reading back begins once nothing is under way any more.
    #[cold]
    fn begin_alone(&mut self) -> bool {
        let Some(back) = &mut self.parts.read_back else { return false };
        back.settles = self.in_flight > 0;
        if back.settles {
            return false;
        }
        if back.plan.every == 0 {
            drop_pages(&self.parts.files, &self.parts.own_files);
        }
        // From here on no rate applies: it was asked for the work.
        self.parts.pacer = None;
        back.stage = Stage::Alone(self.last_completion, Usage::of_this_thread());
        true
    }

    /// All was read back: the next round, if there is one; else the worker ends.
    #[cold]
    fn begin_next_round(&mut self) -> bool {
        let in_flight = self.in_flight > 0;
        match &mut self.parts.read_back {
            Some(back) if back.rounds_left > 0 => {
                back.settles = in_flight;
                if in_flight {
                    return false;
                }
                back.rounds_left -= 1;
                if let (Some(trims), Some(slot)) = (&mut back.trims, self.slots.first_mut()) {
                    trims.pass_over(slot);
                }
            }
            _ => {
                self.drain(candor_record::Ended::Done);
                return false;
            }
        }
        self.end_alone();
        self.parts.stream.bound(self.parts.budget);
        true
    }

    /// Sums up what was spent, also where reading back is cut short.
    pub(super) fn end_alone(&mut self) {
        let Some(back) = &mut self.parts.read_back else { return };
        back.spent = back.spent(self.last_completion);
        back.stage = Stage::Working;
    }
}

/// Flushes files and drops their pages, so that what is read back comes from the device.
fn drop_pages(files: &Files, own: &[u32]) {
    for handle in own.iter().filter_map(|file| files.get(*file).handle()) {
        // Both only make reading back more honest; a file that cannot be flushed shows it when
        // its blocks do not match.
        let _ = handle.sync_data();
        let _ = rustix::fs::fadvise(handle, 0, None, rustix::fs::Advice::DontNeed);
    }
}
