//! Shapes of a latency distribution, for pictures.

use std::collections::BTreeMap;

use super::LatencyResults;

/// Bins of [`LatencyResults::bins`] per power of two.
const BINS_PER_OCTAVE: f64 = 4.0;
/// Samples that have to lie beyond a percentile for it to be more than chance.
const BEYOND: f64 = 10.0;

/// Latencies within a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower end in ns.
    pub from_ns: f64,
    /// Upper end in ns.
    pub to_ns: f64,
    /// Share of all operations, from 0 to 1.
    pub share: f64,
}

impl LatencyResults {
    /// Number of latencies in the buckets.
    fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// (percentile, ns) from which on the percentiles have that value, ascending; the percentiles
    /// that the tool reports, where it has no buckets.
    pub fn curve(&self) -> Vec<(f64, u64)> {
        let all = self.count() as f64;
        if all == 0.0 {
            return self.percentiles.clone();
        }
        let mut below = 0;
        let mut point = |(ns, count): &(u64, u64)| {
            let percentile = below as f64 * 100.0 / all;
            below += count;
            (percentile, *ns)
        };
        self.buckets.iter().map(&mut point).collect()
    }

    /// Adds the counts of a repeat. Only the buckets have a meaning afterwards.
    pub fn add_counts(&mut self, repeat: &LatencyResults) {
        let mut counts: BTreeMap<u64, u64> = self.buckets.drain(..).collect();
        for (ns, count) in &repeat.buckets {
            *counts.entry(*ns).or_default() += count;
        }
        *self =
            LatencyResults { buckets: counts.into_iter().collect(), ..LatencyResults::default() };
    }

    /// The greatest percentile that ten samples lie beyond; 100 where the number of samples is not
    /// known.
    pub fn carried_percentile(&self) -> f64 {
        match self.count() {
            0 => 100.0,
            all => (100.0 - BEYOND * 100.0 / all as f64).max(50.0),
        }
    }

    /// Shares of all operations in even steps of the logarithm, from the least to the greatest,
    /// empty ones between them as well; none where the tool reports percentiles only.
    pub fn bins(&self) -> Vec<Bin> {
        let all = self.count() as f64;
        let bin_of = |ns: u64| (ns.max(1) as f64).log2() * BINS_PER_OCTAVE;
        let edge = |bin: i32| (f64::from(bin) / BINS_PER_OCTAVE).exp2();
        let mut bins: Vec<(i32, u64)> = Vec::new();
        for (ns, count) in &self.buckets {
            let bin = bin_of(*ns).floor() as i32;
            while let Some((last, _)) = bins.last().copied().filter(|(last, _)| *last < bin) {
                bins.push((last + 1, 0));
            }
            match bins.last_mut() {
                Some((_, sum)) => *sum += count,
                None => bins.push((bin, *count)),
            }
        }
        bins.into_iter()
            .map(|(bin, count)| {
                let share = count as f64 / all;
                Bin { from_ns: edge(bin), to_ns: edge(bin + 1), share }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Histogram, Latency};

    fn results(values: &[u64]) -> LatencyResults {
        let mut histogram = Histogram::new();
        values.iter().for_each(|ns| histogram.record(*ns));
        let latency = Latency::from_histogram(histogram);
        latency.as_ref().map(LatencyResults::from).unwrap_or_default()
    }

    #[test]
    fn reported_percentiles_stand_in_for_buckets() {
        let percentiles = vec![(50.0, 100), (99.0, 900)];
        let latency = LatencyResults { percentiles: percentiles.clone(), ..Default::default() };
        assert_eq!((latency.curve(), latency.carried_percentile()), (percentiles, 100.0));
        assert_eq!(latency.bins(), []);
    }

    proptest! {
        #[test]
        fn the_curve_goes_through_the_quoted_percentiles(
            values in prop::collection::vec(200u64..1 << 40, 1..3000),
        ) {
            let latency = results(&values);
            let curve = latency.curve();
            for (percentile, ns) in &latency.percentiles {
                let at = curve.iter().rev().find(|(from, _)| from < percentile).expect("one");
                // Quoted ones are kept within the least and the greatest.
                let (low, high) = (latency.min_ns.unwrap(), latency.max_ns.unwrap());
                prop_assert_eq!(at.1.clamp(low, high), *ns, "p{}", percentile);
            }
            let beyond = values.len() as f64 * (1.0 - latency.carried_percentile() / 100.0);
            prop_assert!(values.len() < 20 || (beyond - 10.0).abs() < 1e-6);
            let bins = latency.bins();
            prop_assert!((bins.iter().map(|bin| bin.share).sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(bins.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
        }
    }
}
