//! The loop over a chain of sources that may wait, with counts of depth and logs of operations.

use std::time::Duration;

use super::{Alike, REST_NS_MAX, Worker};
use crate::clock::Ticks;
use crate::counters::Bank;
use crate::issue::Io;
use crate::operation::Outcome;
use crate::source::{LOOK_AGAIN_NS, Next, Source, Spans, Wait};
use crate::worker_end::WorkerEnd;

impl<S: Source> Worker<S> {
    pub(super) fn turn_gated<E: Io>(mut self, engine: &mut E) -> WorkerEnd {
        let clock = self.seat.clock;
        let live = self.seat.live.clone();
        let mut present = self.enter(&live);
        loop {
            self.begin_turn(&mut present, || engine.features());
            let waits = if self.draining { None } else { self.fill_gated(present.now) };
            let committing = if self.turn.commits { self.commit() } else { Ticks(0) };
            if self.turn.in_flight == 0 {
                if self.draining {
                    break;
                }
                present.now = self.rest(present.now, waits);
                continue;
            }
            engine.queue(&self.slots, &self.batch);
            let issued = clock.now();
            self.stamp(issued, present.now + committing);
            let (min, wait_ns) = self.wait_bounds(issued, waits);
            self.limit_reaping(waits);
            let submitted = engine.turn(&self.slots, min, wait_ns, &mut self.done);
            present.now = clock.now();
            if let Some(submitted) = submitted {
                self.stamp_submitted(submitted);
            }
            self.batch.clear();
            if self.ramp_left > 0 {
                self.account_ramp(&present, Self::account_gated);
            }
            self.account_gated(present.bank, present.now);
        }
        self.finish(present.live, engine.features())
    }

    /// Adds operations to the batch until it is full or nothing may start; returns the reason in
    /// that case.
    fn fill_gated(&mut self, now: Ticks) -> Option<Wait> {
        self.turn.now = now;
        while self.batch.len() < self.shape.batch {
            let index = *self.free.last()?;
            match self.source.next(&mut self.slots[index as usize], &mut self.turn) {
                Next::Ready => {
                    self.free.pop();
                    self.batch.push(index);
                    self.turn.in_flight += 1;
                }
                Next::Wait(wait) => return Some(wait),
                Next::End(why) => {
                    self.drain(why);
                    return None;
                }
            }
        }
        None
    }

    /// Lets the source make data durable on which the operations of the batch depend; if that
    /// fails, no operation starts. Returns the elapsed time.
    #[cold]
    fn commit(&mut self) -> Ticks {
        self.turn.commits = false;
        let before = self.seat.clock.now();
        if !self.source.commit(&mut self.turn) {
            for index in self.batch.drain(..) {
                self.source.give_up(&self.slots[index as usize]);
                self.free.push(index);
                self.turn.in_flight -= 1;
            }
        }
        if let Some(why) = self.turn.take_end() {
            self.drain(why);
        }
        self.seat.clock.now() - before
    }

    /// Stamps the batch with its tick of submission. `filled_from` is the tick at which filling
    /// began.
    #[inline(always)]
    fn stamp(&mut self, issued: Ticks, filled_from: Ticks) {
        for &index in &self.batch {
            let slot = &mut self.slots[index as usize];
            (slot.started, slot.submitted) = (issued, issued);
        }
        if let Some(depths) = &mut self.depths {
            let count = self.batch.len();
            depths.hand_over(self.turn.in_flight - count, count);
        }
        if let Some(log) = &self.seat.log {
            let slots = self.batch.iter().map(|index| &self.slots[*index as usize]);
            slots.for_each(|slot| log.submitted(slot, self.counting));
        }
        self.turn.fill += issued - filled_from;
    }

    /// Stamps the batch with the tick at which the submitting call returned.
    #[inline(always)]
    pub(super) fn stamp_submitted(&mut self, submitted: Ticks) {
        for &index in &self.batch {
            self.slots[index as usize].submitted = submitted;
        }
    }

    /// Number of completions to wait for, and the longest wait.
    #[inline(always)]
    fn wait_bounds(&self, now: Ticks, waits: Option<Wait>) -> (usize, Option<u64>) {
        match waits {
            _ if self.draining => (1, None),
            None if self.free.is_empty() => (self.shape.reap.min(self.turn.in_flight), None),
            None | Some(Wait::HandOver) => (0, None),
            Some(Wait::InFlight | Wait::Others(_)) => (1, None),
            Some(Wait::Until(due, _)) => match self.seat.clock.ns(due.saturating_sub(now)) {
                0 => (0, None),
                ns => (1, Some(ns.min(REST_NS_MAX))),
            },
        }
    }

