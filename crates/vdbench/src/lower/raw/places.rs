//! Offsets of operations: the range of a lun, and the order within it.

use candor_plan::Bytes;
use candor_plan::blocks::{Access, Range, Stay, StayAt, Zone};
use candor_plan::units::{Extent, PerDirection};

use crate::definitions::transfer::LunRange;

/// Above it, bounds of a range are bytes and not percent.
const PERCENT_MAX: f64 = 200.0;
/// Exponent of the distribution within a hot band: a fifth of the offsets receives four fifths of
/// the accesses.
const HOT: f64 = 0.2;
/// Sections that approximate a distribution around the start.
const PARTS: u32 = 50;

/// The range of a lun in bytes: one piece, or two if it wraps around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    pub low: u64,
    pub high: u64,
}

impl Part {
    /// A range of a lun of `bytes`, without the bytes below `first`.
    pub(super) fn of(range: Option<LunRange>, bytes: u64, first: u64, unit: u64) -> Part {
        let down = |at: u64| at / unit.max(1) * unit.max(1);
        let at = |bound: f64| {
            if bound <= 100.0 { (bytes as f64 * bound / 100.0) as u64 } else { bound as u64 }
        };
        let Some(range) = range else { return Part { low: first, high: bytes } };
        let wraps = range.high > 100.0 && range.high <= PERCENT_MAX && range.low <= 100.0;
        let high = if wraps {
            let over = bytes as f64 * (range.high - 100.0) / 100.0;
            bytes.saturating_add(over as u64)
        } else {
            at(range.high).min(bytes)
        };
        Part { low: down(at(range.low)).max(first), high: down(high) }
    }

    /// Bytes of it.
    pub(super) fn length(&self) -> u64 {
        self.high.saturating_sub(self.low)
    }

    /// The range in the plan; a range that wraps is the whole lun with a gap of zones.
    pub(super) fn range(&self, bytes: u64, first: u64, offset: u64) -> Range {
        let (low, high) = if self.high > bytes { (first, bytes) } else { (self.low, self.high) };
        let start = low.saturating_add(offset);
        Range {
            start: Extent::Bytes(Bytes(start)),
            start_align: None,
            length: Some(Extent::Bytes(Bytes(high.saturating_sub(start)))),
        }
    }

    /// Zones of a range that wraps: both its ends, without the middle.
    pub(super) fn wrapped(&self, bytes: u64, first: u64) -> Option<Access> {
        let over = self.high.checked_sub(bytes).filter(|over| *over > first)?;
        let front = over - first;
        let back = bytes - self.low;
        let middle = self.low - over;
        let share = |length: u64| 100.0 * length as f64 / (front + back) as f64;
        let zones = [(share(front), front), (0.0, middle), (share(back), back)];
        Some(zoned(PerDirection::all(zones.to_vec())))
    }
}

fn zoned(zones: PerDirection<Vec<(f64, u64)>>) -> Access {
    Access::Zoned {
        zones: zones.map(|all| {
            all.into_iter()
                .filter(|(_, bytes)| *bytes > 0)
                .map(|(access_percent, bytes)| Zone {
                    access_percent,
                    size: Extent::Bytes(Bytes(bytes)),
                })
                .collect::<Vec<_>>()
        }),
    }
}

/// Random offsets with shares in the hit area at the start.
pub(super) fn with_hits(read_percent: f64, write_percent: f64, area: u64, length: u64) -> Access {
    let of = |percent: f64| vec![(percent, area), (100.0 - percent, length - area)];
    let mut zones = PerDirection::all(of(read_percent));
    zones.write = of(write_percent);
    zoned(zones)
}

/// One sequential stream; or two with hits: one in the hit area at the start, one after it.
pub(super) fn ascending(hits: Option<([f64; 2], u64)>, stride: u64) -> Access {
    let hole = Bytes(stride);
    match hits {
        Some(([read, write], area)) => {
            let hit_percent = PerDirection { write, ..PerDirection::all(read) };
            Access::HitArea { bytes: Bytes(area), hit_percent, hole }
        }
        None if stride == 0 => Access::Sequential,
        None => Access::Holes { hole },
    }
}

