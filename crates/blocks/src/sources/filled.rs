//! Contents of writes.

use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;
use candor_bytes::content::Content;

/// A source that fills its writes.
pub struct Filled<S> {
    inner: S,
    content: Content,
}

impl<S> Filled<S> {
    /// Wraps a source.
    pub fn new(inner: S, content: Content) -> Filled<S> {
        Filled { inner, content }
    }
}

impl<S: Source> Source for Filled<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        let next = self.inner.next(slot, turn);
        if next == Next::Ready && slot.issued() == BlocksOp::Write {
            self.content.write(slot);
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.stats.fill_ns = turn.clock.ns(turn.fill);
        self.inner.tell(end, turn);
    }
}
