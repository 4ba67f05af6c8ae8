//! Reading back a worker's writes: its work again, from the start, with writes turned into reads.
//!
//! Single operations are not kept. A copy of the work gives the same operations again, and the map
//! of blocks tells which of them were not read back yet. Only writes that zones have moved are kept
//! one by one, because no copy can give their offsets again.

use std::collections::VecDeque;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::host::placement::Usage;
use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn, Wait};
use candor_engine::worker_end::{Spent, WorkerEnd};
use candor_plan::blocks::ReadBack as Plan;
use candor_plan::work::BlocksOp;
use candor_record::Ended;

use super::replay::{Call, Replay};
use super::trims::Trims;
use super::verified::SharedVerifier;
use super::work::{Base, Work};
use crate::slot::{BlocksSlot, READ_BACK};
use crate::stream::Stream;
use crate::targets::files::Files;

/// A worker's work, and its reading back.
pub struct ReadBack {
    plan: Plan,
    work: Work,
    verifier: SharedVerifier,
    files: Arc<Files>,
    own_files: Box<[u32]>,
    /// Operations of the worker that were not repeated yet.
    again: Again,
    /// A write that waits until everything is read back.
    parked: Option<Write>,
    /// Writes since the last time that reading back was due.
    writes: u64,
    /// Reads left of those that are due.
    due: u64,
    /// Number of times that the work is to be repeated.
    rounds_left: u64,
    /// No further operation of the work begins.
    is_over: bool,
    /// The work had no operation left in this round.
    has_ended: bool,
    /// Present stage.
    stage: Stage,
    /// Time and CPU time of all reading back alone before the present stage.
    spent: Spent,
    /// Trims of a share of the writes.
    trims: Option<Trims>,
}

/// Parts of a [`ReadBack`].
pub struct Parts {
    /// Plan of the verification.
    pub plan: Plan,
    /// The work.
    pub work: Work,
    /// Verifier of the work's blocks.
    pub verifier: SharedVerifier,
    /// Files of the job.
    pub files: Arc<Files>,
    /// Numbers of the worker's files.
    pub own_files: Box<[u32]>,
}

/// Operations to repeat.
enum Again {
    /// Operations of a copy of the work.
    Drawn(Box<Replay>),
    /// Writes that zones have moved.
    Moved(VecDeque<Write>),
}

/// A write to be repeated as a read.
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
        slot.set(BlocksOp::Write);
        (slot.handle, slot.offset, slot.length) = (self.file, self.offset, self.length);
    }
}

