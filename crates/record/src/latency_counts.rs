//! Counts of latencies in few buckets: small enough to be kept of every interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::histogram::{BUCKETS, Histogram, SUB_BITS, bucket_low};

/// Buckets per power of two, as a power of two.
const COARSE_BITS: u32 = 2;
/// Buckets of a histogram that make up one, as a power of two.
const TOGETHER_BITS: u32 = SUB_BITS - COARSE_BITS;
/// The last bucket, which takes everything from its lower end on.
const LAST: u8 = ((BUCKETS >> TOGETHER_BITS) - 1) as u8;

/// Latencies by buckets, of which a power of two has four, as `[bucket, count]` of those that hold
/// any, ascending. Bucket b below 4 begins at 16 b ns; any other at (4 + b mod 4) * 2^(b / 4 + 3)
/// ns, with whole quotients: 36 at 16384 ns, 37 at 20480, 38 at 24576, 39 at 28672, 40 at 32768.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LatencyCounts(Vec<(u8, u64)>);

impl LatencyCounts {
    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of buckets that hold any.
    pub fn buckets(&self) -> usize {
        self.0.len()
    }

    /// Adds all of another; exact, and the same in any order.
    pub fn merge(&mut self, other: &LatencyCounts) {
        for (bucket, count) in &other.0 {
            match self.0.binary_search_by_key(bucket, |(known, _)| *known) {
                Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(*count),
                Err(at) => self.0.insert(at, (*bucket, *count)),
            }
        }
    }

    /// (lower end in ns, upper end in ns, count) of the buckets that hold any, ascending.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let low = |bucket: usize| bucket_low(bucket << TOGETHER_BITS);
        self.0.iter().map(move |(bucket, count)| {
            let bucket = usize::from((*bucket).min(LAST));
            (low(bucket), low(bucket + 1), *count)
        })
    }
}

impl From<&Histogram> for LatencyCounts {
    fn from(histogram: &Histogram) -> LatencyCounts {
        let mut counts: Vec<(u8, u64)> = Vec::new();
        for (bucket, count) in histogram.filled() {
            let bucket = (bucket >> TOGETHER_BITS) as u8;
            match counts.last_mut().filter(|(last, _)| *last == bucket) {
                Some((_, sum)) => *sum += count,
                None => counts.push((bucket, count)),
            }
        }
        LatencyCounts(counts)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut all = Histogram::new();
        values.iter().for_each(|ns| all.record(*ns));
        all
    }

    #[test]
    fn buckets_begin_where_the_format_says() {
        for (ns, bucket) in [(0, 0), (16, 1), (63, 3), (64, 4), (80, 5), (128, 8), (28_672, 39)] {
            let counts = LatencyCounts::from(&histogram(&[ns, ns]));
            assert_eq!(counts.0, [(bucket, 2)], "{ns}");
            let begin = match u64::from(bucket) {
                b @ 0..4 => 16 * b,
                b => (4 + b % 4) << (b / 4 + 3),
            };
            assert_eq!(counts.filled().next().map(|(low, ..)| low), Some(begin));
        }
        assert_eq!(LatencyCounts::from(&histogram(&[u64::MAX])).0, [(LAST, 1)]);
        // A bucket that no histogram has is read as the last.
        let read: LatencyCounts = serde_json::from_str("[[255, 3]]").expect("counts");
        assert_eq!(read.filled().map(|(low, _, n)| (low < 1 << 43, n)).last(), Some((true, 3)));
    }

    proptest! {
        #[test]
        fn each_latency_lies_in_its_bucket(ns in 0u64..1 << 43) {
            let counts = LatencyCounts::from(&histogram(&[ns]));
            let all: Vec<_> = counts.filled().collect();
            prop_assert!(matches!(all[..], [(low, high, 1)] if low <= ns && ns < high), "{all:?}");
        }

        #[test]
        fn merged_counts_are_those_of_all(
            a in prop::collection::vec(1u64..1 << 40, 0..50),
            b in prop::collection::vec(1u64..1 << 40, 0..50),
        ) {
            let mut merged = LatencyCounts::from(&histogram(&a));
            merged.merge(&LatencyCounts::from(&histogram(&b)));
            prop_assert_eq!(merged, LatencyCounts::from(&histogram(&[a, b].concat())));
        }
    }
}
