//! The work itself: a stream within its budget.

use candor_engine::operation::{Buffer, Slot};
use candor_engine::source::{Bare, Next, Source, Turn};
use candor_record::Ended;

use crate::stream::{Budget, Stream};

/// A worker's stream.
pub struct Work {
    stream: Stream,
    /// Budget that applies once operations count.
    budget: Budget,
    /// Operation drawn ahead, to know that there is one.
    ahead: Option<Slot>,
}

impl Work {
    /// Work without bounds until operations count.
    pub fn new(mut stream: Stream, budget: Budget) -> Work {
        stream.bound(Budget::NONE);
        Work { stream, budget, ahead: None }
    }
}

impl Bare for Work {
    #[inline(always)]
    fn draw(&mut self, slot: &mut Slot) -> bool {
        self.stream.next(slot)
    }
}

impl Source for Work {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if let Some(ahead) = self.ahead.take() {
            slot.take_over(&ahead);
            return Next::Ready;
        }
        if let Some(direction) = turn.direction.take() {
            self.stream.direct(direction);
        }
        if self.stream.next(slot) { Next::Ready } else { Next::End(Ended::Done) }
    }

    fn is_over(&mut self) -> bool {
        self.ahead.is_none() && self.stream.is_over()
    }

    fn begin(&mut self) {
        self.stream.bound(self.budget);
    }

    fn pass_over(&mut self) -> Option<u32> {
        let file = self.stream.pass_over();
        if self.ahead.is_none() {
            let mut slot = Slot::empty(Buffer::None);
            self.ahead = self.stream.next(&mut slot).then_some(slot);
        }
        self.ahead.is_some().then_some(file)
    }
}

/// A source whose operations may be moved by zones.
pub trait Base: Source {
    /// Stream of the work; zones set the offset at which it continues.
    fn stream(&mut self) -> &mut Stream;

    /// True while moved writes were not read back.
    fn holds(&self) -> bool {
        false
    }

    /// Holds a write back until everything is read back. The slot becomes the first read, if there
    /// is one.
    fn park(&mut self, _slot: &mut Slot) -> bool {
        false
    }

    /// Stores a write that was moved to its offset in a zone.
    fn moved(&mut self, _slot: &Slot) {}
}

impl Base for Work {
    fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }
}
