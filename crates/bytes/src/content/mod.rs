//! Contents of writes: bytes that neither compression nor deduplication can shrink, unless the plan
//! requests it.
//!
//! A write uses the bytes of its buffer, which a random stream of the worker filled before the
//! clock started. Writes use the buffers in turn; with spare buffers, the total length equals the
//! pool's length. Without spare buffers ([`spare_buffers`]), a write of up to [`COPY_BYTES_MAX`]
//! bytes is copied from a pool of random bytes, from an offset that advances. Then every 512 bytes
//! get a unique stamp. Equal bytes therefore recur only at distances beyond the pool, and no two
//! blocks are equal.
//!
//! If a plan requests compressible bytes or duplicates, and in blocks with headers, the bytes are a
//! function of a key ([`Content::keyed`]): the same key gives the same bytes, and no bytes are
//! kept.

mod duplicates;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use candor_plan::blocks::{Content as Plan, Fill};

use self::duplicates::{HotBlocks, Keys};
use super::words::WordMaker;
use candor_engine::operation::{Buffer, Slot};
use candor_engine::random::{Random, mix};

/// Smallest unit that is stamped.
const SECTOR_BYTES: usize = 512;
/// Length of the pool.
const POOL_BYTES: usize = 1 << 20;
/// Longer writes are stamped in place instead of being copied from the pool.
pub const COPY_BYTES_MAX: usize = 64 << 10;
/// Maximum memory of the spare buffers of all workers of a job.
const SPARE_BYTES_MAX: usize = 64 << 20;

/// Random bytes, shared by the workers of a job.
pub type Pool = Arc<[u8]>;

/// Creates the pool of a seed.
pub fn pool(seed: u64) -> Pool {
    // The tail lets a copy start anywhere without wrapping.
    let mut bytes = vec![0; POOL_BYTES + COPY_BYTES_MAX];
    Random::new(seed, 0x706f_6f6c).fill(&mut bytes);
    bytes.into()
}

/// Buffers of a job's workers.
#[derive(Clone, Copy, Debug)]
pub struct BufferCounts {
    /// Length of a buffer.
    pub bytes: usize,
    /// Buffers in flight per worker.
    pub depth: usize,
    /// Number of workers.
    pub workers: usize,
}

/// Number of spare buffers per worker with which no write needs a copy. `writes` is the length of
/// all writes, if fixed. Zero if reads overwrite the buffers, if writes do not fill them, or if the
/// workers would use too much memory.
pub fn spare_buffers(
    plan: &Plan,
    origin: &Origin,
    writes: Option<u32>,
    buffers: BufferCounts,
) -> usize {
    let BufferCounts { bytes, depth, workers } = buffers;
    let plain =
        plan.fill == Fill::Pool && plan.duplicate_percent == 0 && plan.compressible_percent == 0;
    let filled = writes.is_some_and(|length| length as usize == bytes) && bytes <= COPY_BYTES_MAX;
    if plain && filled && !origin.reads && workers * POOL_BYTES <= SPARE_BYTES_MAX {
        (POOL_BYTES / bytes).saturating_sub(depth)
    } else {
        0
    }
}

/// Origin of the content: its worker and seeds.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Seed of the job's choices.
    pub seed: u64,
    /// Seed of the plan, common to all jobs.
    pub plan_seed: u64,
    /// Rank of the worker over all hosts.
    pub rank: u64,
    /// True if reads use the same buffers.
    pub reads: bool,
    /// Number of blocks in the range, which sizes a working set of duplicates.
    pub blocks: u64,
}

/// Generator of one worker's contents.
pub struct Content {
    plan: Plan,
    pool: Pool,
    random: Random,
    /// Keys of duplicates, if the plan requests any.
    keys: Option<Keys>,
    /// Blocks of hot sets, if any.
    hot: Option<HotBlocks>,
    /// True if reads or repeats overwrite the prepared bytes of the buffers.
    overwritten: bool,
    /// True if every block is computed from its key.
    composed: bool,
    /// Buffers that are not in flight; the least recently used buffer is at `spare`.
    spares: Box<[Buffer]>,
    spare: usize,
    at: usize,
    /// Next stamp. The worker's number in the high bits separates the workers.
    stamp: u64,
    words: Option<WordMaker>,
}

