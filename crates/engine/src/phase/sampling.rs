//! Interval samples of one job, as differences of its totals.

use candor_plan::work::Operation;
use candor_record::{Histogram, Latency, LatencyCounts, Sample, Thinned, WorkerSample};

use crate::counters::Totals;
use crate::phase::gather;

/// Samples of a job. Times are ns since the release of the barrier.
pub struct Sampling {
    last: Totals,
    /// End of the last sample; before the first sample, begin of the job.
    until_ns: u64,
    samples: Thinned<Sample>,
    operations: Vec<(usize, &'static Operation)>,
    /// Latencies of each operation until the last sample.
    latencies: Vec<Histogram>,
    /// Totals of each worker until the last sample; none before the first.
    workers: Vec<WorkerSample>,
}

/// Shortest interval whose percentiles are computed: they need a pass over all buckets.
const PERCENTILES_FROM_NS: u64 = 900_000_000;

impl Sampling {
    /// Samples of a job with these operations that begins at that time.
    pub fn new(operations: Vec<(usize, &'static Operation)>, begins_ns: u64) -> Sampling {
        Sampling {
            last: Totals::default(),
            until_ns: begins_ns,
            samples: Thinned::default(),
            latencies: vec![Histogram::new(); operations.len()],
            workers: Vec::new(),
            operations,
        }
    }

    /// Resets all counts at that time: the ramp is over.
    pub fn count_from(&mut self, begins_ns: u64) {
        (self.last, self.until_ns) = (Totals::default(), begins_ns);
        self.latencies.fill(Histogram::new());
        self.workers.clear();
    }

    /// Work of each worker since the last sample, from the workers' totals.
    pub fn workers(&mut self, totals: Vec<WorkerSample>) -> Vec<WorkerSample> {
        let before = std::mem::replace(&mut self.workers, totals);
        let before = before.into_iter().chain(std::iter::repeat(WorkerSample::default()));
        let since = self.workers.iter().zip(before).map(|(now, before)| WorkerSample {
            ops: now.ops.saturating_sub(before.ops),
            bytes: now.bytes.saturating_sub(before.bytes),
        });
        since.collect()
    }

    /// Adds percentiles and counts of latencies to a sample. `latencies` gives the distribution of
    /// an operation by the index of its counters.
    pub fn add_percentiles(&mut self, sample: &mut Sample, latencies: impl Fn(usize) -> Histogram) {
        if sample.length_ns < PERCENTILES_FROM_NS {
            return;
        }
        let places = self.operations.iter().zip(&mut self.latencies);
        for (op, ((at, _), last)) in sample.operations.iter_mut().zip(places) {
            let until_now = latencies(*at);
            let within = until_now.since(last);
            *last = until_now;
            op.latency_counts = LatencyCounts::from(&within);
            op.latency_ns_max = within.max().map(|max| max.0);
            op.latency_ns_stddev = within.stddev_ns().map(|ns| ns.round() as u64);
            let latency = Latency::from_histogram(within);
            let percentile = |p| latency.as_ref().and_then(|latency| latency.percentile_ns(p));
            (op.latency_ns_p50, op.latency_ns_p99) = (percentile(50.0), percentile(99.0));
        }
    }

    /// Sample of the work since the last sample. None if the last sample was less than `short_ns`
    /// ago; the next sample then includes that time. `zero_ns` is the time at which counting began
    /// in the phase.
    pub fn take(
        &mut self,
        totals: impl FnOnce() -> Totals,
        now_ns: u64,
        zero_ns: u64,
        short_ns: u64,
    ) -> Option<Sample> {
        let length_ns = now_ns.saturating_sub(self.until_ns);
        if length_ns == 0 || length_ns < short_ns {
            return None;
        }
        let totals = totals();
        let at_ns = now_ns.saturating_sub(zero_ns);
        let sample = gather::sample(&self.operations, &self.last, &totals, at_ns, length_ns);
        (self.last, self.until_ns) = (totals, now_ns);
        Some(sample)
    }

    /// Adds the end of the job, too short for a separate sample, to the last sample, so that the
    /// samples add up.
    pub fn extend_last(&mut self, totals: &Totals, now_ns: u64) {
        let length_ns = now_ns.saturating_sub(self.until_ns);
        let Some(last) = self.samples.last_mut() else { return };
        let rest = gather::sample(&self.operations, &self.last, totals, 0, length_ns);
        last.at_ns += length_ns;
        last.length_ns += length_ns;
        for (op, more) in last.operations.iter_mut().zip(rest.operations) {
            op.ops += more.ops;
            op.bytes += more.bytes;
            op.latency_sum_ns += more.latency_sum_ns;
        }
        (self.last, self.until_ns) = (totals.clone(), now_ns);
    }

    /// All samples kept so far.
    pub fn samples(&self) -> &Thinned<Sample> {
        &self.samples
    }

    /// The same, to add one or to join them.
    pub fn samples_mut(&mut self) -> &mut Thinned<Sample> {
        &mut self.samples
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;
    use crate::counters::OpTotals;

    fn totals(reads: u64) -> Totals {
        Totals::of_reads(OpTotals { ops: reads, ..OpTotals::default() })
    }

    fn sampling(begins_ns: u64) -> Sampling {
        Sampling::new(vec![(0, BlocksOp::Read.operation())], begins_ns)
    }

    #[test]
    fn a_late_job_is_sampled_from_its_own_beginning() {
        let mut sampling = sampling(700);
        assert_eq!(sampling.take(|| totals(0), 500, 0, 50), None, "it has not begun");
        let first = sampling.take(|| totals(30), 1000, 0, 50).unwrap();
        assert_eq!((first.at_ns, first.length_ns, first.ops_done()), (1000, 300, 30));
        let second = sampling.take(|| totals(130), 1500, 0, 50).unwrap();
        assert_eq!((second.at_ns, second.length_ns, second.ops_done()), (1500, 500, 100));
    }

    #[test]
    fn a_short_rest_goes_into_the_next_sample() {
        let mut sampling = sampling(0);
        assert_eq!(sampling.take(|| totals(4), 40, 0, 50), None);
        assert_eq!(sampling.take(|| totals(10), 100, 0, 50).unwrap().ops_done(), 10);
    }

    #[test]
    fn a_short_rest_at_the_end_goes_into_the_last_sample() {
        let mut sampling = sampling(0);
        sampling.extend_last(&totals(1), 10);
        let sample = sampling.take(|| totals(10), 100, 0, 50).unwrap();
        sampling.samples_mut().put(0, sample);
        sampling.extend_last(&totals(13), 120);
        let last = sampling.samples().iter().next().expect("it is kept");
        assert_eq!((last.at_ns, last.length_ns, last.ops_done()), (120, 120, 13));
    }

    #[test]
    fn the_ramp_is_left_out() {
        let mut sampling = sampling(0);
        sampling.take(|| totals(80), 400, 0, 50).unwrap();
        sampling.count_from(400);
        let sample = sampling.take(|| totals(7), 500, 400, 50).unwrap();
        assert_eq!((sample.at_ns, sample.length_ns, sample.ops_done()), (100, 100, 7));
    }

    #[test]
    fn workers_have_what_they_did_since_the_last_sample() {
        let mut sampling = sampling(0);
        let of = |ops: [u64; 2]| ops.map(|ops| WorkerSample { ops, bytes: ops * 4096 }).to_vec();
        assert_eq!(sampling.workers(of([5, 7])), of([5, 7]));
        assert_eq!(sampling.workers(of([5, 9])), of([0, 2]));
        sampling.count_from(400);
        assert_eq!(sampling.workers(of([1, 2])), of([1, 2]), "the ramp is left out");
    }

    #[test]
    fn percentiles_are_those_of_the_interval() {
        let mut sampling = sampling(0);
        let latencies = |slow: u64| {
            let mut all = Histogram::new();
            (0..1000).for_each(|_| all.record(1_000));
            (0..slow).for_each(|_| all.record(1_000_000));
            all
        };
        let second = 1_000_000_000;
        let mut first = sampling.take(|| totals(1000), second, 0, 50).unwrap();
        sampling.add_percentiles(&mut first, |_| latencies(0));
        assert!(first.operations[0].latency_ns_p99.is_some_and(|ns| ns < 1_100));
        let mut next = sampling.take(|| totals(3000), 2 * second, 0, 50).unwrap();
        sampling.add_percentiles(&mut next, |_| latencies(2000));
        assert!(next.operations[0].latency_ns_p50.is_some_and(|ns| ns > 900_000));
        let counts: Vec<_> = next.operations[0].latency_counts.filled().collect();
        assert_eq!(counts, [(917_504, 1_048_576, 2000)], "those of this interval alone");
        let (stddev, max) =
            (next.operations[0].latency_ns_stddev, next.operations[0].latency_ns_max);
        assert!(stddev.is_some_and(|ns| ns < 20_000) && max.is_some_and(|ns| ns > 900_000));
        let mut short = sampling.take(|| totals(3100), 2 * second + second / 10, 0, 50).unwrap();
        sampling.add_percentiles(&mut short, |_| latencies(2100));
        assert_eq!(short.operations[0].latency_ns_p50, None);
        assert!(short.operations[0].latency_counts.is_empty());
    }
}
