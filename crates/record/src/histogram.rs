//! Latency histograms: fixed log-linear buckets that merge exactly.
//!
//! 64 buckets per power of two: a bucket is at most 1/64 of its lower bound wide, so a reported
//! value (the middle of its bucket) is off by at most 1/128. Values up to 127 ns have buckets of
//! their own. The last bucket takes everything from 2^43 ns (2.4 hours) on; the true maximum is
//! kept beside the buckets. The bucket rule is part of the file format.

use std::borrow::Cow;

use candor_plan::Nanos;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Buckets per power of two, as a power of two.
pub const SUB_BITS: u32 = 6;
/// Values from 2^43 ns on share the last bucket.
const VALUE_BITS: u32 = 43;
/// Number of buckets.
pub const BUCKETS: usize = ((VALUE_BITS - SUB_BITS + 1) << SUB_BITS) as usize;

/// The bucket of a value.
#[inline(always)]
pub const fn bucket_of(ns: u64) -> usize {
    let clamped = if ns < (1 << VALUE_BITS) { ns } else { (1 << VALUE_BITS) - 1 };
    let magnitude = 63 - (clamped | (1 << SUB_BITS)).leading_zeros();
    let shift = magnitude - SUB_BITS;
    // The group's offset counts the leading bit once too often, hence no "- 64".
    ((shift as usize) << SUB_BITS) + (clamped >> shift) as usize
}

/// The smallest value of a bucket, in nanoseconds.
pub const fn bucket_low(bucket: usize) -> u64 {
    if bucket < 2 << SUB_BITS {
        return bucket as u64;
    }
    let shift = (bucket >> SUB_BITS) - 1;
    (((bucket & ((1 << SUB_BITS) - 1)) | (1 << SUB_BITS)) as u64) << shift
}

/// The value reported for a bucket: its middle, in nanoseconds.
pub const fn bucket_middle(bucket: usize) -> u64 {
    let low = bucket_low(bucket);
    let shift = if bucket < 2 << SUB_BITS { 0 } else { (bucket >> SUB_BITS) - 1 };
    low + (1u64 << shift) / 2
}

/// Counts of latencies, with exact count, sum, least and greatest.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    /// Up to the last bucket that holds anything: hundreds of jobs have several of these each.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Histogram({} samples, {} to {} ns, sum {} ns)",
            self.count, self.min_ns, self.max_ns, self.sum_ns
        )
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { counts: Vec::new(), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Histogram::default()
    }

    /// From counters that a worker kept: counts by bucket, the exact sum, least and greatest value.
    pub fn from_parts(mut counts: Vec<u64>, sum_ns: u128, min_ns: u64, max_ns: u64) -> Self {
        let filled = counts.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
        counts.truncate(filled);
        counts.shrink_to_fit();
        let count = counts.iter().sum();
        Histogram { counts, count, sum_ns, min_ns, max_ns }
    }

    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        let bucket = bucket_of(ns);
        self.reach(bucket + 1);
        self.counts[bucket] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all of another; exact, and the same in any order.
    pub fn merge(&mut self, other: &Histogram) {
        self.reach(other.counts.len());
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    #[inline]
    fn reach(&mut self, buckets: usize) {
        if self.counts.len() < buckets {
            self.counts.resize(buckets, 0);
        }
    }

    /// The counts that were added since an earlier state. Least and greatest are the bounds of the
    /// buckets that hold anything, within those of the whole.
    pub fn since(&self, before: &Histogram) -> Histogram {
        let pairs = self.counts.iter().zip(before.counts.iter().chain(std::iter::repeat(&0)));
        let counts: Vec<u64> = pairs.map(|(now, then)| now.saturating_sub(*then)).collect();
        let sum_ns = self.sum_ns.saturating_sub(before.sum_ns);
        let mut since = Histogram::from_parts(counts, sum_ns, u64::MAX, 0);
        let filled: Vec<usize> = since.filled().map(|(bucket, _)| bucket).collect();
        if let (Some(first), Some(last)) = (filled.first(), filled.last()) {
            since.min_ns = bucket_low(*first).max(self.min_ns);
            since.max_ns = bucket_middle(*last).max(since.min_ns).min(self.max_ns);
        }
        since
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all latencies in nanoseconds, exact.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The least latency, exact.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.min_ns))
    }

    /// The greatest latency, exact.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(Nanos(self.max_ns))
    }

    /// The arithmetic mean in nanoseconds, exact.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The standard deviation in nanoseconds, from the buckets' middles.
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let squares: f64 = self
            .filled()
            .map(|(bucket, n)| n as f64 * (bucket_middle(bucket) as f64 - mean).powi(2))
            .sum();
        Some((squares / self.count as f64).sqrt())
    }

    /// The latency below which a share `quantile` (0 to 1) of all lie: the middle of the bucket,
    /// kept within the exact least and greatest.
    pub fn quantile(&self, quantile: f64) -> Option<Nanos> {
        let wanted = ((self.count as f64 * quantile).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bucket, n) in self.filled() {
            seen += n;
            if seen >= wanted {
                return Some(Nanos(bucket_middle(bucket).clamp(self.min_ns, self.max_ns)));
            }
        }
        None
    }

    /// Buckets that hold anything, with their counts.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        self.counts.iter().copied().enumerate().filter(|(_, n)| *n > 0)
    }
}

