//! Map of the verified blocks of a file: four bytes of state per block.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use candor_record::LastUse;

use super::last_uses::LastUses;

/// Bit of an entry that is set while a write to the block is in flight.
const WRITING: u32 = 1 << 31;
/// Bit of an entry that is set while the write of its generation may not have happened, because the
/// run was interrupted.
const PENDING: u32 = 1 << 30;
/// Bit of the first entry of a block, in maps with several entries per block.
const START: u32 = 1 << 29;
/// Bits of an entry that hold the generation.
const GENERATION: u32 = START - 1;
/// Generation of blocks with unknown content: every generation of this job matches.
pub const UNKNOWN: u32 = 0;
/// Generation of blocks with any content, after a trim or a failed write; they are not checked.
pub const NOTHING: u32 = GENERATION;
/// Generation of blocks that were trimmed and must read as zeros.
pub const ZEROS: u32 = GENERATION - 1;

/// Generation of blocks whose last write a dry run cannot determine: any generation matches.
const UNSURE: u32 = GENERATION - 2;
/// Generation of blocks that did not match; operations skip them.
pub const BAD: u32 = GENERATION - 3;

/// State of the blocks after a write or trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Written, with the next generation.
    Written,
    /// Unknown: the blocks cannot be checked.
    Unsure,
    /// Trimmed: the blocks must read as zeros.
    Zeroed,
    /// Not begun: the blocks are unchanged.
    Untouched,
}

/// Positions of the verified blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockGrid {
    /// Offset of the first block.
    pub origin: u64,
    /// Distance between two offsets at which blocks may begin.
    pub interval: u64,
    /// Length of a block; a multiple of the interval.
    pub block: u64,
}

/// Key of a block: the generation of its last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockKey {
    /// Generation of the last write.
    pub generation: u32,
    /// True if that write may not have happened.
    pub is_pending: bool,
}

impl BlockKey {
    /// Key of a block without a known write.
    pub const NOTHING: BlockKey = BlockKey { generation: NOTHING, is_pending: false };
}

/// Change of one block by a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockChange {
    /// Number of the block.
    pub block: usize,
    /// Generation before the write.
    pub old: u32,
    /// Generation after the write.
    pub new: u32,
}

/// State of the verified blocks of one file.
#[derive(Debug)]
pub struct Map {
    interval: u64,
    /// Entries per block: several if blocks may overlap.
    per_block: usize,
    /// Offset of the first block.
    origin: u64,
    entries: Box<[AtomicU32]>,
    /// True once a write or trim has begun: the generations then belong to this session.
    written: AtomicBool,
    /// Last use of each block, if recorded.
    uses: OnceLock<LastUses>,
    /// Generations of the blocks whose last write may not have happened, if it did not.
    older: OnceLock<HashMap<usize, u32>>,
    /// Bytes of the file that jobs of this phase may write without this map.
    contested: Mutex<Vec<Range<u64>>>,
    /// True if the plan vouches for blocks without a known write.
    vouched: AtomicBool,
}

impl Map {
    /// Map of `size` bytes in blocks of `interval` bytes, all of one generation.
    pub fn new(size: u64, interval: u64, generation: u32) -> Arc<Map> {
        Map::on(BlockGrid { origin: 0, interval, block: interval }, size, generation)
    }

    /// Map of a file of `size` bytes with blocks on a grid.
    pub fn on(grid: BlockGrid, size: u64, generation: u32) -> Arc<Map> {
        let BlockGrid { origin, interval, block } = grid;
        let per_block = (block / interval.max(1)).max(1) as usize;
        let count = size.saturating_sub(origin).div_ceil(interval.max(1)) as usize;
        let entries = (0..count).map(|_| AtomicU32::new(generation)).collect();
        Arc::new(Map {
            interval,
            per_block,
            origin,
            entries,
            written: AtomicBool::new(false),
            uses: OnceLock::new(),
            older: OnceLock::new(),
            contested: Mutex::new(Vec::new()),
            vouched: AtomicBool::new(false),
        })
    }

