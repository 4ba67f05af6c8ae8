//! A phase: workers are made ready, released together, watched, and gathered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_plan::{Phase, Plan};
use candor_record::{Ended, Measurement, Sample};

use crate::clock::Clock;
use crate::error::EngineError;
use crate::failures::Failures;
use crate::gather;
use crate::prepare::{ReadyJob, longest_gap_ns};
use crate::random::mix;
use crate::session::Session;
use crate::shared::Gate;
use crate::stats::{Live, Totals};
use crate::worker::WorkerEnd;

/// Stack of a worker; the loop needs little, and only touched pages cost memory.
const STACK_BYTES: usize = 256 << 10;
/// Length of a sampling interval.
const INTERVAL_NS: u64 = 1_000_000_000;
/// A phase in which nothing completes for this long is given up.
const STALL: Duration = Duration::from_secs(60);
/// How long workers may take to end once told to.
const GRACE: Duration = Duration::from_secs(20);
/// The control plane looks at the user's stop flag at least this often.
const LOOK: Duration = Duration::from_millis(20);

/// What someone who watches a phase is told, in order, from the control thread.
pub trait Watch {
    /// The barrier is about to be released; nothing is under way yet.
    fn about_to_start(&mut self) {}
    /// The ramp, if there was one, is over: everything from now on counts.
    fn counting(&mut self) {}
    /// An interval of a job ended.
    fn sampled(&mut self, _job: &str, _in_ramp: bool, _sample: &Sample) {}
    /// A worker did all that was asked of it.
    fn worker_done(&mut self, _job: &str, _rank: u32) {}
    /// The last operation completed.
    fn ended(&mut self) {}
    /// The final flush is done.
    fn flushed(&mut self) {}
}

/// Nobody watches.
impl Watch for () {}

/// What a worker's thread tells the control plane.
enum Message {
    Ready,
    Ended { job: usize, rank: u32, end: Box<Result<WorkerEnd, EngineError>> },
}

/// A phase whose workers wait at the barrier.
pub struct Prepared {
    jobs: Vec<Arc<ReadyJob>>,
    gate: Arc<Gate>,
    messages: Receiver<Message>,
    clock: Clock,
    ramp_ns: u64,
    threads: Vec<JoinHandle<()>>,
}

impl Prepared {
    /// Makes everything ready; `repeat` tells the repeats of a phase apart.
    ///
    /// # Errors
    /// The first thing that could not be made ready.
    pub fn new(
        session: &mut Session,
        plan: &Plan,
        phase: &Phase,
        repeat: u32,
    ) -> Result<Prepared, EngineError> {
        let mut jobs = Vec::new();
        for (index, job) in phase.jobs.iter().enumerate() {
            let stop = job.stop.as_ref().unwrap_or(&phase.stop);
            let seed = mix(mix(phase_salt(plan, phase), u64::from(repeat)), index as u64);
            jobs.push(Arc::new(ReadyJob::new(session, plan, job, stop, seed)?));
        }
        let (sender, messages) = mpsc::channel();
        let mut prepared = Prepared {
            threads: Vec::new(),
            jobs,
            gate: Arc::default(),
            messages,
            clock: session.clock(),
            ramp_ns: phase.ramp.0,
        };
        prepared.start_workers(&sender)?;
        drop(sender);
        prepared.await_ready()?;
        Ok(prepared)
    }

    fn start_workers(&mut self, sender: &Sender<Message>) -> Result<(), EngineError> {
        for (index, job) in self.jobs.iter().enumerate() {
            for rank in 0..job.job.workers {
                let thread = self.start_worker(index, rank, job.clone(), sender.clone())?;
                self.threads.push(thread);
            }
        }
        Ok(())
    }

    fn start_worker(
        &self,
        index: usize,
        rank: u32,
        job: Arc<ReadyJob>,
        sender: Sender<Message>,
    ) -> Result<JoinHandle<()>, EngineError> {
        let gate = self.gate.clone();
        let body = move || {
            let ready = sender.clone();
            // A worker that panics must not leave the others waiting for ever.
            let life = AssertUnwindSafe(|| {
                job.live(rank, &gate, move || {
                    // A control plane that has gone away needs no word.
                    let _ = ready.send(Message::Ready);
                })
            });
            let end = catch_unwind(life).unwrap_or_else(|_| {
                job.shared.stop.store(true, Relaxed);
                let cause = std::io::Error::other("it panicked; this is a bug in candor");
                Err(EngineError::system(format!("go on with worker {rank}"))(cause))
            });
            drop(job);
            let _ = sender.send(Message::Ended { job: index, rank, end: Box::new(end) });
        };
        thread::Builder::new()
            .name(format!("worker-{index}-{rank}"))
            .stack_size(STACK_BYTES)
            .spawn(body)
            .map_err(EngineError::system(format!("start worker {rank}")))
    }

    fn workers(&self) -> u32 {
        self.jobs.iter().map(|job| job.job.workers).sum()
    }

