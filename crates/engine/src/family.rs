//! Families of work: each handles one kind of work, in a crate of its own above this one.
//!
//! A family prepares the work of a job ([`Family::prepare`]). The work then makes and runs each
//! worker in the worker's own thread ([`JobWork::work`]). The caller that builds a [`Session`] maps
//! each kind of work to its family: that is the whole registration.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use candor_plan::LogPlan;
use candor_plan::blocks::Floor;
use candor_plan::rank::Ranks;
use candor_plan::work::Operation;
use candor_plan::{Job, Measure, Plan, Stop, Work};
use candor_record::Measurement;

use crate::clock::Clock;
use crate::counters::{Live, Recorded};
use crate::error::EngineError;
use crate::failures::Failures;
use crate::failures::Tolerance;
use crate::first_done::FirstDone;
use crate::gates::wear_out::Furthest;
use crate::operation_log::OperationLog;
use crate::random::mix;
use crate::shared::Message;
use crate::shared::{Gate, Shared};
use crate::source::Turn;
use crate::worker_end::WorkerEnd;

/// One kind of work.
pub trait Family: Sync {
    /// Prepares a job's work: opens, reads, allocates. Everything that can fail for the whole job
    /// happens here.
    ///
    /// # Errors
    /// The part of the work that cannot be prepared or does not fit.
    fn prepare(&self, job: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError>;
}

/// Maps a kind of work to its family.
pub type Families = fn(&Work) -> &'static dyn Family;

/// A job that is to be prepared.
pub struct JobContext<'a> {
    /// Plan that the job belongs to.
    pub plan: &'a Plan,
    /// Job of the plan.
    pub job: &'a Job,
    /// Ranks of the job's workers.
    pub ranks: Ranks,
    /// Limits at which the job ends.
    pub stop: &'a Stop,
    /// Seed of the job's random choices.
    pub seed: u64,
    /// Clock of the session.
    pub clock: Clock,
    /// Values that the family keeps over all phases of the session.
    pub session: &'a mut Kept,
    /// Values that the family keeps for all jobs of the phase.
    pub phase: &'a mut Kept,
}

impl JobContext<'_> {
    /// Error for a job that does not fit: the mismatch, and the remedy.
    pub fn unfit(&self, message: impl Into<String>, remedy: &str) -> EngineError {
        EngineError::Unfit {
            job: self.job.name.clone(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// Values that families keep, one per type.
#[derive(Default)]
pub struct Kept(HashMap<TypeId, Box<dyn Any>>);

impl Kept {
    /// Value of a type, made at its first use.
    pub fn of<T: Default + 'static>(&mut self) -> &mut T {
        let kept = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        kept.downcast_mut().expect("values are kept by their types")
    }
}

/// Work of a job, prepared but for its workers.
pub trait JobWork: Send + Sync {
    /// Operations that are counted, and the latencies recorded of each.
    fn recorded(&self) -> Recorded;

    /// Name of the engine for the report.
    fn engine_name(&self) -> &'static str;

    /// Makes a worker and runs it to its end, in its own thread. Everything is prepared before the
    /// loop is entered; the loop waits at the barrier.
    ///
    /// # Errors
    /// The part that cannot be prepared; the worker then has not reached the barrier.
    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError>;

    /// Name of the target behind a handle, for messages.
    fn name_of(&self, _handle: u32) -> String {
        String::new()
    }

    /// Measurements beside counts and latency.
    fn measure(&self) -> Measure {
        Measure::default()
    }

    /// Log to be kept, and the length of the longest operation in bytes.
    fn log(&self) -> (LogPlan, u64) {
        (LogPlan::default(), 0)
    }

    /// Minimum rates; the job fails below them.
    fn floor(&self) -> Option<Floor> {
        None
    }

    /// Longest time in which the work issues nothing on purpose, in ns.
    fn pause_ns_max(&self) -> u64 {
        0
    }

    /// True where the work makes something durable after the last operation.
    fn flushes_at_end(&self) -> bool {
        false
    }

    /// Makes everything durable that was written.
    fn flush(&self) -> Failures {
        Failures::default()
    }

    /// True where the work verifies contents.
    fn verifies(&self) -> bool {
        false
    }

    /// Whether writes are read back: none for no, true for beside the work, false for after it.
    fn reads_back(&self) -> Option<bool> {
        None
    }

    /// Counts of the workers when time is up, where all go on to the furthest one's.
    fn furthest(&self) -> Option<&Furthest> {
        None
    }

    /// Adds the family's own figures.
    fn finish(&self, _measurement: &mut Measurement) {}
}

/// A worker's seat in its job.
pub struct Seat {
    /// Number of the worker in the job on this host.
    pub rank: u32,
    /// Workers of the job on this host.
    pub workers: u32,
    /// Ranks of the job's workers over all hosts.
    pub ranks: Ranks,
    /// Seed of the worker's random choices.
    pub seed: u64,
    /// Clock of the session.
    pub clock: Clock,
    pub(crate) job: Arc<dyn JobWork>,
    pub(crate) table: &'static [Operation],
    pub(crate) measure: Measure,
    pub(crate) tolerance: Tolerance,
    /// An amount of work ends the worker, so that operations of the ramp do not count.
    pub(crate) is_bounded: bool,
    pub(crate) live: Arc<[Live]>,
    pub(crate) shared: Arc<Shared>,
    /// Totals of all workers when the first one ended; that worker stores them.
    pub(crate) first_done: Arc<FirstDone>,
    /// Log of operations.
    pub(crate) log: Option<Arc<OperationLog>>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) ready: Sender<Message>,
}

/// Early end of a job's workers, by the user or by a failure.
#[derive(Clone)]
pub struct Ending(Arc<Shared>);

impl Ending {
    /// True once the workers are to end.
    pub fn has_begun(&self) -> bool {
        self.0.command.is_end()
    }
}

impl Seat {
    /// Early end of the job's workers, for engines whose operations may wait for a long time.
    pub fn ending(&self) -> Ending {
        Ending(self.shared.clone())
    }

    /// Seed for choices of that kind, different from the seeds of other kinds.
    pub fn seed_for(&self, kind: u64) -> u64 {
        mix(self.seed, kind)
    }

    pub(crate) fn table(&self) -> &'static [Operation] {
        self.table
    }

    /// True where no operation is handled one by one.
    pub(crate) fn is_plain(&self) -> bool {
        self.log.is_none() && !self.measure.log.peaks
    }

    pub(crate) fn turn(&self) -> Turn {
        let job = self.job.clone();
        Turn::new(self.clock, self.table, move |handle| job.name_of(handle))
    }

    /// Reports to the control plane that the worker is ready, and waits at the barrier.
    pub(crate) fn pass_gate(&self) {
        // A control plane that has gone away needs no message.
        let _ = self.ready.send(Message::Ready);
        self.gate.pass();
    }
}
