//! Control plane of a running phase: receives ends, takes samples, stops workers, flushes, gathers.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use candor_plan::{OnDone, OnFailure, RampAmount};
use candor_record::{Ended, JobSample, Measurement};

use crate::clock::{Clock, Ticks};
use crate::counters::Live;
use crate::failures::Failures;
use crate::phase::interim;
use crate::phase::job_monitor::JobMonitor;
use crate::phase::logged::PhaseRelease;
use crate::phase::ready_job::ReadyJob;
use crate::phase::skipped;
use crate::phase::{Prepared, Watch};
use crate::shared::Message;
use crate::stops::StopWatch;

/// Maximum time without a completion; then the phase has stalled.
const STALL: Duration = Duration::from_secs(60);
/// Maximum time for workers to end after the command.
const GRACE: Duration = Duration::from_secs(20);
/// Interval between two checks of the bytes moved, in a ramp that ends by an amount.
const AMOUNT_INTERVAL: Duration = Duration::from_micros(500);
/// Longest interval between two checks of the phase, which read the counters of all workers.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The same if workers follow the progress of other hosts.
const LOOK_INTERVAL_OF_HOSTS: Duration = Duration::from_millis(20);
/// Maximum size of a phase's samples in the report of one host, in bytes: some hours of one job
/// with a sample per second.
const SAMPLES_BYTES_MAX: u64 = 16 << 20;
/// Longest time until a command is read; also the delay of interim results and of timed ends.
const COMMAND_INTERVAL: Duration = Duration::from_millis(20);

/// The final flush of a job.
#[derive(Default)]
pub struct Flushed {
    /// Duration of the flush; none if there was none.
    pub took_ns: Option<u64>,
    failures: Failures,
}

/// Completed operations of the phase at their last change.
struct LastProgress {
    at: Instant,
    ops: u64,
    /// Total time of stops of the process until then.
    stopped: Duration,
}

/// The control plane of a running phase.
pub struct Control<'a> {
    phase: &'a Prepared,
    release: PhaseRelease,
    monitors: Vec<JobMonitor>,
    /// Time from the release at which operations began to count; none in the ramp.
    counting_from_ns: Option<u64>,
    /// Number of intervals sampled since counting began.
    intervals: u64,
    next_sample_ns: u64,
    stops: StopWatch,
    /// Time since the last sample in which the process was stopped.
    stopped_ns: u64,
    /// Total time of the phase in which the process was stopped.
    stopped_all: Duration,
    /// True if nothing completed for too long.
    pub stalled: bool,
    interrupted: bool,
}

