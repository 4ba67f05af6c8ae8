//! Sources of a worker's operations, and gates that may hold operations back.
//!
//! A source answers *ready*, *wait* or *end*. Gates are sources around another source: each owns
//! its state, and a job that does not use a gate has none of its state.

use candor_plan::units::Direction;
use candor_plan::work::{Figure, Operation};
use candor_record::Ended;

use crate::clock::{Clock, Ticks};
use crate::counters::Bank;
use crate::failures::Failures;
use crate::operation::{Failure, Op, Outcome, Slot};
use crate::worker_end::WorkerEnd;

/// Answer of a source to the request for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The slot holds an operation.
    Ready,
    /// No operation may start yet.
    Wait(Wait),
    /// No operation follows, for this reason.
    End(Ended),
}

/// Reason why no operation may start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// An operation in flight must complete first.
    InFlight,
    /// The batch must be submitted first.
    HandOver,
    /// Another worker must catch up; the loop asks the source again after this time, in ns.
    Others(u64),
    /// A schedule sets a later start: the tick of the start, and the tick until which to burn the
    /// CPU.
    Until(Ticks, Ticks),
}

/// Interval at which a worker that waits for another checks again, in ns.
pub const LOOK_AGAIN_NS: u64 = 1_000;

/// State of the loop for its sources, and reports of the sources to the loop.
pub struct Turn {
    /// The worker's clock.
    pub clock: Clock,
    /// Begin of the turn; during completions, the tick of completion.
    pub now: Ticks,
    /// Start of the job.
    pub started: Ticks,
    /// Operations submitted, and operations of the current batch.
    pub in_flight: usize,
    /// Tick of the last completion.
    pub last_completion: Ticks,
    /// Time spent on drawing and filling operations.
    pub fill: Ticks,
    /// Direction that a schedule sets for the next operation. The outer option is set by a
    /// schedule; the inner option is none if the mix chooses.
    pub direction: Option<Option<Direction>>,
    /// True once the schedule no longer applies.
    pub unpaced: bool,
    /// Operations that follow operations that have already started: the source issues them first,
    /// and no schedule delays them.
    pub follow_ups: usize,
    /// True if the source must make data durable before the loop continues.
    pub commits: bool,
    /// Failures of this worker.
    pub failures: Failures,
    table: &'static [Operation],
    /// Name of the target of a handle.
    names: Box<dyn Fn(u32) -> String>,
    end: Option<Ended>,
}

impl Turn {
    /// State of a worker before its start.
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
            follow_ups: 0,
            commits: false,
            failures: Failures::default(),
            table,
            names: Box::new(names),
            end: None,
        }
    }

    /// Time from the start of the job to the current turn, in ns.
    #[inline(always)]
    pub fn elapsed_ns(&self) -> u64 {
        self.clock.ns(self.now.saturating_sub(self.started))
    }

    /// Tick at `ns` nanoseconds after the start of the job.
    #[inline(always)]
    pub fn tick_at(&self, ns: u64) -> Ticks {
        self.started + self.clock.ticks(ns)
    }

    /// Adds a failed operation to the failures.
    #[cold]
    pub fn fail(&mut self, slot: &Slot, failure: Failure) {
        let op = slot.op.row(self.table).name;
        self.failures.add(op, (self.names)(slot.handle), slot, failure);
    }

    /// Adds an operation that exceeded the maximum latency to the failures.
    #[cold]
    pub fn fail_slow(&mut self, slot: &Slot, ns: u64, limit_ns: u64) {
        let op = slot.op.row(self.table).name;
        self.failures.add_slow(op, (self.names)(slot.handle), slot, ns, limit_ns);
    }

    /// Name of an operation's target, for messages.
    pub fn name(&self, slot: &Slot) -> String {
        (self.names)(slot.handle)
    }

    /// Direction of an operation, for operations that have one.
    pub fn direction_of(&self, op: Op) -> Option<Direction> {
        op.row(self.table).figure.direction()
    }

    /// True for a read that verifies a write.
    pub fn reads_back(&self, op: Op) -> bool {
        op.row(self.table).figure == Figure::ReadBack
    }

    /// Ends the work for a reason, once all operations in flight have completed.
    pub fn end(&mut self, why: Ended) {
        self.end = Some(why);
    }

    /// Reason to end the work, if one was given since the last call.
    pub fn take_end(&mut self) -> Option<Ended> {
        self.end.take()
    }
}