impl Again {
    fn next(&mut self, slot: &mut Slot) -> bool {
        match self {
            Again::Drawn(replay) => replay.next(slot),
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
    /// Wraps the work; reads back from a copy of it, or in zones without one. The work is done
    /// `rounds` times, and each round is read back before the next.
    pub fn new(parts: Parts, again: Option<Replay>, rounds: u64, trims: Option<Trims>) -> ReadBack {
        let Parts { plan, work, verifier, files, own_files } = parts;
        let moved = || Again::Moved(VecDeque::new());
        ReadBack {
            plan,
            work,
            verifier,
            files,
            own_files,
            again: again.map_or_else(moved, |replay| Again::Drawn(Box::new(replay))),
            parked: None,
            writes: 0,
            due: 0,
            rounds_left: rounds.saturating_sub(1),
            is_over: false,
            has_ended: false,
            stage: Stage::Working,
            spent: Spent::default(),
            trims,
        }
    }

    /// Time and CPU time of reading back alone, if the last completion was at that tick.
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

    /// Has each copy of the work follow it.
    fn follow(&mut self, what: impl Fn(&mut Replay)) {
        if let Again::Drawn(replay) = &mut self.again {
            what(replay);
        }
        if let Some(trims) = &mut self.trims {
            what(trims.replay());
        }
    }

    /// Next operation of the work, which its copies follow.
    fn next_of_work(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.is_over || self.has_ended {
            return Next::End(Ended::Done);
        }
        let scheduled = turn.direction;
        let next = self.work.next(slot, turn);
        let direction = scheduled.filter(|_| turn.direction.is_none());
        match next {
            Next::Ready => {
                self.follow(|replay| replay.gave(direction));
                self.did(slot.issued());
            }
            Next::End(_) => {
                self.has_ended = true;
                self.follow(|replay| replay.ended(direction));
            }
            Next::Wait(_) => {}
        }
        next
    }

    fn did(&mut self, kind: BlocksOp) {
        if let Some(trims) = &mut self.trims {
            trims.did(kind);
        }
        if kind == BlocksOp::Write && self.plan.every > 0 {
            self.writes += 1;
            if self.writes >= self.plan.every {
                self.writes = 0;
                self.due = if self.plan.batch > 0 { self.plan.batch } else { self.plan.every };
            }
        }
    }

    /// Next write that was not read back, as a read; false if there is none.
    fn repeat(&mut self, slot: &mut Slot) -> bool {
        let verifier = self.verifier.borrow();
        while self.again.next(slot) {
            if slot.issued() == BlocksOp::Write && verifier.is_due(slot) {
                self.due = self.due.saturating_sub(1);
                slot.op = READ_BACK;
                return true;
            }
        }
        self.due = 0;
        false
    }

    /// Next write of the work, as a read that reads back.
    fn next_write_as_read(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        loop {
            match self.work.next(slot, turn) {
                Next::Ready if slot.issued() != BlocksOp::Write => {}
                Next::Ready => {
                    slot.op = READ_BACK;
                    return Next::Ready;
                }
                other => return other,
            }
        }
    }

    /// Begins to read back alone: the work is done and nothing is in flight.
    #[cold]
    fn begin_alone(&mut self, turn: &mut Turn) {
        if self.plan.every == 0 {
            drop_pages(&self.files, &self.own_files);
        }
        // The rate applies to the work alone.
        turn.unpaced = true;
        self.stage = Stage::Alone(turn.last_completion, Usage::of_this_thread());
    }

    /// Begins the next round, if there is one: everything is read back.
    #[cold]
    fn next_round(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.rounds_left == 0 || self.work.is_spent() {
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
        self.has_ended = false;
        self.follow(|replay| replay.called(Call::BeginRound));
        self.work.begin_round();
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
            match self.next_of_work(slot, turn) {
                Next::Ready => return Next::Ready,
                Next::Wait(wait) => return Next::Wait(wait),
                Next::End(_) if turn.in_flight > 0 => return Next::Wait(Wait::InFlight),
                Next::End(_) => self.begin_alone(turn),
            }
        }
        if self.repeat(slot) { Next::Ready } else { self.next_round(slot, turn) }
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.work)
    }

    fn time_is_up(&mut self) -> bool {
        if self.plan.after_time {
            (self.is_over, self.rounds_left) = (true, 0);
        }
        self.plan.after_time
    }

    fn begin(&mut self) {
        self.has_ended = false;
        self.follow(|replay| replay.called(Call::Begin));
        self.work.begin();
    }

    fn pass_over(&mut self) -> Option<u32> {
        if self.due > 0 || !matches!(self.stage, Stage::Working) {
            return None;
        }
        self.follow(|replay| replay.called(Call::PassOver));
        self.work.pass_over()
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
        if repeats {
            self.parked = Some(write);
        } else {
            write.put(slot);
        }
        repeats
    }

    fn moved(&mut self, slot: &Slot) {
        if let Again::Moved(writes) = &mut self.again {
            writes.push_back(Write::of(slot));
        }
    }
}

/// Flushes the files and drops their pages, so that reading back reads from the device.
fn drop_pages(files: &Files, own: &[u32]) {
    for handle in own.iter().filter_map(|file| files.get(*file).handle()) {
        // Failures are ignored: if a flush fails, the blocks that were not written show up as
        // mismatches.
        let _ = handle.sync_data();
        let _ = rustix::fs::fadvise(handle, 0, None, rustix::fs::Advice::DontNeed);
    }
}