/// Offsets whose density falls with the distance from the start: half of them are below the
/// midpoint, in percent of the range.
pub(super) fn around_start(midpoint_percent: f64) -> Access {
    let below = |percent: f64| 1.0 - 0.5_f64.powf(percent / midpoint_percent.max(0.1));
    let all = below(100.0);
    let step = 100.0 / f64::from(PARTS);
    Access::Zoned {
        zones: PerDirection::all(
            (0..PARTS)
                .map(|nth| {
                    let (from, to) = (f64::from(nth) * step, f64::from(nth + 1) * step);
                    let access_percent = 100.0 * (below(to) - below(from)) / all;
                    Zone { access_percent, size: Extent::Percent(step) }
                })
                .collect(),
        ),
    }
}

/// Offsets of a hot band.
pub(super) fn hot() -> Access {
    Access::Pareto { h: HOT, center_percent: None }
}

/// Sequential operations between random ones.
pub(super) fn stay(random_percent: f64) -> Stay {
    let percent = (100.0 - random_percent).round().clamp(0.0, 100.0) as u8;
    Stay { percent: PerDirection::all(percent), run: 1, at: StayAt::End }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn part(low: f64, high: f64) -> Part {
        Part::of(Some(LunRange { low, high }), 100 * MIB, 0, 4096)
    }

    #[test]
    fn ranges_are_percent_or_bytes() {
        assert_eq!(part(10.0, 60.0), Part { low: 10 * MIB, high: 60 * MIB });
        let bytes = part(1048576.0, 2097152.0);
        assert_eq!(bytes, Part { low: MIB, high: 2 * MIB });
        assert_eq!(Part::of(None, 100 * MIB, 4096, 4096), Part { low: 4096, high: 100 * MIB });
        let raw = Part::of(Some(LunRange { low: 0.0, high: 50.0 }), 100 * MIB, 4096, 4096);
        assert_eq!(raw.low, 4096, "the first block stays");
    }

    #[test]
    fn a_range_beyond_the_end_goes_on_at_the_start() {
        let wrapped = part(90.0, 110.0);
        assert_eq!((wrapped.low, wrapped.high), (90 * MIB, 110 * MIB));
        assert_eq!(wrapped.length(), 20 * MIB);
        let Some(Access::Zoned { zones }) = wrapped.wrapped(100 * MIB, 0) else {
            panic!("no zones")
        };
        let found: Vec<(f64, Extent)> =
            zones.read.iter().map(|zone| (zone.access_percent, zone.size)).collect();
        let size = |mib| Extent::Bytes(Bytes(mib * MIB));
        assert_eq!(found, [(50.0, size(10)), (0.0, size(80)), (50.0, size(10))]);
        assert_eq!(part(10.0, 60.0).wrapped(100 * MIB, 0), None);
    }

    #[test]
    fn half_of_the_places_lie_before_the_midpoint() {
        let Access::Zoned { zones } = around_start(10.0) else { panic!("no zones") };
        let first: f64 = zones.read[..5].iter().map(|zone| zone.access_percent).sum();
        let all: f64 = zones.read.iter().map(|zone| zone.access_percent).sum();
        assert!((first - 50.0).abs() < 0.1 && (all - 100.0).abs() < 1e-6, "{first} {all}");
    }

    #[test]
    fn hits_fall_on_the_start() {
        let Access::Zoned { zones } = with_hits(80.0, 0.0, MIB, 10 * MIB) else {
            panic!("no zones")
        };
        assert_eq!(zones.read[0].access_percent, 80.0);
        assert_eq!(
            zones.write[1],
            Zone { access_percent: 100.0, size: Extent::Bytes(Bytes(9 * MIB)) }
        );
    }
}
