//! Control plane of a running phase: receives ends, takes samples, stops workers, flushes, gathers.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::RecvTimeoutError;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use candor_plan::{OnDone, OnFailure, RampAmount};
use candor_record::{Ended, JobSample, Measurement};

use crate::clock::{Clock, Ticks};
use crate::counters::{Live, Totals};
use crate::failures::Failures;
use crate::phase::interim;
use crate::phase::job_monitor::JobMonitor;
use crate::phase::logged::PhaseRelease;
use crate::phase::ready_job::ReadyJob;
use crate::phase::skipped;
use crate::phase::{Prepared, Watch};
use crate::shared::Message;
use crate::stops::StopWatch;

/// Time without a completion after which a phase is given up.
const STALL: Duration = Duration::from_secs(60);
/// Time that workers may take to end after the command.
const GRACE: Duration = Duration::from_secs(20);
/// Interval between two looks at how much was moved, in a ramp that ends by an amount.
const AMOUNT_INTERVAL: Duration = Duration::from_micros(500);
/// Longest interval between two looks at the phase, each at the counters of all workers.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The same where workers follow what those of other hosts have come to.
const LOOK_INTERVAL_OF_HOSTS: Duration = Duration::from_millis(20);
/// Most bytes of a report that the samples of a phase take on a host: samples of some hours, where
/// one job is sampled each second.
const SAMPLES_BYTES_MAX: u64 = 16 << 20;
/// Longest time until a command is seen: results so far and ends that are timed are as late.
const COMMAND_INTERVAL: Duration = Duration::from_millis(20);

/// The final flush of a job.
#[derive(Default)]
pub struct Flushed {
    /// Duration of the flush; none if there was none.
    pub took_ns: Option<u64>,
    failures: Failures,
}

/// The control plane of a running phase.
pub struct Control<'a> {
    phase: &'a Prepared,
    /// Tick of the release.
    release: Ticks,
    released_unix_ns: u64,
    monitors: Vec<JobMonitor>,
    /// Time from the release at which operations began to count; none in the ramp.
    counting_from_ns: Option<u64>,
    /// Number of intervals that were sampled since then.
    intervals: u64,
    next_sample_ns: u64,
    stops: StopWatch,
    /// Time since the last sample in which the process was stopped.
    stopped_ns: u64,
    /// Time of the whole phase in which the process was stopped.
    stopped_all: Duration,
    /// True where nothing completed for too long.
    pub stalled: bool,
    interrupted: bool,
}

