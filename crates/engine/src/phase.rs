//! A phase: its workers are prepared and released together; [`crate::phase::control`] monitors
//! them.

mod control;
mod gather;
mod interim;
mod job_monitor;
mod logged;
mod logging;
mod minimum_rate;
mod ready_job;
mod sampling;
pub mod session;
pub mod skipped;
mod steady;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::Release};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use candor_plan::rank::{HostIndex, Ranks};
use candor_plan::{Job, OnFailure, Phase, Plan, RampAmount};
use candor_record::{JobSample, Measurement};

use crate::clock::{Clock, Ticks};
use crate::error::EngineError;
use crate::family::Kept;
use crate::phase::control::{Control, Flushed};
pub use crate::phase::logged::{LoggedOperation, LoggedOperations};
use crate::phase::ready_job::ReadyJob;
use crate::phase::session::Session;
use crate::phase::skipped::SkippedJob;
use crate::random::mix;
use crate::shared::{Gate, Message, NOT_YET};

/// Stack of a worker; the loop needs little, and only touched pages cost memory.
const STACK_BYTES: usize = 256 << 10;

/// Observer of a phase: called by the control thread at the phase's moments, in order; also the
/// source of commands to the phase.
pub trait Watch {
    /// The barrier is about to be released; no operation was issued yet.
    fn about_to_start(&mut self) {}
    /// The ramp, if there was one, is over: everything from now on counts.
    fn counting(&mut self) {}
    /// An interval ended: one sample for each job that was at work.
    fn sampled(&mut self, _samples: Vec<JobSample>, _in_ramp: bool) {}
    /// Samples take too much room: each kept one is of that many intervals from now on.
    fn joined(&mut self, _intervals: u64) {}
    /// True while one of the three commands below waits or stands; polled more often than these.
    fn has_command(&mut self) -> bool {
        false
    }
    /// Takes a request for interim results; polled often.
    fn takes_interim(&mut self) -> bool {
        false
    }
    /// Delivers the results so far, one measurement per job, as if all jobs had been interrupted.
    fn interim(&mut self, _measurements: Vec<Measurement>) {}
    /// True where all jobs are to end, as if they had completed their work; polled often.
    fn is_ended(&mut self) -> bool {
        false
    }
    /// True where all jobs are to end, as if their time were up; polled often.
    fn is_time_up(&mut self) -> bool {
        false
    }
    /// The first worker of a job on this host has ended.
    fn first_done(&mut self, _job: usize) {}
    /// True once the first worker of a job has ended on any host, so that all hosts read the counts
    /// of their workers; polled often.
    fn is_first_done(&mut self, _job: usize) -> bool {
        false
    }
    /// Tells the count of the furthest worker of a job on this host, and takes that of all hosts
    /// once they have agreed on it; polled often.
    fn furthest(&mut self, _job: usize, _ops: u64) -> Option<u64> {
        None
    }
    /// A worker completed all of its work.
    fn worker_done(&mut self, _job: &str, _rank: u32) {}
    /// True where operations for the files of jobs can be taken; asked before each batch of them,
    /// which waits where they cannot.
    fn takes_operations(&mut self) -> bool {
        true
    }
    /// Takes operations for the file of a job, and waits for room where there is none.
    fn operations(&mut self, _operations: LoggedOperations) {}
    /// The last operation completed.
    fn ended(&mut self) {}
    /// The final flush is done.
    fn flushed(&mut self) {}
}

/// An observer that ignores everything.
impl Watch for () {}

/// A phase that is to run, and the numbers that set its random choices apart from those of others.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Plan whose targets the phase uses.
    pub plan: &'a Plan,
    /// Phase to run.
    pub phase: &'a Phase,
    /// Index of the phase in the plan, which seeds its random choices. None for a phase outside the
    /// plan, which its name seeds.
    pub index: Option<usize>,
    /// Number of earlier runs of this phase.
    pub repeat: u32,
    /// Index of this host among the hosts that run the phase.
    pub host: HostIndex,
}

