//! Metrics of one direction of a job or a group, and its rates per interval.

use candor_plan::units::Direction;
use candor_record::{Measurement, OpStats, Sample};
use candor_stats::Summary;

use crate::job::{FioJob, Reporting};
use crate::output::figures::by_priority::ByPriority;
use crate::output::figures::spread::Spread;

/// Metrics of one direction.
#[derive(Clone, Debug, Default)]
pub(in crate::output) struct DirectionFigures {
    /// Operations.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Short operations among them.
    pub short: u64,
    /// Zones that were reset so that they could be written; of writes only.
    pub zone_resets: u64,
    /// Run time; 0 without operations.
    pub runtime_ns: u64,
    /// Submission latency.
    pub slat: Spread,
    /// Completion latency.
    pub clat: Spread,
    /// Total latency.
    pub lat: Spread,
    /// The latency that is reported by I/O priority.
    pub by_priority: ByPriority,
    /// Counts of each whole interval.
    pub samples: Vec<Interval>,
}

/// Counts of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::output) struct Interval {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Operations per second.
    pub ops_per_s: f64,
}

impl DirectionFigures {
    /// Of one measurement.
    pub fn of(op: Direction, measured: &Measurement, job: &FioJob) -> DirectionFigures {
        let stats = measured.of(op);
        let (slat, clat, lat) = latencies(stats, &job.reporting);
        let by_priority = ByPriority::of(stats, job);
        // All directions ran as long as the job, also if one had little to do.
        let runtime_ns = match (stats.ops, measured.elapsed_ns) {
            (0, _) => 0,
            (_, 0) => stats.elapsed_ns,
            (_, ns) => ns,
        };
        let samples = if stats.ops > 0 { samples(&measured.samples, op) } else { Vec::new() };
        // fio counts issued operations.
        let (ops, bytes, short) = (stats.ops + stats.failed, stats.bytes, stats.short);
        let zone_resets = if op == Direction::Write { measured.zone_resets } else { 0 };
        DirectionFigures {
            ops,
            bytes,
            short,
            zone_resets,
            runtime_ns,
            slat,
            clat,
            lat,
            by_priority,
            samples,
        }
    }

    fn add_counts(&mut self, other: &DirectionFigures) {
        let (mine, theirs) = if other.by_priority.total {
            (&self.lat, &other.lat)
        } else {
            (&self.clat, &other.clat)
        };
        self.by_priority.add(mine, &other.by_priority, theirs);
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.short += other.short;
        self.zone_resets += other.zone_resets;
        self.slat.add(&other.slat);
        self.clat.add(&other.clat);
        self.lat.add(&other.lat);
    }

    /// Adds concurrent metrics: rates are summed per interval.
    pub fn add_beside(&mut self, other: &DirectionFigures) {
        self.add_counts(other);
        self.runtime_ns = self.runtime_ns.max(other.runtime_ns);
        for (at, theirs) in other.samples.iter().enumerate() {
            match self.samples.get_mut(at) {
                Some(mine) => {
                    mine.bytes_per_s += theirs.bytes_per_s;
                    mine.ops_per_s += theirs.ops_per_s;
                }
                None => self.samples.push(*theirs),
            }
        }
    }

    /// Adds later metrics: times are summed.
    pub fn add_after(&mut self, other: DirectionFigures) {
        self.add_counts(&other);
        self.runtime_ns += other.runtime_ns;
        self.samples.extend(other.samples);
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.runtime_ns == 0 { 0.0 } else { count as f64 * 1e9 / self.runtime_ns as f64 }
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.per_second(self.bytes)
    }

    /// Operations per second.
    pub fn ops_per_s(&self) -> f64 {
        self.per_second(self.ops)
    }

    /// Run time in ms, at least 1 with operations.
    pub fn runtime_ms(&self) -> u64 {
        whole_ms(self.runtime_ns)
    }

    /// Bandwidth of the intervals in KiB/s.
    pub fn bandwidth(&self, reporting: &Reporting) -> Samples {
        let values = self.samples.iter().map(|sample| sample.bytes_per_s / 1024.0);
        if reporting.bandwidth { Samples::of(values) } else { Samples::default() }
    }

    /// Operations per second of the intervals.
    pub fn iops(&self) -> Samples {
        Samples::of(self.samples.iter().map(|sample| sample.ops_per_s))
    }
}

/// A nonzero time in ms is at least 1.
pub(in crate::output) fn whole_ms(ns: u64) -> u64 {
    if ns == 0 { 0 } else { ((ns + 500_000) / 1_000_000).max(1) }
}

/// Submission, completion and total latency, as requested.
fn latencies(stats: &OpStats, reporting: &Reporting) -> (Spread, Spread, Spread) {
    let shown = |show: bool, spread: Spread| if show { spread } else { Spread::default() };
    let of = Spread::of;
    // If submission is not a separate call, or latency counts from the intended start, total and
    // completion latency are equal.
    let (slat, clat, lat) = match (&stats.submission, &stats.completion) {
        _ if reporting.from_intended && stats.from_intended.is_some() => {
            let all = of(stats.from_intended.as_ref());
            (Spread::default(), all.clone(), all)
        }
        (Some(slat), Some(clat)) => (of(Some(slat)), of(Some(clat)), of(stats.latency.as_ref())),
        _ => {
            let all = of(stats.latency.as_ref());
            (Spread::default(), all.clone(), all)
        }
    };
    (shown(reporting.slat, slat), shown(reporting.clat, clat), shown(reporting.lat, lat))
}

/// Whole intervals; the last one is often a rest.
fn samples(samples: &[Sample], op: Direction) -> Vec<Interval> {
    let longest = samples.iter().map(|sample| sample.length_ns).max().unwrap_or(0);
    samples
        .iter()
        .filter(|sample| sample.length_ns > 0 && sample.length_ns as f64 >= 0.9 * longest as f64)
        .map(|sample| {
            let length_s = sample.length_ns as f64 / 1e9;
            let per_second = |n: u64| n as f64 / length_s;
            Interval {
                bytes_per_s: per_second(sample.bytes(op)),
                ops_per_s: per_second(sample.ops(op)),
            }
        })
        .collect()
}

/// Minimum, maximum, mean and deviation of sampled values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::output) struct Samples {
    /// Minimum.
    pub min: u64,
    /// Maximum.
    pub max: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of a sample.
    pub deviation: f64,
    /// The number of values.
    pub count: u64,
}

impl Samples {
    fn of(values: impl Iterator<Item = f64>) -> Samples {
        let values: Vec<f64> = values.collect();
        let summary = Summary::of(&values).unwrap_or_default();
        Samples {
            min: summary.min as u64,
            max: summary.max as u64,
            mean: summary.mean,
            deviation: summary.deviation,
            count: summary.count as u64,
        }
    }

    /// The mean in percent of the total, at most 100.
    pub fn percent_of(&self, whole: f64) -> f64 {
        if whole <= 0.0 { 0.0 } else { (self.mean * 100.0 / whole).min(100.0) }
    }
}
