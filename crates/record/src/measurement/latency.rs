//! A latency distribution, and the percentiles that its samples carry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Measurement, OpStats};
use crate::Histogram;

/// A latency distribution with the figures that people read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Number of samples.
    pub count: u64,
    /// Least, in ns.
    pub min_ns: u64,
    /// Mean, in ns.
    pub mean_ns: f64,
    /// Standard deviation, in ns.
    pub stddev_ns: f64,
    /// Greatest, in ns.
    pub max_ns: u64,
    /// Least value that may contain a stop of the process, in ns. Mean, standard deviation and
    /// maximum are not valid then, and percentiles from this value on are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_ns: Option<u64>,
    /// (percentile, ns), ascending: the median, and those that rest on at least ten samples beyond
    /// them.
    pub percentiles: Vec<(f64, u64)>,
    /// All of it.
    pub histogram: Histogram,
}

/// Percentiles that every report quotes, as far as the number of samples carries them.
pub const PERCENTILES: [f64; 7] = [1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Samples that have to lie beyond a percentile, towards the nearer end of the distribution.
const BEYOND: f64 = 10.0;

/// Samples that a percentile takes to be quoted.
pub fn samples_needed(percentile: f64) -> u64 {
    if percentile == 50.0 {
        return 1;
    }
    // 100 - 99.9 is a little less than 0.1 in floating point; hence the slack.
    (BEYOND * 100.0 / percentile.min(100.0 - percentile) - 1e-6).ceil() as u64
}

impl Latency {
    /// The figures of a histogram; none if it is empty.
    pub fn from_histogram(histogram: Histogram) -> Option<Latency> {
        let mut latency = Latency {
            count: histogram.count(),
            min_ns: histogram.min()?.0,
            mean_ns: histogram.mean_ns()?,
            stddev_ns: histogram.stddev_ns()?,
            max_ns: histogram.max()?.0,
            stop_ns: None,
            percentiles: Vec::new(),
            histogram,
        };
        latency.quote(&PERCENTILES);
        Some(latency)
    }

    /// Adds a distribution to another, exactly.
    pub fn merge(into: &mut Option<Latency>, other: Option<&Latency>) {
        let Some(other) = other else { return };
        let stops = [into.as_ref().and_then(|latency| latency.stop_ns), other.stop_ns];
        let mut sum = into.take().map(|latency| latency.histogram).unwrap_or_default();
        sum.merge(&other.histogram);
        *into = Latency::from_histogram(sum);
        if let (Some(sum), Some(stop_ns)) = (into, stops.into_iter().flatten().min()) {
            sum.leave_out_stop(stop_ns);
        }
    }

    /// The value of a quoted percentile, if it is quoted.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        self.percentiles.iter().find(|(p, _)| *p == percentile).map(|(_, ns)| *ns)
    }

    /// Leaves out the percentiles from that value on, which may contain a stop of the process.
    fn leave_out_stop(&mut self, stop_ns: u64) {
        if self.max_ns >= stop_ns {
            self.stop_ns = Some(stop_ns);
            self.percentiles.retain(|(_, ns)| *ns < stop_ns);
        }
    }

    /// The maximum, unless it contains a stop of the process.
    pub fn valid_max_ns(&self) -> Option<u64> {
        self.stop_ns.is_none().then_some(self.max_ns)
    }

    /// The mean, unless it contains a stop of the process.
    pub fn valid_mean_ns(&self) -> Option<f64> {
        self.stop_ns.is_none().then_some(self.mean_ns)
    }

    /// Quotes further percentiles, as far as the samples carry them.
    pub fn quote(&mut self, percentiles: &[f64]) {
        for p in percentiles.iter().copied() {
            let is_carried = self.count >= samples_needed(p) && self.percentile_ns(p).is_none();
            let value = self.histogram.quantile(p / 100.0).filter(|_| is_carried);
            self.percentiles.extend(value.map(|value| (p, value.0)));
        }
        self.percentiles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
}

impl OpStats {
    /// Latencies from submission on, and their parts.
    fn latencies_mut(&mut self) -> impl Iterator<Item = &mut Latency> {
        let own = [&mut self.latency, &mut self.submission, &mut self.completion];
        let by_priority = self.by_priority.iter_mut();
        let apart = by_priority.flat_map(|of| [&mut of.latency, &mut of.completion]).flatten();
        own.into_iter().flatten().chain(apart)
    }

    /// Quotes further percentiles of all latencies, as far as the samples carry them.
    pub fn quote(&mut self, percentiles: &[f64]) {
        self.latencies_mut().for_each(|latency| latency.quote(percentiles));
        self.from_intended.iter_mut().for_each(|latency| latency.quote(percentiles));
    }

    fn leave_out_stop(&mut self, stop_ns: u64) {
        self.latencies_mut().for_each(|latency| latency.leave_out_stop(stop_ns));
        // All that was due during the stop is late by a part of it.
        self.from_intended.iter_mut().for_each(|latency| latency.leave_out_stop(0));
    }
}

impl Measurement {
    /// Quotes further percentiles of all operations, as far as the samples carry them.
    pub fn quote(&mut self, percentiles: &[f64]) {
        let read_back = self.read_back.iter_mut().map(|back| &mut back.reads);
        let all = self.operations.iter_mut().chain(read_back);
        all.for_each(|stats| stats.quote(percentiles));
        let targets = self.per_target.iter_mut().flat_map(|target| &mut target.operations);
        let of_targets = targets.filter_map(|op| op.latency.as_mut());
        of_targets.for_each(|latency| latency.quote(percentiles));
        self.leave_out_stops();
    }

    /// Leaves out percentiles that may contain a stop of the process.
    pub fn leave_out_stops(&mut self) {
        let Some(stop_ns) = self.stopped.map(|stopped| stopped.shortest_ns) else { return };
        let read_back = self.read_back.iter_mut().map(|back| &mut back.reads);
        let all = self.operations.iter_mut().chain(read_back);
        all.for_each(|stats| stats.leave_out_stop(stop_ns));
        let targets = self.per_target.iter_mut().flat_map(|target| &mut target.operations);
        let of_targets = targets.filter_map(|op| op.latency.as_mut());
        of_targets.for_each(|latency| latency.leave_out_stop(stop_ns));
        for op in self.samples.iter_mut().flat_map(|sample| &mut sample.operations) {
            for percentile in [&mut op.latency_ns_p50, &mut op.latency_ns_p99] {
                *percentile = percentile.filter(|ns| *ns < stop_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::LatencyResults;
    use crate::{Stopped, StoppedBy};

    fn latency(count: u64) -> Latency {
        let mut histogram = Histogram::new();
        (1..=count).for_each(|ns| histogram.record(ns));
        Latency::from_histogram(histogram).unwrap()
    }

    #[test]
    fn a_percentile_takes_ten_samples_beyond_it() {
        let needed = [0.1, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999].map(samples_needed);
        assert_eq!(needed, [10_000, 1000, 1, 100, 1000, 10_000, 100_000, 1_000_000]);
        let [few, some, many]: [Vec<f64>; 3] = [99, 100, 1000]
            .map(|count| latency(count).percentiles.iter().map(|(p, _)| *p).collect());
        assert_eq!((few, some), (vec![50.0], vec![50.0, 90.0]));
        assert_eq!(many, [1.0, 50.0, 90.0, 95.0, 99.0]);
    }

    #[test]
    fn percentiles_that_contain_a_stop_are_left_out() {
        let mut histogram = Histogram::new();
        (0..980).for_each(|_| histogram.record(100_000));
        (0..20).for_each(|_| histogram.record(2_000_000_000));
        let stopped = |ns| {
            let mut stopped = Stopped::default();
            stopped.add(ns, StoppedBy::Signal);
            let mut measured = Measurement { stopped: Some(stopped), ..Measurement::default() };
            let op = candor_plan::work::BlocksOp::Read.operation();
            let stats = measured.operation_mut(op);
            stats.latency = Latency::from_histogram(histogram.clone());
            stats.from_intended = Latency::from_histogram(histogram.clone());
            measured.leave_out_stops();
            // Quoting them again does not bring them back.
            measured.quote(&PERCENTILES);
            measured
        };
        let measured = stopped(1_900_000_000);
        let latency = measured.operations[0].latency.as_ref().unwrap();
        assert_eq!((latency.percentile_ns(99.0), latency.valid_max_ns()), (None, None));
        assert_eq!((latency.stop_ns, latency.valid_mean_ns()), (Some(1_900_000_000), None));
        assert!(latency.percentile_ns(95.0).is_some_and(|ns| ns < 110_000), "{latency:?}");
        let intended = measured.operations[0].from_intended.as_ref().unwrap();
        assert_eq!(intended.percentiles, [], "what was due meanwhile is late by less");
        let results = LatencyResults::from(latency);
        assert_eq!((results.max_ns, results.mean_ns, results.stddev_ns), (None, None, None));
        assert!(results.buckets.iter().all(|(ns, _)| *ns < 110_000), "{results:?}");
        let mut sum = None;
        Latency::merge(&mut sum, Some(latency));
        assert_eq!(sum.as_ref(), Some(latency), "a sum leaves them out, too");
        // A stop with nothing in flight is in no latency.
        let measured = stopped(3_000_000_000);
        let latency = measured.operations[0].latency.as_ref().unwrap();
        assert_eq!((latency.stop_ns, latency.valid_max_ns()), (None, Some(2_000_000_000)));
    }

    #[test]
    fn further_percentiles_are_quoted_once_in_order_and_only_where_carried() {
        let mut measured = Measurement::default();
        let op = candor_plan::work::BlocksOp::Read.operation();
        measured.operation_mut(op).latency = Some(latency(1000));
        measured.quote(&[75.0, 99.0, 99.95]);
        let latency = measured.operations[0].latency.clone().unwrap();
        let quoted: Vec<f64> = latency.percentiles.iter().map(|(p, _)| *p).collect();
        assert_eq!(quoted, [1.0, 50.0, 75.0, 90.0, 95.0, 99.0]);
        let ns = latency.percentile_ns(75.0).unwrap();
        assert!((745..=755).contains(&ns), "{ns}");
    }
}
