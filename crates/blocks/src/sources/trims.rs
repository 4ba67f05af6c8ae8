//! Trims of a worker's writes: its work again, with a share of the writes turned into trims.

use candor_plan::blocks::TrimWritten as Plan;
use candor_plan::work::BlocksOp;

use super::replay::Replay;
use crate::slot::BlocksSlot;
use crate::verifier::Verifier;
use candor_engine::operation::Slot;
use candor_engine::random::Random;

/// Trims of a worker's own writes.
pub struct Trims {
    plan: Plan,
    /// Copy of the worker's work.
    replay: Replay,
    /// Random choice of the writes to trim.
    random: Random,
    /// Writes since the last time that trims were due.
    writes: u64,
    /// Trims left of those that are due.
    due: u64,
}

impl Trims {
    /// Trims from a copy of the worker's work.
    pub fn new(plan: Plan, replay: Replay, random: Random) -> Trims {
        Trims { plan, replay, random, writes: 0, due: 0 }
    }

    /// The copy of the work.
    pub fn replay(&mut self) -> &mut Replay {
        &mut self.replay
    }

    /// Counts an operation of the work.
    pub fn did(&mut self, kind: BlocksOp) {
        if kind == BlocksOp::Write {
            self.writes += 1;
            if self.writes >= self.plan.every {
                self.writes = 0;
                self.due = if self.plan.batch > 0 { self.plan.batch } else { self.plan.every };
            }
        }
    }

    /// Puts the next trim that is due into the slot; false if there is none. Blocks that were read
    /// back already are kept.
    pub fn next(&mut self, slot: &mut Slot, verifier: &Verifier) -> bool {
        while self.due > 0 && self.replay.next(slot) {
            let chosen = slot.issued() == BlocksOp::Write && self.random.percent(self.plan.percent);
            if chosen && verifier.is_due(slot) {
                self.due -= 1;
                slot.set(BlocksOp::Trim);
                return true;
            }
        }
        self.due = 0;
        false
    }

    /// Skips all operations done so far: they are not trimmed any more.
    pub fn pass_over(&mut self, slot: &mut Slot) {
        while self.replay.next(slot) {}
        (self.writes, self.due) = (0, 0);
    }
}