impl Content {
    /// Generator for a worker.
    pub fn new(plan: Plan, pool: Pool, origin: &Origin) -> Content {
        let mut random = Random::new(origin.seed, 0x0064_6174_6100 + origin.rank);
        let at = random.below((POOL_BYTES / SECTOR_BYTES) as u64) as usize * SECTOR_BYTES;
        let keys = (plan.duplicate_percent > 0).then(|| Keys::new(&plan, origin));
        let drawn = matches!(plan.fill, Fill::Pool | Fill::Fresh);
        let hot = plan.hot_sets.as_ref().map(|sets| HotBlocks::new(sets, origin));
        let is_keyed = keys.is_some() || hot.is_some();
        let composed = drawn && (is_keyed || plan.compressible_percent > 0);
        Content {
            overwritten: origin.reads,
            stamp: (origin.rank + 1) << 40,
            composed,
            spares: Box::default(),
            spare: 0,
            plan,
            pool,
            random,
            keys,
            hot,
            at,
            words: None,
        }
    }

    /// Adds the words of a worker, if its content consists of words.
    pub fn with_words(self, words: Option<WordMaker>) -> Content {
        Content { words, ..self }
    }

    /// Fills the worker's buffers before the clock starts.
    pub fn prepare(&mut self, buffers: &mut [u8]) {
        match self.plan.fill {
            Fill::Zero => buffers.fill(0),
            _ => self.random.fill(buffers),
        }
    }

    /// Fills buffers of `bytes` bytes each before the clock starts.
    pub fn prepare_each(&mut self, buffers: &mut [u8], bytes: usize) {
        match &self.words {
            Some(words) => words.prepare(buffers, bytes),
            None => self.prepare(buffers),
        }
    }

    /// Adds prepared spare buffers, which writes then use in turn.
    pub fn take_turns(&mut self, spares: impl Iterator<Item = Buffer>) {
        self.spares = spares.collect();
    }

    /// Fills the buffer of a write.
    #[inline(always)]
    pub fn write(&mut self, slot: &mut Slot) {
        if let Some(spare) = self.spares.get_mut(self.spare) {
            std::mem::swap(&mut slot.buffer, spare);
            self.spare += 1;
            if self.spare == self.spares.len() {
                self.spare = 0;
            }
        }
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        self.bytes(bytes, slot.offset);
    }

    /// Fills the bytes of a write at `offset` as the plan requests.
    #[inline(always)]
    pub fn bytes(&mut self, bytes: &mut [u8], offset: u64) {
        match self.plan.fill {
            _ if self.composed => {
                let key = self.next_key();
                let hot = self.hot_bytes(bytes, offset);
                self.compose(&mut bytes[hot..], key, offset);
            }
            Fill::Pool => self.draw_from_pool(bytes),
            Fill::Stamp => self.stamp(bytes),
            Fill::Fresh => self.random.fill(bytes),
            Fill::Zero if self.overwritten => bytes.fill(0),
            Fill::Zero | Fill::Once => {}
            Fill::Pattern => self.fill_pattern(bytes, offset),
            Fill::Words => self.fill_words(bytes, offset),
        }
    }

    fn fill_words(&self, bytes: &mut [u8], offset: u64) {
        match &self.words {
            Some(words) if self.overwritten => words.fill(bytes, offset),
            Some(words) => words.renew(bytes, offset),
            None => {}
        }
    }

    /// Fills a block from its key; the same key gives the same bytes.
    #[inline(always)]
    pub fn keyed(&self, bytes: &mut [u8], key: u64, offset: u64) {
        match self.plan.fill {
            Fill::Zero => bytes.fill(0),
            Fill::Pattern => self.fill_pattern(bytes, offset),
            _ => self.compose(bytes, key, offset),
        }
    }

    /// The plan's pattern.
    pub fn pattern(&self) -> Option<&candor_plan::blocks::Pattern> {
        self.plan.pattern.as_ref()
    }

    /// True if a block's bytes depend on the start of its operation, not on a key.
    pub fn is_pattern(&self) -> bool {
        self.plan.fill == Fill::Pattern
    }

    /// Fills the bytes with the plan's pattern, from the start of the operation.
    pub fn fill_pattern(&self, bytes: &mut [u8], offset: u64) {
        if let Some(pattern) = &self.plan.pattern {
            pattern.fill(bytes, offset);
        }
    }

