//! A latency distribution in fio's metrics.
//!
//! fio counts latencies in 29 groups of 64 bins, each group twice as wide as the previous one;
//! candor's histogram has 38 such groups. Every bin of candor below 2^34 ns is a bin of fio with
//! the same bounds, so the statistics are equal. Above 17.2 s fio counts everything in its last
//! bin; candor keeps these latencies.

use candor_record::histogram::bucket_middle;
use candor_record::{Histogram, Latency};

/// Latencies of one kind; empty if not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::output) struct Spread {
    histogram: Histogram,
}

impl Spread {
    /// Of a measured latency, if there is one.
    pub fn of(latency: Option<&Latency>) -> Spread {
        Spread { histogram: latency.map(|l| l.histogram.clone()).unwrap_or_default() }
    }

    /// Adds the latencies of another.
    pub fn add(&mut self, other: &Spread) {
        if !other.is_empty() {
            self.histogram.merge(&other.histogram);
        }
    }

    /// Nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// Minimum in ns.
    pub fn min(&self) -> u64 {
        self.histogram.min().map_or(0, |ns| ns.0)
    }

    /// Maximum in ns.
    pub fn max(&self) -> u64 {
        self.histogram.max().map_or(0, |ns| ns.0)
    }

    /// Mean, in ns.
    pub fn mean(&self) -> f64 {
        self.histogram.mean_ns().unwrap_or(0.0)
    }

    /// Standard deviation of a sample in ns, computed from the middles of the bins. Its error is at
    /// most 1/128 of the latencies.
    pub fn deviation(&self) -> f64 {
        match self.count() {
            0 | 1 => 0.0,
            n => self.histogram.stddev_ns().unwrap_or(0.0) * (n as f64 / (n - 1) as f64).sqrt(),
        }
    }

    /// Middle of the bin with the given percentile, as in fio: not limited to minimum and maximum.
    /// The open last bin has no middle; its percentile is the maximum.
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = percent / 100.0 * self.count() as f64;
        let mut seen = 0;
        for (bucket, n) in self.histogram.filled() {
            seen += n;
            // Percentages are inexact decimal fractions: 99.9 % of 1000 are 999.
            if seen as f64 >= wanted - wanted * 1e-12 {
                return self.middle(bucket);
            }
        }
        self.max()
    }

    fn middle(&self, bucket: usize) -> u64 {
        if bucket + 1 == candor_record::histogram::BUCKETS {
            self.max()
        } else {
            bucket_middle(bucket)
        }
    }

    /// Middle and count of every bin that holds anything.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        self.histogram.filled().map(|(bucket, n)| (self.middle(bucket), n))
    }
}

/// Upper bounds of the steps in the table of latencies, in the unit of each row.
pub(in crate::output) const STEPS: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// Percentages of latencies between fixed bounds. A bin across a bound counts by its middle, so the
/// error is at most the share within 1/64 of the bounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::output) struct Table {
    /// Below 2, 4, 10, … 1000 ns.
    pub ns: [f64; 10],
    /// From 1 µs on: below 2, 4, 10, … 1000 µs.
    pub us: [f64; 10],
    /// From 1 ms on: below 2, 4, 10, … 2000 ms, and the rest.
    pub ms: [f64; 12],
}

impl Table {
    /// Of these latencies, in percent of `total`.
    pub fn of(spread: &Spread, total: u64) -> Table {
        let mut counts = (vec![0; 10], vec![0; 10], vec![0; 12]);
        for (ns, n) in spread.bins() {
            let step = |value: u64, steps: &[u64]| steps.iter().position(|bound| value < *bound);
            if let Some(at) = step(ns, &STEPS[..10]) {
                counts.0[at] += n;
            } else if let Some(at) = step(ns / 1000, &STEPS[..10]) {
                counts.1[at] += n;
            } else {
                counts.2[step(ns / 1_000_000, &STEPS).unwrap_or(11)] += n;
            }
        }
        let share = |n: u64| share(n, total, 0.01);
        Table {
            ns: std::array::from_fn(|i| share(counts.0[i])),
            us: std::array::from_fn(|i| share(counts.1[i])),
            ms: std::array::from_fn(|i| share(counts.2[i])),
        }
    }
}

/// A nonzero share in percent is at least `least`.
pub(in crate::output) fn share(part: u64, total: u64, least: f64) -> f64 {
    match part {
        0 => 0.0,
        part => (part as f64 * 100.0 / total.max(1) as f64).max(least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(latencies: &[u64]) -> Spread {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|ns| histogram.record(*ns));
        Spread { histogram }
    }

    #[test]
    fn percentiles_are_middles_of_bins() {
        // A run of fio 3.33 with a maximum of 4957968 ns reported 4947968 as p99.99.
        assert_eq!(spread(&[4_957_968]).percentile(99.99), 4_947_968);
        let ten: Vec<u64> = (1..=10).collect();
        assert_eq!(spread(&ten).percentile(50.0), 5);
        assert_eq!(spread(&ten).percentile(51.0), 6);
        assert_eq!(spread(&ten).percentile(100.0), 10);
        let thousand: Vec<u64> = (0..1000).map(|i| if i == 999 { 100 } else { 1 }).collect();
        assert_eq!(spread(&thousand).percentile(99.9), 1);
    }

    #[test]
    fn a_latency_beyond_fios_last_bin_is_kept() {
        let slow = spread(&[94_000_000_000]);
        let off = slow.percentile(99.0).abs_diff(94_000_000_000);
        assert!(off < 94_000_000_000 / 64, "{off}");
        assert_eq!(slow.max(), 94_000_000_000);
        assert_eq!(spread(&[u64::MAX / 2]).percentile(50.0), u64::MAX / 2);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert!((spread(&[10, 20]).deviation() - 50f64.sqrt()).abs() < 1e-9);
        assert_eq!(spread(&[10]).deviation(), 0.0);
    }

    #[test]
    fn latencies_fall_into_rows_by_unit() {
        let table = Table::of(&spread(&[1, 999, 1000, 150_000, 1_500_000, 3_000_000_000]), 6);
        let sixth = 100.0 / 6.0;
        assert_eq!((table.ns[0], table.ns[9]), (sixth, sixth));
        assert_eq!((table.us[0], table.us[6]), (sixth, sixth));
        assert_eq!((table.ms[0], table.ms[11]), (sixth, sixth));
        assert_eq!(table.ms[1..11].iter().sum::<f64>(), 0.0);
        assert_eq!(Table::of(&spread(&[1]), 1_000_000).ns[0], 0.01);
    }
}
