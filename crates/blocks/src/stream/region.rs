//! A worker's share of a file, as one contiguous range.
//!
//! Patterns use positions `0..length` of that range; [`Region::offset`] maps a position to its
//! offset in the file. So every pattern works with every way of sharing.

use std::ops::Range;

use candor_plan::Bytes;
use candor_plan::blocks::{Blocks, SegmentDeal, Share};
use candor_plan::rank::{Dealt, Scattered, Seat};
use candor_plan::units::Extent as PlanExtent;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Offset of the first byte.
    pub base: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A worker's slice of all files, one behind the other, in blocks of which each file begins with a
/// new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Files that it touches.
    pub files: Range<u32>,
    /// Bytes of the first file that lie before it.
    before: u64,
    /// Bytes of the last file up to its end.
    end: u64,
}

impl Span {
    /// The slice of a seat of files with these lengths.
    pub fn new(lengths: impl Iterator<Item = u64> + Clone, block: u64, seat: Seat) -> Span {
        let block = block.max(1);
        let all = lengths.clone().fold(0, |sum: u64, length| sum + length.div_ceil(block));
        let (start, count) = seat.slice(all, 1);
        let mut span = Span { files: 0..0, before: 0, end: 0 };
        let mut first = 0;
        for (number, length) in (0_u32..).zip(lengths) {
            let blocks = length.div_ceil(block);
            let (from, to) = (start.max(first), (start + count).min(first + blocks));
            if from < to {
                if span.files.is_empty() {
                    span = Span { files: number..number, before: (from - first) * block, end: 0 };
                }
                span.files.end = number + 1;
                span.end = ((to - first) * block).min(length);
            }
            first += blocks;
        }
        span
    }

    /// The part of a file that lies in it.
    pub fn part(&self, file: u32, whole: Extent) -> Extent {
        if !self.files.contains(&file) {
            return Extent { size: 0, ..whole };
        }
        let before = if file == self.files.start { self.before } else { 0 };
        let end = if file + 1 == self.files.end { self.end } else { whole.size };
        Extent { base: whole.base + before, size: end - before }
    }
}

/// A worker's share of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    start: u64,
    length: u64,
    /// One past the last byte of the range that the plan allows.
    limit: u64,
    pieces: Pieces,
}

/// Pieces of the range that belong to the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pieces {
    /// One.
    One,
    /// Blocks that are dealt in turn.
    Dealt(Dealt),
    /// Transfers that are dealt at random.
    Scattered(Scattered),
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
        let whole = Region { start, length, limit, pieces: Pieces::One };
        let contiguous = |start, length| Region { start, length, ..whole.clone() };
        match blocks.share {
            // The extent is the worker's part of the file already.
            Share::Whole | Share::Span => contiguous(start, length),
            Share::Slice => {
                let (before, mine) = seat.slice(length, align);
                contiguous(start + before, mine)
            }
            Share::Interleave => {
                // The first seats have a block of the last turn, where that is not for all.
                let blocks = (length / size_min).saturating_sub(seat.seat);
                whole.dealt(seat.dealt(size_min), blocks.div_ceil(seat.seats))
            }
            Share::Segments { block, count, deal: SegmentDeal::ByRank } => {
                whole.dealt(seat.dealt(block.0), count.into())
            }
            Share::Segments { block, count, deal: SegmentDeal::Scattered } => Region {
                length: u64::from(count).saturating_mul(block.0),
                pieces: Pieces::Scattered(seat.scattered(block.0, size_min, 0)),
                ..whole
            },
        }
    }

    /// With the transfers of segments in the order of a key.
    #[must_use]
    pub fn in_order_of(self, key: u64) -> Region {
        let pieces = match self.pieces {
            Pieces::Scattered(scattered) => Pieces::Scattered(scattered.with_key(key)),
            other => other,
        };
        Region { pieces, ..self }
    }

    fn dealt(&self, dealt: Dealt, rows: u64) -> Region {
        Region {
            start: self.start.saturating_add(dealt.start()),
            length: rows.saturating_mul(dealt.block),
            pieces: Pieces::Dealt(dealt),
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
        (self.pieces == Pieces::One).then_some(self.start)
    }

    /// Number of which offsets are multiples, for operations of that length and alignment.
    #[inline(always)]
    pub fn step(&self, length: u32, align: u64) -> u64 {
        match self.pieces {
            Pieces::One => align,
            // Operations stay within a block, so each piece of one length can hold an operation.
            _ => u64::from(length.max(1)),
        }
    }

    /// True if an operation of that length fits.
    pub fn holds(&self, length: u32) -> bool {
        u64::from(length) <= self.length
    }

    /// Offset of a position in the file.
    #[inline(always)]
    pub fn offset(&self, position: u64) -> u64 {
        match &self.pieces {
            Pieces::One => self.start + position,
            Pieces::Dealt(dealt) => self.start + dealt.offset(position),
            Pieces::Scattered(scattered) => self.start + scattered.offset(position),
        }
    }

    /// One past the last byte of the file that the share uses.
    pub fn end(&self) -> u64 {
        let last = |length: u64| match &self.pieces {
            Pieces::One => length - 1,
            Pieces::Dealt(dealt) => dealt.offset_saturating(length - 1),
            Pieces::Scattered(scattered) => scattered.end(length - 1).saturating_sub(1),
        };
        match self.length {
            0 => self.start,
            length => self.start.saturating_add(last(length)).saturating_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_span_cuts_files_where_their_blocks_begin() {
        let span = |seat| Span::new([10, 4, 9].into_iter(), 4, Seat::one_of(seat, 2));
        let whole = |size| Extent { base: 0, size };
        assert_eq!(span(0).files, 0..1);
        assert_eq!(span(0).part(0, whole(10)), Extent { base: 0, size: 10 });
        assert_eq!((span(1).part(0, whole(10)).size, span(1).files), (0, 1..3));
        let many = Span::new([4].into_iter(), 4, Seat::one_of(0, 3));
        assert!(many.files.is_empty(), "fewer blocks than workers");
    }

    #[test]
    fn blocks_are_dealt_until_none_is_left() {
        let blocks = Blocks { share: Share::Interleave, ..Blocks::default() };
        let region = |seat| {
            let extent = Extent { base: 0, size: 10 * 4096 + 100 };
            Region::new(&blocks, extent, Seat::one_of(seat, 4))
        };
        assert_eq!([0, 1, 2, 3].map(|seat| region(seat).length() / 4096), [3, 3, 2, 2]);
        assert_eq!((region(1).end(), region(3).end()), (10 * 4096, 8 * 4096));
    }

    proptest! {
        /// Spans have all bytes of all files together, each of them once.
        #[test]
        fn spans_divide_files(
            lengths in prop::collection::vec(0..50_u64, 1..6),
            block in 1..9_u64,
            seats in 1..5_u64,
        ) {
            let mut left: Vec<u64> = vec![0; lengths.len()];
            for seat in 0..seats {
                let span = Span::new(lengths.iter().copied(), block, Seat::one_of(seat, seats));
                for (file, length) in lengths.iter().enumerate() {
                    let whole = Extent { base: 100, size: *length };
                    let part = span.part(file as u32, whole);
                    if part.size > 0 {
                        prop_assert_eq!(part.base, 100 + left[file], "parts follow each other");
                        left[file] += part.size;
                    }
                }
            }
            prop_assert_eq!(left, lengths);
        }
    }
}
