//! Latencies over time, for pictures.

use super::{Bin, Interval};
use crate::LatencyCounts;

/// Latencies of a span of time.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencySpan {
    /// Beginning in ns since the start of the phase, ramp left out.
    pub start_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Shares of the operations of the span, those ranges that have any.
    pub bins: Vec<Bin>,
}

/// Latencies of intervals, as many of which make up one span as fit into a length; an interval
/// whose latencies were not counted belongs to none.
pub fn latency_spans(intervals: &[Interval], length_ns: u64) -> Vec<LatencySpan> {
    let mut sums: Vec<(u64, u64, LatencyCounts)> = Vec::new();
    for interval in intervals.iter().filter(|of| !of.latency_counts.is_empty()) {
        let end_ns = interval.start_ns.saturating_add(interval.length_ns);
        match sums.last_mut().filter(|(start_ns, until_ns, _)| {
            *until_ns == interval.start_ns && end_ns - *start_ns <= length_ns
        }) {
            Some((_, until_ns, counts)) => {
                *until_ns = end_ns;
                counts.merge(&interval.latency_counts);
            }
            None => sums.push((interval.start_ns, end_ns, interval.latency_counts.clone())),
        }
    }
    let span = |(start_ns, until_ns, counts): (u64, u64, LatencyCounts)| {
        let all: u64 = counts.filled().fold(0, |sum, (.., count)| sum.saturating_add(count));
        let bin = |(from, to, count): (u64, u64, u64)| Bin {
            from_ns: from as f64,
            to_ns: to as f64,
            share: count as f64 / all as f64,
        };
        let bins = counts.filled().map(bin).collect();
        LatencySpan { start_ns, length_ns: until_ns - start_ns, bins }
    };
    sums.into_iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    #[test]
    fn intervals_join_up_to_a_length_and_not_over_a_gap() {
        let interval = |nth: u64, latencies: &[u64]| {
            let mut all = Histogram::new();
            latencies.iter().for_each(|ns| all.record(*ns));
            let latency_counts = LatencyCounts::from(&all);
            let (start_ns, length_ns) = (nth * 10, 10);
            Interval { start_ns, length_ns, latency_counts, ..Interval::default() }
        };
        let intervals = [
            interval(0, &[100, 100]),
            interval(1, &[100, 1000]),
            interval(2, &[100]),
            interval(3, &[]),
            interval(4, &[100]),
        ];
        let spans = latency_spans(&intervals, 20);
        let places: Vec<_> = spans.iter().map(|of| (of.start_ns, of.length_ns)).collect();
        assert_eq!(places, [(0, 20), (20, 10), (40, 10)]);
        let shares: Vec<_> = spans[0].bins.iter().map(|bin| (bin.from_ns, bin.share)).collect();
        assert_eq!(shares, [(96.0, 0.75), (896.0, 0.25)]);
        assert_eq!(latency_spans(&intervals[..1], 5).len(), 1, "one is never too long");
    }
}
