//! Interfaces by which the loop issues operations: in batches, or one call at a time.

use crate::clock::Ticks;
use crate::operation::{Done, Outcome, Slot};

/// An engine that issues operations in batches.
///
/// Every queued slot comes back exactly once as a completion, also when its submission failed.
/// Until then the buffer of a queued slot belongs to the engine.
pub trait Io {
    /// Queues operations for the next turn. Makes no system call.
    fn queue(&mut self, slots: &[Slot], batch: &[u32]);

    /// Submits the queued operations, waits until at least `min` operations have completed or
    /// `wait_ns` has passed, and adds the completions to `done`.
    ///
    /// Returns the tick at which the submitting system call returned, where submitting is a call of
    /// its own.
    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks>;

    /// Names of the features in use, for the report.
    fn features(&self) -> Vec<String>;
}

/// An engine that issues one operation at a time: the call returns when the operation is done.
pub trait Call {
    /// Executes an operation.
    fn call(&mut self, slot: &Slot) -> Outcome;

    /// Names of the features in use, for the report.
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

/// Adapts an engine of single calls to the loop of batches.
pub struct OneAtATime<C> {
    engine: C,
    pending: Option<u32>,
}

impl<C: Call> OneAtATime<C> {
    /// Wraps an engine.
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