    fn contested(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.contested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records bytes that a job of this phase may write without this map.
    pub fn contest(&self, bytes: Range<u64>) {
        self.contested().push(bytes);
    }

    /// True if another job may have written a part of the block at `offset` in this phase.
    #[cold]
    pub fn is_contested(&self, offset: u64, length: u64) -> bool {
        let end = offset + length;
        self.contested().iter().any(|bytes| bytes.start < end && offset < bytes.end)
    }

    /// Ends the phase: bytes that other jobs may have written are unknown from now on.
    pub fn settle_contested(&self) {
        let contested = std::mem::take(&mut *self.contested());
        contested.into_iter().for_each(|bytes| self.replaced(bytes));
    }

    /// Records that the plan vouches for blocks without a known write.
    pub fn vouch(&self) {
        self.vouched.store(true, Ordering::Relaxed);
    }

    /// Records that other jobs wrote bytes: the blocks are unknown, and are checked only if the
    /// plan vouches for them.
    pub fn replaced(&self, bytes: Range<u64>) {
        let vouched = self.vouched.load(Ordering::Relaxed);
        self.mark(bytes, if vouched { UNKNOWN } else { NOTHING });
    }

    /// Forgets all blocks that overlap a range of bytes.
    pub fn forget(&self, bytes: Range<u64>) {
        self.mark(bytes, NOTHING);
    }

    fn mark(&self, bytes: Range<u64>, generation: u32) {
        let length = bytes.end.saturating_sub(bytes.start.max(self.origin));
        for block in self.blocks(bytes.start.max(self.origin), length) {
            block.store(generation, Ordering::Release);
        }
    }

    /// Takes over the knowledge of another map of the same file. Blocks that were written with the
    /// other map have other headers, unless `is_same`.
    pub fn inherit(&self, other: &Map, is_same: bool) {
        for (number, entry) in other.entries.iter().enumerate() {
            let entry = entry.load(Ordering::Acquire);
            let offset = other.origin + number as u64 * other.interval;
            match (is_same, entry & GENERATION) {
                (_, UNKNOWN) => {}
                (true, _) => {
                    if let Some(own) = self.blocks(offset, 1).first() {
                        own.store(entry, Ordering::Release);
                    }
                }
                (false, _) => self.replaced(offset..offset + other.interval),
            }
        }
        if is_same && other.is_written() {
            self.written.store(true, Ordering::Relaxed);
        }
    }

    /// True if the map covers that many bytes.
    pub fn covers(&self, size: u64) -> bool {
        self.entries.len() as u64 >= size.saturating_sub(self.origin).div_ceil(self.interval.max(1))
    }

    /// Number of blocks in the map.
    pub fn blocks_known(&self) -> usize {
        self.entries.len()
    }

    /// Blocks that an operation touches.
    pub fn range(&self, offset: u64, length: u64) -> Range<usize> {
        let from = offset.saturating_sub(self.origin);
        let first = (from / self.interval) as usize;
        let last = (from + length).div_ceil(self.interval) as usize;
        first.min(self.entries.len())..last.min(self.entries.len())
    }

    fn blocks(&self, offset: u64, length: u64) -> &[AtomicU32] {
        &self.entries[self.range(offset, length)]
    }

    /// True once a write or trim has begun.
    pub fn is_written(&self) -> bool {
        self.written.load(Ordering::Relaxed)
    }

    /// Forgets all generations, before a dry run counts them.
    pub fn clear(&self) {
        self.entries.iter().for_each(|entry| entry.store(UNKNOWN, Ordering::Relaxed));
    }

    /// Counts a write of a dry run; `sure` is true if the write is certainly in the file.
    pub fn count(&self, offset: u64, length: u64, sure: bool) {
        for block in self.blocks(offset, length) {
            let generation = match block.load(Ordering::Relaxed) {
                generation if sure && generation != UNSURE => next(generation),
                _ => UNSURE,
            };
            block.store(generation, Ordering::Relaxed);
        }
    }

    /// Claims the blocks for a write. If a write to one of them is in flight, claims none and
    /// returns false.
    pub fn begin_write(&self, offset: u64, length: u64) -> bool {
        if !self.is_written() {
            self.written.store(true, Ordering::Relaxed);
        }
        let blocks = self.blocks(offset, length);
        for (claimed, block) in blocks.iter().enumerate() {
            if block.fetch_or(WRITING, Ordering::Acquire) & WRITING != 0 {
                for block in &blocks[..claimed] {
                    block.fetch_and(!WRITING, Ordering::Release);
                }
                return false;
            }
        }
        true
    }

    /// Start bit of a write's nth entry, if blocks have several entries.
    fn start(&self, nth: usize) -> u32 {
        if self.per_block > 1 && nth.is_multiple_of(self.per_block) { START } else { 0 }
    }

    /// Ends a write or trim.
    pub fn end_write(&self, offset: u64, length: u64, left: Left) {
        for (nth, block) in self.blocks(offset, length).iter().enumerate() {
            let entry = block.load(Ordering::Relaxed);
            let new = match left {
                Left::Written => next(entry & GENERATION) | self.start(nth),
                Left::Unsure => NOTHING,
                Left::Zeroed => ZEROS,
                Left::Untouched => entry & !WRITING,
            };
            block.store(new, Ordering::Release);
        }
    }

    /// Checksum of the generations that a read which starts now is compared with; none if a write
    /// to a block is in flight.
    pub fn begin_read(&self, offset: u64, length: u64) -> Option<u32> {
        self.blocks(offset, length).iter().try_fold(0u32, |sum, block| {
            let entry = block.load(Ordering::Acquire);
            (entry & WRITING == 0).then(|| sum.wrapping_mul(31).wrapping_add(entry & GENERATION))
        })
    }

    /// True if a write to one of the blocks is known.
    pub fn is_known(&self, offset: u64, length: u64) -> bool {
        self.any(offset, length, is_written)
    }

    /// True if one of the blocks did not match and is skipped.
    pub fn has_bad(&self, offset: u64, length: u64) -> bool {
        self.any(offset, length, |generation| generation == BAD)
    }

    /// True if none of the blocks can be checked.
    pub fn is_nothing(&self, offset: u64, length: u64) -> bool {
        !self.any(offset, length, |generation| generation != NOTHING)
    }

    fn any(&self, offset: u64, length: u64, is: impl Fn(u32) -> bool) -> bool {
        let mut blocks = self.blocks(offset, length).iter();
        blocks.any(|block| is(block.load(Ordering::Acquire) & GENERATION))
    }

    /// Replaces generation `from` of the block at `offset`, pending or not, by `to`, unless another
    /// operation has changed it since. `is_claimed` is true if the caller has claimed the block.
    pub fn settle(&self, offset: u64, from: u32, to: u32, is_claimed: bool) {
        let Some(block) = self.blocks(offset, 1).first() else { return };
        let writing = if is_claimed { WRITING } else { 0 };
        for bits in [0, PENDING, START] {
            let entry = from | writing | bits;
            // An operation that has claimed the block meanwhile continues with what it found.
            let (new, order) = (to | writing, Ordering::Acquire);
            let _ = block.compare_exchange(entry, new, Ordering::AcqRel, order);
        }
    }

    /// Key of a block by its number.
    pub fn key(&self, block: usize) -> BlockKey {
        let entry = self.entries[block].load(Ordering::Acquire);
        BlockKey { generation: entry & GENERATION, is_pending: entry & PENDING != 0 }
    }

    /// Changes of the blocks that a write touches.
    pub fn writes(&self, offset: u64, length: u64) -> impl Iterator<Item = BlockChange> + '_ {
        self.range(offset, length).map(|block| {
            let BlockKey { generation, is_pending } = self.key(block);
            let old = if is_pending { UNKNOWN } else { generation };
            BlockChange { block, old, new: next(generation) }
        })
    }

