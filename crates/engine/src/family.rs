//! Families of work: one kind of work each, in a crate of its own above this one.
//!
//! A family makes the work of a job ready ([`Family::prepare`]); the work then makes and runs each
//! worker in the worker's own thread ([`JobWork::work`]). Who builds a [`Session`] says which
//! family has which work: that is the whole registration.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use candor_plan::LogPlan;
use candor_plan::blocks::Floor;
use candor_plan::rank::Ranks;
use candor_plan::work::Operation;
use candor_plan::{Job, Measure, Plan, Stop, Work};
use candor_record::{Measurement, Progress};

use crate::clock::Clock;
use crate::counters::{Live, Recorded};
use crate::error::EngineError;
use crate::operation_log::OperationLog;
use crate::phase::Message;
use crate::phase::failures::Failures;
use crate::phase::shared::{Gate, Shared};
use crate::random::mix;
use crate::source::Turn;
use crate::worker::{Tolerance, WorkerEnd};

/// One kind of work.
pub trait Family: Sync {
    /// Makes a job's work ready: opens, reads, allocates; all that can fail for the whole job.
    ///
    /// # Errors
    /// Whatever cannot be made ready, or does not fit.
    fn prepare(&self, job: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError>;
}

/// Says which family has a kind of work.
pub type Families = fn(&Work) -> &'static dyn Family;

/// A job that is to be made ready.
pub struct JobContext<'a> {
    /// Plan that it belongs to.
    pub plan: &'a Plan,
    /// The job.
    pub job: &'a Job,
    /// Ranks of its workers.
    pub ranks: Ranks,
    /// Its end.
    pub stop: &'a Stop,
    /// Seed of its random choices.
    pub seed: u64,
    /// Clock of the session.
    pub clock: Clock,
    /// Kept by its family over all phases of the session.
    pub session: &'a mut Kept,
    /// Kept by its family for all jobs of the phase.
    pub phase: &'a mut Kept,
}

impl JobContext<'_> {
    /// The job does not fit: in which way, and what to do.
    pub fn unfit(&self, message: impl Into<String>, remedy: &str) -> EngineError {
        EngineError::Unfit {
            job: self.job.name.clone(),
            message: message.into(),
            remedy: remedy.into(),
        }
    }
}

/// Values of families, one per type.
#[derive(Default)]
pub struct Kept(HashMap<TypeId, Box<dyn Any>>);

impl Kept {
    /// The value of a type, made when it is first asked for.
    pub fn of<T: Default + 'static>(&mut self) -> &mut T {
        let kept = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        kept.downcast_mut().expect("values are kept by their types")
    }
}

/// Work of a job that is ready but for its workers.
pub trait JobWork: Send + Sync {
    /// Operations that are counted, and how closely.
    fn recorded(&self) -> Recorded;

    /// Name of the engine for the report.
    fn engine_name(&self) -> &'static str;

    /// Makes a worker and runs it to its end, in its own thread: everything is ready once the loop
    /// is entered, which waits at the barrier.
    ///
    /// # Errors
    /// Whatever cannot be made ready; then the barrier was not reached.
    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError>;

    /// Name of the thing with that number, for messages.
    fn name_of(&self, _handle: u32) -> String {
        String::new()
    }

    /// Measured beside counts and latency.
    fn measure(&self) -> Measure {
        Measure::default()
    }

    /// The log that is kept, and the longest operation, in bytes.
    fn log(&self) -> (LogPlan, u64) {
        (LogPlan::default(), 0)
    }

    /// Rates below which the job fails.
    fn floor(&self) -> Option<Floor> {
        None
    }

    /// The longest time for which nothing is issued on purpose, in ns.
    fn pause_ns_max(&self) -> u64 {
        0
    }

    /// True where something is made durable after the last operation.
    fn flushes_at_end(&self) -> bool {
        false
    }

    /// Makes everything durable.
    fn flush(&self) -> Failures {
        Failures::default()
    }

    /// True where contents are checked.
    fn verifies(&self) -> bool {
        false
    }

    /// True where writes are read back; the inner one: beside the work, not after it.
    fn reads_back(&self) -> Option<bool> {
        None
    }

    /// Adds figures of the family's own.
    fn finish(&self, _measurement: &mut Measurement) {}
}

/// A worker's place in its job.
pub struct Seat {
    /// Number within the job on this host.
    pub rank: u32,
    /// Workers of the job on this host.
    pub workers: u32,
    /// Ranks of the job's workers over all hosts.
    pub ranks: Ranks,
    /// Seed of its random choices.
    pub seed: u64,
    /// The clock.
    pub clock: Clock,
    pub(crate) job: Arc<dyn JobWork>,
    pub(crate) table: &'static [Operation],
    pub(crate) measure: Measure,
    pub(crate) tolerance: Tolerance,
    pub(crate) live: Arc<[Live]>,
    pub(crate) shared: Arc<Shared>,
    /// Left by the first worker to end: what all had done by then.
    pub(crate) first_done: Arc<Mutex<Option<Progress>>>,
    /// Log of operations that ended.
    pub(crate) ends: Option<Arc<OperationLog>>,
    /// Log of operations that were handed over.
    pub(crate) hand_overs: Option<Arc<OperationLog>>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) ready: Sender<Message>,
}

impl Seat {
    /// A seed for choices of that kind, other than those of other kinds.
    pub fn seed_for(&self, kind: u64) -> u64 {
        mix(self.seed, kind)
    }

    pub(crate) fn table(&self) -> &'static [Operation] {
        self.table
    }

    /// True where no operation is looked at one by one.
    pub(crate) fn is_plain(&self) -> bool {
        self.ends.is_none() && self.hand_overs.is_none() && !self.measure.log.peaks
    }

    pub(crate) fn turn(&self) -> Turn {
        let job = self.job.clone();
        Turn::new(self.clock, self.table, move |handle| job.name_of(handle))
    }

    /// Says that everything is ready, and waits for the others.
    pub(crate) fn pass_gate(&self) {
        // A control plane that has gone away needs no word.
        let _ = self.ready.send(Message::Ready);
        self.gate.pass();
    }
}
