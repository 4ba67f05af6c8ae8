//! Times and distributions, as the table and the result files write them.

use candor_record::Latency;
use candor_record::histogram::{SUB_BITS, bucket_low};

/// A time: `61ms`, `11.559s`, `2m3.241s`.
pub fn elapsed(ns: u64) -> String {
    let ms = ns / 1_000_000;
    let seconds = |ms: u64| format!("{}.{:03}s", ms / 1000, ms % 1000);
    match ms {
        0..1000 => format!("{ms}ms"),
        1000..60_000 => seconds(ms),
        _ => format!("{}m{}", ms / 60_000, seconds(ms % 60_000)),
    }
}

/// A latency with its unit, in three digits: `5.23us`, `530us`, `61.4ms`, `1.2s`.
pub fn latency(ns: f64) -> String {
    let (value, unit) = match ns {
        ..999_500.0 => (ns / 1e3, "us"),
        ..999_500_000.0 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{}{unit}", digits(value))
}

/// A latency in µs, in three digits below 100: `0.85`, `5.23`, `65536`.
pub fn microseconds(ns: f64) -> String {
    digits(ns / 1e3)
}

/// The same for a bound: rounded up, so that it stays one.
pub fn bound_us(ns: u64) -> String {
    let us = ns as f64 / 1e3;
    let factor = 10f64.powi(places(us) as i32);
    // A product may lie a little above the whole number that it is.
    digits((us * factor - 1e-6).ceil() / factor)
}

/// Decimals of a number with three digits.
fn places(value: f64) -> usize {
    match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    }
}

/// A number with three digits or all whole ones, without zeros at the end.
fn digits(value: f64) -> String {
    let places = places(value);
    let text = format!("{value:.places$}");
    if places == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').into() }
}

/// Percentiles: the usual four, and those of further nines.
pub fn percentiles(nines: u8) -> Vec<String> {
    let further = (1..=usize::from(nines)).map(|count| format!("99.{}", "9".repeat(count)));
    ["1", "50", "75", "99"].map(String::from).into_iter().chain(further).collect()
}

/// Upper bound of the bucket in which a percentile lies, in ns.
pub fn upper_bound_ns(latency: &Latency, percentile: &str) -> u64 {
    let share = percentile.parse::<f64>().unwrap_or(100.0) / 100.0;
    let wanted = ((latency.count as f64 * share).ceil() as u64).clamp(1, latency.count.max(1));
    let mut seen = 0;
    let reached = latency.histogram.filled().find(|(_, count)| {
        seen += count;
        seen >= wanted
    });
    reached.map_or(latency.max_ns, |(bucket, _)| bucket_low(bucket + 1).min(latency.max_ns))
}

/// Percentiles with their bounds, such as `99%<=65.5`.
pub fn bounds(latency: &Latency, nines: u8) -> Vec<String> {
    let bound = |percentile: &String| {
        let us = bound_us(upper_bound_ns(latency, percentile));
        format!("{percentile}%<={us}")
    };
    percentiles(nines).iter().map(bound).collect()
}

/// A bucket of a printed distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Least latency.
    pub from_ns: u64,
    /// Least latency that lies above it.
    pub below_ns: u64,
    /// Latencies in it.
    pub count: u64,
}

/// Buckets per power of two in a printed distribution, as a power of two.
const SHOWN_BITS: u32 = 2;

/// A distribution in four buckets per power of two of ns; those without a latency are left out.
pub fn buckets(latency: &Latency) -> Vec<Bucket> {
    let width = 1 << (SUB_BITS - SHOWN_BITS);
    let mut buckets: Vec<Bucket> = Vec::new();
    for (bucket, count) in latency.histogram.filled() {
        // Below that there is a bucket for each ns.
        let group = if bucket < 2 << SUB_BITS { 0 } else { bucket / width * width };
        let end = if group == 0 { 2 << SUB_BITS } else { group + width };
        let from_ns = bucket_low(group);
        match buckets.last_mut().filter(|last| last.from_ns == from_ns) {
            Some(last) => last.count += count,
            None => buckets.push(Bucket { from_ns, below_ns: bucket_low(end), count }),
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use candor_record::Histogram;

    use super::*;

    fn distribution(values: &[u64]) -> Latency {
        let mut histogram = Histogram::new();
        values.iter().for_each(|ns| histogram.record(*ns));
        Latency::from_histogram(histogram).expect("values")
    }

    #[test]
    fn times_have_the_units_of_the_table() {
        let ms = |ms: u64| elapsed(ms * 1_000_000);
        assert_eq!([ms(0), ms(61), ms(11_559)], ["0ms", "61ms", "11.559s"]);
        assert_eq!([ms(123_241), ms(3_723_004)], ["2m3.241s", "62m3.004s"]);
        let all = [850.0, 5_230.0, 530_400.0, 999_600.0, 61_420_000.0, 1_200_000_000.0];
        assert_eq!(all.map(latency), ["0.85us", "5.23us", "530us", "1ms", "61.4ms", "1.2s"]);
    }

    #[test]
    fn a_percentile_is_at_most_its_bound() {
        let values: Vec<u64> = (1..=1000).map(|n| n * 1000).collect();
        let latency = distribution(&values);
        for (percentile, exact) in [("1", 10_000), ("50", 500_000), ("99", 990_000)] {
            let bound = upper_bound_ns(&latency, percentile);
            assert!((exact..exact + exact / 32).contains(&bound), "{percentile}: {bound}");
        }
        assert_eq!(upper_bound_ns(&latency, "99.99"), 1_000_000, "no more than the greatest");
        assert_eq!(percentiles(2), ["1", "50", "75", "99", "99.9", "99.99"]);
    }

    #[test]
    fn a_bound_is_rounded_up() {
        let all = [850, 5_231, 61_440, 99_960, 530_001, 65_536_000].map(bound_us);
        assert_eq!(all, ["0.85", "5.24", "61.5", "100", "531", "65536"]);
    }

    #[test]
    fn printed_buckets_hold_every_latency_once() {
        let values = [1, 100, 127, 128, 159, 160, 1023, 1024, 65_536, 1 << 50];
        let buckets = buckets(&distribution(&values));
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 10);
        for bucket in &buckets[..buckets.len() - 1] {
            let within = |ns: &&u64| (bucket.from_ns..bucket.below_ns).contains(ns);
            assert_eq!(values.iter().filter(within).count() as u64, bucket.count, "{bucket:?}");
        }
        assert!(buckets.windows(2).all(|pair| pair[0].below_ns <= pair[1].from_ns));
    }
}
