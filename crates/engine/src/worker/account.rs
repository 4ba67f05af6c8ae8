//! What is not counted in passing: what is odd, late, logged, verified, or ends the work.

use super::*;
use crate::engines::OVER;

impl Worker {
    /// What is not counted in passing: odd results, latency from the intended start, verification.
    pub(super) fn account_extras(&mut self, bank: &Bank, now: u64) {
        if let Some(pacer) = &mut self.parts.pacer {
            pacer.completed(self.done.len() as u32);
        }
        for at in 0..self.done.len() {
            let completion = self.done.as_slice()[at];
            let slot = &self.slots[completion.slot as usize];
            if completion.result != slot.length as i32 {
                let ns = self.parts.clock.ns(now - slot.started);
                self.odd(bank, completion, ns);
            }
            if let Some(ring) = self.parts.ring.as_ref().filter(|_| self.counting)
                && completion.result > 0
            {
                ring.push(&self.slots[completion.slot as usize], now);
            }
            if self.parts.pacer.is_some() {
                self.count_intended(bank, completion, now);
            }
            if let Some(zones) = &mut self.parts.zones {
                zones.completed(&self.slots[completion.slot as usize]);
            }
            if self.parts.issue_gate.is_some() {
                self.guard(completion, now);
            }
            if self.parts.verifier.is_some() {
                self.verify(completion);
            }
        }
        if let Some(issue_gate) = &mut self.parts.issue_gate
            && issue_gate.turned(self.parts.clock.ns(now)) == Meaning::Found
        {
            self.drain(Ended::Done);
        }
    }

    /// A completion that moved less than asked, or failed.
    #[cold]
    pub(super) fn odd(&mut self, bank: &Bank, completion: Completion, ns: u64) {
        let slot = self.slots[completion.slot as usize];
        let counters = bank.of_slot(&slot);
        if completion.result > 0 {
            counters.completed(1, completion.result as u64, ns);
            let now = slot.started + self.parts.clock.ticks(ns);
            let ticks = [slot.started, slot.submitted, now];
            counters.split(1, &self.parts.clock, ticks);
            counters.apart(slot.priority, 1, &self.parts.clock, ticks);
            counters.came_short();
            return;
        }
        let errno = -completion.result;
        if errno == OVER || (self.parts.until_full && is_full(errno)) {
            return self.drain(Ended::Done);
        }
        counters.did_fail();
        self.failures.add(&self.parts.files, &slot, -completion.result);
        if !self.goes_on_after(slot.kind, -completion.result) {
            self.drain(Ended::Failed);
            self.parts.shared.command.end();
        }
    }

    fn goes_on_after(&self, kind: Kind, errno: i32) -> bool {
        self.parts.continue_on_error || self.parts.tolerated.contains(&(kind, errno))
    }

    /// Moves an operation to its place in a zone; false where it must wait or has none, which ends
    /// the work.
    #[cold]
    pub(super) fn place(&mut self, index: u32) -> bool {
        let (slot, stream) = (&mut self.slots[index as usize], &mut self.parts.stream);
        let Some(zones) = &mut self.parts.zones else { return true };
        let (back, verifier) = (&mut self.parts.read_back, &mut self.parts.verifier);
        if slot.read_back {
            zones.keep(slot);
            return true;
        }
        let holds = back.as_ref().is_some_and(ReadBack::holds);
        let mut placed = zones.place(slot, stream, holds);
        if placed == Placed::ReadBackFirst
            && let (Some(back), Some(verifier)) = (back.as_mut(), verifier.as_ref())
        {
            if back.park(slot, verifier) {
                zones.keep(slot);
                return true;
            }
            placed = zones.place(slot, stream, false);
        }
        match placed {
            Placed::There => {
                if let (Some((file, bytes)), Some(verifier)) = (zones.emptied(), verifier) {
                    verifier.forget(file, bytes);
                }
                if let Some(back) = back.as_mut().filter(|_| slot.kind == Kind::Write) {
                    back.moved(slot);
                }
                return true;
            }
            Placed::Wait | Placed::ReadBackFirst => {}
            Placed::Nowhere => self.drain(Ended::Done),
            Placed::Failed(errno) => {
                self.failures.add(&self.parts.files, slot, errno);
                self.drain(Ended::Failed);
                self.parts.shared.command.end();
            }
        }
        false
    }

    /// A slot that will not be handed over is free again; what was placed leaves its place.
    pub(super) fn give_up(&mut self, index: u32) {
        if std::mem::take(&mut self.is_placed)
            && let Some(zones) = &mut self.parts.zones
        {
            zones.completed(&self.slots[index as usize]);
        }
        self.free.push(index);
    }

    fn guard(&mut self, completion: Completion, now: u64) {
        let Some(issue_gate) = &mut self.parts.issue_gate else { return };
        let slot = self.slots[completion.slot as usize];
        let ns = self.parts.clock.ns(now - slot.started);
        if let Meaning::TooSlow(limit_ns) = issue_gate.completed(completion.slot, slot.kind, ns) {
            self.failures.add_slow(&self.parts.files, &slot, ns, limit_ns);
            self.drain(Ended::Failed);
            self.parts.shared.command.end();
        }
    }

    fn count_intended(&mut self, bank: &Bank, completion: Completion, now: u64) {
        let slot = &self.slots[completion.slot as usize];
        if let Some(intended) = &bank.of_slot(slot).intended
            && completion.result > 0
        {
            intended.record(1, self.parts.clock.ns(now.saturating_sub(slot.intended)));
        }
    }

    fn verify(&mut self, completion: Completion) {
        let Some(verifier) = &mut self.parts.verifier else { return };
        let before = self.parts.clock.now();
        let slot = &self.slots[completion.slot as usize];
        let intact = verifier.end(slot, completion.result, &self.parts.files);
        self.verify_ticks += self.parts.clock.now() - before;
        if !intact {
            self.drain(Ended::Failed);
            self.parts.shared.command.end();
        }
    }
}

/// True for the kernel's answers that nothing more can be stored.
fn is_full(errno: i32) -> bool {
    matches!(errno, libc::ENOSPC | libc::EDQUOT)
}