/// Counts times that span several operations and end with a completion.
pub struct Spans<'a> {
    bank: &'a Bank,
    clock: &'a Clock,
    now: Ticks,
}

impl<'a> Spans<'a> {
    /// Counts times that end at a tick.
    pub fn new(bank: &'a Bank, clock: &'a Clock, now: Ticks) -> Spans<'a> {
        Spans { bank, clock, now }
    }

    /// Counts a time: its row of the table, and the tick at which it began.
    #[inline(always)]
    pub fn end(&mut self, span: Option<(Op, Ticks)>) {
        if let Some((op, from)) = span {
            let ns = self.clock.ns(self.now.saturating_sub(from));
            self.bank.of(op).completed(1, 0, ns);
        }
    }
}

/// Source of operations. A gate is a source around an inner source; its default methods pass every
/// call on to the inner source.
pub trait Source {
    /// Puts the next operation into the slot, if it may start.
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next;

    /// The inner source.
    fn inner(&mut self) -> Option<&mut dyn Source> {
        None
    }

    /// True if certainly no operation follows.
    fn is_over(&mut self) -> bool {
        self.inner().is_some_and(Source::is_over)
    }

    /// Handles the completion of an operation of this source.
    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        if let Some(inner) = self.inner() {
            inner.completed(slot, outcome, turn);
        }
    }

    /// Counts the times of several operations that this operation has ended. Called for every
    /// operation.
    #[inline(always)]
    fn spans_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool, spans: &mut Spans<'_>) {
        if let Some(inner) = self.inner() {
            inner.spans_ended(slot, started, is_done, spans);
        }
    }

    /// Makes data durable on which the ready operations depend. Called once per turn if
    /// [`Turn::commits`] is set; false if the operations must not start.
    fn commit(&mut self, turn: &mut Turn) -> bool {
        match self.inner() {
            Some(inner) => inner.commit(turn),
            None => true,
        }
    }

    /// Called once all completions of a turn were handled.
    fn turned(&mut self, turn: &mut Turn) {
        if let Some(inner) = self.inner() {
            inner.turned(turn);
        }
    }

    /// Begins the measured part: budgets begin, and counts of the ramp are dropped.
    fn begin(&mut self) {
        if let Some(inner) = self.inner() {
            inner.begin();
        }
    }

    /// Takes back an operation that was ready but will not be submitted.
    fn give_up(&mut self, slot: &Slot) {
        if let Some(inner) = self.inner() {
            inner.give_up(slot);
        }
    }

    /// Ends the requests for operations: the source drops any operation that it holds back.
    fn drain(&mut self) {
        if let Some(inner) = self.inner() {
            inner.drain();
        }
    }

    /// Ends the work because its time is up. True if further operations belong to the work; the
    /// source then ends after them.
    fn time_is_up(&mut self) -> bool {
        match self.inner() {
            Some(inner) => inner.time_is_up(),
            None => false,
        }
    }

    /// Skips the turn of a handle, if the next operation would belong to the work. Returns the
    /// handle.
    fn pass_over(&mut self) -> Option<u32> {
        self.inner()?.pass_over()
    }

    /// A flush of a handle begins while other operations may be in flight; all operations that have
    /// ended by now are durable once the flush succeeds.
    fn flush_begins(&mut self, handle: u32) {
        if let Some(inner) = self.inner() {
            inner.flush_begins(handle);
        }
    }

    /// A flush of a handle succeeded, while other operations may be in flight.
    fn flush_ended(&mut self, handle: u32) {
        if let Some(inner) = self.inner() {
            inner.flush_ended(handle);
        }
    }

    /// Adds the source's results to the worker's.
    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        if let Some(inner) = self.inner() {
            inner.tell(end, turn);
        }
    }
}

/// A source that never waits and does not handle completions: the loop over it carries no checks
/// for either.
pub trait Bare: Source {
    /// Puts the next operation into the slot; false if no operation follows.
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

/// A source that repeats one operation.
pub struct Repeated {
    op: Op,
    length: u64,
    ops: u64,
    left: u64,
}

impl Repeated {
    /// An operation, `ops` times once operations count.
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

    fn is_over(&mut self) -> bool {
        self.left == 0
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