impl<'a> Control<'a> {
    /// Control plane of a phase whose barrier was released at that tick.
    pub fn new(phase: &'a Prepared, release: Ticks) -> Control<'a> {
        let since_ns = phase.clock.ns(phase.clock.now() - release);
        let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mut monitors: Vec<JobMonitor> =
            phase.jobs.iter().map(|job| JobMonitor::new(job, release)).collect();
        for (job, error) in &phase.broken {
            monitors[*job].left -= 1;
            monitors[*job].failure = Some(error.failure());
        }
        Control {
            monitors,
            counting_from_ns: None,
            intervals: 0,
            next_sample_ns: match phase.ramp_amount {
                Some(_) => phase.interval_ns,
                None => phase.interval_ns.min(phase.ramp_ns.max(1)),
            },
            stops: StopWatch::new(&phase.clock),
            stopped_ns: 0,
            stopped_all: Duration::ZERO,
            stalled: false,
            interrupted: false,
            release: PhaseRelease {
                clock: phase.clock,
                tick: release,
                unix_ns: (unix_ns as u64).saturating_sub(since_ns),
            },
            phase,
        }
    }

    fn since_release_ns(&self) -> u64 {
        self.phase.clock.ns(self.phase.clock.now() - self.release.tick)
    }

    /// Receives ends, takes samples and forwards the user's stop, until all workers have ended.
    pub fn watch_over(&mut self, stop: &AtomicBool, watch: &mut dyn Watch) {
        let mut progress = LastProgress { at: Instant::now(), ops: 0, stopped: Duration::ZERO };
        let mut stopping_since: Option<Instant> = None;
        self.tick(watch);
        self.start_waiting();
        let mut left: u32 = self.monitors.iter().map(|monitor| monitor.left).sum();
        while left > 0 {
            match self.next_message(stop, watch) {
                Ok(Message::Ended { job, rank, end }) => {
                    left -= 1;
                    let monitor = &mut self.monitors[job];
                    watch.worker_done(&monitor.job.job.name, rank);
                    monitor.left -= 1;
                    if monitor.job.first_done.is_marked() {
                        watch.first_done(job);
                    }
                    if let Ok(mut end) = *end {
                        monitor.leave_out_stops(&mut end);
                        monitor.ends.push(end);
                    }
                    self.job_done(job);
                    self.start_waiting();
                    self.end_background();
                }
                Ok(Message::Ready) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tick(watch);
            self.agree_with_others(watch);
            if watch.takes_interim() {
                watch.interim(self.interim());
            }
            if watch.is_ended() {
                self.monitors.iter_mut().for_each(|monitor| monitor.call_off(Ended::Done));
            }
            if watch.is_time_up() {
                self.monitors.iter_mut().for_each(|monitor| monitor.call_off(Ended::Time));
            }
            self.stalled |= self.no_progress(&mut progress);
            let wanted = stop.load(Relaxed);
            self.interrupted |= wanted;
            if wanted || self.stalled || self.any_failed() {
                self.stop_all();
                if stopping_since.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    self.stalled = true;
                    break;
                }
            }
        }
        if self.counting_from_ns.is_none() && self.phase.ramp_amount.is_some() {
            self.begin_to_count();
        }
        self.sample(watch);
        self.log_operations(watch, true);
    }

    /// Follows the progress of workers on other hosts.
    fn agree_with_others(&self, watch: &mut dyn Watch) {
        for (index, monitor) in self.monitors.iter().enumerate() {
            let ReadyJob { first_done, live, work, .. } = &*monitor.job;
            if !first_done.is_marked() && watch.is_first_done(index) {
                first_done.mark(live, &self.phase.clock);
            }
            let furthest = work.furthest().filter(|furthest| furthest.agreed().is_none());
            let agreed = furthest.and_then(|furthest| {
                Some((furthest, watch.furthest(index, furthest.ops_here()?)?))
            });
            if let Some((furthest, ops)) = agreed {
                furthest.agree(ops);
            }
        }
    }

    /// Passes on operations for the files of jobs: while the receiver has room, or all.
    fn log_operations(&mut self, watch: &mut dyn Watch, all: bool) {
        let clock = self.phase.clock;
        for monitor in &mut self.monitors {
            let mut has_more = true;
            while has_more {
                monitor.drain_log(&clock);
                let has_room = all || watch.takes_operations();
                let operations =
                    has_room.then(|| monitor.logged_operations(self.release)).flatten();
                has_more = all && operations.is_some();
                operations.into_iter().for_each(|operations| watch.operations(operations));
            }
        }
    }

    /// Ends the background jobs once all others have ended.
    fn end_background(&mut self) {
        let (background, foreground): (Vec<_>, Vec<_>) =
            self.monitors.iter_mut().partition(|monitor| monitor.job.job.background);
        if !foreground.is_empty() && foreground.iter().all(|monitor| monitor.left == 0) {
            background.into_iter().for_each(|monitor| monitor.call_off(Ended::Time));
        }
    }

    /// Waits for a message, a command, or the next due event.
    fn next_message(
        &mut self,
        stop: &AtomicBool,
        watch: &mut dyn Watch,
    ) -> Result<Message, RecvTimeoutError> {
        let due = Instant::now() + self.pause();
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let (begun, wait) = (self.phase.clock.now(), left.min(COMMAND_INTERVAL));
            let received = self.phase.messages.recv_timeout(wait);
            self.look_for_stop(begun, wait);
            let waits = matches!(received, Err(RecvTimeoutError::Timeout))
                && left > COMMAND_INTERVAL
                && !stop.load(Relaxed)
                && !watch.has_command();
            if !waits {
                return received;
            }
        }
    }

