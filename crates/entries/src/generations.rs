//! Generations of the blocks of a tree's files: the last write to each block.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use candor_bytes::journal::SharedJournal;
use candor_bytes::verify::map::is_written;
use candor_bytes::verify::{BAD, BlockChange, BlockKey, Left, Map, NOTHING};
use candor_plan::Tree;
use candor_plan::units::SizeSpec;
use candor_record::LastUse;

/// Generations of all files, which are consecutive in one map.
pub struct Generations {
    map: Arc<Map>,
    interval: u64,
    begins: Begins,
    /// The journal of the tree, and the tree's number in the journal.
    journal: OnceLock<(SharedJournal, u32)>,
}

/// Offsets of the files in the map.
enum Begins {
    /// All files have the same length.
    Every(u64),
    /// Offset of each file, and the end of the last file.
    Each(Box<[u64]>),
}

/// Bytes of a file of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Number of the file in its tree.
    pub nth: u64,
    /// Bytes that the plan gives the file.
    pub file: u64,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

impl Begins {
    fn of(&self, nth: u64) -> u64 {
        match self {
            Begins::Every(bytes) => nth * bytes,
            Begins::Each(begins) => begins[nth as usize],
        }
    }
}

impl Generations {
    /// Blocks of `files` files of a tree, without a known write.
    pub fn new(tree: &Tree, files: u64, interval: u64, bytes_of: impl Fn(u64) -> u64) -> Self {
        let begins = match tree.file_size {
            SizeSpec::Fixed(size) => Begins::Every(size.0.next_multiple_of(interval)),
            _ => Begins::Each(
                (0..=files)
                    .scan(0, |sum, nth| {
                        let begin = *sum;
                        *sum +=
                            if nth < files { bytes_of(nth).next_multiple_of(interval) } else { 0 };
                        Some(begin)
                    })
                    .collect(),
            ),
        };
        let map = Map::new(begins.of(files), interval, NOTHING);
        Generations { map, interval, begins, journal: OnceLock::new() }
    }

    /// Bytes of a block.
    pub fn interval(&self) -> u64 {
        self.interval
    }

    /// Records the last use of each block from now on.
    pub fn keep_uses(&self) {
        self.map.keep_uses();
    }

    /// The map of all blocks.
    pub fn map(&self) -> &Arc<Map> {
        &self.map
    }

    /// The journal of the tree, and the tree's number in the journal.
    pub fn journal(&self) -> Option<&(SharedJournal, u32)> {
        self.journal.get()
    }

    /// Sets the journal of the tree.
    pub fn keep_in(&self, journal: SharedJournal, number: u32) {
        // A tree has one journal as long as its table exists.
        let _ = self.journal.set((journal, number));
    }

