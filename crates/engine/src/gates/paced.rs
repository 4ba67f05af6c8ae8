//! Gate that keeps a schedule.

use crate::gates::pace::Pacer;
use crate::operation::{Ops, Outcome, Slot};
use crate::source::{Next, Source, Turn, Wait};

/// A source that starts its operations by a schedule.
pub struct Paced<S> {
    inner: S,
    pacer: Pacer,
    /// Operations that the schedule counts; others go with the one before them, or the one behind.
    counted: Ops,
}

impl<S> Paced<S> {
    /// Wraps a source.
    pub fn new(inner: S, pacer: Pacer) -> Paced<S> {
        Paced { inner, pacer, counted: Ops::ALL }
    }

    /// The same, by a schedule of those operations alone.
    pub fn counting(self, counted: Ops) -> Paced<S> {
        Paced { counted, ..self }
    }

    /// Reason why nothing may start yet; none where an operation may.
    fn holds(&mut self, turn: &Turn) -> Option<Wait> {
        let pacer = &mut self.pacer;
        let elapsed_ns = turn.elapsed_ns();
        if pacer.check_rest(elapsed_ns) {
            if turn.in_flight > 0 {
                return Some(Wait::InFlight);
            }
            pacer.begin_rest(elapsed_ns);
        }
        pacer.choose(elapsed_ns);
        (elapsed_ns < pacer.next_ns()).then(|| {
            Wait::Until(turn.tick_at(pacer.next_ns()), turn.tick_at(pacer.spins_until_ns()))
        })
    }
}

impl<S: Source> Source for Paced<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if turn.unpaced || turn.follow_ups > 0 {
            return self.inner.next(slot, turn);
        }
        if let Some(wait) = self.holds(turn) {
            return Next::Wait(wait);
        }
        turn.direction = match self.pacer.direction() {
            Some(direction) => Some(Some(direction)),
            None => self.pacer.is_open().then_some(None),
        };
        let next = self.inner.next(slot, turn);
        // The source may have ended the schedule.
        if next == Next::Ready && !turn.unpaced {
            if let Some(direction) = turn.direction_of(slot.op) {
                self.pacer.drew(direction);
            }
            slot.intended = turn.tick_at(self.pacer.intended_ns());
            if self.counted.has(slot.op) {
                self.pacer.issued(slot.length);
            }
            if !turn.reads_back(slot.op) {
                self.pacer.stepped();
            }
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.pacer.completed(1);
        self.pacer.took(turn.clock.ns(turn.now.saturating_sub(slot.started)));
        self.inner.completed(slot, outcome, turn);
    }
}
