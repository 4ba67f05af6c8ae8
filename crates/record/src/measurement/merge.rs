//! Measurements of the same job on several hosts, merged into one.
//!
//! Counts and distributions add up exactly; rates are computed anew from the sums. A figure that
//! cannot be known from its parts is absent.

use super::{
    EngineUsed, FirstDone, IoFailure, Measurement, OpCount, OpSample, OpStats, ReadBack, Sample,
    Stopped, VerifyStats,
};
use crate::JobSample;
use crate::by_name::Named;

impl Measurement {
    /// Adds the same job's measurement on the next host, which ran at the same time. Its workers
    /// get the ranks after those that are here.
    ///
    /// The counts when the first worker ended (`first_done`) are sums of what each host had counted
    /// when it learnt of that worker, at the latest of these moments: a rate of them is never too
    /// high. Absent afterwards, since the parts do not hold them: steadiness, percentiles of
    /// samples, the log, and `first_done` where a host that completed something lacks its own.
    pub fn merge(&mut self, next: Measurement) {
        let chased = [self.load_latency_sum(), next.load_latency_sum()];
        self.first_done = self.first_done_with(&next);
        for worker in next.per_worker {
            self.per_worker.push(super::WorkerStats { rank: worker.rank + self.workers, ..worker });
        }
        self.workers += next.workers;
        self.elapsed_ns = self.elapsed_ns.max(next.elapsed_ns);
        self.elapsed_with_flush_ns = self.elapsed_with_flush_ns.max(next.elapsed_with_flush_ns);
        add_by_name(&mut self.operations, next.operations, OpStats::add);
        self.last_done.at_ns = self.last_done.at_ns.max(next.last_done.at_ns);
        self.last_done.ops += next.last_done.ops;
        self.last_done.bytes += next.last_done.bytes;
        (self.steady, self.log) = (None, None);
        merge_samples(&mut self.samples, next.samples);
        self.add_targets(next.per_target);
        next.errors.into_iter().for_each(|failure| failure.add_to(&mut self.errors));
        add(&mut self.verify, next.verify, VerifyStats::merge);
        add(&mut self.read_back, next.read_back, |mine, theirs| mine.add(&theirs));
        add(&mut self.depths, next.depths, |mine, theirs| mine.merge(&theirs));
        self.engine.merge(next.engine);
        let failed = self.program_end.filter(|end| !end.is_success());
        self.program_end = failed.or(next.program_end).or(self.program_end);
        self.ended = self.ended.max(next.ended);
        let depths = [self.depth_reached, next.depth_reached];
        self.depth_reached = depths.into_iter().flatten().min();
        self.zone_resets += next.zone_resets;
        add(&mut self.http, next.http, |mine, theirs| mine.merge(*theirs));
        add(&mut self.stages, next.stages, |mine, theirs| mine.merge(&theirs));
        add(&mut self.stopped, next.stopped, Stopped::merge);
        add(&mut self.wear_out, next.wear_out, |mine, theirs| mine.merge(&theirs));
        for (why, items) in next.passed_over {
            *self.passed_over.entry(why).or_default() += items;
        }
        let starts = [self.start_unix_ms, next.start_unix_ms];
        self.start_unix_ms = starts.into_iter().flatten().min();
        let chased_ns: f64 = chased.into_iter().flatten().sum();
        self.load_latency_ns = self.load_latency_ns.or(next.load_latency_ns);
        self.load_latency_ns = self.load_latency_ns.map(|_| chased_ns / self.ops_done() as f64);
        self.derive();
        self.leave_out_stops();
    }

    /// Computes what follows from counts and elapsed time: rates, and the mean number in flight.
    pub fn derive(&mut self) {
        let (elapsed_ns, times) = (self.elapsed_ns, self.times());
        self.operations.iter_mut().for_each(|op| op.derive(times.of_ns(op.figure)));
        self.derive_targets();
        // A worker that waits for a flush counts as busy, like one that waits for a write.
        let latencies = self.operations.iter().filter_map(|op| op.latency.as_ref());
        let busy_ns: f64 = latencies.map(|latency| latency.histogram.sum_ns() as f64).sum();
        self.occupancy = if elapsed_ns == 0 { 0.0 } else { busy_ns / elapsed_ns as f64 };
        if let Some(read_back) = &mut self.read_back {
            read_back.reads.derive(read_back.elapsed_ns);
        }
    }

    /// Counts of both at the end of the first worker of either.
    fn first_done_with(&self, next: &Measurement) -> Option<FirstDone> {
        self.first_done.as_ref().or(next.first_done.as_ref())?;
        let [mut mine, theirs] = [self.counted_at_first()?, next.counted_at_first()?];
        mine.at_ns = mine.at_ns.max(theirs.at_ns);
        mine.ops += theirs.ops;
        mine.bytes += theirs.bytes;
        add_by_name(&mut mine.operations, theirs.operations, OpCount::add);
        let all = (self.workers + next.workers) as usize;
        mine.worker_ops.extend(theirs.worker_ops);
        // Some host does not know what each of its workers had done.
        if mine.worker_ops.len() != all {
            mine.worker_ops.clear();
        }
        Some(mine)
    }

    /// Counts of a host when the first worker ended; zero where its job completed nothing at all.
    fn counted_at_first(&self) -> Option<FirstDone> {
        match &self.first_done {
            None => (self.ops_done() == 0).then(|| FirstDone {
                worker_ops: vec![0; self.workers as usize],
                ..FirstDone::default()
            }),
            known => known.clone(),
        }
    }