    /// Sets the key of a block by its number.
    pub fn set_key(&self, block: usize, key: BlockKey) {
        let pending = if key.is_pending { PENDING } else { 0 };
        self.entries[block].store(key.generation | pending, Ordering::Release);
    }

    /// True while the last write of the block at `offset` may not have happened.
    pub fn is_pending(&self, offset: u64) -> bool {
        self.entry(offset) & PENDING != 0
    }

    /// Sets the generations of blocks whose pending writes did not happen.
    pub fn set_pending(&self, older: HashMap<usize, u32>) {
        // A map takes the keys of one journal, once.
        let _ = self.older.set(older);
    }

    /// Blocks with a pending write, and their generations if it did not happen.
    pub fn pending(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let all = self.older.get().into_iter().flatten();
        all.map(|(block, older)| (*block, *older)).filter(|(block, _)| self.key(*block).is_pending)
    }

    /// Generation of the block at `offset` if its pending write did not happen.
    pub fn older(&self, offset: u64) -> u32 {
        let block = self.range(offset, 1).next();
        let known = block.zip(self.older.get()).and_then(|(block, older)| older.get(&block));
        known.copied().unwrap_or(UNKNOWN)
    }

    /// Records the last use of each block from now on.
    pub fn keep_uses(&self) {
        self.uses.get_or_init(|| LastUses::new(self.entries.len()));
    }

