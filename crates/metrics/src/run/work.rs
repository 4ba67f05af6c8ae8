//! Operations while they are done.

use std::collections::HashMap;

use candor_record::{JobSample, OpStats, PhaseRecord};
use prometheus_client::registry::Registry;

use crate::series::{Count, Gauge, Series, Sum, seconds};

/// Counters of operations, and latencies of the last interval.
#[derive(Debug)]
pub struct WorkSeries {
    operations: Series<Count>,
    bytes: Series<Count>,
    failed: Series<Count>,
    time: Series<Sum>,
    latency: Series<Gauge>,
    /// Counts of the phase under way that the counters have, by job and operation.
    counted: HashMap<(String, String), Counted>,
}

/// Counts of one operation of a job within a phase.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    ops: u64,
    bytes: u64,
    latency_sum_ns: u64,
}

/// Labels of an operation.
pub fn labels<'a>(
    phase: &'a str,
    job: &'a str,
    operation: &'a str,
) -> [(&'static str, &'a str); 3] {
    [("phase", phase), ("job", job), ("operation", operation)]
}

impl WorkSeries {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> WorkSeries {
        WorkSeries {
            operations: Series::new(
                registry,
                "candor_operations",
                None,
                "Completed operations without the ramp; verifying reads count as reads",
            ),
            bytes: Series::new(registry, "candor", Some("bytes"), "Bytes of these operations"),
            failed: Series::new(
                registry,
                "candor_failed_operations",
                None,
                "Operations that failed, of phases that ended",
            ),
            time: Series::new(
                registry,
                "candor_operation_time",
                Some("seconds"),
                "Sum of the latencies of these operations",
            ),
            latency: Series::new(
                registry,
                "candor_latency",
                Some("seconds"),
                "Percentiles of the latencies in the last interval, of a second or more; NaN where \
                 there are none, and once the phase has ended",
            ),
            counted: HashMap::new(),
        }
    }

    /// A phase begins, of which nothing is counted yet.
    pub fn begin(&mut self) {
        self.counted.clear();
    }

    /// Adds an interval.
    pub fn sample(&mut self, phase: &str, JobSample { job, sample, .. }: &JobSample) {
        for op in &sample.operations {
            let more = Counted { ops: op.ops, bytes: op.bytes, latency_sum_ns: op.latency_sum_ns };
            self.count(phase, job, &op.name, more);
            self.set_latency(phase, job, &op.name, op.latency_ns_p50, op.latency_ns_p99);
        }
    }

    /// Adds what the samples of a phase did not have, so that the counters are those of the report.
    pub fn settle(&mut self, record: &PhaseRecord) {
        for measurement in &record.measurements {
            for stats in &measurement.operations {
                // Samples count reads that read back as reads.
                let back = measurement.read_back.as_ref().map(|back| &back.reads);
                let all = [Some(stats), back.filter(|back| back.name == stats.name)];
                self.settle_operation(&record.name, &measurement.job, stats, &all);
            }
        }
    }

    fn settle_operation(
        &mut self,
        phase: &str,
        job: &str,
        stats: &OpStats,
        all: &[Option<&OpStats>],
    ) {
        let sum =
            |of: fn(&OpStats) -> u64| all.iter().flatten().map(|stats| of(stats)).sum::<u64>();
        let of = (job.to_owned(), stats.name.clone());
        let counted = self.counted.get(&of).copied().unwrap_or_default();
        let missing = Counted {
            ops: sum(|of| of.ops).saturating_sub(counted.ops),
            bytes: sum(|of| of.bytes).saturating_sub(counted.bytes),
            latency_sum_ns: sum(latency_sum_ns).saturating_sub(counted.latency_sum_ns),
        };
        self.count(phase, job, &stats.name, missing);
        self.failed.of(&labels(phase, job, &stats.name)).inc_by(stats.failed);
        self.set_latency(phase, job, &stats.name, None, None);
    }

    fn count(&mut self, phase: &str, job: &str, operation: &str, more: Counted) {
        let labels = labels(phase, job, operation);
        self.operations.of(&labels).inc_by(more.ops);
        self.bytes.of(&labels).inc_by(more.bytes);
        self.time.of(&labels).inc_by(seconds(more.latency_sum_ns));
        let counted = self.counted.entry((job.into(), operation.into())).or_default();
        counted.ops += more.ops;
        counted.bytes += more.bytes;
        counted.latency_sum_ns += more.latency_sum_ns;
    }

    fn set_latency(
        &self,
        phase: &str,
        job: &str,
        operation: &str,
        p50_ns: Option<u64>,
        p99_ns: Option<u64>,
    ) {
        let of = labels(phase, job, operation);
        for (percentile, ns) in [("50", p50_ns), ("99", p99_ns)] {
            self.latency.set(&[of[0], of[1], of[2], ("percentile", percentile)], ns.map(seconds));
        }
    }
}

fn latency_sum_ns(stats: &OpStats) -> u64 {
    let sum = stats.latency.as_ref().map_or(0, |latency| latency.histogram.sum_ns());
    u64::try_from(sum).unwrap_or(u64::MAX)
}
