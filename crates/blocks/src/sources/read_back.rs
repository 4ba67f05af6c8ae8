//! Reading back what a worker wrote: its stream again, from the start, writes taken for reads.
//!
//! Nothing about single operations is kept: a copy of the stream gives the same operations again,
//! and the map of blocks tells which of them still hold something that was not read back. Only
//! writes that zones have moved are kept one by one: where they went no stream can tell.

use std::collections::VecDeque;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::host::placement::Usage;
use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn, Wait};
use candor_engine::worker::{Spent, WorkerEnd};
use candor_plan::blocks::ReadBack as Plan;
use candor_record::Ended;

use super::trims::Trims;
use super::verified::SharedVerifier;
use super::work::{Base, Work};
use crate::kind::{BlocksSlot, Kind, READ_BACK};
use crate::stream::Stream;
use crate::targets::files::Files;

/// A worker's work with its reading back.
pub struct ReadBack {
    plan: Plan,
    work: Work,
    verifier: SharedVerifier,
    files: Arc<Files>,
    own_files: Box<[u32]>,
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
    /// Trims of some of what was written.
    trims: Option<Trims>,
}

/// Parts that reading back is made from.
pub struct Parts {
    /// Words of the plan.
    pub plan: Plan,
    /// The work.
    pub work: Work,
    /// What is known of its blocks.
    pub verifier: SharedVerifier,
    /// Files of the job.
    pub files: Arc<Files>,
    /// Those of the worker.
    pub own_files: Box<[u32]>,
}

/// Operations that were done, once more.
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
    length: u64,
}

impl Write {
    fn of(slot: &Slot) -> Write {
        Write { file: slot.handle, offset: slot.offset, length: slot.length }
    }

    fn put(self, slot: &mut Slot) {
        slot.set(Kind::Write);
        (slot.handle, slot.offset, slot.length) = (self.file, self.offset, self.length);
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
    Alone(Ticks, Usage),
}

impl ReadBack {
    /// Around the work; reads back over a copy of its stream, or in zones without one. The work is
    /// done `rounds` times, each round being read back before the next.
    pub fn new(parts: Parts, again: Option<Stream>, rounds: u64, trims: Option<Trims>) -> ReadBack {
        let Parts { plan, work, verifier, files, own_files } = parts;
        let moved = || Again::Moved(VecDeque::new());
        ReadBack {
            plan,
            work,
            verifier,
            files,
            own_files,
            again: again.map_or_else(moved, |stream| Again::Drawn(Box::new(stream), 0)),
            parked: None,
            writes: 0,
            due: 0,
            rounds_left: rounds.saturating_sub(1),
            stage: Stage::Working,
            spent: Spent::default(),
            trims,
        }
    }

    /// What was spent on it alone, where the last completion was at that tick.
    fn spent(&self, last_completion: Ticks) -> Spent {
        let mut spent = self.spent;
        if let Stage::Alone(since, before) = self.stage {
            let after = Usage::of_this_thread();
            spent.ticks += last_completion.saturating_sub(since);
            spent.user_ns += after.user_ns - before.user_ns;
            spent.system_ns += after.system_ns - before.system_ns;
        }
        spent
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

    /// The next write that was not read back, as a read; false if there is none.
    fn repeat(&mut self, slot: &mut Slot) -> bool {
        let verifier = self.verifier.borrow();
        while self.again.next(slot) {
            if slot.kind() == Kind::Write && verifier.is_due(slot) {
                self.due = self.due.saturating_sub(1);
                slot.op = READ_BACK;
                return true;
            }
        }
        self.due = 0;
        false
    }

    /// The writes of the work, each as a read that reads back.
    fn next_write_as_read(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        loop {
            match self.work.next(slot, turn) {
                Next::Ready if slot.kind() != Kind::Write => {}
                Next::Ready => {
                    slot.op = READ_BACK;
                    return Next::Ready;
                }
                other => return other,
            }
        }
    }

    /// The work is done and nothing is in flight: reading back begins.
    #[cold]
    fn begin_alone(&mut self, turn: &mut Turn) {
        if self.plan.every == 0 {
            drop_pages(&self.files, &self.own_files);
        }
        // From here on no rate applies: it was asked for the work.
        turn.unpaced = true;
        self.stage = Stage::Alone(turn.last_completion, Usage::of_this_thread());
    }

    /// All was read back: the next round, if there is one.
    #[cold]
    fn next_round(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.rounds_left == 0 {
            return Next::End(Ended::Done);
        }
        if turn.in_flight > 0 {
            return Next::Wait(Wait::InFlight);
        }
        self.rounds_left -= 1;
        if let Some(trims) = &mut self.trims {
            trims.pass_over(slot);
        }
        self.spent = self.spent(turn.last_completion);
        self.stage = Stage::Working;
        self.work.begin();
        self.next(slot, turn)
    }
}

impl Source for ReadBack {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.due > 0 && self.repeat(slot) {
            return Next::Ready;
        }
        if let Some(write) = self.parked.take() {
            write.put(slot);
            return Next::Ready;
        }
        if self.plan.only {
            return self.next_write_as_read(slot, turn);
        }
        if let Some(trims) = &mut self.trims
            && trims.next(slot, &self.verifier.borrow())
        {
            return Next::Ready;
        }
        if matches!(self.stage, Stage::Working) {
            match self.work.next(slot, turn) {
                Next::Ready => {
                    self.did(slot.kind());
                    return Next::Ready;
                }
                Next::Wait(wait) => return Next::Wait(wait),
                Next::End(_) if turn.in_flight > 0 => return Next::Wait(Wait::InFlight),
                Next::End(_) => self.begin_alone(turn),
            }
        }
        match self.repeat(slot) {
            true => Next::Ready,
            false => self.next_round(slot, turn),
        }
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.work)
    }

    fn pass_over(&mut self) -> Option<u32> {
        let goes_first = self.due > 0 || !matches!(self.stage, Stage::Working);
        if goes_first { None } else { self.work.pass_over() }
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.read_back = Some(self.spent(turn.last_completion));
    }
}

impl Base for ReadBack {
    fn stream(&mut self) -> &mut Stream {
        self.work.stream()
    }

    fn holds(&self) -> bool {
        matches!(&self.again, Again::Moved(writes) if !writes.is_empty())
    }

    fn park(&mut self, slot: &mut Slot) -> bool {
        let write = Write::of(slot);
        self.due = u64::MAX;
        let repeats = self.repeat(slot);
        match repeats {
            true => self.parked = Some(write),
            false => write.put(slot),
        }
        repeats
    }

    fn moved(&mut self, slot: &Slot) {
        if let Again::Moved(writes) = &mut self.again {
            writes.push_back(Write::of(slot));
        }
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