    /// Records the last use of blocks, if recorded.
    pub fn used(&self, offset: u64, length: u64, last: LastUse) {
        if let Some(uses) = self.uses.get() {
            uses.note(self.range(offset, length), last);
        }
    }

    /// Last use of the block at `offset`, if recorded.
    pub fn last_use(&self, offset: u64) -> Option<LastUse> {
        self.uses.get()?.of(self.range(offset, 1).next()?)
    }

    /// Interval of the blocks, and the offset of the first block.
    pub fn geometry(&self) -> (u64, u64) {
        (self.interval, self.origin)
    }

    fn entry(&self, offset: u64) -> u32 {
        self.blocks(offset, 1).first().map_or(UNKNOWN, |block| block.load(Ordering::Acquire))
    }

    /// Generation of the last completed write to the block at `offset`.
    pub fn finished(&self, offset: u64) -> u32 {
        match self.entry(offset) & GENERATION {
            _ if self.per_block > 1 && !self.is_whole(offset) => NOTHING,
            UNSURE => UNKNOWN,
            generation => generation,
        }
    }

    /// True if one write or trim covered the whole block at `offset`, and no later operation has
    /// replaced a part of it.
    fn is_whole(&self, offset: u64) -> bool {
        let length = self.interval * self.per_block as u64;
        let mut entries = self.blocks(offset, length).iter();
        let Some(first) = entries.next().map(|entry| entry.load(Ordering::Acquire)) else {
            return true;
        };
        let generation = first & GENERATION;
        let mut rest = entries.map(|entry| entry.load(Ordering::Acquire));
        if is_written(generation) && generation != UNSURE {
            first & START != 0
                && rest.all(|entry| entry & START == 0 && is_written(entry & GENERATION))
        } else {
            rest.all(|entry| entry & GENERATION == generation)
        }
    }

    /// Generation of the write in flight to the block at `offset`, if the caller has claimed it;
    /// otherwise the generation of the last completed write.
    pub fn under_way(&self, offset: u64) -> u32 {
        let entry = self.entry(offset);
        let generation = entry & GENERATION;
        if entry & WRITING != 0 { next(generation) } else { generation }
    }
}

/// Generation after `generation`; skips reserved values.
pub fn next(generation: u32) -> u32 {
    if generation + 1 >= BAD { 1 } else { generation + 1 }
}

