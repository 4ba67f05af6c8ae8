//! A worker's share of a file, as one contiguous range of its own.
//!
//! Orders work on positions `0..length` of that range; [`Space::offset`] says where a position
//! lies in the file. So every order works with every way of sharing.

use candor_plan::Bytes;
use candor_plan::blocks::{Blocks, Share};
use candor_plan::units::Extent;

/// One of `of` workers that share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its number, from 0.
    pub rank: u64,
    /// How many there are.
    pub of: u64,
}

/// A worker's share of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    start: u64,
    length: u64,
    align: u64,
    explicit_align: u64,
    /// One past the last byte of the range that the plan allows.
    limit: u64,
    layout: Layout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    Contiguous,
    /// Blocks of `block` bytes; the worker's k-th block is the file's (k·ranks + rank)-th.
    Dealt {
        block: u64,
        ranks: u64,
    },
}

impl Space {
    /// The share of `rank` in a file of `size` bytes.
    ///
    /// The result may be too small for one operation; see [`Space::holds`].
    pub fn new(blocks: &Blocks, size: u64, rank: Rank) -> Space {
        let size_min = smallest(blocks);
        let align = blocks.align.map_or(size_min, |align| align.0).max(1);
        let explicit_align = blocks.align.map_or(1, |align| align.0).max(1);
        let mut start = blocks.range.start.of(Bytes(size)).0.min(size);
        if let Extent::Percent(_) = blocks.range.start {
            // A share of the whole rarely falls on a block.
            start = start / align * align;
        }
        let rest = size - start;
        let length = blocks.range.length.map_or(rest, |extent| extent.of(Bytes(size)).0.min(rest));
        let limit = start + length;
        let whole =
            Space { start, length, align, explicit_align, limit, layout: Layout::Contiguous };
        let contiguous = |start, length| Space { start, length, ..whole.clone() };
        match blocks.share {
            Share::Whole => contiguous(start, length),
            Share::Slice => {
                let part = length / rank.of / align * align;
                let last = rank.rank + 1 == rank.of;
                let mine = if last { length - part * (rank.of - 1) } else { part };
                contiguous(start + part * rank.rank, mine)
            }
            Share::Interleave => {
                let rows = length / size_min / rank.of;
                whole.dealt(size_min, rows, rank)
            }
            Share::Segments { block, count } => whole.dealt(block.0.max(1), u64::from(count), rank),
        }
    }

    fn dealt(&self, block: u64, rows: u64, rank: Rank) -> Space {
        Space {
            start: self.start.saturating_add(rank.rank.saturating_mul(block)),
            length: rows.saturating_mul(block),
            align: self.align.min(block),
            layout: Layout::Dealt { block, ranks: rank.of },
            ..self.clone()
        }
    }

    /// The same share, that many bytes further on in the file.
    pub fn moved(self, by: u64) -> Space {
        let (start, limit) = (self.start.saturating_add(by), self.limit.saturating_add(by));
        Space { start, limit, ..self }
    }

    /// First byte of the file that the share may use.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// One past the last byte that the plan allows.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The alignment that the plan asks for, 1 if it asks for none.
    pub fn explicit_align(&self) -> u64 {
        self.explicit_align
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Offsets are multiples of it, counted from the start of the share.
    pub fn align(&self) -> u64 {
        self.align
    }

    /// Start in the file and distance of positions, where the share is one piece of the file.
    pub fn contiguous(&self) -> Option<(u64, u64)> {
        (self.layout == Layout::Contiguous).then_some((self.start, self.align))
    }

    /// True if an operation of that length fits.
    pub fn holds(&self, length: u32) -> bool {
        u64::from(length) <= self.length
    }

    /// Number of aligned positions at which an operation of that length fits; at least 1.
    #[inline(always)]
    pub fn positions(&self, length: u32) -> u64 {
        match self.layout {
            Layout::Contiguous => self.length.saturating_sub(u64::from(length)) / self.align + 1,
            // Operations stay within a block, so every length-sized piece of it is a position.
            Layout::Dealt { .. } => (self.length / u64::from(length.max(1))).max(1),
        }
    }

    /// The position of the `index`-th of [`Space::positions`].
    #[inline(always)]
    pub fn position(&self, index: u64, length: u32) -> u64 {
        match self.layout {
            Layout::Contiguous => index * self.align,
            Layout::Dealt { .. } => index * u64::from(length),
        }
    }

    /// Where a position lies in the file.
    #[inline(always)]
    pub fn offset(&self, position: u64) -> u64 {
        match self.layout {
            Layout::Contiguous => self.start + position,
            Layout::Dealt { block, ranks } => {
                self.start + position / block * block * ranks + position % block
            }
        }
    }

    /// One past the last byte of the file that the share uses.
    pub fn end(&self) -> u64 {
        match (self.length, &self.layout) {
            (0, _) => self.start,
            (length, Layout::Contiguous) => self.start.saturating_add(length),
            (length, Layout::Dealt { block, ranks }) => {
                let rows_before = (length - 1) / block;
                let before = rows_before.saturating_mul(block.saturating_mul(*ranks));
                self.start.saturating_add(before).saturating_add((length - 1) % block + 1)
            }
        }
    }
}

/// The smallest size of any direction that occurs.
fn smallest(blocks: &Blocks) -> u64 {
    let used = blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    used.map(|(_, size)| size.min().0).min().unwrap_or(1).max(1)
}
