//! The work itself: a stream within its budget.

use candor_engine::operation::{Buffer, Slot};
use candor_engine::source::{Bare, Next, Source, Turn};
use candor_plan::units::Direction;
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

    /// Begins the measured part: the budget begins.
    pub fn begin(&mut self) {
        self.stream.bound(self.budget);
    }

    /// Begins a further round, which has what the rounds before left of the bytes.
    pub fn begin_round(&mut self) {
        self.budget = self.budget.less(self.stream.given_bytes());
        self.begin();
    }

    /// True where rounds have used up the bytes of the budget.
    pub fn is_spent(&self) -> bool {
        self.budget.less(self.stream.given_bytes()).bytes == 0
    }

    /// Sets the direction of the next operation; none lets the mix choose.
    pub fn direct(&mut self, direction: Option<Direction>) {
        self.stream.direct(direction);
    }

    /// True where the next operation was drawn already, so that no schedule directs it.
    fn is_ahead(&self) -> bool {
        self.ahead.is_some()
    }

    /// Puts the next operation into the slot; false if there is none.
    pub fn step(&mut self, slot: &mut Slot) -> bool {
        match self.ahead.take() {
            Some(ahead) => {
                slot.take_over(&ahead);
                true
            }
            None => self.stream.next(slot),
        }
    }

    /// Skips the turn of a file, where another operation follows, or where bytes are left that none
    /// fits into. Returns the file.
    pub fn skip(&mut self) -> Option<u32> {
        let file = self.stream.pass_over();
        if self.ahead.is_none() {
            let mut slot = Slot::empty(Buffer::None);
            self.ahead = self.stream.next(&mut slot).then_some(slot);
        }
        (self.ahead.is_some() || self.stream.has_rest()).then_some(file)
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
        if !self.is_ahead()
            && let Some(direction) = turn.direction.take()
        {
            self.direct(direction);
        }
        if self.step(slot) { Next::Ready } else { Next::End(Ended::Done) }
    }

    fn is_over(&mut self) -> bool {
        self.ahead.is_none() && self.stream.is_over()
    }

    fn begin(&mut self) {
        Work::begin(self);
    }

    fn pass_over(&mut self) -> Option<u32> {
        self.skip()
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
