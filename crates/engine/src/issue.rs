//! Ways to issue operations, as the loop sees them: in batches, or one call at a time.

use crate::clock::Ticks;
use crate::operation::{Done, Outcome, Slot};

/// A way to issue operations in batches.
///
/// Every slot that is queued comes back exactly once as a completion, also when handing it over
/// failed. The buffer of a queued slot is the engine's until then.
pub trait Io {
    /// Takes operations to be handed over with the next turn. Makes no system call.
    fn queue(&mut self, slots: &[Slot], batch: &[u32]);

    /// Hands over what was queued, waits until at least `min` operations have completed or
    /// `wait_ns` has passed, and adds what completed to `done`.
    ///
    /// Returns the tick at which the submitting system call returned, where submitting is a call
    /// of its own.
    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks>;

    /// Names of what is in use, for the report.
    fn features(&self) -> Vec<String>;
}

/// A way to issue operations one at a time: a call that returns when it is done.
pub trait Call {
    /// Does an operation.
    fn call(&mut self, slot: &Slot) -> Outcome;

    /// Names of what is in use, for the report.
    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}

impl<C: Call + ?Sized> Call for Box<C> {
    fn call(&mut self, slot: &Slot) -> Outcome {
        (**self).call(slot)
    }

    fn features(&self) -> Vec<String> {
        (**self).features()
    }
}

/// An engine of single calls, for the loop that knows batches.
pub struct OneAtATime<C> {
    engine: C,
    pending: Option<u32>,
}

impl<C: Call> OneAtATime<C> {
    /// Around an engine.
    pub fn new(engine: C) -> Self {
        OneAtATime { engine, pending: None }
    }
}

impl<C: Call> Io for OneAtATime<C> {
    #[inline(always)]
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        debug_assert!(batch.len() <= 1, "one operation at a time");
        self.pending = batch.first().copied();
    }

    #[inline(always)]
    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> Option<Ticks> {
        if let Some(index) = self.pending.take() {
            done.push(index, self.engine.call(&slots[index as usize]));
        }
        None
    }

    fn features(&self) -> Vec<String> {
        self.engine.features()
    }
}