impl<'a> Control<'a> {
    /// Control plane of a phase whose barrier was just released, at that tick.
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
            released_unix_ns: (unix_ns as u64).saturating_sub(since_ns),
            phase,
            release,
        }
    }

    fn since_release_ns(&self) -> u64 {
        self.phase.clock.ns(self.phase.clock.now() - self.release)
    }

    /// Receives ends, takes samples and forwards the user's stop, until all workers have ended.
    pub fn watch_over(&mut self, stop: &AtomicBool, watch: &mut dyn Watch) {
        let mut progress = (Instant::now(), 0, Duration::ZERO);
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

    /// Follows what the workers of other hosts have come to.
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

    /// Hands operations over for the files of jobs: as many as there is room for, or all.
    fn log_operations(&mut self, watch: &mut dyn Watch, all: bool) {
        let clock = self.phase.clock;
        let release = PhaseRelease { clock, tick: self.release, unix_ns: self.released_unix_ns };
        for monitor in &mut self.monitors {
            let mut goes_on = true;
            while goes_on {
                monitor.drain_log(&clock);
                let has_room = all || watch.takes_operations();
                let operations = has_room.then(|| monitor.logged_operations(release)).flatten();
                goes_on = all && operations.is_some();
                operations.into_iter().for_each(|operations| watch.operations(operations));
            }
        }
    }

    /// Ends the background jobs once all others have ended.
    fn end_background(&mut self) {
        let in_front = || self.monitors.iter().filter(|monitor| !monitor.job.job.background);
        if in_front().next().is_some() && in_front().all(|monitor| monitor.left == 0) {
            let behind = self.monitors.iter_mut().filter(|monitor| monitor.job.job.background);
            behind.for_each(|monitor| monitor.call_off(Ended::Time));
        }
    }

    /// Waits for a message until something is due or a command has come.
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
            let goes_on = matches!(received, Err(RecvTimeoutError::Timeout))
                && left > COMMAND_INTERVAL
                && !stop.load(Relaxed)
                && !watch.has_command();
            if !goes_on {
                return received;
            }
        }
    }

    /// Takes a stop of the process in a wait of this thread off the clock.
    fn look_for_stop(&mut self, begun: Ticks, wait: Duration) {
        let clock = self.phase.clock;
        let live = self.phase.jobs.iter().flat_map(|job| job.live.iter());
        let progress = || live.clone().map(Live::progress).sum();
        let most_ns = wait.as_nanos() as u64;
        let Some(stop) = self.stops.stop(&clock, (begun, most_ns), progress) else { return };
        self.monitors.iter_mut().for_each(|monitor| monitor.stopped(&clock, stop));
        self.stopped_ns += stop.ns;
        self.stopped_all += Duration::from_nanos(stop.ns);
    }

    fn pause(&self) -> Duration {
        let ns = |monitor: &JobMonitor| {
            let zero_ns = self.phase.clock.ns(monitor.zero().saturating_sub(self.release));
            Some(monitor.due_ns()?.saturating_add(zero_ns))
        };
        let next_ns = self.monitors.iter().filter_map(ns).min().unwrap_or(u64::MAX);
        let next_ns = next_ns.min(self.next_sample_ns);
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

    /// Starts jobs that wait for others, once those have ended.
    fn start_waiting(&mut self) {
        let now = self.phase.clock.now();
        for index in 0..self.monitors.len() {
            let job = self.monitors[index].job.clone();
            let named = |monitor: &JobMonitor| job.job.after.contains(&monitor.job.job.name);
            if self.monitors[index].from.is_some()
                || self.monitors.iter().any(|monitor| monitor.left > 0 && named(monitor))
            {
                continue;
            }
            let begins_ns = self.phase.clock.ns(now - self.release) + job.job.delay.0;
            let monitor = &mut self.monitors[index];
            monitor.from = Some(now);
            monitor.sampling.count_from(begins_ns + self.phase.ramp_ns);
            self.phase.schedule(&job, now);
        }
    }

    /// True where one job's failure ends the phase; false where jobs fail alone.
    fn any_failed(&self) -> bool {
        self.phase.on_failure == OnFailure::EndRun
            && self.monitors.iter().any(JobMonitor::has_failed)
    }

    fn stop_all(&self) {
        self.phase.jobs.iter().for_each(|job| job.shared.command.end());
    }

    /// True once nothing has ended for [`STALL`] plus the plan's longest pause.
    fn no_progress(&self, last: &mut (Instant, u64, Duration)) -> bool {
        let live = self.phase.jobs.iter().flat_map(|job| job.live.iter());
        let now: u64 = live.map(Live::progress).sum();
        let tick = self.phase.clock.now();
        // A job that waits for its start says nothing about the progress of others.
        if now != last.1
            || self.monitors.iter().any(|monitor| {
                monitor.from.is_some() && tick < monitor.job.shared.started.load(Relaxed)
            })
        {
            *last = (Instant::now(), now, self.stopped_all);
        }
        last.0.elapsed() > STALL + self.longest_rest() + (self.stopped_all - last.2)
    }

    /// Longest time in which a plan issues nothing on purpose.
    fn longest_rest(&self) -> Duration {
        Duration::from_nanos(
            self.phase.jobs.iter().map(|job| job.work.pause_ns_max()).max().unwrap_or(0),
        )
    }

    /// Handles all that is due: the end of the ramp, a sample.
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

    /// Time at which the ramp ended, where that was since the last look.
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
            // By time, each job has its ramp behind its delay.
            let delay_ns = if by_time { monitor.job.job.delay.0 } else { 0 };
            monitor.sampling.count_from(delay_ns + from_ns);
        }
        self.next_sample_ns = from_ns + self.phase.interval_ns;
        if from_ns > 0 {
            watch.counting();
        }
    }

    /// True once the jobs have moved the amount that ends the ramp. A job that has ended, or moves
    /// no bytes, is not waited for.
    fn has_moved(&self, amount: RampAmount) -> bool {
        let moved = |monitor: &JobMonitor| {
            let totals = Totals::of(monitor.job.live.iter(), false);
            totals.work().bytes
        };
        if amount.together {
            let sum = self.monitors.iter().map(moved).fold(0, u64::saturating_add);
            return sum >= amount.bytes.0 || self.monitors.iter().all(|monitor| !monitor.moves());
        }
        self.monitors.iter().all(|monitor| !monitor.moves() || moved(monitor) >= amount.bytes.0)
    }

    /// Lets the operations of all jobs count from now on.
    fn begin_to_count(&self) {
        let now = self.phase.clock.now();
        for job in &self.phase.jobs {
            self.phase.count(job, now);
            job.shared.command.count();
        }
    }

    /// Ends the other jobs where the end of this one is to end them.
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

    /// Samples every job at work since its last sample; the latest sample comes first. A remainder
    /// shorter than a tenth of an interval at the end of a job is left out.
    fn sample(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.since_release_ns();
        let mut taken: Vec<(usize, JobSample)> = Vec::new();
        let zero_ns = self.counting_from_ns;
        let (at, short_ns) = ((self.release, now_ns), self.phase.interval_ns / 10);
        for (index, monitor) in self.monitors.iter_mut().enumerate() {
            let sample = monitor.sample(&self.phase.clock, at, zero_ns, short_ns);
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

    /// Keeps the samples of an interval. Where all of them take too much room, samples of all jobs
    /// are joined in the same way.
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
            let end = |(job, thread): (&Arc<ReadyJob>, io::Result<ScopedJoinHandle<'_, _>>)| {
                match thread {
                    Ok(thread) => thread.join().ok(),
                    // Where the kernel gives no thread, jobs are flushed one after the other.
                    Err(_) => Some(flush(job, clock)),
                }
            };
            threads.into_iter().map(|t| t.and_then(end).unwrap_or_default()).collect()
        })
    }

    /// The results so far, one measurement per job of the phase.
    fn interim(&self) -> Vec<Measurement> {
        let since = (self.release, self.released_unix_ns);
        let ran = interim::measurements(&self.monitors, self.phase.clock, since);
        skipped::merge(ran, self.phase.skipped.clone())
    }

    /// Measurements of the phase, one per job.
    pub fn gather(self, flushed: Vec<Flushed>) -> Vec<Measurement> {
        let (stalled, interrupted) = (self.stalled, self.interrupted);
        let (clock, release, released_unix_ns) =
            (self.phase.clock, self.release, self.released_unix_ns);
        let gather = |(mut monitor, flushed): (JobMonitor, Flushed)| {
            let (log, ends) = (monitor.logging.take(), std::mem::take(&mut monitor.ends));
            let job = monitor.job.clone();
            let since = (release, released_unix_ns);
            let mut measurement = monitor.measured(ends, clock, stalled, since);
            measurement.log = log.map(|log| {
                let zero = job.shared.count_from.load(Relaxed);
                let mut log = log.finish(measurement.elapsed_ns);
                let from_ns = clock.ns(zero.saturating_sub(release));
                log.start_unix_ms = (released_unix_ns + from_ns) / 1_000_000;
                Box::new(log)
            });
            let elapsed_ns = measurement.elapsed_ns;
            // Workers may have flushed within their time.
            let with_flush_ns = flushed.took_ns.map(|ns| elapsed_ns + ns);
            measurement.elapsed_with_flush_ns = with_flush_ns.or(measurement.elapsed_with_flush_ns);
            measurement.derive();
            measurement.errors.extend(flushed.failures.into_list());
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
        };
        self.monitors.into_iter().zip(flushed).map(gather).collect()
    }
}

/// Makes a job's writes durable.
fn flush(job: &ReadyJob, clock: Clock) -> Flushed {
    let before = clock.now();
    let failures = job.work.flush();
    Flushed { took_ns: Some(clock.ns(clock.now() - before)), failures }
}
