//! Operations moved to offsets that zones with write pointers allow.

use candor_engine::operation::{Failure, Outcome, Slot};
use candor_engine::source::{LOOK_AGAIN_NS, Next, Source, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::work::BlocksOp;
use candor_record::Ended;

use super::verified::SharedVerifier;
use super::work::Base;
use crate::slot::BlocksSlot;
use crate::targets::zones::{Admission, ZoneCursor};

/// A source whose operations follow the rules of zones.
pub struct Zoned<B> {
    inner: B,
    zones: ZoneCursor,
    verifier: Option<SharedVerifier>,
    /// An operation that waits for others in its zone.
    held: Option<Slot>,
}

impl<B: Base> Zoned<B> {
    /// Wraps the work, or the work with its reading back.
    pub fn new(inner: B, zones: ZoneCursor, verifier: Option<SharedVerifier>) -> Zoned<B> {
        Zoned { inner, zones, verifier, held: None }
    }

    fn admit(&mut self, slot: &mut Slot) -> Admission {
        if slot.reads_back() {
            self.zones.keep(slot);
            return Admission::Admitted;
        }
        let holds = self.inner.holds();
        let mut admission = self.zones.admit(slot, self.inner.stream(), holds);
        if admission == Admission::ReadBackFirst {
            if self.inner.park(slot) {
                self.zones.keep(slot);
                return Admission::Admitted;
            }
            admission = self.zones.admit(slot, self.inner.stream(), false);
        }
        if admission == Admission::Admitted {
            if let (Some((file, bytes)), Some(verifier)) = (self.zones.emptied(), &self.verifier) {
                verifier.borrow().forget(file, bytes);
            }
            if slot.issued() == BlocksOp::Write {
                self.inner.moved(slot);
            }
        }
        admission
    }
}

impl<B: Base> Source for Zoned<B> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        match self.held.take() {
            Some(held) => slot.take_over(&held),
            None => match self.inner.next(slot, turn) {
                Next::Ready => {}
                other => return other,
            },
        }
        match self.admit(slot) {
            Admission::Admitted => Next::Ready,
            Admission::Wait | Admission::ReadBackFirst => {
                self.held = Some(*slot);
                Next::Wait(Wait::Others(LOOK_AGAIN_NS))
            }
            Admission::NoZone => Next::End(Ended::Done),
            Admission::Failed(errno) => {
                turn.fail(slot, Failure::os(errno));
                Next::End(Ended::Failed)
            }
        }
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.zones.completed(slot, outcome == Outcome::Done(slot.length));
        self.inner.completed(slot, outcome, turn);
    }

    fn begin(&mut self) {
        self.zones.forget_resets();
        self.inner.begin();
    }

    fn give_up(&mut self, slot: &Slot) {
        self.zones.completed(slot, true);
        self.inner.give_up(slot);
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.zone_resets = self.zones.resets();
        self.inner.tell(end, turn);
    }
}