    /// Fills the bytes at the start of a write that belong to hot sets, and returns their number.
    fn hot_bytes(&self, bytes: &mut [u8], offset: u64) -> usize {
        let Some(hot) = &self.hot else { return 0 };
        let mut filled = 0;
        for sector in bytes.chunks_mut(SECTOR_BYTES) {
            let at = offset + filled as u64;
            let Some(key) = hot.key(at) else { break };
            self.compose(sector, key, at);
            filled += sector.len();
        }
        filled
    }

    fn next_key(&mut self) -> u64 {
        match &mut self.keys {
            None => self.random.bits(),
            Some(keys) => keys.next(&mut self.random),
        }
    }

    /// Fills a block with pieces of noise, each followed by compressible bytes.
    fn compose(&self, bytes: &mut [u8], key: u64, offset: u64) {
        let mut noise = Noise::new(self, key);
        if self.plan.compressible_percent == 0 {
            return noise.fill(bytes);
        }
        let piece = match self.plan.compressible_piece.map(|piece| piece.0 as usize) {
            None => SECTOR_BYTES,
            Some(0) => bytes.len(),
            Some(piece) => piece,
        };
        let kept_percent = 100 - usize::from(self.plan.compressible_percent.min(100));
        for piece in bytes.chunks_mut(piece.max(1)) {
            let (head, tail) = piece.split_at_mut(piece.len() * kept_percent / 100);
            noise.fill(head);
            match &self.plan.pattern {
                None => tail.fill(0),
                Some(pattern) => pattern.fill(tail, offset),
            }
        }
    }

    #[inline(always)]
    fn draw_from_pool(&mut self, bytes: &mut [u8]) {
        let keeps = bytes.len() > COPY_BYTES_MAX || !self.spares.is_empty();
        if !keeps || self.overwritten {
            for part in bytes.chunks_mut(COPY_BYTES_MAX) {
                part.copy_from_slice(&self.pool[self.at..self.at + part.len()]);
                self.at = advanced(self.at, part.len());
            }
        }
        self.stamp(bytes);
    }

    #[inline(always)]
    fn stamp(&mut self, bytes: &mut [u8]) {
        for sector in bytes.chunks_exact_mut(SECTOR_BYTES) {
            self.stamp += 1;
            // The multiplication spreads the stamp over all bits, so that the stamp does not
            // compress.
            let stamp = self.stamp.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sector[..8].copy_from_slice(&stamp.to_le_bytes());
        }
    }
}

/// Offset in the pool after a copy of `bytes` bytes at `at`.
#[inline(always)]
fn advanced(at: usize, bytes: usize) -> usize {
    match at + bytes.next_multiple_of(SECTOR_BYTES) {
        at if at < POOL_BYTES => at,
        // The step is an odd number of sectors less than the pool, so that passes do not line up.
        at => (at - POOL_BYTES + 7 * SECTOR_BYTES) % POOL_BYTES,
    }
}

/// Random bytes of one key.
enum Noise<'a> {
    /// Bytes copied from the pool, with a stamp per sector.
    Pool { pool: &'a [u8], at: usize, key: u64 },
    /// Bytes drawn from a random stream.
    Fresh(Random),
}

impl<'a> Noise<'a> {
    #[inline(always)]
    fn new(content: &'a Content, key: u64) -> Noise<'a> {
        match content.plan.fill {
            Fill::Fresh => Noise::Fresh(Random::new(key, 0x6e6f_6973_6500)),
            _ => {
                let sectors = (POOL_BYTES / SECTOR_BYTES) as u64;
                let at = (key % sectors) as usize * SECTOR_BYTES;
                Noise::Pool { pool: &content.pool, at, key }
            }
        }
    }

    #[inline(always)]
    fn fill(&mut self, bytes: &mut [u8]) {
        let (pool, at, key) = match self {
            Noise::Fresh(random) => return random.fill(bytes),
            Noise::Pool { pool, at, key } => (pool, at, key),
        };
        for part in bytes.chunks_mut(COPY_BYTES_MAX) {
            part.copy_from_slice(&pool[*at..*at + part.len()]);
            *at = advanced(*at, part.len());
        }
        for sector in bytes.chunks_mut(SECTOR_BYTES) {
            *key = mix(*key, 1);
            let stamped = sector.len().min(8);
            sector[..stamped].copy_from_slice(&key.to_le_bytes()[..stamped]);
        }
    }
}
