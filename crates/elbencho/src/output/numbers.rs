//! Times and distributions in the format of the table and the result files.

use candor_record::Latency;
use candor_record::histogram::bucket_low;

/// A time: `61ms`, `11.559s`, `2m3.241s`, `1h2m3s`.
pub fn elapsed(ns: u64) -> String {
    let ms = ns / 1_000_000;
    let (hours, minutes, seconds, ms) =
        (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    match (hours, minutes, seconds) {
        (0, 0, 0) => format!("{ms}ms"),
        (0, 0, _) => format!("{seconds}.{ms:03}s"),
        (0, _, _) => format!("{minutes}m{seconds}.{ms:03}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// A latency with its unit, in whole µs or three digits: `530us`, `5.23ms`, `61.4ms`, `1.20s`.
pub fn latency(ns: f64) -> String {
    let us = whole_us(ns);
    let (value, unit) = match us {
        ..1000 => return format!("{us}us"),
        1000..1_000_000 => (us as f64 / 1e3, "ms"),
        _ => (us as f64 / 1e6, "s"),
    };
    let places = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.places$}{unit}")
}

/// An integer, rounded down.
pub fn whole(value: f64) -> String {
    (value as u64).to_string()
}

/// A latency in whole µs, rounded down.
pub fn whole_us(ns: f64) -> u64 {
    (ns / 1e3) as u64
}

/// An upper bound in µs: one decimal below 10, always rounded up.
pub fn bound_us(ns: u64) -> String {
    let us = ns as f64 / 1e3;
    // A product may be slightly above its integer value.
    let tenths = (us * 10.0 - 1e-6).ceil() / 10.0;
    if tenths < 10.0 { format!("{tenths:.1}") } else { format!("{:.0}", us.ceil()) }
}

/// Percentiles: the usual four, and further nines.
pub fn percentiles(nines: u8) -> Vec<String> {
    let further = (1..=usize::from(nines)).map(|count| format!("99.{}", "9".repeat(count)));
    ["1", "50", "75", "99"].map(String::from).into_iter().chain(further).collect()
}

/// Upper bound of the bucket of a percentile, in ns.
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Index of the bucket.
    number: u32,
    /// Number of latencies.
    pub count: u64,
}

/// Buckets per power of two of µs.
const PER_OCTAVE: f64 = 4.0;

/// Index of the last bucket, which contains all longer latencies.
const BUCKET_MAX: u32 = 111;

impl Bucket {
    /// Minimum latency, and the smallest latency above it, in µs.
    pub fn range_us(&self) -> [String; 2] {
        let edge = |number: u32| match number {
            0 => "0.0".to_owned(),
            number => {
                let us = 2_f64.powf(f64::from(number) / PER_OCTAVE);
                if us < 10.0 { format!("{us:.1}") } else { format!("{us:.0}") }
            }
        };
        [edge(self.number), edge(self.number + 1)]
    }
}

/// A distribution with four buckets per power of two of µs; empty buckets are omitted.
pub fn buckets(latency: &Latency) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for (bucket, count) in latency.histogram.filled() {
        let us = bucket_low(bucket) as f64 / 1e3;
        let number = if us < 1.0 { 0.0 } else { us.log2() * PER_OCTAVE };
        let number = (number as u32).min(BUCKET_MAX);
        match buckets.last_mut().filter(|last| last.number == number) {
            Some(last) => last.count += count,
            None => buckets.push(Bucket { number, count }),
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
        assert_eq!([ms(123_241), ms(3_723_004)], ["2m3.241s", "1h2m3s"]);
        let all = [850.0, 5_230.0, 530_900.0, 1_042_000.0, 61_420_000.0, 1_200_000_000.0];
        assert_eq!(all.map(latency), ["0us", "5us", "530us", "1.04ms", "61.4ms", "1.20s"]);
        assert_eq!([999_999.0, 128_499_999.0].map(latency), ["999us", "128ms"]);
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
        let all = [850, 5_231, 9_960, 61_440, 530_001, 65_536_000].map(bound_us);
        assert_eq!(all, ["0.9", "5.3", "10", "62", "531", "65536"]);
    }

    #[test]
    fn printed_buckets_hold_every_latency_once() {
        let values = [1, 999, 1000, 1100, 5_000, 5_100, 64_000, 1 << 50];
        let buckets = buckets(&distribution(&values));
        let ranges: Vec<_> = buckets.iter().map(|b| (b.range_us().join("-"), b.count)).collect();
        let wanted = [("0.0-1.2", 4), ("4.8-5.7", 2), ("64-76", 1), ("225726413-268435456", 1)];
        assert_eq!(ranges, wanted.map(|(range, count)| (range.to_owned(), count)));
    }
}