    /// Subtracts a stop of the process during a wait of this thread.
    fn look_for_stop(&mut self, begun: Ticks, wait: Duration) {
        let clock = self.phase.clock;
        let live = self.phase.jobs.iter().flat_map(|job| job.live.iter());
        let progress = || live.clone().map(Live::progress).sum();
        let most_ns = wait.as_nanos() as u64;
        let Some(stop) = self.stops.stop(&clock, begun, most_ns, progress) else { return };
        self.monitors.iter_mut().for_each(|monitor| monitor.stopped(&clock, stop));
        self.stopped_ns += stop.ns;
        self.stopped_all += Duration::from_nanos(stop.ns);
    }

    fn pause(&self) -> Duration {
        let due_ns = self.monitors.iter().filter_map(|monitor| {
            let zero_ns = self.phase.clock.ns(monitor.zero().saturating_sub(self.release.tick));
            Some(monitor.due_ns()?.saturating_add(zero_ns))
        });
        let next_ns = due_ns.min().unwrap_or(u64::MAX).min(self.next_sample_ns);
        let to_next = next_ns.saturating_sub(self.since_release_ns());
        let looks = self.counting_from_ns.is_none() && self.phase.ramp_amount.is_some();
        let longest = if looks {
            AMOUNT_INTERVAL
        } else if self.phase.has_other_hosts {
            LOOK_INTERVAL_OF_HOSTS
        } else {
            LOOK_INTERVAL
        };
        Duration::from_nanos(to_next).clamp(Duration::from_micros(50), longest)
    }

    /// Starts jobs whose `after` jobs have all ended.
    fn start_waiting(&mut self) {
        let now = self.phase.clock.now();
        for index in 0..self.monitors.len() {
            let job = self.monitors[index].job.clone();
            let waits = self
                .monitors
                .iter()
                .any(|monitor| monitor.left > 0 && job.job.after.contains(&monitor.job.job.name));
            if self.monitors[index].from.is_some() || waits {
                continue;
            }
            let begins_ns = self.phase.clock.ns(now - self.release.tick) + job.job.delay.0;
            let monitor = &mut self.monitors[index];
            monitor.from = Some(now);
            monitor.sampling.count_from(begins_ns + self.phase.ramp_ns);
            self.phase.schedule(&job, now);
        }
    }

    /// True if a job has failed and a failure ends the run.
    fn any_failed(&self) -> bool {
        self.phase.on_failure == OnFailure::EndRun
            && self.monitors.iter().any(JobMonitor::has_failed)
    }

    fn stop_all(&self) {
        self.phase.jobs.iter().for_each(|job| job.shared.command.end());
    }

    /// True once nothing has ended for [`STALL`] plus the plan's longest pause.
    fn no_progress(&self, last: &mut LastProgress) -> bool {
        let live = self.phase.jobs.iter().flat_map(|job| job.live.iter());
        let ops: u64 = live.map(Live::progress).sum();
        let tick = self.phase.clock.now();
        // While a job waits for its start, the phase cannot stall.
        let starts_later = self.monitors.iter().any(|monitor| {
            monitor.from.is_some() && tick < monitor.job.shared.started.load(Relaxed)
        });
        if ops != last.ops || starts_later {
            *last = LastProgress { at: Instant::now(), ops, stopped: self.stopped_all };
        }
        let stopped = self.stopped_all - last.stopped;
        last.at.elapsed() > STALL + self.longest_rest() + stopped
    }

    /// Longest pause between operations that the plan sets.
    fn longest_rest(&self) -> Duration {
        Duration::from_nanos(
            self.phase.jobs.iter().map(|job| job.work.pause_ns_max()).max().unwrap_or(0),
        )
    }

    /// Handles all due events: the end of the ramp, a sample.
    fn tick(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.since_release_ns();
        if let Some(from_ns) = self.ramp_end_ns(now_ns) {
            self.end_ramp(from_ns, watch);
        } else if now_ns >= self.next_sample_ns {
            self.sample(watch);
            self.next_sample_ns += self.phase.interval_ns;
        }
        self.log_operations(watch, false);
        for monitor in &mut self.monitors {
            monitor.tick(&self.phase.clock);
        }
    }

