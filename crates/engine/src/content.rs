//! What is written: bytes that neither a compressor nor deduplication can shrink, unless asked.
//!
//! Random bytes are made once, into a pool. A write of up to [`COPY_BYTES_MAX`] is copied from the
//! pool, at a place that moves on; a longer one stays in its buffer, which was filled from its own
//! random stream, unless reads go through that buffer as well. Every 512 bytes then get a stamp
//! that never repeats. So equal bytes recur only at distances beyond the pool, and no two blocks
//! are alike.

use std::sync::Arc;

use candor_plan::blocks::{Content as Plan, Fill};

use crate::random::Random;
use crate::slots::Slot;

/// Smallest unit that is stamped.
const SECTOR_BYTES: usize = 512;
/// Length of the pool.
const POOL_BYTES: usize = 1 << 20;
/// Longer writes are stamped in place instead of being copied from the pool.
pub const COPY_BYTES_MAX: usize = 64 << 10;

/// Random bytes with the compressibility of a plan, shared by the workers of a job.
pub type Pool = Arc<[u8]>;

/// Makes the pool of a plan.
pub fn pool(plan: &Plan, seed: u64) -> Pool {
    // The tail lets a copy start anywhere without wrapping.
    let mut bytes = vec![0; POOL_BYTES + COPY_BYTES_MAX];
    fill(&mut bytes, plan, &mut Random::new(seed, 0x706f_6f6c));
    bytes.into()
}

/// Fills with random bytes, of which a share of each 512 is zero.
pub fn fill(bytes: &mut [u8], plan: &Plan, random: &mut Random) {
    if plan.fill == Fill::Zero {
        return bytes.fill(0);
    }
    if plan.compressible_percent == 0 {
        return random.fill(bytes);
    }
    for sector in bytes.chunks_mut(SECTOR_BYTES) {
        let kept = sector.len() * (100 - usize::from(plan.compressible_percent.min(100))) / 100;
        let (noise, zeros) = sector.split_at_mut(kept);
        random.fill(noise);
        zeros.fill(0);
    }
}

/// One worker's way of filling its writes.
pub struct Content {
    plan: Plan,
    pool: Pool,
    random: Random,
    /// Buffers do not keep what was put in before the start: reads or repeats go through them too.
    overwritten: bool,
    at: usize,
    /// The next stamp; the worker's number in the high bits keeps workers apart.
    stamp: u64,
}

impl Content {
    /// For the worker of that rank.
    /// `reads` tells whether the same buffers are also read into.
    pub fn new(plan: Plan, pool: Pool, seed: u64, rank: u32, reads: bool) -> Content {
        let mut random = Random::new(seed, 0x0064_6174_6100 + u64::from(rank));
        let at = random.below((POOL_BYTES / SECTOR_BYTES) as u64) as usize * SECTOR_BYTES;
        let overwritten = reads || plan.duplicate_percent > 0;
        Content { plan, pool, random, overwritten, at, stamp: (u64::from(rank) + 1) << 40 }
    }

    /// Fills a worker's buffers before the clock starts.
    pub fn prepare(&mut self, buffers: &mut [u8]) {
        fill(buffers, &self.plan, &mut self.random);
    }

    /// Makes the bytes of a write.
    #[inline(always)]
    pub fn write(&mut self, slot: &Slot) {
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes = unsafe { std::slice::from_raw_parts_mut(slot.buffer, slot.length as usize) };
        self.bytes(bytes);
    }

    /// Fills `bytes` as the plan says.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &mut [u8]) {
        match self.plan.fill {
            Fill::Zero if self.overwritten => bytes.fill(0),
            Fill::Zero => {}
            Fill::Fresh => fill(bytes, &self.plan, &mut self.random),
            Fill::Pool => self.draw_from_pool(bytes),
        }
    }

    #[inline(always)]
    fn draw_from_pool(&mut self, bytes: &mut [u8]) {
        if self.repeats() {
            return self.repeat(bytes);
        }
        if bytes.len() <= COPY_BYTES_MAX || self.overwritten {
            for part in bytes.chunks_mut(COPY_BYTES_MAX) {
                part.copy_from_slice(&self.pool[self.at..self.at + part.len()]);
                self.advance(part.len());
            }
        }
        self.stamp(bytes);
    }

    #[inline(always)]
    fn repeats(&mut self) -> bool {
        self.plan.duplicate_percent > 0 && self.random.percent(self.plan.duplicate_percent)
    }

    /// One of sixteen blocks that every worker of the job knows, to the letter.
    fn repeat(&mut self, bytes: &mut [u8]) {
        let start = self.random.below(16) as usize * COPY_BYTES_MAX;
        for (piece, part) in bytes.chunks_mut(COPY_BYTES_MAX).enumerate() {
            let from = (start + piece * COPY_BYTES_MAX) % POOL_BYTES;
            part.copy_from_slice(&self.pool[from..from + part.len()]);
        }
    }

    #[inline(always)]
    fn advance(&mut self, bytes: usize) {
        self.at += bytes.next_multiple_of(SECTOR_BYTES);
        if self.at >= POOL_BYTES {
            // An odd number of sectors less than the pool: passes do not line up.
            self.at = (self.at - POOL_BYTES + 7 * SECTOR_BYTES) % POOL_BYTES;
        }
    }

    #[inline(always)]
    fn stamp(&mut self, bytes: &mut [u8]) {
        for sector in bytes.chunks_exact_mut(SECTOR_BYTES) {
            self.stamp += 1;
            // Spread over all bits, so that the stamp does not compress either.
            let stamp = self.stamp.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sector[..8].copy_from_slice(&stamp.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn blocks(plan: Plan, count: usize) -> Vec<Vec<u8>> {
        let mut content = Content::new(plan, pool(&plan, 1), 1, 0, false);
        let mut block = vec![0; 4096];
        content.prepare(&mut block);
        (0..count)
            .map(|_| {
                content.bytes(&mut block);
                block.clone()
            })
            .collect()
    }

    #[test]
    fn no_two_blocks_are_alike() {
        let distinct: HashSet<Vec<u8>> = blocks(Plan::default(), 3000).into_iter().collect();
        assert_eq!(distinct.len(), 3000);
    }

    #[test]
    fn neighbours_share_no_run_of_bytes() {
        let list = blocks(Plan::default(), 32);
        let mut runs = HashSet::new();
        for block in &list {
            assert!(block.chunks(64).all(|run| runs.insert(run.to_vec())));
        }
    }

    #[test]
    fn duplicates_have_their_share() {
        let plan = Plan { duplicate_percent: 50, ..Plan::default() };
        let list = blocks(plan, 4000);
        let distinct: HashSet<&Vec<u8>> = list.iter().collect();
        assert!((1900..2116).contains(&distinct.len()), "{} distinct", distinct.len());
    }

    #[test]
    fn compressible_share_is_zero() {
        let plan = Plan { compressible_percent: 75, ..Plan::default() };
        for block in blocks(plan, 10) {
            let zeros = block.iter().filter(|byte| **byte == 0).count() as f64 / 4096.0;
            assert!((zeros - 0.75).abs() < 0.02, "{zeros}");
        }
    }
}
