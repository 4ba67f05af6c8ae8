//! A worker's share of a file, as one contiguous range of its own.
//!
//! Orders work on positions `0..length` of that range; [`Region::offset`] says where a position
//! lies in the file. So every order works with every way of sharing.

use candor_plan::Bytes;
use candor_plan::blocks::{Blocks, Share};
use candor_plan::units::Extent as PlanExtent;

/// One of `of` workers that share a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its number, from 0.
    pub rank: u64,
    /// How many there are.
    pub of: u64,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Where it starts.
    pub base: u64,
    /// Its length in bytes.
    pub size: u64,
}

impl Extent {
    /// All of a file of that size.
    pub fn whole(size: u64) -> Extent {
        Extent { base: 0, size }
    }
}

/// A worker's share of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    start: u64,
    length: u64,
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

impl Region {
    /// The share of `rank` in the used part of a file.
    ///
    /// The result may be too small for one operation; see [`Region::holds`].
    pub fn new(blocks: &Blocks, extent: Extent, rank: Rank) -> Region {
        let Extent { base, size } = extent;
        let (size_min, align) = (blocks.smallest().0, blocks.alignment_max().0);
        let mut start = blocks.range.start.of(Bytes(size)).0.min(size);
        if let PlanExtent::Percent(_) = blocks.range.start {
            // A share of the whole rarely falls on a block.
            let align = blocks.range.start_align.map_or(align, |align| align.0.max(1));
            start = start.checked_next_multiple_of(align).unwrap_or(size).min(size);
        }
        let rest = size - start;
        let length = blocks.range.length.map_or(rest, |extent| extent.of(Bytes(size)).0.min(rest));
        let start = base.saturating_add(start);
        let limit = start.saturating_add(length);
        let whole = Region { start, length, limit, layout: Layout::Contiguous };
        let contiguous = |start, length| Region { start, length, ..whole.clone() };
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

    fn dealt(&self, block: u64, rows: u64, rank: Rank) -> Region {
        Region {
            start: self.start.saturating_add(rank.rank.saturating_mul(block)),
            length: rows.saturating_mul(block),
            layout: Layout::Dealt { block, ranks: rank.of },
            ..self.clone()
        }
    }

    /// First byte of the file that the share may use.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// One past the last byte that the plan allows.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Its start in the file, where the share is one piece of it.
    pub fn contiguous(&self) -> Option<u64> {
        (self.layout == Layout::Contiguous).then_some(self.start)
    }

    /// Offsets within it are multiples of this, for operations of that length and alignment.
    #[inline(always)]
    pub fn step(&self, length: u32, align: u64) -> u64 {
        match self.layout {
            Layout::Contiguous => align,
            // Operations stay within a block, so every length-sized piece of it is a place.
            Layout::Dealt { .. } => u64::from(length.max(1)),
        }
    }

    /// True if an operation of that length fits.
    pub fn holds(&self, length: u32) -> bool {
        u64::from(length) <= self.length
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