    fn await_ready(&self) -> Result<(), EngineError> {
        for _ in 0..self.workers() {
            match self.messages.recv() {
                Ok(Message::Ready) => {}
                Ok(Message::Ended { end, .. }) if end.is_err() => return end.map(drop),
                Ok(Message::Ended { .. }) | Err(_) => {
                    let cause = std::io::Error::other("a worker ended before the start");
                    return Err(EngineError::system("start the workers")(cause));
                }
            }
        }
        Ok(())
    }

    /// Releases the barrier and runs to the end, or until `stop` is set.
    pub fn run(mut self, stop: &AtomicBool, watch: &mut dyn Watch) -> Vec<Measurement> {
        watch.about_to_start();
        let release = self.release();
        let mut control = Control {
            ends: self.jobs.iter().map(|_| Vec::new()).collect(),
            last: self.jobs.iter().map(|_| Totals::default()).collect(),
            samples: self.jobs.iter().map(|_| Vec::new()).collect(),
            counting: false,
            next_sample_ns: 0,
            last_sample_ns: 0,
            stalled: false,
            interrupted: false,
            phase: &self,
            release,
        };
        control.watch_over(stop, watch);
        watch.ended();
        // A device that no longer answers would not answer a flush either.
        let flushed = match control.stalled {
            true => self.jobs.iter().map(|_| Flushed::default()).collect(),
            false => control.flush(),
        };
        if flushed.iter().any(|flushed| flushed.took_ns.is_some()) {
            watch.flushed();
        }
        let stalled = control.stalled;
        let measurements = control.gather(flushed);
        if stalled {
            // Threads that do not come back are left to themselves.
            self.threads.clear();
        }
        measurements
    }

    /// Fixes all times, then opens the gate; the tick of the release.
    fn release(&self) -> u64 {
        let now = self.clock.now();
        for job in &self.jobs {
            let started = now + self.clock.ticks(job.job.delay.0);
            let count_from = started + self.clock.ticks(self.ramp_ns);
            let time = job.stop.time.map_or(u64::MAX / 4, |time| self.clock.ticks(time.0));
            job.shared.started.store(started, Relaxed);
            job.shared.count_from.store(count_from, Relaxed);
            job.shared.deadline.store(count_from + time, Relaxed);
        }
        self.gate.release();
        now
    }
}

/// Workers that still wait at the gate end at once. All threads are waited for: their tables of
/// open files, in which devices may be claimed, go with them.
impl Drop for Prepared {
    fn drop(&mut self) {
        self.jobs.iter().for_each(|job| job.shared.stop.store(true, Relaxed));
        self.gate.release();
        for thread in self.threads.drain(..) {
            // A panic was caught and told before.
            let _ = thread.join();
        }
    }
}

/// What tells the random choices of phases apart: the place in the plan, or for a phase that is
/// not part of it, its name.
fn phase_salt(plan: &Plan, phase: &Phase) -> u64 {
    let place = plan.phases.iter().position(|known| known == phase);
    let by_name = || phase.name.bytes().fold(u64::MAX, |salt, byte| mix(salt, u64::from(byte)));
    place.map_or_else(by_name, |place| place as u64)
}

/// The final flush of a job.
#[derive(Default)]
struct Flushed {
    /// How long it took; none if there was no flush.
    took_ns: Option<u64>,
    failures: Failures,
}

/// The control plane of a running phase.
struct Control<'a> {
    phase: &'a Prepared,
    /// Tick of the release.
    release: u64,
    ends: Vec<Vec<WorkerEnd>>,
    /// Per job, what was already sampled.
    last: Vec<Totals>,
    samples: Vec<Vec<Sample>>,
    counting: bool,
    next_sample_ns: u64,
    last_sample_ns: u64,
    stalled: bool,
    interrupted: bool,
}

