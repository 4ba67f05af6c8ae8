//! Monitor of one job while it runs: the job's state in the control plane.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use candor_record::{Ended, IoFailure, JobSample, Measurement, Stopped};

use crate::clock::{Clock, Ticks};
use crate::counters::{Live, Totals};
use crate::phase::gather;
use crate::phase::logged::{LoggedOperations, PhaseRelease};
use crate::phase::logging::Logging;
use crate::phase::minimum_rate::MinimumRateWatch;
use crate::phase::ready_job::ReadyJob;
use crate::phase::sampling::Sampling;
use crate::phase::steady::SteadyWatch;
use crate::stops::Stop;
use crate::worker_end::WorkerEnd;

/// State of a running job in the control plane.
pub struct JobMonitor {
    /// Job that is monitored.
    pub job: Arc<ReadyJob>,
    /// Workers that have ended.
    pub ends: Vec<WorkerEnd>,
    /// Number of workers that have not ended.
    pub left: u32,
    /// Interval samples.
    pub sampling: Sampling,
    /// Log of the job.
    pub logging: Option<Logging>,
    /// Steady-state test, if the job has one.
    pub steady: Option<SteadyWatch>,
    /// Tick at which the job's delay began; none while the job waits for others.
    pub from: Option<Ticks>,
    /// Failure of the job as a whole: it could not be prepared, or missed its minimum rate.
    pub failure: Option<IoFailure>,
    /// Reason for the job's end, if the control plane ended it without a failure.
    pub called_off: Option<Ended>,
    /// Stops of the process since counting began.
    pub stopped: Option<Stopped>,
    minimum_rate: Option<MinimumRateWatch>,
    /// True once the job's last sample was taken.
    sampled_out: bool,
}

impl JobMonitor {
    /// Monitor of a job in a phase that was released at that tick.
    pub fn new(job: &Arc<ReadyJob>, release: Ticks) -> JobMonitor {
        JobMonitor {
            ends: Vec::new(),
            left: job.job.workers,
            sampling: Sampling::new(job.recorded.operations(), job.job.delay.0),
            logging: Logging::new(job),
            steady: job.stop.steady.as_ref().map(SteadyWatch::new),
            from: job.job.after.is_empty().then_some(release),
            failure: None,
            called_off: None,
            stopped: None,
            minimum_rate: job.work.floor().map(MinimumRateWatch::new),
            sampled_out: false,
            job: job.clone(),
        }
    }

    /// Tick at which counting began in the job.
    pub fn zero(&self) -> Ticks {
        self.job.shared.count_from.load(Relaxed)
    }

    /// Time of the job's next scheduled event, in ns since counting began.
    pub fn due_ns(&self) -> Option<u64> {
        let logging = self.logging.as_ref().map(Logging::due_ns);
        let steady = self.steady.as_ref().map(SteadyWatch::due_ns);
        let minimum_rate = self.minimum_rate.as_ref().map(MinimumRateWatch::due_ns);
        let due = [logging, steady, minimum_rate].into_iter().flatten().min();
        due.filter(|_| self.left > 0 && self.called_off.is_none())
    }

    /// Records a stop of the process that has just ended: the job's deadline moves by its length.
    pub fn stopped(&mut self, clock: &Clock, stop: Stop) {
        if self.left == 0 || self.from.is_none() {
            return;
        }
        let counted = clock.ns(clock.now().saturating_sub(self.zero()));
        let ns = stop.ns.min(counted);
        if ns == 0 {
            return;
        }
        self.stopped.get_or_insert_default().add(ns, stop.by);
        if self.job.stop.time.is_some() {
            let deadline = self.job.shared.deadline.load(Relaxed);
            self.job.shared.deadline.store(deadline + clock.ticks(ns), Relaxed);
        }
    }

    /// Subtracts stops of the process from the time of a worker that ran meanwhile.
    pub fn leave_out_stops(&self, end: &mut WorkerEnd) {
        let stopped_ns = self.stopped.map_or(0, |stopped| stopped.ns);
        // After reading back, a stop may have been in the work or in the later reads.
        if end.read_back.is_none_or(|spent| spent.ticks == Ticks(0)) {
            end.stats.elapsed_ns = end.stats.elapsed_ns.saturating_sub(stopped_ns);
        }
    }

    /// True for a running job that moves bytes.
    pub fn moves(&self) -> bool {
        let operations = self.job.recorded.operations();
        self.left > 0 && operations.iter().any(|(_, operation)| operation.moves_bytes)
    }

    /// Bytes that the job moved in the ramp.
    pub fn moved_in_ramp(&self) -> u64 {
        Totals::of(self.job.live.iter(), false).work().bytes
    }

