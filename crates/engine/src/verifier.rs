//! A worker's side of verification: headers into writes, checks of reads.

use std::sync::Arc;

use candor_plan::Bytes;
use candor_plan::blocks::Verify as Plan;
use candor_record::{Mismatch, MismatchKind, VerifyStats};

use crate::files::Files;
use crate::slots::{Kind, Slot};
use crate::verify::{Expected, Map, NOTHING, check, seal};

/// Mismatches kept with all details.
const FIRST_MAX: usize = 16;

/// One worker's verification.
pub struct Verifier {
    plan: Plan,
    /// One map per file.
    maps: Vec<Arc<Map>>,
    stats: VerifyStats,
}

impl Verifier {
    /// With what is known about the blocks of each file.
    pub fn new(plan: Plan, maps: Vec<Arc<Map>>) -> Verifier {
        Verifier { plan, maps, stats: VerifyStats::default() }
    }

    fn map(&self, slot: &Slot) -> &Map {
        &self.maps[slot.file as usize]
    }

    /// Claims the blocks of an operation; false while a write to one of them is under way.
    pub fn begin(&mut self, slot: &mut Slot) -> bool {
        match slot.kind {
            Kind::Read => match self.map(slot).begin_read(slot.offset, slot.length) {
                None => false,
                Some(state) => {
                    slot.generation = state;
                    true
                }
            },
            Kind::Write | Kind::Trim => self.map(slot).begin_write(slot.offset, slot.length),
            Kind::Fsync | Kind::Fdatasync => true,
        }
    }

    /// Writes headers into the buffer of a write.
    pub fn seal(&self, slot: &Slot) {
        // SAFETY: the slot's buffer has room for its length and is not in flight yet.
        let buffer = unsafe { std::slice::from_raw_parts_mut(slot.buffer, slot.length as usize) };
        seal(buffer, slot.offset, &self.plan, self.map(slot));
    }

    /// Ends an operation; false if it showed a mismatch that is to end the job.
    pub fn end(&mut self, slot: &Slot, result: i32, files: &Files) -> bool {
        let whole = result == slot.length as i32;
        match slot.kind {
            Kind::Write => self.map(slot).end_write(slot.offset, slot.length, whole),
            // Trimmed blocks hold nothing that could be checked.
            Kind::Trim => self.map(slot).end_write(slot.offset, slot.length, false),
            Kind::Read if whole => return self.check(slot, files),
            _ => {}
        }
        true
    }

    fn check(&mut self, slot: &Slot, files: &Files) -> bool {
        let map = self.maps[slot.file as usize].clone();
        // SAFETY: the operation has completed, so the buffer is the worker's again.
        let buffer = unsafe { std::slice::from_raw_parts(slot.buffer, slot.length as usize) };
        let interval = self.plan.interval.0 as usize;
        let mut intact = true;
        for (index, block) in buffer.chunks_exact(interval).enumerate() {
            let offset = slot.offset + (index * interval) as u64;
            let generation = map.finished(offset);
            if generation == NOTHING {
                continue;
            }
            let expected =
                Expected { offset, seed: self.plan.seed.unwrap_or_default(), generation };
            self.stats.blocks += 1;
            if let Some((kind, detail)) = check(block, &expected) {
                if map.begin_read(slot.offset, slot.length) != Some(slot.generation) {
                    // A write to these blocks began since the read did: what was read, and what
                    // was expected, may be of before or after it.
                    return true;
                }
                intact = false;
                let path = files.get(slot.file).path.display().to_string();
                let length = Bytes(interval as u64);
                self.count(Mismatch { path, offset, length, kind, detail });
            }
        }
        intact || self.plan.continue_on_mismatch
    }

    fn count(&mut self, mismatch: Mismatch) {
        *match mismatch.kind {
            MismatchKind::Flipped => &mut self.stats.flipped,
            MismatchKind::Torn => &mut self.stats.torn,
            MismatchKind::Misdirected => &mut self.stats.misdirected,
            MismatchKind::Stale => &mut self.stats.stale,
            MismatchKind::Foreign => &mut self.stats.foreign,
        } += 1;
        if self.stats.first.len() < FIRST_MAX {
            self.stats.first.push(mismatch);
        }
    }

    /// Adds what this worker found to a sum.
    pub fn add_to(self, sum: &mut VerifyStats) {
        sum.blocks += self.stats.blocks;
        sum.flipped += self.stats.flipped;
        sum.torn += self.stats.torn;
        sum.misdirected += self.stats.misdirected;
        sum.stale += self.stats.stale;
        sum.foreign += self.stats.foreign;
        let room = FIRST_MAX.saturating_sub(sum.first.len());
        sum.first.extend(self.stats.first.into_iter().take(room));
    }
}
