//! Low-water mark of a queue: once full, it runs down before it is filled again.

use crate::operation::Slot;
use crate::source::{Next, Source, Turn, Wait};

/// A source that issues nothing while its full queue runs down.
pub struct LowWater<S> {
    inner: S,
    depth: usize,
    /// Operations in flight at which the queue is filled again.
    low: usize,
    runs_down: bool,
}

impl<S> LowWater<S> {
    /// Wraps the source of a worker with that depth.
    pub fn new(inner: S, depth: usize, low: usize) -> LowWater<S> {
        LowWater { inner, depth, low, runs_down: false }
    }
}

impl<S: Source> Source for LowWater<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        self.runs_down &= turn.in_flight > self.low;
        if self.runs_down {
            return Next::Wait(Wait::InFlight);
        }
        let next = self.inner.next(slot, turn);
        self.runs_down = next == Next::Ready && turn.in_flight + 1 >= self.depth;
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Buffer;
    use crate::source::tests::{Listed, turn};

    #[test]
    fn a_full_queue_runs_down_before_it_is_filled_again() {
        let mut slot = Slot::empty(Buffer::None);
        let mut source = LowWater::new(Listed::new(&[slot; 32]), 8, 2);
        let mut turn = turn();
        let mut at = |in_flight| {
            turn.in_flight = in_flight;
            source.next(&mut slot, &mut turn)
        };
        for _ in 0..2 {
            assert!((2..8).all(|in_flight| at(in_flight) == Next::Ready), "it is filled");
            // A full queue has no free slot, so that the source is not asked.
            assert!((3..8).rev().all(|in_flight| at(in_flight) == Next::Wait(Wait::InFlight)));
        }
    }
}