/// True for the generation of a write, not for reserved values.
pub fn is_written(generation: u32) -> bool {
    generation != UNKNOWN && generation < BAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_writes_are_kept_apart() {
        let map = Map::new(16 * 4096, 4096, UNKNOWN);
        assert!(map.begin_write(0, 8192));
        assert!(!map.begin_write(4096, 8192));
        assert_eq!(map.begin_read(4096, 4096), None);
        assert!(map.begin_read(8192, 4096).is_some(), "the failed claim left nothing behind");
        map.end_write(0, 8192, Left::Written);
        assert_eq!((map.finished(0), map.finished(8192)), (1, 0));
        assert!(map.begin_write(0, 4096));
        map.end_write(0, 4096, Left::Unsure);
        assert_eq!(map.finished(0), NOTHING);
        assert_eq!((next(NOTHING), next(ZEROS), next(BAD), next(BAD - 1)), (1, 1, 1, 1));
    }

    #[test]
    fn a_dry_run_counts_what_it_is_sure_of() {
        let map = Map::new(4 * 4096, 4096, UNKNOWN);
        map.count(0, 8192, true);
        map.count(4096, 8192, true);
        map.count(8192, 8192, false);
        map.count(12288, 4096, true);
        assert_eq!([0, 4096, 8192, 12288].map(|at| map.finished(at)), [1, 2, UNKNOWN, UNKNOWN]);
        assert!(!map.is_written() && map.begin_write(8192, 4096) && map.is_written());
        map.end_write(8192, 4096, Left::Written);
        assert_eq!(map.finished(8192), 1);
        map.clear();
        assert_eq!(map.finished(4096), UNKNOWN);
    }

    #[test]
    fn a_pending_write_is_settled_unless_another_one_began() {
        let map = Map::new(4 * 4096, 4096, NOTHING);
        map.set_key(1, BlockKey { generation: 6, is_pending: true });
        map.set_pending(HashMap::from([(1, 5)]));
        assert_eq!((map.finished(4096), map.older(4096), map.is_pending(4096)), (6, 5, true));
        assert_eq!(map.pending().collect::<Vec<_>>(), [(1, 5)]);
        assert!(map.begin_write(4096, 4096));
        assert_eq!(map.under_way(4096), 7, "no key is used twice");
        map.settle(4096, 6, 5, false);
        assert_eq!(map.under_way(4096), 7, "the claim continues with what it found");
        map.end_write(4096, 4096, Left::Untouched);
        assert!(map.is_pending(4096));
        map.settle(4096, 7, 5, false);
        assert!(map.is_pending(4096), "another generation");
        map.settle(4096, 6, 5, false);
        assert_eq!((map.finished(4096), map.is_pending(4096)), (5, false));
        assert_eq!(map.pending().count(), 0);
        map.settle(4096, 5, BAD, false);
        assert!(map.has_bad(0, 8192) && !map.is_known(0, 8192) && !map.is_nothing(0, 8192));
        assert!(map.is_nothing(8192, 8192));
    }

    fn write(map: &Map, offset: u64, left: Left) {
        assert!(map.begin_write(offset, 2048));
        map.end_write(offset, 2048, left);
    }

    #[test]
    fn a_block_of_which_a_part_was_replaced_is_unknown() {
        let grid = BlockGrid { origin: 0, interval: 512, block: 2048 };
        let map = Map::on(grid, 8192, UNKNOWN);
        write(&map, 0, Left::Written);
        assert_eq!([0, 512, 2048].map(|at| map.finished(at)), [1, NOTHING, UNKNOWN]);
        write(&map, 512, Left::Written);
        assert_eq!([0, 512, 2048].map(|at| map.finished(at)), [NOTHING, 2, NOTHING]);
        write(&map, 0, Left::Written);
        assert_eq!([0, 512].map(|at| map.finished(at)), [2, NOTHING]);
        write(&map, 1024, Left::Zeroed);
        assert_eq!([0, 1024].map(|at| map.finished(at)), [NOTHING, ZEROS]);
    }

    #[test]
    fn blocks_are_counted_from_the_origin() {
        let grid = BlockGrid { origin: 1024, interval: 4096, block: 4096 };
        let map = Map::on(grid, 1024 + 3 * 4096, UNKNOWN);
        assert_eq!((map.blocks_known(), map.range(1024 + 4096, 8192)), (3, 1..3));
        assert!(map.begin_write(1024, 4096) && map.begin_write(5120, 4096));
        assert!(!map.begin_write(5120, 8192), "one of them is being written");
        assert!(map.covers(1024 + 3 * 4096) && !map.covers(1025 + 3 * 4096));
    }
}