impl Control<'_> {
    fn since_release_ns(&self) -> u64 {
        self.phase.clock.ns(self.phase.clock.now() - self.release)
    }

    /// Receives ends, samples, forwards the user's stop, until all have ended.
    fn watch_over(&mut self, stop: &AtomicBool, watch: &mut dyn Watch) {
        let mut progress = (Instant::now(), 0);
        let mut told_to_stop: Option<Instant> = None;
        self.next_sample_ns = INTERVAL_NS.min(self.phase.ramp_ns.max(1));
        self.tick(watch);
        let mut left = self.phase.workers();
        while left > 0 {
            match self.phase.messages.recv_timeout(self.pause()) {
                Ok(Message::Ended { job, rank, end }) => {
                    left -= 1;
                    watch.worker_done(&self.phase.jobs[job].job.name, rank);
                    if let Ok(end) = *end {
                        self.ends[job].push(end);
                    }
                }
                Ok(Message::Ready) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.tick(watch);
            self.stalled |= self.no_progress(&mut progress);
            let wanted = stop.load(Relaxed);
            self.interrupted |= wanted;
            if wanted || self.stalled || self.any_failed() {
                self.stop_all();
                if told_to_stop.get_or_insert_with(Instant::now).elapsed() > GRACE {
                    self.stalled = true;
                    break;
                }
            }
        }
        self.sample(watch);
    }

    fn pause(&self) -> Duration {
        let to_next = self.next_sample_ns.saturating_sub(self.since_release_ns());
        Duration::from_nanos(to_next).clamp(Duration::from_micros(50), LOOK)
    }

    /// One job's failure ends the phase.
    fn any_failed(&self) -> bool {
        self.phase.jobs.iter().any(|job| job.shared.stop.load(Relaxed))
    }

    fn stop_all(&self) {
        self.phase.jobs.iter().for_each(|job| job.shared.stop.store(true, Relaxed));
    }

    /// True once nothing has ended for [`STALL`] and the longest rest that the plan asks for.
    fn no_progress(&self, last: &mut (Instant, u64)) -> bool {
        let live = self.phase.jobs.iter().flat_map(|job| job.live.iter());
        let now: u64 = live.map(Live::progress).sum();
        let tick = self.phase.clock.now();
        let waits = |job: &Arc<ReadyJob>| tick < job.shared.started.load(Relaxed);
        if now != last.1 || self.phase.jobs.iter().any(waits) {
            *last = (Instant::now(), now);
        }
        last.0.elapsed() > STALL + self.longest_rest()
    }

    /// The longest time in which a plan may want nothing to be issued.
    fn longest_rest(&self) -> Duration {
        let rest = |job: &Arc<ReadyJob>| {
            let pace = &job.blocks.pace;
            let think = pace.think.map_or(0, |think| think.time.0);
            // Gaps of a Poisson process rarely exceed thirty times their mean.
            let gap = longest_gap_ns(pace, &job.blocks, job.job.workers);
            think.saturating_add(gap.saturating_mul(30))
        };
        Duration::from_nanos(self.phase.jobs.iter().map(rest).max().unwrap_or(0))
    }

    /// Does what is due: the end of the ramp, a sample.
    fn tick(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.since_release_ns();
        if !self.counting && now_ns >= self.phase.ramp_ns {
            self.sample(watch);
            self.counting = true;
            self.last.iter_mut().for_each(|totals| *totals = Totals::default());
            self.last_sample_ns = self.phase.ramp_ns;
            self.next_sample_ns = self.phase.ramp_ns + INTERVAL_NS;
            if self.phase.ramp_ns > 0 {
                watch.counting();
            }
        } else if now_ns >= self.next_sample_ns {
            self.sample(watch);
            self.next_sample_ns += INTERVAL_NS;
        }
    }

    /// Samples every job since its last sample. A rest shorter than a tenth of an interval at the
    /// end of a phase says nothing and is left out.
    fn sample(&mut self, watch: &mut dyn Watch) {
        let now_ns = self.since_release_ns();
        let length_ns = now_ns - self.last_sample_ns.min(now_ns);
        if length_ns < INTERVAL_NS / 10 {
            return;
        }
        let at_ns = now_ns.saturating_sub(if self.counting { self.phase.ramp_ns } else { 0 });
        for (index, job) in self.phase.jobs.iter().enumerate() {
            let totals = Totals::of(job.live.iter(), self.counting);
            let sample = gather::sample(&self.last[index], &totals, at_ns, length_ns);
            self.last[index] = totals;
            watch.sampled(&job.job.name, !self.counting, &sample);
            if self.counting {
                self.samples[index].push(sample);
            }
        }
        self.last_sample_ns = now_ns;
    }

    /// Flushes what a plan wants flushed at the end.
    fn flush(&self) -> Vec<Flushed> {
        let flush = |job: &Arc<ReadyJob>| {
            if !job.blocks.durability.fsync_at_end || job.blocks.mix.write == 0 {
                return Flushed::default();
            }
            let mut failures = Failures::default();
            let before = self.phase.clock.now();
            for file in job.files.all() {
                if let Some(Err(error)) = file.handle().map(std::fs::File::sync_all) {
                    failures.add_flush(&file.path, &error);
                }
            }
            let ns = self.phase.clock.ns(self.phase.clock.now() - before);
            Flushed { took_ns: Some(ns), failures }
        };
        self.phase.jobs.iter().map(flush).collect()
    }

    fn gather(self, flushed: Vec<Flushed>) -> Vec<Measurement> {
        let (stalled, interrupted) = (self.stalled, self.interrupted);
        let phase = self.phase;
        let parts = self.ends.into_iter().zip(self.samples).zip(flushed);
        phase
            .jobs
            .iter()
            .zip(parts)
            .map(|(job, ((ends, samples), flushed))| {
                let first = *job.first_done.lock().unwrap_or_else(PoisonError::into_inner);
                let mut measurement = gather::measurement(job, ends, phase.clock, stalled);
                measurement.samples = samples;
                measurement.first_done = first;
                let elapsed_ns = measurement.elapsed_ns;
                measurement.elapsed_with_flush_ns = flushed.took_ns.map(|ns| elapsed_ns + ns);
                measurement.errors.extend(flushed.failures.into_list());
                if stalled {
                    measurement.ended = Ended::Stalled;
                } else if interrupted && measurement.ended != Ended::Failed {
                    measurement.ended = Ended::Interrupted;
                }
                measurement
            })
            .collect()
    }
}
