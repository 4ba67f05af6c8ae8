//! Where to read: somewhere in data that a device really holds.

use std::fs::File;
use std::ops::Range;

use candor_record::facts::FileFacts;

use super::{Stop, nothing, stopped};
use crate::host::clock;
use crate::path::fiemap::{self, Extent};

/// Read at most at once.
const LENGTH_MAX: u64 = 64 << 10;

/// A read: offset and length in bytes, both in whole units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Of the room around it that a read may move in.
    unit: u64,
}

/// Sizes of units in which a file can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Units {
    pub(super) preferred: u64,
    pub(super) least: u64,
}

/// Stretches of written data in whole preferred units, or if none exists, in whole least units.
/// Each is a spot that covers the whole stretch.
pub(super) fn candidates(file: &File, facts: &FileFacts, units: Units) -> Result<Vec<Spot>, Stop> {
    if facts.size_bytes == 0 {
        return Err(nothing("it is empty"));
    }
    let stretches = written(file, facts)?;
    let end = facts.size_bytes.next_multiple_of(units.least);
    for unit in [units.preferred, units.least] {
        let spots: Vec<Spot> =
            stretches.iter().filter_map(|bytes| aligned(bytes, unit, end)).collect();
        if !spots.is_empty() {
            return Ok(spots);
        }
    }
    Err(nothing("it has no block of written data that could be read alone"))
}

/// Stretches of the file that a device holds as they are.
fn written(file: &File, facts: &FileFacts) -> Result<Vec<Range<u64>>, Stop> {
    let everything = || std::iter::once(0..facts.size_bytes).collect();
    if facts.extents.is_none() {
        // A device, or a filesystem that does not tell: then all of it is tried.
        return Ok(everything());
    }
    let Ok(extents) = fiemap::extents(file) else { return Ok(everything()) };
    let stretches = joined(&extents);
    if !stretches.is_empty() {
        return Ok(stretches);
    }
    if extents.iter().any(Extent::is_encoded) {
        return Err(stopped("all of it is stored compressed, so reads have no known size"));
    }
    Err(nothing("all of it is holes, unwritten or not yet on a device"))
}

/// Neighbouring extents of written data in one piece.
fn joined(extents: &[Extent]) -> Vec<Range<u64>> {
    let mut stretches: Vec<Range<u64>> = Vec::new();
    for extent in extents.iter().filter(|extent| extent.is_plainly_stored()) {
        match stretches.last_mut() {
            Some(last) if last.end == extent.bytes.start => last.end = extent.bytes.end,
            _ => stretches.push(extent.bytes.clone()),
        }
    }
    stretches
}

/// The whole units of a stretch before `end`.
fn aligned(bytes: &Range<u64>, unit: u64, end: u64) -> Option<Spot> {
    let offset = bytes.start.checked_next_multiple_of(unit)?;
    let end = bytes.end.checked_next_multiple_of(512)?.min(end);
    let end = end - end % unit;
    let length = end.checked_sub(offset).filter(|&length| length > 0)?;
    Some(Spot { offset, length, unit })
}

/// Chance enough to hit a new place in every run, without a library for it.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new() -> Chance {
        Chance(clock::now_ns() ^ u64::from(std::process::id()).rotate_left(32))
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A read somewhere in one of the stretches, which must not be none. The long ones are hit
    /// more often.
    pub(super) fn choose(&mut self, spots: &[Spot]) -> Spot {
        let total = spots.iter().fold(0u64, |sum, spot| sum.saturating_add(spot.length)).max(1);
        let mut at = self.next() % total;
        for spot in spots {
            if at < spot.length {
                return self.within(spot);
            }
            at -= spot.length;
        }
        self.within(&spots[0])
    }

    /// As [`Chance::choose`], of any length up to the longest.
    pub(super) fn choose_short(&mut self, spots: &[Spot]) -> Spot {
        let spot = self.choose(spots);
        let length = (1 + self.next() % (spot.length / spot.unit).max(1)) * spot.unit;
        Spot { length, ..spot }
    }

    fn within(&mut self, spot: &Spot) -> Spot {
        let longest = LENGTH_MAX.max(spot.unit);
        let length = spot.length.min(longest - longest % spot.unit);
        let places = (spot.length - length) / spot.unit + 1;
        Spot { offset: spot.offset + self.next() % places * spot.unit, length, unit: spot.unit }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stretches_shrink_to_whole_units() {
        let spot = |bytes: Range<u64>, unit, end| {
            aligned(&bytes, unit, end).map(|spot| (spot.offset, spot.length))
        };
        assert_eq!(spot(0..10_000, 4096, 10_240), Some((0, 8192)));
        assert_eq!(spot(100..10_000, 4096, u64::MAX), Some((4096, 4096)));
        assert_eq!(spot(0..4096, 4096, 512), None);
        assert_eq!(spot(0..4096, 512, 512), Some((0, 512)));
        assert_eq!(spot(4097..8191, 4096, u64::MAX), None);
        assert_eq!(spot(0..u64::MAX, 4096, u64::MAX), None);
    }

    proptest! {
        #[test]
        fn every_read_is_aligned_and_inside(
            start in 0u64..1 << 40,
            length in 1u64..1 << 24,
            shift in 9u32..17,
        ) {
            let unit = 1u64 << shift;
            let all = start..start + length;
            if let Some(stretch) = aligned(&all, unit, u64::MAX) {
                let chosen = Chance::new().choose(std::slice::from_ref(&stretch));
                prop_assert_eq!(chosen.offset % unit, 0);
                prop_assert_eq!(chosen.length % unit, 0);
                prop_assert!(chosen.length > 0 && chosen.length <= LENGTH_MAX.max(unit));
                prop_assert!(chosen.offset >= stretch.offset);
                prop_assert!(chosen.offset + chosen.length <= stretch.offset + stretch.length);
                let short = Chance::new().choose_short(std::slice::from_ref(&stretch));
                prop_assert_eq!((short.offset % unit, short.length % unit), (0, 0));
                prop_assert!(short.length > 0 && short.length <= LENGTH_MAX.max(unit));
                prop_assert!(short.offset + short.length <= stretch.offset + stretch.length);
            }
        }
    }
}
