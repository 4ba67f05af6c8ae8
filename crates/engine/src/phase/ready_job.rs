//! A job of a phase, prepared but for its workers' threads.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use candor_plan::rank::Ranks;
use candor_plan::{Job, LogPlan, Stop};

use crate::counters::{Live, Recorded};
use crate::error::EngineError;
use crate::failures::Tolerance;
use crate::family::{JobContext, JobWork, Kept, Seat};
use crate::first_done::FirstDone;
use crate::host::placement;
use crate::host::thread_attributes::{self, Group};
use crate::operation_log::{Moments, OperationLog};
use crate::phase::{Session, Task};
use crate::shared::Message;
use crate::shared::{Gate, Shared};
use crate::worker_end::WorkerEnd;

/// A job, prepared but for its threads.
pub struct ReadyJob {
    /// Job of the plan.
    pub job: Job,
    /// Limits at which the job ends.
    pub stop: Stop,
    /// Work, as the family prepared it.
    pub work: Arc<dyn JobWork>,
    /// Counters of the workers.
    pub live: Arc<[Live]>,
    /// Operations that are counted.
    pub recorded: Recorded,
    /// State shared with the workers.
    pub shared: Arc<Shared>,
    /// Totals at the end of the first worker.
    pub first_done: Arc<FirstDone>,
    /// Logs of operations, one per worker; empty where nothing is logged.
    pub logs: Vec<Arc<OperationLog>>,
    /// Ranks of the workers.
    pub ranks: Ranks,
    seed: u64,
    /// Control group that the threads are in; kept as long as they run.
    _group: Option<Group>,
}

impl ReadyJob {
    /// Prepares the job through its family, and allocates the counters.
    ///
    /// # Errors
    /// The part that the family cannot prepare.
    pub fn new(
        session: &mut Session,
        phase: &mut Kept,
        task: &Task<'_>,
        index: usize,
    ) -> Result<ReadyJob, EngineError> {
        let job = &task.phase.jobs[index];
        let stop = job.stop.as_ref().unwrap_or(&task.phase.stop);
        let (seed, clock) = (task.job_seed(index), session.clock());
        let ranks = task.ranks(job);
        let group = job.threads.control_group.as_ref().map(Group::prepare).transpose()?;
        let family = (session.families)(&job.work);
        let kept = &mut session.kept;
        let context = &mut JobContext {
            plan: task.plan,
            job,
            ranks,
            stop,
            seed,
            clock,
            session: kept,
            phase,
        };
        let work: Arc<dyn JobWork> = family.prepare(context)?.into();
        let (recorded, moments) = (work.recorded(), moments(job, &work.log().0));
        Ok(ReadyJob {
            live: (0..job.workers).map(|_| Live::new(&recorded)).collect(),
            logs: logs(moments, job.workers),
            job: job.clone(),
            stop: stop.clone(),
            shared: Arc::default(),
            first_done: Arc::default(),
            work,
            recorded,
            ranks,
            seed,
            _group: group,
        })
    }

    /// Runs a worker in its own thread: sets it up, reports that it is ready, waits at the gate,
    /// runs the loop.
    ///
    /// # Errors
    /// The part that could not be set up; the thread then has not waited at the gate.
    pub fn run_worker(
        &self,
        rank: u32,
        clock: crate::clock::Clock,
        gate: Arc<Gate>,
        ready: Sender<Message>,
    ) -> Result<WorkerEnd, EngineError> {
        placement::settle(&self.job.placement, rank)?;
        thread_attributes::take(&self.job.threads)?;
        self.work.work(Seat {
            rank,
            workers: self.job.workers,
            ranks: self.ranks,
            seed: self.seed,
            clock,
            job: self.work.clone(),
            table: self.recorded.table,
            measure: self.work.measure(),
            tolerance: Tolerance::of(&self.stop),
            is_bounded: self.stop.is_bounded(),
            live: self.live.clone(),
            shared: self.shared.clone(),
            first_done: self.first_done.clone(),
            log: self.logs.get(rank as usize).cloned(),
            gate,
            ready,
        })
    }
}

/// The moments that a job's logs need.
fn moments(job: &Job, log: &LogPlan) -> Moments {
    let everything = job.operations_log.is_some();
    Moments { submissions: log.trace || everything, ends: log.each || everything, everything }
}

/// A log for each worker, where anything is logged.
fn logs(moments: Moments, workers: u32) -> Vec<Arc<OperationLog>> {
    let workers = if moments.any() { workers } else { 0 };
    (0..workers).map(|_| Arc::new(OperationLog::for_one_of(workers, moments))).collect()
}
