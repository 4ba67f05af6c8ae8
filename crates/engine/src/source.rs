//! Where a worker's operations come from, and what may hold them back.
//!
//! A source says *ready*, *wait* or *end*. Gates are sources around another source: each owns its
//! state, and a job that does not use one has none of it.

use candor_plan::units::Direction;
use candor_plan::work::{Figure, Operation};
use candor_record::Ended;

use crate::clock::{Clock, Ticks};
use crate::operation::{Failure, Op, Outcome, Slot};
use crate::phase::failures::Failures;
use crate::worker::WorkerEnd;

/// Answer of a source that is asked for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The slot holds one.
    Ready,
    /// Not yet.
    Wait(Wait),
    /// None is to come, for that reason.
    End(Ended),
}

/// Why no operation may start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Something in flight must complete first.
    InFlight,
    /// The batch must be handed over first.
    HandOver,
    /// Another worker must get on; it is looked again after so many ns.
    Others(u64),
    /// A schedule wants it later: when, and until when the CPU is to be burnt.
    Until(Ticks, Ticks),
}

/// Time after which a worker looks again that waits for another, in ns.
pub const LOOK_AGAIN_NS: u64 = 1_000;

/// State of the loop that its sources see, and what they tell it.
pub struct Turn {
    /// The worker's clock.
    pub clock: Clock,
    /// Begin of the turn; while completions are taken, their time.
    pub now: Ticks,
    /// Start of the job.
    pub started: Ticks,
    /// Operations handed over or about to be.
    pub in_flight: usize,
    /// Time of the last completion.
    pub last_completion: Ticks,
    /// Time spent on finding and filling operations.
    pub fill: Ticks,
    /// Direction that a schedule wants next: the outer one says that there is one, the inner one
    /// is none where the mix decides.
    pub direction: Option<Option<Direction>>,
    /// The schedule does not apply any more.
    pub unpaced: bool,
    /// Failures of this worker.
    pub failures: Failures,
    table: &'static [Operation],
    /// Name of the thing with that number.
    names: Box<dyn Fn(u32) -> String>,
    end: Option<Ended>,
}

impl Turn {
    /// Of a worker that has not begun.
    pub fn new(
        clock: Clock,
        table: &'static [Operation],
        names: impl Fn(u32) -> String + 'static,
    ) -> Turn {
        Turn {
            clock,
            now: Ticks(0),
            started: Ticks(0),
            in_flight: 0,
            last_completion: Ticks(0),
            fill: Ticks(0),
            direction: None,
            unpaced: false,
            failures: Failures::default(),
            table,
            names: Box::new(names),
            end: None,
        }
    }

    /// Time from the start of the job to the present turn, in ns.
    #[inline(always)]
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.ns(self.now.saturating_sub(self.started))
    }

    /// The tick that many nanoseconds after the start of the job.
    #[inline(always)]
    pub fn tick_at(&self, ns: u64) -> Ticks {
        self.started + self.clock.ticks(ns)
    }

    /// Counts a failed operation among the failures.
    #[cold]
    pub fn fail(&mut self, slot: &Slot, failure: Failure) {
        let op = slot.op.row(self.table).name;
        self.failures.add(op, (self.names)(slot.handle), slot, failure);
    }

    /// Counts an operation among the failures that took longer than is allowed.
    #[cold]
    pub fn fail_slow(&mut self, slot: &Slot, ns: u64, limit_ns: u64) {
        let op = slot.op.row(self.table).name;
        self.failures.add_slow(op, (self.names)(slot.handle), slot, [ns, limit_ns]);
    }

    /// The direction of an operation, for those that have one.
    pub fn direction_of(&self, op: Op) -> Option<Direction> {
        op.row(self.table).figure.direction()
    }

    /// True for a read that reads back what was written.
    pub fn reads_back(&self, op: Op) -> bool {
        op.row(self.table).figure == Figure::ReadBack
    }

    /// The work ends for that reason once what is in flight has completed.
    pub fn end(&mut self, why: Ended) {
        self.end = Some(why);
    }

    /// The reason for which the work is to end, if someone gave one since the last question.
    pub fn take_end(&mut self) -> Option<Ended> {
        self.end.take()
    }
}

/// Where operations come from. A gate is a source around an inner one, to which everything goes
/// that it has nothing to add to.
pub trait Source {
    /// Puts the next operation into the slot, if it may start.
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next;

    /// The source that this one is around.
    fn inner(&mut self) -> Option<&mut dyn Source> {
        None
    }

    /// An operation of this source has completed.
    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        if let Some(inner) = self.inner() {
            inner.completed(slot, outcome, turn);
        }
    }

    /// All completions of a turn were told of.
    fn turned(&mut self, turn: &mut Turn) {
        if let Some(inner) = self.inner() {
            inner.turned(turn);
        }
    }

    /// From now on operations count: budgets begin, what was counted before is forgotten.
    fn begin(&mut self) {
        if let Some(inner) = self.inner() {
            inner.begin();
        }
    }

    /// An operation that was ready will not be handed over.
    fn give_up(&mut self, slot: &Slot) {
        if let Some(inner) = self.inner() {
            inner.give_up(slot);
        }
    }

    /// Nothing is asked for any more: what is held back is given up.
    fn drain(&mut self) {
        if let Some(inner) = self.inner() {
            inner.drain();
        }
    }

    /// Lets the turn of a handle pass, where the next operation would be the work's: the handle.
    fn pass_over(&mut self) -> Option<u32> {
        self.inner()?.pass_over()
    }

    /// Adds what it knows to the worker's figures.
    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        if let Some(inner) = self.inner() {
            inner.tell(end, turn);
        }
    }
}

/// A source that never waits and wants to know nothing of completions: the loop over it carries
/// no checks for either.
pub trait Bare: Source {
    /// Puts the next operation into the slot; false when none is to come.
    fn draw(&mut self, slot: &mut Slot) -> bool;
}

impl Source for Box<dyn Source> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        (**self).next(slot, turn)
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut **self)
    }
}

/// One operation, over and over.
pub struct Repeated {
    op: Op,
    length: u64,
    ops: u64,
    left: u64,
}

impl Repeated {
    /// So many times once operations count.
    pub fn new(op: Op, length: u64, ops: u64) -> Repeated {
        Repeated { op, length, ops, left: u64::MAX }
    }
}

impl Bare for Repeated {
    #[inline(always)]
    fn draw(&mut self, slot: &mut Slot) -> bool {
        (slot.op, slot.length) = (self.op, self.length);
        let more = self.left > 0;
        self.left = self.left.saturating_sub(1);
        more
    }
}

impl Source for Repeated {
    fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
        if self.draw(slot) { Next::Ready } else { Next::End(Ended::Done) }
    }

    fn begin(&mut self) {
        self.left = self.ops;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;

    /// A source of a list of operations.
    pub struct Listed(Vec<Slot>);

    impl Listed {
        pub fn new(list: &[Slot]) -> Listed {
            Listed(list.iter().rev().copied().collect())
        }
    }

    impl Source for Listed {
        fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
            match self.0.pop() {
                None => Next::End(Ended::Done),
                Some(next) => {
                    slot.take_over(&next);
                    Next::Ready
                }
            }
        }
    }

    pub fn turn() -> Turn {
        Turn::new(Clock::calibrated(), BlocksOp::TABLE, |_| String::new())
    }
}
