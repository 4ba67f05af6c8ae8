//! The state of a run, as far as its events told it.

use candor_derive::{DeviceRates, Rates, RunProgress, per_second};
use candor_record::{
    Ceiling, Event, Finding, HostSample, JobSample, OpSample, PrepareStep, Verdict, WorkerSample,
    cpu_busy_of,
};

use crate::marks::Timeline;

/// Values kept of each worker: there may be thousands of them.
pub const WORKER_VALUES: usize = 7;

/// A run so far.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// How far it is.
    pub progress: RunProgress,
    /// Preparation that goes on.
    pub preparing: Option<Preparing>,
    /// A phase runs, and it is in its ramp.
    pub in_ramp: bool,
    /// Ceilings of the path of the phase.
    pub ceilings: Vec<Ceiling>,
    /// Rates of all jobs in the last interval.
    pub rates: Rates,
    /// These rates and latencies over time.
    pub timelines: Timelines,
    /// The operations of all jobs.
    pub ops: Vec<OpRow>,
    /// The workers of all jobs.
    pub workers: Vec<WorkerRow>,
    /// The devices below the targets.
    pub devices: Vec<DeviceRow>,
    /// The hosts, where there are several.
    pub hosts: Vec<HostRow>,
    /// Busy share of all CPUs.
    pub cpu_busy: Option<f64>,
    /// Findings, each with its phase.
    pub found: Vec<(String, Finding)>,
    /// Warnings and notes.
    pub told: Vec<String>,
    /// The phases that are over.
    pub results: Vec<PhaseResult>,
    /// Verdict on the phase that is about to be over.
    verdict: Option<Verdict>,
    /// The run is over.
    pub over: bool,
}

/// Result of a phase that is over.
#[derive(Clone, Debug)]
pub struct PhaseResult {
    /// Name of the phase.
    pub phase: String,
    /// Rates of all its jobs.
    pub rates: Rates,
    /// Verdict on it; steps of a search have none.
    pub verdict: Option<Verdict>,
}

/// Work before and between phases.
#[derive(Clone, Debug)]
pub struct Preparing {
    /// Kind.
    pub step: PrepareStep,
    /// Object.
    pub what: String,
    /// Bytes done, and all of them.
    pub bytes: (u64, u64),
}

/// Figures over time, one value for each interval.
#[derive(Clone, Debug, Default)]
pub struct Timelines {
    /// Operations per second.
    pub ops_per_s: Timeline,
    /// Bytes per second.
    pub bytes_per_s: Timeline,
    /// Median latency in ns, the highest of all operations.
    pub p50: Timeline,
    /// 99th percentile in ns, the highest of all operations.
    pub p99: Timeline,
    /// Busy share of all CPUs.
    pub cpu: Timeline,
}

/// One kind of operation of a job, in the last interval.
#[derive(Clone, Debug, Default)]
pub struct OpRow {
    /// Name of the job.
    pub job: String,
    /// Length of the interval.
    pub length_ns: u64,
    /// Counts and percentiles.
    pub op: OpSample,
}

impl OpRow {
    /// True for the work itself: no flushes, and no items that consist of operations.
    pub fn is_work(&self) -> bool {
        self.op.figure.is_work()
    }
}

/// A worker, in the last interval.
#[derive(Clone, Debug, Default)]
pub struct WorkerRow {
    /// Name of the job.
    pub job: String,
    /// Number within the job.
    pub rank: u32,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Operations per second over time.
    pub timeline: Timeline,
    /// True once it has done all of its work.
    pub is_done: bool,
}

/// A device, in the last interval.
#[derive(Clone, Debug, Default)]
pub struct DeviceRow {
    /// Name, behind that of its host where it has one.
    pub device: String,
    /// Rates.
    pub rates: DeviceRates,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
    /// Share of time with a request in flight.
    pub utilisation: f64,
    /// Bytes per second over time.
    pub timeline: Timeline,
}

/// A host among several, in the last interval.
#[derive(Clone, Debug, Default)]
pub struct HostRow {
    /// Name.
    pub host: String,
    /// Busy share of all of its CPUs.
    pub cpu_busy: Option<f64>,
    /// The CPU that was busiest.
    pub busiest_cpu: Option<f64>,
    /// The device that was busiest, and its share of time with a request in flight.
    pub busiest_device: Option<(String, f64)>,
    /// Busy share of the CPUs over time.
    pub timeline: Timeline,
}

impl State {
    /// Takes an event that came at that time.
    pub fn on(&mut self, event: &Event, now_ns: u64) {
        self.progress.on(event, now_ns);
        if !matches!(event, Event::Warned { .. } | Event::Noted { .. } | Event::Found { .. }) {
            self.preparing = None;
        }
        match event {
            Event::Preparing { step, what, bytes_done, bytes_total, .. } => {
                let bytes = (*bytes_done, *bytes_total);
                self.preparing = Some(Preparing { step: *step, what: what.clone(), bytes });
            }
            Event::PhaseStarted { ceilings, .. } => self.begin(ceilings),
            Event::Sampled { in_ramp, samples, hosts, .. } => {
                self.in_ramp = *in_ramp;
                self.sampled(samples);
                self.hosts_sampled(hosts);
            }
            Event::WorkerDone { job, rank, .. } => self.worker(job, *rank).is_done = true,
            Event::PhaseDone { record } => {
                let rates = Rates::of_results(&record.measurements);
                let (phase, verdict) = (record.name.clone(), self.verdict.take());
                self.results.push(PhaseResult { phase, rates, verdict });
            }
            Event::Found { phase, finding } => {
                self.found.push((phase.clone(), (**finding).clone()));
            }
            Event::Warned { sentence } => self.told.push(sentence.clone()),
            Event::Noted { note } => {
                self.told.push(format!("{}: {}; {}", note.asked, note.did, note.why));
            }
            Event::RunDone { .. } => self.over = true,
            Event::PhaseJudged { verdict, .. } => self.verdict = Some(*verdict),
            Event::RunStarted { .. } | Event::Interim { .. } => {}
        }
    }