    /// Time at which the ramp ended, if it ended since the last check.
    fn ramp_end_ns(&self, now_ns: u64) -> Option<u64> {
        let (none, ramp_ns) = (self.counting_from_ns.is_none(), self.phase.ramp_ns);
        match self.phase.ramp_amount {
            Some(amount) => (none && self.has_moved(amount)).then_some(now_ns),
            None => (none && now_ns >= ramp_ns).then_some(ramp_ns),
        }
    }

    fn end_ramp(&mut self, from_ns: u64, watch: &mut dyn Watch) {
        self.sample(watch);
        self.counting_from_ns = Some(from_ns);
        let by_time = self.phase.ramp_amount.is_none();
        if !by_time {
            self.begin_to_count();
        }
        for monitor in self.monitors.iter_mut().filter(|monitor| monitor.from.is_some()) {
            // By time, each job's ramp starts after its delay.
            let delay_ns = if by_time { monitor.job.job.delay.0 } else { 0 };
            monitor.sampling.count_from(delay_ns + from_ns);
        }
        self.next_sample_ns = from_ns + self.phase.interval_ns;
        if from_ns > 0 {
            watch.counting();
        }
    }

    /// True once the jobs have moved the amount that ends the ramp. Jobs that have ended or move no
    /// bytes do not count.
    fn has_moved(&self, amount: RampAmount) -> bool {
        if amount.together {
            let moved = self.monitors.iter().map(JobMonitor::moved_in_ramp);
            return moved.fold(0, u64::saturating_add) >= amount.bytes.0
                || self.monitors.iter().all(|monitor| !monitor.moves());
        }
        self.monitors
            .iter()
            .all(|monitor| !monitor.moves() || monitor.moved_in_ramp() >= amount.bytes.0)
    }

    /// Starts counting operations of all jobs.
    fn begin_to_count(&self) {
        let now = self.phase.clock.now();
        for job in &self.phase.jobs {
            self.phase.count(job, now);
            job.shared.command.count();
        }
    }

    /// Ends the other jobs if the end of this job ends them.
    fn job_done(&mut self, index: usize) {
        let monitor = &self.monitors[index];
        let ended = monitor.left == 0 && monitor.called_off.is_none();
        let takes_along = if monitor.has_failed() {
            self.phase.on_failure == OnFailure::EndPhase
        } else {
            matches!(monitor.job.job.on_done, OnDone::EndPhase | OnDone::EndRun)
        };
        if ended && takes_along {
            self.monitors.iter_mut().for_each(|monitor| monitor.call_off(Ended::Done));
        }
    }

    /// Samples every running job since its last sample; the latest sample comes first. A remainder
    /// shorter than a tenth of an interval at the end of a job is skipped.
    fn sample(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.since_release_ns();
        let mut taken: Vec<(usize, JobSample)> = Vec::new();
        let zero_ns = self.counting_from_ns;
        let short_ns = self.phase.interval_ns / 10;
        for (index, monitor) in self.monitors.iter_mut().enumerate() {
            let sample = monitor.sample(self.release, now_ns, zero_ns, short_ns);
            taken.extend(sample.map(|sample| (index, sample)));
        }
        if let Some(stopped_ns) = (!taken.is_empty()).then(|| std::mem::take(&mut self.stopped_ns))
        {
            for (_, JobSample { sample, .. }) in &mut taken {
                sample.length_ns = sample.length_ns.saturating_sub(stopped_ns).max(1);
            }
        }
        taken.sort_by_key(|(_, of)| std::cmp::Reverse(of.sample.at_ns));
        if zero_ns.is_some() && !taken.is_empty() {
            self.keep(&taken, watch);
        }
        let samples: Vec<JobSample> = taken.into_iter().map(|(_, of)| of).collect();
        if !samples.is_empty() {
            watch.sampled(samples, zero_ns.is_none());
        }
    }

