//! Jobs that send requests for objects to servers.

use candor_plan::work::Figure;
use candor_plan::{Bucket, Job, Objects};
use candor_record::fmt::ratio;
use candor_record::http::{HttpOp, HttpStats};
use candor_record::{Finding, Latency, Measurement, OpStats, Setting, Severity, WorkerStats};

use crate::builder::FindingBuilder;
use crate::observed::{Observed, finite, mean, measurement_of};
use crate::rule::Outcome;
use crate::thresholds::objects::REQUESTS_MIN;

/// A job on objects that sent requests.
#[derive(Clone, Copy)]
pub struct ObjectJob<'a> {
    /// Position among the jobs of the phase.
    pub index: usize,
    /// The job.
    pub job: &'a Job,
    /// Work of the job.
    pub objects: &'a Objects,
    /// Measurement of the job.
    pub measured: &'a Measurement,
    /// Requests of the job.
    pub http: &'a HttpStats,
}

/// The jobs on objects that sent requests.
pub fn ran<'a>(observed: &Observed<'a>) -> Vec<ObjectJob<'a>> {
    let jobs = observed.phase.jobs.iter().enumerate();
    let found = jobs.filter_map(|(index, job)| {
        let objects = job.objects()?;
        let measured = measurement_of(observed.record, index, &job.name)?;
        let http = measured.http.as_deref()?;
        Some(ObjectJob { index, job, objects, measured, http })
    });
    found.filter(|job| job.http.attempts() > 0).collect()
}

/// Findings of a rule about each job on objects.
pub fn find(observed: &Observed, of: fn(&Observed, &ObjectJob) -> Option<Finding>) -> Outcome {
    ran(observed).iter().filter_map(|job| of(observed, job)).collect::<Vec<_>>().into()
}

impl<'a> ObjectJob<'a> {
    /// Attempts of all requests.
    pub fn attempts(&self) -> f64 {
        self.http.attempts() as f64
    }

    /// Operations that ended, failed ones included.
    pub fn ended(&self) -> f64 {
        let ops = self.measured.work_operations();
        ops.map(|op| op.ops as f64 + op.failed as f64).sum()
    }

    /// Operations that completed.
    pub fn done(&self) -> f64 {
        self.measured.work_operations().map(|op| op.ops as f64).sum()
    }

    /// Operations per second that completed.
    pub fn ops_per_s(&self) -> f64 {
        ratio(self.done(), self.seconds())
    }

    /// Time of the job, in seconds.
    pub fn seconds(&self) -> f64 {
        self.measured.elapsed_ns as f64 / 1e9
    }

    /// Enough requests for shares of them.
    pub fn has_many(&self) -> bool {
        self.attempts() >= REQUESTS_MIN.value
    }

    /// Counters of an operation's attempts, where it occurred.
    pub fn requests(&self, operation: &str) -> Option<&'a HttpOp> {
        self.http.operations.iter().find(|op| op.name == operation)
    }

    /// Attempts that send or fetch the bytes of objects.
    pub fn transfers(&self) -> impl Iterator<Item = &'a HttpOp> + use<'a> {
        const TRANSFERS: [&str; 3] = ["get", "put", "put_part"];
        self.http.operations.iter().filter(|op| TRANSFERS.contains(&op.name.as_str()))
    }

    /// Bytes of objects that were sent or fetched.
    pub fn good_bytes(&self) -> f64 {
        self.http.operations.iter().map(|op| op.good_bytes as f64).sum()
    }

    /// Bytes of bodies that successful reads, or else successful uploads, moved.
    pub fn bytes_of(&self, figure: Figure) -> f64 {
        let of = self.measured.operations.iter().filter(|op| op.figure == figure);
        of.map(|op| op.bytes as f64).sum()
    }

    /// Requests in flight that the plan permits.
    pub fn depth(&self) -> f64 {
        f64::from(self.job.workers) * f64::from(self.objects.depth)
    }

    /// Mean number of requests in flight while work remained.
    pub fn in_flight(&self) -> f64 {
        ratio(self.http.in_flight_ns as f64, self.measured.elapsed_ns as f64)
    }

    /// Share of the permitted requests that were in flight.
    pub fn share_in_flight(&self) -> f64 {
        ratio(self.in_flight(), self.http.in_flight_max as f64)
    }

    /// Mean latency of all operations, in ns.
    pub fn mean_latency_ns(&self) -> Option<f64> {
        mean(self.measured.work_operations().filter_map(|op| op.latency.as_ref()))
    }

    /// Share of a CPU that each worker used.
    pub fn cpu_shares(&self) -> Vec<f64> {
        fn share(worker: &WorkerStats) -> f64 {
            ratio(worker.cpu_user_ns as f64 + worker.cpu_system_ns as f64, worker.elapsed_ns as f64)
        }
        self.measured.per_worker.iter().map(share).collect()
    }

    /// CPU time of all workers, in ns.
    pub fn cpu_ns(&self) -> f64 {
        let workers = self.measured.per_worker.iter();
        workers.map(|worker| worker.cpu_user_ns as f64 + worker.cpu_system_ns as f64).sum()
    }

    /// The plan limits the rate, or rests between operations.
    pub fn is_paced(&self) -> bool {
        self.objects.pace.is_rated() || self.objects.pace.think.is_some()
    }

    /// Buckets of the job.
    pub fn buckets(&self, observed: &Observed<'a>) -> Vec<&'a Bucket> {
        let all = observed.plan.buckets.iter();
        all.filter(|bucket| self.objects.buckets.contains(&bucket.name)).collect()
    }

    /// Operations that occurred, the most frequent first.
    pub fn operations(&self) -> Vec<&'a OpStats> {
        let mut all: Vec<_> = self.measured.work_operations().filter(|op| op.ops > 0).collect();
        all.sort_by_key(|op| std::cmp::Reverse(op.ops));
        all
    }

    /// One key of the job's work, set; empty where the plan does not have the phase.
    pub fn with(&self, observed: &Observed, key: &str, value: &str) -> Vec<Setting> {
        if observed.plan.phases.get(observed.phase_index).is_none() {
            return Vec::new();
        }
        let at = format!("phase[{}].job[{}]", observed.phase_index, self.index);
        vec![Setting { key: format!("{at}.{key}"), value: value.into() }]
    }

    /// A finding about the job.
    pub fn draft(&self, rule: &str, severity: Severity, sentence: String) -> FindingBuilder {
        FindingBuilder::new(rule, severity, sentence).job(&self.job.name)
    }
}

/// Sum of counts, at most the greatest one that fits.
pub fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Sum of a distribution's samples, in ns.
pub fn sum_ns(latency: Option<&Latency>) -> f64 {
    latency.map_or(0.0, |latency| finite(latency.mean_ns) * latency.count as f64)
}