    /// Sets the maximum number of completions in this turn: zero while the queue is filled first.
    #[inline(always)]
    pub(super) fn limit_reaping(&mut self, waits: Option<Wait>) {
        if self.shape.fills_first {
            let fills = waits.is_none() && !self.draining && !self.free.is_empty();
            self.done.limit(if fills { 0 } else { self.shape.reap_max });
        }
    }

    /// Waits with nothing in flight: for a schedule, or for another worker.
    #[cold]
    fn rest(&mut self, now: Ticks, waits: Option<Wait>) -> Ticks {
        let clock = self.seat.clock;
        let (due, spin_until) = match waits {
            Some(Wait::Until(due, spin_until)) => (due, spin_until),
            Some(Wait::Others(ns)) => (now + clock.ticks(ns), Ticks(0)),
            _ => (now + clock.ticks(LOOK_AGAIN_NS), Ticks(0)),
        };
        let ns = clock.ns(due.min(self.mark).saturating_sub(now)).min(REST_NS_MAX);
        let spin_until = spin_until.min(now + clock.ticks(ns));
        if now < spin_until {
            while clock.now() < spin_until {
                std::hint::spin_loop();
            }
        } else if ns > 0 {
            std::thread::sleep(Duration::from_nanos(ns));
        }
        let after = clock.now();
        self.paced += after - now;
        after
    }

    /// Accounts for all completions of a turn.
    ///
    /// Operations of one batch have one start and one end; equal ones are counted at once.
    fn account_gated(&mut self, bank: &Bank, now: Ticks) {
        self.turn.now = now;
        let mut alike = Alike::default();
        for completion in self.done.as_slice() {
            let slot = &self.slots[completion.slot as usize];
            if !alike.takes(slot) || alike.priority != slot.priority {
                self.count_alike(&alike, bank, now);
                alike = Alike::of(slot);
            }
            if completion.is_whole(slot.length) {
                alike.add(slot.length);
            }
            self.free.push(completion.slot);
        }
        self.count_alike(&alike, bank, now);
        self.turn.in_flight -= self.done.len();
        if let Some(depths) = self.depths.as_mut().filter(|_| !self.done.is_empty()) {
            depths.take_back(self.done.len());
        }
        for at in 0..self.done.len() {
            self.report(at, bank, now);
        }
        self.source.turned(&mut self.turn);
        if let Some(why) = self.turn.take_end() {
            self.drain(why);
        }
        self.done.clear();
        self.turn.last_completion = now;
    }

    fn count_alike(&self, alike: &Alike, bank: &Bank, now: Ticks) {
        if alike.ops == 0 {
            return;
        }
        let (clock, counters) = (&self.seat.clock, bank.of(alike.op));
        let times = alike.times(now);
        alike.count(bank, clock, now);
        counters.at(now);
        counters.of_priority(alike.priority, alike.ops, clock, times);
        if let Some(peaks) = &counters.peaks {
            peaks.record(clock, times);
        }
    }

    /// Counts and logs a single completion, and reports it to the sources.
    #[inline(always)]
    fn report(&mut self, at: usize, bank: &Bank, now: Ticks) {
        let completion = self.done.as_slice()[at];
        let index = completion.slot as usize;
        if !completion.is_whole(self.slots[index].length) {
            self.incomplete(bank, completion, now);
        }
        let slot = &self.slots[index];
        let moved = match completion.outcome() {
            Outcome::Done(count) => count > 0 || slot.length == 0,
            _ => false,
        };
        if let Some(log) = &self.seat.log {
            log.ended(slot, moved, self.counting, now);
        }
        if let Some(intended) = bank.of(slot.op).intended.as_ref().filter(|_| moved) {
            intended.record(1, self.seat.clock.ns(now.saturating_sub(slot.intended)));
        }
        let is_done = completion.is_whole(slot.length);
        let mut spans = Spans::new(bank, &self.seat.clock, now);
        self.source.spans_ended(slot, slot.started, is_done, &mut spans);
        self.source.completed(slot, completion.outcome(), &mut self.turn);
    }
}