impl<'a> Task<'a> {
    /// Phase of a plan, run for the first time and by this host alone.
    pub fn of(plan: &'a Plan, index: usize) -> Task<'a> {
        Task {
            plan,
            phase: &plan.phases[index],
            index: Some(index),
            repeat: 0,
            host: HostIndex::ALONE,
        }
    }

    /// Seed of all random choices of one worker of the job with this index. `--debug=random`
    /// reports it.
    pub fn worker_seed(&self, job: usize, rank: u32) -> u64 {
        mix(self.job_seed(job), u64::from(rank))
    }

    /// Ranks of the workers of a job on this host.
    pub fn ranks(&self, job: &Job) -> Ranks {
        let ranks = match job.only_on {
            Some(_) => HostIndex::ALONE.ranks(job.workers),
            None => self.host.ranks(job.workers),
        };
        match job.part {
            Some(part) => Ranks { first_rank: part.first, ranks: part.of, ..ranks },
            None => ranks,
        }
    }

    fn job_seed(&self, job: usize) -> u64 {
        let name = self.phase.name.bytes();
        let by_name = || name.fold(u64::MAX, |salt, byte| mix(salt, u64::from(byte)));
        let salt = mix(self.index.map_or_else(by_name, |at| at as u64), u64::from(self.repeat));
        mix(mix(salt, job as u64), self.plan.seed)
    }
}

/// A phase whose workers wait at the barrier.
pub struct Prepared {
    pub(crate) jobs: Vec<Arc<ReadyJob>>,
    gate: Arc<Gate>,
    pub(crate) messages: Receiver<Message>,
    pub(crate) clock: Clock,
    pub(crate) ramp_ns: u64,
    pub(crate) ramp_amount: Option<RampAmount>,
    pub(crate) interval_ns: u64,
    pub(crate) on_failure: OnFailure,
    /// True where the phase runs on several hosts.
    pub(crate) has_other_hosts: bool,
    /// Workers that could not be prepared, of jobs that fail alone: index in `jobs`, error.
    pub(crate) broken: Vec<(usize, EngineError)>,
    pub(crate) skipped: Vec<SkippedJob>,
    threads: Vec<JoinHandle<()>>,
}

impl Prepared {
    /// Prepares everything.
    ///
    /// # Errors
    /// The first thing that could not be prepared.
    pub fn new(session: &mut Session, task: &Task<'_>) -> Result<Prepared, EngineError> {
        Prepared::without(session, task, Vec::new())
    }

