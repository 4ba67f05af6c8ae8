//! The work itself: a stream within its budget.

use candor_engine::operation::{Buffer, Slot};
use candor_engine::source::{Bare, Next, Source, Turn};
use candor_record::Ended;

use crate::stream::{Budget, Stream};

/// A worker's stream.
pub struct Work {
    stream: Stream,
    /// Bounds it once operations count.
    budget: Budget,
    /// Drawn already, to know that there is one.
    ahead: Option<Slot>,
}

impl Work {
    /// Without bounds at first.
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

/// A source of operations whose place zones decide.
pub trait Base: Source {
    /// The stream, which is told where it goes on.
    fn stream(&mut self) -> &mut Stream;

    /// True while writes that zones have moved were not read back.
    fn holds(&self) -> bool {
        false
    }

    /// Puts a write off until all is read back: the slot becomes the first read, if there is one.
    fn park(&mut self, _slot: &mut Slot) -> bool {
        false
    }

    /// A write has its place in a zone.
    fn moved(&mut self, _slot: &Slot) {}
}

impl Base for Work {
    fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }
}
