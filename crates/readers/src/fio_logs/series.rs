//! The logs of one direction of a job, over time.

use std::collections::BTreeMap;

use candor_record::results::{Interval, LatencyResults, OpResults};
use candor_record::{Histogram, Latency, LatencyCounts};

use super::line::{Kind, Line};

/// Length of windows that single operations are added up to, and of those of short runs.
const WINDOW_MS: f64 = 1000.0;
const SHORT_WINDOW_MS: f64 = 100.0;
/// Runs up to here are short.
const SHORT_MS: u64 = 3000;

/// Lines of one direction of a job, by kind.
pub type ByKind = Vec<(Kind, Vec<Line>)>;

/// The same on a grid of windows.
pub struct Series {
    kinds: ByKind,
    /// Lines are single operations.
    single: bool,
    /// Length of a window.
    window_ms: f64,
}

impl Series {
    /// Of lines by kind; there is one at least.
    pub fn of(kinds: ByKind) -> Series {
        let single = kinds.iter().flat_map(|(_, lines)| lines).any(|line| line.bytes > 0);
        let last_ms = kinds.iter().flat_map(|(_, lines)| lines).map(|line| line.at_ms).max();
        let first_ms = kinds.iter().flat_map(|(_, lines)| lines).map(|line| line.at_ms).min();
        let span_ms = last_ms.unwrap_or(0) - first_ms.unwrap_or(0);
        let window_ms = if !single {
            window_ms(&kinds)
        } else if span_ms <= SHORT_MS {
            SHORT_WINDOW_MS
        } else {
            WINDOW_MS
        };
        Series { kinds, single, window_ms }
    }

    /// Moment at which its first window begins, in ms of its logs.
    pub fn begin_ms(&self) -> u64 {
        let first = self.kinds.iter().filter_map(|(_, lines)| lines.first());
        let first = first.map(|line| line.at_ms).min().unwrap_or(0);
        if self.single { first } else { first.saturating_sub(self.window_ms.round() as u64) }
    }

    fn lines(&self, kind: Kind) -> Option<&[Line]> {
        self.kinds.iter().find(|(of, _)| *of == kind).map(|(_, lines)| &lines[..])
    }

    /// From submission to completion, else from the start of the operation.
    fn latencies(&self) -> Option<&[Line]> {
        self.lines(Kind::Completion).or_else(|| self.lines(Kind::Latency))
    }

    /// Results; times count from an origin in ms.
    pub fn results(&self, origin_ms: u64) -> OpResults {
        let mut results =
            if self.single { self.of_operations(origin_ms) } else { self.of_windows(origin_ms) };
        if let Some(lines) = self.lines(Kind::Histogram) {
            let mut whole = Histogram::new();
            lines.iter().filter_map(|line| line.histogram.as_ref()).for_each(|h| whole.merge(h));
            let latency = Latency::from_histogram(whole).map(|latency| of_bins(&latency));
            results.latency = results.latency.or(latency);
        }
        results
    }

    fn of_windows(&self, origin_ms: u64) -> OpResults {
        let mut windows: BTreeMap<u64, Interval> = BTreeMap::new();
        let mut put = |lines: Option<&[Line]>, set: &dyn Fn(&Line, &mut Interval)| {
            for line in lines.unwrap_or_default() {
                // Windows end a little before or after their time.
                let nth = (line.at_ms.saturating_sub(origin_ms) as f64 / self.window_ms).round();
                set(line, windows.entry((nth as u64).max(1)).or_default());
            }
        };
        put(self.lines(Kind::Bandwidth), &|line, of| {
            of.bytes_per_s = Some(line.value as f64 * 1024.0);
        });
        put(self.lines(Kind::Iops), &|line, of| of.ops_per_s = Some(line.value as f64));
        put(self.latencies(), &|line, of| of.latency_ns_mean = Some(line.value as f64));
        let bins = self.lines(Kind::Histogram).filter(|lines| {
            let own_ms = typical_ms(lines).unwrap_or(self.window_ms);
            (own_ms / self.window_ms - 1.0).abs() < 0.1
        });
        put(bins, &|line, of| {
            let quantile = |share| Some(line.histogram.as_ref()?.quantile(share)?.0);
            (of.latency_ns_p50, of.latency_ns_p99) = (quantile(0.5), quantile(0.99));
            of.latency_counts =
                line.histogram.as_deref().map(LatencyCounts::from).unwrap_or_default();
        });
        // A line is of the window that its time ends.
        let intervals = self.placed(windows, |nth| nth - 1);
        OpResults { intervals, ..OpResults::default() }
    }