    /// Prepares everything but jobs that are known not to run. Jobs that fail alone and cannot be
    /// prepared are skipped too.
    ///
    /// # Errors
    /// The first thing that could not be prepared.
    pub fn without(
        session: &mut Session,
        task: &Task<'_>,
        mut skipped: Vec<SkippedJob>,
    ) -> Result<Prepared, EngineError> {
        let phase = task.phase;
        let is_absent: HashSet<usize> = skipped.iter().map(|skipped| skipped.job).collect();
        let (mut jobs, mut kept) = (Vec::new(), Kept::default());
        for (index, job) in phase.jobs.iter().enumerate() {
            if is_absent.contains(&index) {
                continue;
            }
            match ReadyJob::new(session, &mut kept, task, index) {
                Ok(ready) => jobs.push(Arc::new(ready)),
                Err(error) if phase.on_failure == OnFailure::EndRun => return Err(error),
                Err(error) => skipped.push(SkippedJob::failed(index, job, error.failure())),
            }
        }
        let (sender, messages) = mpsc::channel();
        let mut prepared = Prepared {
            threads: Vec::new(),
            jobs,
            gate: Arc::default(),
            messages,
            clock: session.clock(),
            ramp_ns: phase.ramp.0,
            ramp_amount: phase.ramp_amount,
            interval_ns: phase.interval.0,
            on_failure: phase.on_failure,
            has_other_hosts: task.host.hosts > 1,
            broken: Vec::new(),
            skipped,
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
        let (gate, clock) = (self.gate.clone(), self.clock);
        let body = move || {
            let ready = sender.clone();
            // A worker that panics must not block the others for ever.
            let worker = AssertUnwindSafe(|| job.run_worker(rank, clock, gate, ready));
            let end = catch_unwind(worker).unwrap_or_else(|_| {
                job.shared.command.end();
                let cause = std::io::Error::other("it panicked; this is a bug in candor");
                Err(EngineError::system(format!("continue with worker {rank}"))(cause))
            });
            drop(job);
            let _ = sender.send(Message::Ended { job: index, rank, end: Box::new(end) });
        };
        thread::Builder::new()
            .name(format!("candor/w{}", self.threads.len()))
            .stack_size(STACK_BYTES)
            .spawn(body)
            .map_err(EngineError::system(format!("start worker {rank}")))
    }

    pub(crate) fn workers(&self) -> u32 {
        self.jobs.iter().map(|job| job.job.workers).sum()
    }

    fn await_ready(&mut self) -> Result<(), EngineError> {
        for _ in 0..self.workers() {
            let early = || std::io::Error::other("a worker ended before the start");
            let (job, error) = match self.messages.recv() {
                Ok(Message::Ready) => continue,
                Ok(Message::Ended { job, end, .. }) => match *end {
                    Err(error) => (job, error),
                    Ok(_) => (job, EngineError::system("start the workers")(early())),
                },
                Err(_) => return Err(EngineError::system("start the workers")(early())),
            };
            if self.on_failure == OnFailure::EndRun {
                return Err(error);
            }
            self.jobs[job].shared.command.end();
            self.broken.push((job, error));
        }
        Ok(())
    }

    /// Releases the barrier and runs the phase to its end, or until `stop` is set.
    pub fn run(mut self, stop: &AtomicBool, watch: &mut dyn Watch) -> Vec<Measurement> {
        watch.about_to_start();
        let mut control = Control::new(&self, self.release());
        control.watch_over(stop, watch);
        watch.ended();
        // A device that no longer answers would not answer a flush either.
        let flushed = if control.stalled {
            self.jobs.iter().map(|_| Flushed::default()).collect()
        } else {
            control.flush()
        };
        if flushed.iter().any(|flushed| flushed.took_ns.is_some()) {
            watch.flushed();
        }
        let stalled = control.stalled;
        let measurements = control.gather(flushed);
        if stalled {
            // Threads that do not return are abandoned.
            self.threads.clear();
        }
        skipped::merge(measurements, std::mem::take(&mut self.skipped))
    }

    /// Sets all times, then opens the gate. Returns the tick of the release.
    fn release(&self) -> Ticks {
        let now = self.clock.now();
        for job in &self.jobs {
            if job.job.after.is_empty() {
                self.schedule(job, now);
            } else {
                job.shared.count_from.store(NOT_YET, Relaxed);
                job.shared.started.store(NOT_YET, Relaxed);
            }
        }
        self.gate.release();
        now
    }

    /// Sets the times of a job whose delay begins at that tick.
    pub(crate) fn schedule(&self, job: &ReadyJob, from: Ticks) {
        let started = from + self.clock.ticks(job.job.delay.0);
        let count_from = match self.ramp_amount {
            Some(_) => NOT_YET,
            None => started + self.clock.ticks(self.ramp_ns),
        };
        self.count(job, count_from);
        // Stored last: a thread that sees this value sees the others too.
        job.shared.started.store(started, Release);
    }

    /// Sets the tick from which a job's operations count, and with it the end of its time.
    pub(crate) fn count(&self, job: &ReadyJob, count_from: Ticks) {
        let time = job.stop.time.map_or(Ticks(u64::MAX / 4), |time| self.clock.ticks(time.0));
        job.shared.count_from.store(count_from, Relaxed);
        job.shared.deadline.store(count_from + time, Relaxed);
    }
}

/// Ends workers that still wait at the gate, and joins all threads: their tables of open files, in
/// which devices may be claimed, are closed with them.
impl Drop for Prepared {
    fn drop(&mut self) {
        self.jobs.iter().for_each(|job| job.shared.command.end());
        self.gate.release();
        for thread in self.threads.drain(..) {
            // A panic was caught and reported before.
            let _ = thread.join();
        }
    }
}
