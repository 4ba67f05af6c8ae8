//! Verification: headers into writes, checks of reads.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::work::BlocksOp;
use candor_record::Ended;

use crate::data::content::Content;
use crate::data::verifier::Verifier;
use crate::slot::BlocksSlot;
use crate::targets::files::Files;

/// A worker's verifier, shared with its reading back and its zones.
pub type SharedVerifier = Rc<RefCell<Verifier>>;

/// A source that claims blocks while they are written, fills them with headers, and checks reads.
pub struct Verified<S> {
    inner: S,
    verifier: SharedVerifier,
    content: Option<Content>,
    files: Arc<Files>,
    /// An operation that waits until another worker's write to its blocks has completed.
    held: Option<Slot>,
    checking: Ticks,
}

impl<S: Source> Verified<S> {
    /// Wraps a source; `content` is given where it writes.
    pub fn new(
        inner: S,
        verifier: SharedVerifier,
        content: Option<Content>,
        files: Arc<Files>,
    ) -> Verified<S> {
        Verified { inner, verifier, content, files, held: None, checking: Ticks(0) }
    }

    /// Next operation of the inner source. The work ends before a read beyond all completed writes.
    fn draw(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        let next = self.inner.next(slot, turn);
        if next == Next::Ready && self.verifier.borrow_mut().ends_before(slot) {
            self.inner.give_up(slot);
            return Next::End(Ended::Done);
        }
        next
    }
}

impl<S: Source> Source for Verified<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        match self.held.take() {
            Some(held) => slot.take_over(&held),
            None => match self.draw(slot, turn) {
                Next::Ready => {}
                other => return other,
            },
        }
        let mut verifier = self.verifier.borrow_mut();
        if !verifier.begin(slot) {
            self.held = Some(*slot);
            return Next::Wait(Wait::Others(LOOK_AGAIN_NS));
        }
        if let Some(content) = self.content.as_mut().filter(|_| slot.issued() == BlocksOp::Write) {
            verifier.write(slot, content);
        }
        Next::Ready
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.inner.completed(slot, outcome, turn);
        let before = turn.clock.now();
        let intact = self.verifier.borrow_mut().end(slot, outcome, &self.files);
        self.checking += turn.clock.now() - before;
        if !intact {
            turn.end(Ended::Failed);
        }
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.inner.begin();
    }

    fn drain(&mut self) {
        if let Some(held) = self.held.take() {
            self.inner.give_up(&held);
        }
        self.inner.drain();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.verify = Some(self.verifier.borrow().stats());
        end.stats.verify_ns = turn.clock.ns(self.checking);
        if self.content.is_some() {
            end.stats.fill_ns = turn.clock.ns(turn.fill);
        }
        self.inner.tell(end, turn);
    }
}
