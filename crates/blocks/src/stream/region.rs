//! A worker's share of a file, as one contiguous range.
//!
//! Patterns use positions `0..length` of that range; [`Region::offset`] maps a position to its
//! offset in the file. So every pattern works with every way of sharing.

use candor_plan::Bytes;
use candor_plan::blocks::{Blocks, Share};
use candor_plan::rank::{Dealt, Seat};
use candor_plan::units::Extent as PlanExtent;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Offset of the first byte.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A worker's share of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    start: u64,
    length: u64,
    /// One past the last byte of the range that the plan allows.
    limit: u64,
    /// Blocks of the range that belong to the worker; none where its share is one piece.
    dealt: Option<Dealt>,
}

impl Region {
    /// Share of a seat in the used part of a file.
    ///
    /// The result may be too small for one operation; see [`Region::holds`].
    pub fn new(blocks: &Blocks, extent: Extent, seat: Seat) -> Region {
        let Extent { base, size } = extent;
        let (size_min, align) = (blocks.smallest().0, blocks.alignment_max().0);
        let mut start = blocks.range.start.of(Bytes(size)).0.min(size);
        if let PlanExtent::Percent(_) = blocks.range.start {
            // A share of a file rarely begins at a block boundary.
            let align = blocks.range.start_align.map_or(align, |align| align.0.max(1));
            start = start.checked_next_multiple_of(align).unwrap_or(size).min(size);
        }
        let rest = size - start;
        let length = blocks.range.length.map_or(rest, |extent| extent.of(Bytes(size)).0.min(rest));
        let start = base.saturating_add(start);
        let limit = start.saturating_add(length);
        let whole = Region { start, length, limit, dealt: None };
        let contiguous = |start, length| Region { start, length, ..whole.clone() };
        match blocks.share {
            Share::Whole => contiguous(start, length),
            Share::Slice => {
                let (before, mine) = seat.slice(length, align);
                contiguous(start + before, mine)
            }
            Share::Interleave => whole.dealt(seat.dealt(size_min), length / size_min / seat.seats),
            Share::Segments { block, count } => whole.dealt(seat.dealt(block.0), count.into()),
        }
    }

    fn dealt(&self, dealt: Dealt, rows: u64) -> Region {
        Region {
            start: self.start.saturating_add(dealt.start()),
            length: rows.saturating_mul(dealt.block),
            dealt: Some(dealt),
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

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Offset of the share in the file, where it is one piece.
    pub fn contiguous(&self) -> Option<u64> {
        self.dealt.is_none().then_some(self.start)
    }

    /// Number of which offsets are multiples, for operations of that length and alignment.
    #[inline(always)]
    pub fn step(&self, length: u32, align: u64) -> u64 {
        match self.dealt {
            None => align,
            // Operations stay within a block, so each piece of one length can hold an operation.
            Some(_) => u64::from(length.max(1)),
        }
    }

    /// True if an operation of that length fits.
    pub fn holds(&self, length: u32) -> bool {
        u64::from(length) <= self.length
    }

    /// Offset of a position in the file.
    #[inline(always)]
    pub fn offset(&self, position: u64) -> u64 {
        match self.dealt {
            None => self.start + position,
            Some(dealt) => self.start + dealt.offset(position),
        }
    }

    /// One past the last byte of the file that the share uses.
    pub fn end(&self) -> u64 {
        let last = |length: u64| match self.dealt {
            None => length - 1,
            Some(dealt) => dealt.offset_saturating(length - 1),
        };
        match self.length {
            0 => self.start,
            length => self.start.saturating_add(last(length)).saturating_add(1),
        }
    }
}
