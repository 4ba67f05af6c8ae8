//! Trims of what a worker wrote: its stream again, some of its writes taken for trims.

use candor_plan::blocks::TrimWritten as Plan;

use crate::data::verifier::Verifier;
use crate::kind::{BlocksSlot, Kind};
use crate::stream::Stream;
use candor_engine::operation::Slot;
use candor_engine::random::Random;

/// A worker's trims of what it wrote.
pub struct Trims {
    plan: Plan,
    /// The worker's operations again.
    stream: Stream,
    /// Which of them.
    random: Random,
    /// Operations that the worker did and that were not gone through yet.
    ahead: u64,
    /// Writes since trims were last due.
    writes: u64,
    /// Trims left of those that are due.
    due: u64,
}

impl Trims {
    /// Over a copy of the worker's stream.
    pub fn new(plan: Plan, stream: Stream, random: Random) -> Trims {
        Trims { plan, stream, random, ahead: 0, writes: 0, due: 0 }
    }

    /// The worker does an operation of its stream.
    pub fn did(&mut self, kind: Kind) {
        self.ahead += 1;
        if kind == Kind::Write {
            self.writes += 1;
            if self.writes >= self.plan.every {
                self.writes = 0;
                self.due = if self.plan.batch > 0 { self.plan.batch } else { self.plan.every };
            }
        }
    }

    /// The next trim that is due; false if there is none. What was read back already stays.
    pub fn next(&mut self, slot: &mut Slot, verifier: &Verifier) -> bool {
        while self.due > 0 && self.ahead > 0 && self.stream.next(slot) {
            self.ahead -= 1;
            let chosen = slot.kind() == Kind::Write && self.random.percent(self.plan.percent);
            if chosen && verifier.is_due(slot) {
                self.due -= 1;
                slot.set(Kind::Trim);
                return true;
            }
        }
        self.due = 0;
        false
    }

    /// What was done so far is not trimmed any more.
    pub fn pass_over(&mut self, slot: &mut Slot) {
        while self.ahead > 0 && self.stream.next(slot) {
            self.ahead -= 1;
        }
        (self.writes, self.due) = (0, 0);
    }
}