    /// Keeps the samples of an interval. If all samples exceed the maximum size, samples of all
    /// jobs are joined in the same way.
    fn keep(&mut self, taken: &[(usize, JobSample)], watch: &mut dyn Watch) {
        for (index, of) in taken {
            let samples = self.monitors[*index].sampling.samples_mut();
            samples.put(self.intervals, of.sample.clone());
        }
        self.intervals += 1;
        let bytes = self.monitors.iter().map(|monitor| monitor.sampling.samples().bytes());
        if bytes.sum::<u64>() > SAMPLES_BYTES_MAX {
            for monitor in &mut self.monitors {
                monitor.sampling.samples_mut().halve();
            }
            watch.joined(
                taken
                    .first()
                    .map_or(1, |(index, _)| self.monitors[*index].sampling.samples().stride()),
            );
        }
    }

    /// Does the final flushes that the plan requests, for all jobs at once.
    pub fn flush(&self) -> Vec<Flushed> {
        let clock = self.phase.clock;
        thread::scope(|scope| {
            let started = self.phase.jobs.iter().map(|job| {
                let named = thread::Builder::new().name("candor/flush".into());
                let flushes = job.work.flushes_at_end();
                flushes.then(|| (job, named.spawn_scoped(scope, move || flush(job, clock))))
            });
            let threads: Vec<_> = started.collect();
            let ends = threads.into_iter().map(|started| match started? {
                (_, Ok(thread)) => thread.join().ok(),
                // Without a thread, flush the job on this thread.
                (job, Err(_)) => Some(flush(job, clock)),
            });
            ends.map(Option::unwrap_or_default).collect()
        })
    }

    /// The results so far, one measurement per job of the phase.
    fn interim(&self) -> Vec<Measurement> {
        let ran = interim::measurements(&self.monitors, self.release);
        skipped::merge(ran, self.phase.skipped.clone())
    }

    /// Measurements of the phase, one per job.
    pub fn gather(self, flushed: Vec<Flushed>) -> Vec<Measurement> {
        let Control { release, stalled, interrupted, monitors, .. } = self;
        let measurements = monitors.into_iter().zip(flushed).map(|(mut monitor, flushed)| {
            let mut measurement = measured(&mut monitor, flushed, stalled, release);
            if stalled {
                measurement.ended = Ended::Stalled;
            } else if interrupted && measurement.ended != Ended::Failed {
                measurement.ended = Ended::Interrupted;
            }
            if let Some(ended) = monitor.called_off
                && measurement.ended == Ended::Interrupted
                && !interrupted
            {
                measurement.ended = ended;
            }
            if let Some(failure) = monitor.failure {
                measurement.ended = Ended::Failed;
                measurement.errors.push(failure);
            }
            measurement
        });
        measurements.collect()
    }
}

/// Measurement of a job with its log and its flush.
fn measured(
    monitor: &mut JobMonitor,
    flushed: Flushed,
    stalled: bool,
    release: PhaseRelease,
) -> Measurement {
    let (log, ends) = (monitor.logging.take(), std::mem::take(&mut monitor.ends));
    let mut measurement = monitor.measured(ends, stalled, release);
    measurement.log = log.map(|log| {
        let mut log = log.finish(measurement.elapsed_ns);
        let from_ns = release.clock.ns(monitor.zero().saturating_sub(release.tick));
        log.start_unix_ms = (release.unix_ns + from_ns) / 1_000_000;
        Box::new(log)
    });
    let elapsed_ns = measurement.elapsed_ns;
    // Workers may have flushed within their time.
    let with_flush_ns = flushed.took_ns.map(|ns| elapsed_ns + ns);
    measurement.elapsed_with_flush_ns = with_flush_ns.or(measurement.elapsed_with_flush_ns);
    measurement.derive();
    measurement.errors.extend(flushed.failures.into_list());
    measurement
}

/// Makes a job's writes durable.
fn flush(job: &ReadyJob, clock: Clock) -> Flushed {
    let before = clock.now();
    let failures = job.work.flush();
    Flushed { took_ns: Some(clock.ns(clock.now() - before)), failures }
}