    fn of_operations(&self, origin_ms: u64) -> OpResults {
        let counted = self.kinds.iter().find(|(kind, _)| *kind != Kind::Histogram);
        let counted = counted.map_or(&[][..], |(_, lines)| &lines[..]);
        let latencies = self.latencies();
        let nth =
            |line: &Line| (line.at_ms.saturating_sub(origin_ms) as f64 / self.window_ms) as u64;
        let mut sums: BTreeMap<u64, (u64, u64, Histogram)> = BTreeMap::new();
        for line in counted {
            let (ops, bytes, _) = sums.entry(nth(line)).or_default();
            (*ops, *bytes) = (*ops + 1, bytes.saturating_add(line.bytes));
        }
        let mut whole = Histogram::new();
        for line in latencies.unwrap_or_default() {
            sums.entry(nth(line)).or_default().2.record(line.value);
            whole.record(line.value);
        }
        let (ops, bytes) =
            (counted.len() as u64, sums.values().fold(0u64, |s, w| s.saturating_add(w.1)));
        let last_ms = counted.iter().map(|line| line.at_ms).max().unwrap_or(0);
        let elapsed_ms = last_ms.saturating_sub(origin_ms);
        let per_s = |count: u64| count as f64 * 1000.0 / elapsed_ms.max(1) as f64;
        let (ops_per_s, bytes_per_s) = (per_s(ops), per_s(bytes));
        let window = |(nth, (ops, bytes, histogram)): (u64, (u64, u64, Histogram))| {
            let per_s = |count: u64| Some(count as f64 * 1000.0 / self.window_ms);
            let quantile = |share| histogram.quantile(share).map(|ns| ns.0);
            let interval = Interval {
                ops_per_s: per_s(ops),
                bytes_per_s: per_s(bytes),
                latency_ns_mean: histogram.mean_ns(),
                latency_ns_p50: quantile(0.5),
                latency_ns_p99: quantile(0.99),
                latency_counts: LatencyCounts::from(&histogram),
                ..Interval::default()
            };
            (nth, interval)
        };
        // The last window ends in the middle.
        if sums.len() > 1 {
            sums.pop_last();
        }
        let windows = sums.into_iter().map(window).collect();
        OpResults {
            ops: Some(ops),
            bytes: Some(bytes),
            ops_per_s: Some(ops_per_s),
            bytes_per_s: Some(bytes_per_s),
            latency: Latency::from_histogram(whole).map(|latency| LatencyResults::from(&latency)),
            intervals: self.placed(windows, |nth| nth),
            ..OpResults::default()
        }
    }

    /// Intervals with their times, by the number of windows before each. Rates are 0 between
    /// windows that are not neighbours: fio writes no line where nothing completed.
    fn placed(
        &self,
        windows: BTreeMap<u64, Interval>,
        before: impl Fn(u64) -> u64,
    ) -> Vec<Interval> {
        let ns = |windows: u64| (windows as f64 * self.window_ms * 1e6) as u64;
        let mut placed: Vec<Interval> = Vec::new();
        let mut end = None;
        for (nth, interval) in windows {
            let begin = before(nth);
            if let Some(end) = end.filter(|end| *end < begin) {
                let zero = |rate: Option<f64>| rate.map(|_| 0.0);
                placed.push(Interval {
                    start_ns: ns(end),
                    length_ns: ns(begin) - ns(end),
                    ops_per_s: zero(interval.ops_per_s),
                    bytes_per_s: zero(interval.bytes_per_s),
                    ..Interval::default()
                });
            }
            let length_ns = ns(begin.saturating_add(1)) - ns(begin);
            placed.push(Interval { start_ns: ns(begin), length_ns, ..interval });
            end = Some(begin.saturating_add(1));
        }
        placed
    }
}

/// Percentiles and buckets of bins; mean and extremes are not known of them.
fn of_bins(latency: &Latency) -> LatencyResults {
    let of = LatencyResults::from(latency);
    LatencyResults { percentiles: of.percentiles, buckets: of.buckets, ..LatencyResults::default() }
}

/// Length of the windows of logs: that of the kind with the shortest.
fn window_ms(kinds: &[(Kind, Vec<Line>)]) -> f64 {
    let not_bins = kinds.iter().filter(|(kind, _)| *kind != Kind::Histogram);
    let typical = |(_, lines): &(Kind, Vec<Line>)| typical_ms(lines);
    let shortest = not_bins.filter_map(typical).min_by(f64::total_cmp);
    let only = || kinds.iter().filter_map(|(_, lines)| lines.first()).map(|line| line.at_ms).max();
    shortest
        .or_else(|| kinds.iter().filter_map(typical).next())
        .unwrap_or_else(|| only().unwrap_or(0).clamp(1, WINDOW_MS as u64) as f64)
}

/// Mean distance of neighbours, without those that others lack between them.
fn typical_ms(lines: &[Line]) -> Option<f64> {
    let mut gaps: Vec<u64> =
        lines.windows(2).map(|pair| pair[1].at_ms.saturating_sub(pair[0].at_ms)).collect();
    gaps.retain(|gap| *gap > 0);
    gaps.sort_unstable();
    let median = *gaps.get(gaps.len() / 2)?;
    let near: Vec<u64> =
        gaps.into_iter().filter(|gap| gap.abs_diff(median) <= median / 2).collect();
    Some(near.iter().sum::<u64>() as f64 / near.len() as f64)
}
