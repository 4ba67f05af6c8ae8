//! Operations that no other may overtake: flushes of a trace, and trims that block their thread.

use candor_engine::clock::Ticks;
use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn, Wait};
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;

/// A source whose flushes start once all operations before them have completed, and run alone.
pub struct FlushOrdered<S> {
    inner: S,
    held: Option<Slot>,
    flushing: bool,
}

impl<S> FlushOrdered<S> {
    /// Wraps a source.
    pub fn new(inner: S) -> FlushOrdered<S> {
        FlushOrdered { inner, held: None, flushing: false }
    }
}

impl<S: Source> Source for FlushOrdered<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        let idle = turn.in_flight == 0;
        if !idle && (self.flushing || self.held.is_some()) {
            return Next::Wait(Wait::InFlight);
        }
        self.flushing = false;
        match self.held.take() {
            Some(held) => slot.take_over(&held),
            None => match self.inner.next(slot, turn) {
                Next::Ready if slot.flushes() => {}
                other => return other,
            },
        }
        if !idle {
            self.held = Some(*slot);
            return Next::Wait(Wait::InFlight);
        }
        self.flushing = true;
        Next::Ready
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn drain(&mut self) {
        if let Some(held) = self.held.take() {
            self.inner.give_up(&held);
        }
        self.inner.drain();
    }
}

/// A source that queues nothing behind a trim in the same turn: trims block their thread.
pub struct TrimsLast<S> {
    inner: S,
    trimmed: Option<Ticks>,
}

impl<S> TrimsLast<S> {
    /// Wraps a source.
    pub fn new(inner: S) -> TrimsLast<S> {
        TrimsLast { inner, trimmed: None }
    }
}

impl<S: Source> Source for TrimsLast<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.trimmed == Some(turn.now) {
            return Next::Wait(Wait::HandOver);
        }
        let next = self.inner.next(slot, turn);
        if next == Next::Ready && slot.issued() == BlocksOp::Trim {
            self.trimmed = Some(turn.now);
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }
}