    fn load_latency_sum(&self) -> Option<f64> {
        self.load_latency_ns.map(|ns| ns * self.ops_done() as f64)
    }
}

impl OpStats {
    /// Computes the rates over that time.
    fn derive(&mut self, elapsed_ns: u64) {
        let per_second = |count: u64| match elapsed_ns {
            0 => 0.0,
            ns => count as f64 * 1e9 / ns as f64,
        };
        (self.ops_per_s, self.bytes_per_s) = (per_second(self.ops), per_second(self.bytes));
    }
}

impl OpCount {
    fn add(&mut self, next: &OpCount) {
        self.ops += next.ops;
        self.bytes += next.bytes;
    }
}

impl ReadBack {
    fn add(&mut self, next: &ReadBack) {
        self.reads.add(&next.reads);
        self.elapsed_ns = self.elapsed_ns.max(next.elapsed_ns);
        self.cpu_user_ns += next.cpu_user_ns;
        self.cpu_system_ns += next.cpu_system_ns;
    }
}

impl IoFailure {
    /// Adds it to a list in which alike ones are counted together.
    fn add_to(self, list: &mut Vec<IoFailure>) {
        match list.iter_mut().find(|known| {
            (&known.op, known.errno, &known.path) == (&self.op, self.errno, &self.path)
        }) {
            Some(known) => known.count += self.count,
            None => list.push(self),
        }
    }
}

impl EngineUsed {
    /// Leaves the features that both used, and the clock that costs more.
    fn merge(&mut self, next: EngineUsed) {
        self.features.retain(|feature| next.features.contains(feature));
        if next.clock_cost_ns > self.clock_cost_ns {
            (self.clock, self.clock_cost_ns) = (next.clock, next.clock_cost_ns);
        }
    }
}

/// Adds the samples of the next host. Hosts end an interval at nearly the same time: a sample joins
/// the one within which its middle lies, which then reaches over both.
fn merge_samples(samples: &mut Vec<Sample>, next: Vec<Sample>) {
    for theirs in next {
        let middle_ns = theirs.at_ns - theirs.length_ns / 2;
        let place = samples.partition_point(|mine| mine.at_ns <= middle_ns);
        match samples.get_mut(place).filter(|mine| mine.begins_ns() <= middle_ns) {
            Some(mine) => mine.join(theirs),
            None => samples.insert(place, theirs),
        }
    }
}

impl JobSample {
    /// Adds the same job's interval on the next host: its workers get the ranks after those here.
    pub fn join(&mut self, next: JobSample) {
        self.sample.join(next.sample);
        self.workers.extend(next.workers);
    }
}

impl Sample {
    fn begins_ns(&self) -> u64 {
        self.at_ns.saturating_sub(self.length_ns)
    }

    /// Adds another interval, of the same host or of another one.
    pub(crate) fn join(&mut self, theirs: Sample) {
        let begins_ns = self.begins_ns().min(theirs.begins_ns());
        self.at_ns = self.at_ns.max(theirs.at_ns);
        self.length_ns = self.at_ns - begins_ns;
        add_by_name(&mut self.operations, theirs.operations, OpSample::add);
    }
}

impl OpSample {
    /// Adds what another host did in the same interval. Percentiles of two are not known.
    fn add(&mut self, theirs: &OpSample) {
        if theirs.ops > 0 {
            let alone = (self.ops == 0).then_some((theirs.latency_ns_p50, theirs.latency_ns_p99));
            (self.latency_ns_p50, self.latency_ns_p99) = alone.unwrap_or_default();
            self.latency_ns_stddev = self.stddev_with(theirs);
            self.latency_ns_max = self.latency_ns_max.max(theirs.latency_ns_max);
        }
        self.ops += theirs.ops;
        self.bytes += theirs.bytes;
        self.latency_sum_ns += theirs.latency_sum_ns;
        self.latency_counts.merge(&theirs.latency_counts);
    }

    /// Standard deviation of the latencies of both; none where either does not know its own.
    fn stddev_with(&self, theirs: &OpSample) -> Option<u64> {
        if self.ops == 0 {
            return theirs.latency_ns_stddev;
        }
        let squares = |of: &OpSample| {
            let mean = of.latency_sum_ns as f64 / of.ops as f64;
            let stddev = of.latency_ns_stddev? as f64;
            Some(of.ops as f64 * (stddev * stddev + mean * mean))
        };
        let ops = (self.ops + theirs.ops) as f64;
        let mean = (self.latency_sum_ns + theirs.latency_sum_ns) as f64 / ops;
        let variance = (squares(self)? + squares(theirs)?) / ops - mean * mean;
        Some(variance.max(0.0).sqrt().round() as u64)
    }
}

/// Adds each entry to the one of the same name.
pub(super) fn add_by_name<T: Named>(list: &mut Vec<T>, next: Vec<T>, add: impl Fn(&mut T, &T)) {
    for theirs in next {
        match list.iter_mut().find(|mine| mine.name() == theirs.name()) {
            Some(mine) => add(mine, &theirs),
            None => list.push(theirs),
        }
    }
}

/// Adds where both have a value; else keeps that of either.
fn add<T>(mine: &mut Option<T>, next: Option<T>, add: impl Fn(&mut T, T)) {
    match (mine.as_mut(), next) {
        (Some(mine), Some(theirs)) => add(mine, theirs),
        (None, theirs) => *mine = theirs,
        (Some(_), None) => {}
    }
}

#[cfg(test)]
mod tests;