    /// Changes of the blocks of a write that has begun.
    pub fn writes(&self, part: &Part) -> impl Iterator<Item = BlockChange> + '_ {
        self.map.writes(self.at(part), part.length)
    }

    /// Generation of the block at that offset if its pending write did not happen; none without a
    /// pending write.
    pub fn older(&self, part: &Part) -> Option<u32> {
        let at = self.at(part);
        self.map.is_pending(at).then(|| self.map.older(at))
    }

    /// Replaces the generation of the block at that offset, which a check has determined.
    pub fn settle(&self, part: &Part, from: u32, to: u32) {
        self.map.settle(self.at(part), from, to, false);
    }

    /// Numbers of a file's blocks.
    pub fn blocks_of(&self, nth: u64) -> Range<usize> {
        let [begin, end] = [nth, nth + 1].map(|nth| self.begins.of(nth));
        self.map.range(begin, end - begin)
    }

    /// Forgets the blocks of a file beyond its first `length` bytes, and returns lost blocks with
    /// their last writes. A block with only a pending write is not lost.
    pub fn cut_off(&self, nth: u64, bytes: u64, length: u64) -> Vec<(Part, u32)> {
        let mut lost = Vec::new();
        for (index, block) in (0..).zip(self.blocks_of(nth)) {
            let offset = index * self.interval;
            let part = Part { nth, file: bytes, offset, length: self.interval.min(bytes - offset) };
            if part.offset + part.length <= length {
                continue;
            }
            let last = self.older(&part).unwrap_or(self.map.key(block).generation);
            if is_written(last) {
                lost.push((part, last));
            }
            self.map.set_key(block, BlockKey::NOTHING);
        }
        lost
    }

    fn at(&self, part: &Part) -> u64 {
        self.begins.of(part.nth) + part.offset
    }

    /// True if the bytes begin and end at block boundaries of the file.
    pub fn is_whole(&self, part: &Part) -> bool {
        let end = part.offset + part.length;
        part.offset.is_multiple_of(self.interval)
            && (end.is_multiple_of(self.interval) || end == part.file)
    }

    /// True if a write to one of the blocks is known.
    pub fn is_known(&self, part: &Part) -> bool {
        self.map.is_known(self.at(part), part.length)
    }

    /// True if one of the blocks did not match and is skipped.
    pub fn has_bad(&self, part: &Part) -> bool {
        self.map.has_bad(self.at(part), part.length)
    }

    /// Begins a write. Only one worker writes a file, so no other write claims the blocks.
    pub fn begin_write(&self, part: &Part) {
        self.map.begin_write(self.at(part), part.length);
    }

    /// Ends a write.
    pub fn end_write(&self, part: &Part, left: Left) {
        self.map.end_write(self.at(part), part.length, left);
    }

    /// Generation of the write in flight to the block at that offset.
    pub fn under_way(&self, part: &Part) -> u32 {
        self.map.under_way(self.at(part))
    }

    /// Generation of the last write to the block at that offset, if known.
    pub fn finished(&self, part: &Part) -> Option<u32> {
        Some(self.map.finished(self.at(part))).filter(|generation| is_written(*generation))
    }

    /// Skips a block from now on because its bytes do not match that generation.
    pub fn leave_alone(&self, part: &Part, generation: u32) {
        self.settle(part, generation, BAD);
    }

    /// Records the last use of the blocks.
    pub fn used(&self, part: &Part, last: LastUse) {
        self.map.used(self.at(part), part.length, last);
    }

    /// Last use of the block at that offset, if recorded.
    pub fn last_use(&self, part: &Part) -> Option<LastUse> {
        self.map.last_use(self.at(part))
    }

    /// Forgets the blocks of a file that is replaced.
    pub fn forget(&self, nth: u64) {
        for block in self.blocks_of(nth) {
            self.map.set_key(block, BlockKey::NOTHING);
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;

    use super::*;

    #[test]
    fn blocks_that_should_be_there_are_found_at_the_end_of_a_file() {
        let tree = Tree { file_size: SizeSpec::Fixed(Bytes(10_000)), ..Tree::default() };
        let of = Generations::new(&tree, 2, 4096, |_| 10_000);
        let map = of.map();
        // Written; begun for the first time; begun again.
        for (block, generation, is_pending) in
            [(3, 4, false), (4, 1, true), (5, 9, true), (0, 2, false)]
        {
            map.set_key(block, BlockKey { generation, is_pending });
        }
        map.set_pending([(4, NOTHING), (5, 8)].into());
        let cut = |length| {
            let lost = of.cut_off(1, 10_000, length);
            lost.iter().map(|(part, key)| (part.offset, part.length, *key)).collect::<Vec<_>>()
        };
        assert_eq!(cut(10_000), []);
        assert_eq!(of.older(&Part { nth: 1, file: 10_000, offset: 8192, length: 1 }), Some(8));
        assert_eq!(cut(9_999), [(8192, 1808, 8)], "the block is not whole");
        assert_eq!(cut(4096), [], "nobody wrote the one before for sure");
        assert_eq!(cut(0), [(0, 4096, 4)]);
        let of_other = BlockKey { generation: 2, is_pending: false };
        assert_eq!((cut(0), map.key(0)), (vec![], of_other), "reported once, and for one file");
    }

    #[test]
    fn files_have_blocks_of_their_own() {
        for (file_size, sizes) in [
            (SizeSpec::Fixed(Bytes(10_000)), [10_000; 3]),
            (SizeSpec::Stepped(Bytes(1), Bytes(9_000), Bytes(1)), [5_000, 1, 9_000]),
        ] {
            let tree = Tree { file_size, ..Tree::default() };
            let of = Generations::new(&tree, 3, 4096, |nth| sizes[nth as usize]);
            let part = |nth, offset: u64, length| {
                let file = sizes[nth as usize];
                Part { nth, file, offset, length }
            };
            for nth in 0..3 {
                let whole = part(nth, 0, sizes[nth as usize]);
                assert!(of.is_whole(&whole) && !of.is_known(&whole), "{sizes:?} {nth}");
                of.begin_write(&whole);
                assert_eq!((of.under_way(&whole), of.finished(&whole)), (1, None));
                of.end_write(&whole, Left::Written);
                assert_eq!(of.finished(&whole), Some(1));
            }
            let last = part(2, 8192, 1);
            of.begin_write(&last);
            of.end_write(&last, Left::Written);
            assert_eq!([8192, 4096].map(|at| of.finished(&part(2, at, 1))), [Some(2), Some(1)]);
            of.leave_alone(&last, 2);
            assert!(of.has_bad(&part(2, 4096, 4904)) && !of.has_bad(&part(2, 4096, 4096)));
            of.forget(2);
            assert!(!of.is_known(&part(2, 0, 9_000)) && of.is_known(&part(1, 0, 1)));
            assert!(!of.is_whole(&part(0, 512, 4096)) && !of.is_whole(&part(0, 0, 512)));
        }
    }
}