/// The stored form: only filled buckets, as `[lowest ns of the bucket, count]`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stored {
    /// Number of latencies.
    count: u64,
    /// Sum of all latencies in ns, exact.
    sum_ns: u128,
    /// The least latency in ns, exact.
    min_ns: Option<u64>,
    /// The greatest latency in ns, exact.
    max_ns: Option<u64>,
    /// Filled buckets: the lowest ns of each, and the number of latencies in it.
    buckets: Vec<(u64, u64)>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored {
            count: self.count,
            sum_ns: self.sum_ns,
            min_ns: self.min().map(|n| n.0),
            max_ns: self.max().map(|n| n.0),
            buckets: self.filled().map(|(bucket, n)| (bucket_low(bucket), n)).collect(),
        }
        .serialize(serializer)
    }
}

impl JsonSchema for Histogram {
    fn schema_name() -> Cow<'static, str> {
        "Histogram".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Stored::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut counts = vec![0; BUCKETS];
        for (low, n) in stored.buckets {
            counts[bucket_of(low)] += n;
        }
        let (min_ns, max_ns) = (stored.min_ns.unwrap_or(u64::MAX), stored.max_ns.unwrap_or(0));
        let parts = Histogram::from_parts(counts, stored.sum_ns, min_ns, max_ns);
        Ok(Histogram { count: stored.count, ..parts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_contiguous_and_invert() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(bucket_low(bucket)), bucket, "low of {bucket}");
            if bucket > 0 {
                assert_eq!(bucket_of(bucket_low(bucket) - 1), bucket - 1, "below {bucket}");
            }
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_long_stall_is_kept() {
        let mut histogram = Histogram::new();
        histogram.record(94_000_000_000);
        assert_eq!(histogram.max(), Some(Nanos(94_000_000_000)));
        assert_eq!(histogram.quantile(0.99), Some(Nanos(94_000_000_000)));
    }

    proptest! {
        #[test]
        fn merge_equals_recording_all(a: Vec<u32>, b: Vec<u32>) {
            let fill = |values: &[u32]| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|v| histogram.record(u64::from(*v)));
                histogram
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            prop_assert_eq!(merged, fill(&[a, b].concat()));
        }

        #[test]
        fn what_came_since_is_what_was_added(
            a in prop::collection::vec(1u64..1 << 40, 0..50),
            b in prop::collection::vec(1u64..1 << 40, 0..50),
        ) {
            let fill = |values: &[u64]| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|v| histogram.record(*v));
                histogram
            };
            let whole = fill(&[a.clone(), b.clone()].concat());
            let (since, added) = (whole.since(&fill(&a)), fill(&b));
            prop_assert_eq!(&since.counts, &added.counts);
            prop_assert_eq!((since.count, since.sum_ns), (added.count, added.sum_ns));
            if let (Some(found), Some(max)) = (since.max(), added.max()) {
                prop_assert_eq!(bucket_of(found.0), bucket_of(max.0));
            }
        }

        #[test]
        fn quantiles_are_within_a_bucket(
            mut values in prop::collection::vec(1u64..1 << 40, 1..200),
            q in 0.0f64..1.0,
        ) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|v| histogram.record(*v));
            values.sort_unstable();
            let wanted = ((values.len() as f64 * q).ceil() as usize).clamp(1, values.len());
            let exact = values[wanted - 1] as f64;
            let found = histogram.quantile(q).unwrap().0 as f64;
            prop_assert!((found - exact).abs() <= exact / 64.0 + 1.0, "{found} for {exact}");
        }

        #[test]
        fn json_round_trip(values in prop::collection::vec(0u64..1 << 45, 0..50)) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|v| histogram.record(*v));
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }
    }
}
