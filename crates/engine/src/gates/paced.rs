//! Gate that keeps a schedule.

use crate::gates::pace::Pacer;
use crate::operation::{Ops, Outcome, Slot};
use crate::source::{Next, Source, Turn, Wait};

/// A source that starts its operations by a schedule.
pub struct Paced<S> {
    inner: S,
    pacer: Pacer,
    /// Operations that the schedule counts; others go with the one before them, or the one behind.
    counted: Ops,
}

impl<S: Source> Paced<S> {
    /// Wraps a source.
    pub fn new(inner: S, pacer: Pacer) -> Paced<S> {
        Paced { inner, pacer, counted: Ops::ALL }
    }

    /// The same, by a schedule of those operations alone.
    pub fn counting(self, counted: Ops) -> Paced<S> {
        Paced { counted, ..self }
    }

    /// Reason why nothing may start yet; none where an operation may.
    fn holds(&mut self, turn: &Turn) -> Option<Wait> {
        let pacer = &mut self.pacer;
        let elapsed_ns = turn.elapsed_ns();
        if pacer.check_rest(elapsed_ns) {
            if turn.in_flight > 0 {
                return Some(Wait::InFlight);
            }
            // Nothing would follow a rest after the last operation.
            if self.inner.is_over() {
                return None;
            }
            pacer.begin_rest(elapsed_ns);
        }
        pacer.choose(elapsed_ns);
        (elapsed_ns < pacer.next_ns()).then(|| {
            Wait::Until(turn.tick_at(pacer.next_ns()), turn.tick_at(pacer.spins_until_ns()))
        })
    }
}

impl<S: Source> Source for Paced<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if turn.unpaced || turn.follow_ups > 0 {
            return self.inner.next(slot, turn);
        }
        if let Some(wait) = self.holds(turn) {
            return Next::Wait(wait);
        }
        turn.direction = match self.pacer.direction() {
            Some(direction) => Some(Some(direction)),
            None => self.pacer.is_open().then_some(None),
        };
        let next = self.inner.next(slot, turn);
        // The source may have ended the schedule.
        if next == Next::Ready && !turn.unpaced {
            if let Some(direction) = turn.direction_of(slot.op) {
                self.pacer.drew(direction);
            }
            slot.intended = turn.tick_at(self.pacer.intended_ns());
            if self.counted.has(slot.op) {
                self.pacer.issued(slot.length);
            }
            if !turn.reads_back(slot.op) {
                self.pacer.stepped();
            }
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        self.pacer.completed(1);
        self.pacer.took(turn.clock.ns(turn.now.saturating_sub(slot.started)));
        self.inner.completed(slot, outcome, turn);
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;
    use candor_plan::blocks::{Pace, Think, ThinkCount};
    use candor_plan::units::Mix;
    use candor_record::Ended;

    use super::*;
    use crate::operation::{Buffer, Op};
    use crate::random::Random;
    use crate::source::{Repeated, tests::turn};

    #[test]
    fn no_rest_follows_the_last_operation() {
        let think = Think {
            time: Nanos(u64::MAX / 4),
            relative: 0.0,
            every: 1,
            every_time: None,
            count: ThinkCount::default(),
            spin: false,
            spin_first: Nanos(0),
            spin_cycles: 0,
        };
        let pace = Pace { think: Some(think), ..Pace::default() };
        for ops in 1..=2 {
            let pacer = Pacer::new(&pace, Mix::READ, 0, 1, Random::new(5, 0)).expect("a pace");
            let mut paced = Paced::new(Repeated::new(Op(0), 4096, ops), pacer);
            paced.begin();
            let (mut slot, mut turn) = (Slot::empty(Buffer::None), turn());
            assert_eq!(paced.next(&mut slot, &mut turn), Next::Ready);
            paced.completed(&slot, Outcome::Done(4096), &mut turn);
            let next = paced.next(&mut slot, &mut turn);
            match ops {
                1 => assert_eq!(next, Next::End(Ended::Done)),
                _ => assert!(matches!(next, Next::Wait(Wait::Until(..))), "{next:?}"),
            }
        }
    }
}
