//! Gate that makes operations on the same bytes wait for each other.

use crate::operation::{Outcome, Slot};
use crate::source::{Next, Source, Turn, Wait};

/// Bytes of one handle, from the first to one past the last.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extent {
    handle: u32,
    first: u64,
    end: u64,
}

impl Extent {
    fn of(slot: &Slot) -> Extent {
        Extent { handle: slot.handle, first: slot.offset, end: slot.offset + slot.length }
    }

    fn touches(&self, other: &Extent) -> bool {
        self.handle == other.handle && self.first < other.end && other.first < self.end
    }
}

/// A source whose operations in flight do not overlap.
pub struct Serialized<S> {
    inner: S,
    in_flight: Vec<Extent>,
    held: Option<Slot>,
}

impl<S> Serialized<S> {
    /// Wraps a source, with at most `depth` operations in flight.
    pub fn new(inner: S, depth: usize) -> Serialized<S> {
        Serialized { inner, in_flight: Vec::with_capacity(depth), held: None }
    }

    fn forget(&mut self, slot: &Slot) {
        let extent = Extent::of(slot);
        if let Some(at) = self.in_flight.iter().position(|other| *other == extent) {
            self.in_flight.swap_remove(at);
        }
    }
}

impl<S: Source> Source for Serialized<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        match self.held.take() {
            Some(held) => slot.take_over(&held),
            None => match self.inner.next(slot, turn) {
                Next::Ready => {}
                other => return other,
            },
        }
        let extent = Extent::of(slot);
        if self.in_flight.iter().any(|other| other.touches(&extent)) {
            self.held = Some(*slot);
            return Next::Wait(Wait::InFlight);
        }
        self.in_flight.push(extent);
        Next::Ready
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.forget(slot);
        self.inner.completed(slot, outcome, turn);
    }

    fn give_up(&mut self, slot: &Slot) {
        self.forget(slot);
        self.inner.give_up(slot);
    }

    fn drain(&mut self) {
        if let Some(held) = self.held.take() {
            self.inner.give_up(&held);
        }
        self.inner.drain();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Buffer;
    use crate::source::tests::{Listed, turn};

    #[test]
    fn overlapping_operations_wait_for_each_other() {
        let at =
            |offset, handle| Slot { offset, handle, length: 4096, ..Slot::empty(Buffer::None) };
        let list = [at(0, 0), at(4096, 0), at(0, 1), at(4095, 0)];
        let mut source = Serialized::new(Listed::new(&list), 4);
        let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
        for _ in 0..3 {
            assert_eq!(source.next(&mut slot, &mut turn), Next::Ready);
        }
        assert_eq!(source.next(&mut slot, &mut turn), Next::Wait(Wait::InFlight));
        source.completed(&list[0], Outcome::Done(4096), &mut turn);
        assert_eq!(source.next(&mut slot, &mut turn), Next::Wait(Wait::InFlight));
        source.completed(&list[1], Outcome::Done(4096), &mut turn);
        assert_eq!(source.next(&mut slot, &mut turn), Next::Ready);
        assert_eq!(slot.offset, 4095);
    }
}
