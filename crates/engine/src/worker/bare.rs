//! Loops over a source that is always ready: they check only time and the command word.

use super::{Alike, Worker};
use crate::clock::Ticks;
use crate::counters::Bank;
use crate::issue::{Call, Io};
use crate::operation::{Completion, Outcome};
use crate::source::{Bare, Spans};
use crate::worker_end::WorkerEnd;
use candor_record::Ended;

impl<S: Bare> Worker<S> {
    /// Loop of single calls. It needs no batches: one slot serves all operations.
    pub(super) fn call_bare<C: Call>(mut self, mut engine: C) -> WorkerEnd {
        let clock = self.seat.clock;
        let live = self.seat.live.clone();
        let mut present = self.enter(&live);
        loop {
            self.begin_turn(&mut present, || engine.features());
            if self.draining {
                break;
            }
            if !self.source.draw(&mut self.slots[0]) {
                self.drain(Ended::Done);
                continue;
            }
            let slot = &mut self.slots[0];
            let issued = clock.now();
            let outcome = engine.call(slot);
            present.now = clock.now();
            let is_done = outcome == Outcome::Done(slot.length);
            if is_done {
                let latency_ns = clock.ns(present.now - issued);
                present.bank.of(slot.op).completed(1, slot.length, latency_ns);
            } else {
                slot.started = issued;
                self.incomplete(present.bank, Completion::new(0, outcome), present.now);
            }
            let mut spans = Spans::new(present.bank, &clock, present.now);
            self.source.spans_ended(&self.slots[0], issued, is_done, &mut spans);
            self.turn.last_completion = present.now;
        }
        self.finish(present.live, engine.features())
    }

    pub(super) fn turn_bare<E: Io>(mut self, engine: &mut E) -> WorkerEnd {
        let clock = self.seat.clock;
        let live = self.seat.live.clone();
        let mut present = self.enter(&live);
        loop {
            self.begin_turn(&mut present, || engine.features());
            if !self.draining {
                self.fill_bare();
            }
            if self.turn.in_flight == 0 {
                break;
            }
            engine.queue(&self.slots, &self.batch);
            let issued = clock.now();
            for &index in &self.batch {
                let slot = &mut self.slots[index as usize];
                (slot.started, slot.submitted) = (issued, issued);
            }
            let min = match (self.draining, self.free.is_empty()) {
                (true, _) => 1,
                (false, true) => self.shape.reap.min(self.turn.in_flight),
                (false, false) => 0,
            };
            self.limit_reaping(None);
            let submitted = engine.turn(&self.slots, min, None, &mut self.done);
            present.now = clock.now();
            if let Some(submitted) = submitted {
                self.stamp_submitted(submitted);
            }
            self.batch.clear();
            if self.ramp_left > 0 {
                self.account_ramp(&present, Self::account_bare);
            }
            self.account_bare(present.bank, present.now);
        }
        self.finish(present.live, engine.features())
    }

    /// Fills a batch from the free slots. Where all of them fit, the two lists are swapped instead
    /// of moved one by one.
    #[inline(always)]
    fn fill_bare(&mut self) {
        if self.free.len() <= self.shape.batch {
            std::mem::swap(&mut self.free, &mut self.batch);
        } else {
            let rest = self.free.len() - self.shape.batch;
            self.batch.extend(self.free.drain(rest..));
        }
        let mut issued = 0;
        for &at in &self.batch {
            if !self.source.draw(&mut self.slots[at as usize]) {
                break;
            }
            issued += 1;
        }
        if issued < self.batch.len() {
            self.free.extend(self.batch.drain(issued..));
            self.drain(Ended::Done);
        }
        self.turn.in_flight += issued;
    }

    #[inline(always)]
    fn account_bare(&mut self, bank: &Bank, now: Ticks) {
        let clock = self.seat.clock;
        let (mut alike, mut incomplete) = (Alike::default(), false);
        for completion in self.done.as_slice() {
            let slot = &self.slots[completion.slot as usize];
            if !alike.takes(slot) {
                alike.count(bank, &clock, now);
                alike = Alike::of(slot);
            }
            if completion.is_whole(slot.length) {
                alike.add(slot.length);
            } else {
                incomplete = true;
            }
            self.free.push(completion.slot);
        }
        alike.count(bank, &clock, now);
        self.turn.in_flight -= self.done.len();
        if incomplete {
            self.account_incomplete(bank, now);
        }
        self.done.clear();
        self.turn.last_completion = now;
    }

    #[cold]
    fn account_incomplete(&mut self, bank: &Bank, now: Ticks) {
        for at in 0..self.done.len() {
            let completion = self.done.as_slice()[at];
            let slot = &self.slots[completion.slot as usize];
            if !completion.is_whole(slot.length) {
                self.incomplete(bank, completion, now);
            }
        }
    }
}