    /// True once an interval of the phase is over, so that its rates are known.
    pub fn is_sampled(&self) -> bool {
        !self.ops.is_empty()
    }

    /// Rows of the phase before say nothing of the next one; timelines go on, behind a gap.
    fn begin(&mut self, ceilings: &[Ceiling]) {
        let Timelines { ops_per_s, bytes_per_s, p50, p99, cpu } = &mut self.timelines;
        for timeline in [ops_per_s, bytes_per_s, p50, p99, cpu] {
            timeline.push(None);
        }
        self.ceilings = ceilings.to_vec();
        self.rates = Rates::default();
        self.ops.clear();
        self.workers.clear();
        self.in_ramp = false;
    }

    fn sampled(&mut self, samples: &[JobSample]) {
        for JobSample { job, sample, workers } in samples {
            for op in &sample.operations {
                let row = OpRow { job: job.clone(), length_ns: sample.length_ns, op: op.clone() };
                let same = |known: &&mut OpRow| known.job == *job && known.op.name == op.name;
                match self.ops.iter_mut().find(same) {
                    Some(known) => *known = row,
                    None => self.ops.push(row),
                }
            }
            for (rank, did) in (0u32..).zip(workers) {
                self.worker(job, rank).take(*did, sample.length_ns);
            }
        }
        // A job that has ended is in no sample any more, and does nothing.
        let is_sampled = |row: &OpRow| samples.iter().any(|of| of.job == row.job);
        for row in self.ops.iter_mut().filter(|row| !is_sampled(row)) {
            let OpSample { name, figure, .. } = std::mem::take(&mut row.op);
            row.op = OpSample { name, figure, ..OpSample::default() };
        }
        self.rates = Rates::of_samples(samples.iter().map(|of| &of.sample));
        let highest = |of: fn(&OpSample) -> Option<u64>| {
            let work = self.ops.iter().filter(|row| row.is_work());
            work.filter_map(|row| of(&row.op)).max().map(|ns| ns as f64)
        };
        let (p50, p99) = (highest(|op| op.latency_ns_p50), highest(|op| op.latency_ns_p99));
        self.timelines.ops_per_s.push(self.rates.ops_per_s());
        self.timelines.bytes_per_s.push(Some(self.rates.bytes_per_s));
        self.timelines.p50.push(p50);
        self.timelines.p99.push(p99);
    }

    fn hosts_sampled(&mut self, hosts: &[HostSample]) {
        self.cpu_busy = cpu_busy_of(hosts);
        self.timelines.cpu.push(self.cpu_busy);
        let are_several = hosts.len() > 1;
        for host in hosts {
            self.devices_sampled(host, are_several);
            if are_several {
                self.host(&host.host).take(host);
            }
        }
    }

    /// The row of a host; it is made where there is none.
    fn host(&mut self, name: &str) -> &mut HostRow {
        let known = self.hosts.iter().position(|row| row.host == name);
        let at = known.unwrap_or_else(|| {
            self.hosts.push(HostRow { host: name.to_owned(), ..HostRow::default() });
            self.hosts.len() - 1
        });
        &mut self.hosts[at]
    }

    fn devices_sampled(&mut self, host: &HostSample, are_several: bool) {
        for sample in &host.devices {
            let device = if are_several {
                format!("{}:{}", host.host, sample.device)
            } else {
                sample.device.clone()
            };
            let known = self.devices.iter().position(|row| row.device == device);
            let at = known.unwrap_or_else(|| {
                self.devices.push(DeviceRow { device, ..DeviceRow::default() });
                self.devices.len() - 1
            });
            let row = &mut self.devices[at];
            row.rates = DeviceRates::of(sample, host.length_ns);
            (row.in_flight, row.utilisation) = (sample.in_flight, sample.utilisation);
            row.timeline.push(Some(row.rates.bytes_per_s));
        }
    }

    /// The row of a worker; it is made where there is none.
    fn worker(&mut self, job: &str, rank: u32) -> &mut WorkerRow {
        let same = |row: &WorkerRow| row.rank == rank && row.job == job;
        // Rows of a job stand together in the order of ranks as a rule, so few are looked at.
        let first = self.workers.iter().position(|row| row.job == job).unwrap_or(0);
        let likely = first + rank as usize;
        let known = if self.workers.get(likely).is_some_and(same) {
            Some(likely)
        } else {
            self.workers.iter().position(same)
        };
        let at = known.unwrap_or_else(|| {
            let timeline = Timeline::of(WORKER_VALUES);
            let (job, none) = (job.to_owned(), WorkerRow::default());
            self.workers.push(WorkerRow { job, rank, timeline, ..none });
            self.workers.len() - 1
        });
        &mut self.workers[at]
    }
}

impl HostRow {
    fn take(&mut self, sample: &HostSample) {
        self.cpu_busy = sample.cpu_busy;
        self.busiest_cpu = sample.cpus_busy.iter().copied().max_by(f64::total_cmp);
        let busiest = sample.devices.iter().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
        self.busiest_device = busiest.map(|device| (device.device.clone(), device.utilisation));
        self.timeline.push(sample.cpu_busy);
    }
}

impl WorkerRow {
    fn take(&mut self, did: WorkerSample, length_ns: u64) {
        self.ops_per_s = per_second(did.ops, length_ns);
        self.bytes_per_s = per_second(did.bytes, length_ns);
        self.timeline.push(Some(self.ops_per_s));
    }
}