    /// Drains the workers' logs.
    pub fn drain_log(&mut self, clock: &Clock) {
        let zero = self.zero();
        self.logging.iter_mut().for_each(|logging| logging.drain(clock, zero));
    }

    /// Logged operations to be written to the job's file.
    pub fn logged_operations(&mut self, release: PhaseRelease) -> Option<LoggedOperations> {
        let logging = self.logging.as_mut()?;
        let entries = logging.take_for_file()?;
        Some(LoggedOperations::new(&self.job, release, entries, logging.lost()))
    }

    /// Handles all due events; the job may end or fail.
    pub fn tick(&mut self, clock: &Clock) {
        let (now, zero) = (clock.now(), self.zero());
        let watches =
            self.logging.is_some() || self.steady.is_some() || self.minimum_rate.is_some();
        if !watches || now <= zero || self.from.is_none() {
            return;
        }
        let now_ns = clock.ns(now - zero);
        if let Some(logging) = &mut self.logging {
            logging.tick(now_ns);
        }
        if self.left == 0 || self.due_ns().is_none_or(|due_ns| now_ns < due_ns) {
            return;
        }
        let totals = Totals::of(self.job.live.iter(), true);
        if self.steady.as_mut().is_some_and(|steady| steady.check(&totals, now_ns)) {
            self.call_off(Ended::Steady);
        }
        if let Some(message) =
            self.minimum_rate.as_mut().and_then(|rate| rate.check(&totals, now_ns))
        {
            self.failure = Some(IoFailure {
                op: None,
                path: String::new(),
                offset: 0,
                errno: libc::EIO,
                message,
                count: 1,
            });
            self.job.shared.command.end();
        }
    }

    /// Ends the job's workers without a failure.
    pub fn call_off(&mut self, as_if: Ended) {
        if self.left > 0 && self.called_off.is_none() {
            self.called_off = Some(as_if);
            self.job.shared.command.end();
        }
    }

    /// Measurement from the ends of the job's workers, without the log.
    pub fn measured(
        &self,
        ends: Vec<WorkerEnd>,
        stalled: bool,
        release: PhaseRelease,
    ) -> Measurement {
        let (job, clock) = (&self.job, release.clock);
        let mut measurement = gather::measurement(job, ends, clock, stalled);
        let waited = self.from.unwrap_or(release.tick).saturating_sub(release.tick);
        let started_ns = release.unix_ns + clock.ns(waited) + job.job.delay.0;
        measurement.start_unix_ms = Some(started_ns / 1_000_000);
        measurement.samples = self.sampling.samples().iter().cloned().collect();
        measurement.stopped = self.stopped;
        measurement.leave_out_stops();
        measurement.steady = self.steady.as_ref().map(SteadyWatch::state);
        measurement
    }

    /// True if a failure ends the job.
    pub fn has_failed(&self) -> bool {
        self.called_off.is_none() && self.job.shared.command.is_end()
    }

    /// Time from the release to the end of the last worker, in ns.
    fn last_end_ns(&self, release: PhaseRelease) -> u64 {
        let clock = release.clock;
        let worked = self
            .ends
            .iter()
            .map(|end| end.stats.elapsed_ns + clock.ns(end.read_back.unwrap_or_default().ticks));
        let stopped_ns = self.stopped.map_or(0, |stopped| stopped.ns);
        let zero_ns = clock.ns(self.zero().saturating_sub(release.tick));
        zero_ns + worked.max().unwrap_or(0) + stopped_ns
    }

    /// Sample of the job since its last sample. `zero_ns` is the time at which counting began in
    /// the phase, in ns since the release; none during the ramp.
    pub fn sample(
        &mut self,
        release: PhaseRelease,
        now_ns: u64,
        zero_ns: Option<u64>,
        short_ns: u64,
    ) -> Option<JobSample> {
        if self.sampled_out || self.from.is_none() {
            return None;
        }
        let mut until_ns = now_ns;
        if self.left == 0 {
            self.sampled_out = true;
            until_ns = now_ns.min(self.last_end_ns(release));
        }
        let job = &self.job;
        let totals = || {
            let totals = Totals::of(job.live.iter(), zero_ns.is_some());
            if zero_ns.is_some() { totals.with_read_back() } else { totals }
        };
        let taken = self.sampling.take(totals, until_ns, zero_ns.unwrap_or(0), short_ns);
        let Some(mut sample) = taken else {
            if self.sampled_out && zero_ns.is_some() {
                self.sampling.extend_last(&totals(), until_ns);
            }
            return None;
        };
        self.sampling
            .add_percentiles(&mut sample, |at| Live::latencies(&job.live, zero_ns.is_some(), at));
        let workers = job.live.iter().map(|live| live.work(zero_ns.is_some())).collect();
        let workers = self.sampling.workers(workers);
        Some(JobSample { job: job.job.name.clone(), sample, workers })
    }
}
