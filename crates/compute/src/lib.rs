//! Work without I/O: running a program, and burning CPU time.
//!
//! [`ComputeFamily`] takes a job whose work is [`candor_plan::Program`] or [`candor_plan::Burn`].
//! One run of the program, or one piece of CPU time, is one operation with a latency. Programs end
//! with the job: SIGTERM, then SIGKILL after the plan's grace time.
//!
//! [`Descendants`] finds processes that a program started; [`end_descendants`] ends them.
//!
//! Jobs that this family runs, for example next to a job of block I/O:
//!
//! ```toml
//! [[phase.job]]
//! work.program = { command = ["sync"] }
//!
//! [[phase.job]]
//! workers = 4
//! work.burn = { chunk = "10ms", rest = "5ms" }
//! ```

mod burn;
mod descendants;
mod program;

use std::sync::Arc;

use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::gates::pace::Pacer;
use candor_engine::gates::paced::Paced;
use candor_engine::issue::OneAtATime;
use candor_engine::operation::Op;
use candor_engine::random::Random;
use candor_engine::source::{Repeated, Source};
use candor_engine::worker::{self, Buffers, Shape};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::blocks::{Pace, Think};
use candor_plan::units::Mix;
use candor_plan::{Burn, Work};
use candor_record::Measurement;

use self::program::ProgramEnds;

pub use descendants::Descendants;
pub use program::end_descendants;

/// The family of programs and of burning CPU.
pub struct ComputeFamily;

impl Family for ComputeFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        match context.job.work {
            Work::Program(_) | Work::Burn(_) => Ok(Box::new(ReadyCompute {
                work: context.job.work.clone(),
                ops: context.stop.ops.unwrap_or(u64::MAX),
                program_end: Arc::default(),
            })),
            _ => Err(context.unfit("has no program and burns no CPU", "give it either")),
        }
    }
}

/// A job of compute, prepared but for its workers.
struct ReadyCompute {
    work: Work,
    /// Operations after which a worker ends.
    ops: u64,
    program_end: Arc<ProgramEnds>,
}

impl JobWork for ReadyCompute {
    fn recorded(&self) -> Recorded {
        Recorded::of(self.work.operations(), |_| true)
    }

    fn engine_name(&self) -> &'static str {
        self.work.name()
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let again = Repeated::new(Op(0), 0, self.ops);
        Ok(match &self.work {
            Work::Program(plan) => {
                let program = program::Program::new(plan, self.program_end.clone());
                worker::run_calls(seat, Shape::ONE, &Buffers::None, program, again)
            }
            Work::Burn(plan) => {
                let engine = burn::Cpu::new(seat.clock, seat.seed_for(seat.rank.into()), *plan);
                let mut engine = OneAtATime::new(engine);
                let source: Box<dyn Source> = match rests(plan, &seat) {
                    Some(pacer) => Box::new(Paced::new(again, pacer)),
                    None => Box::new(again),
                };
                worker::run_gated(seat, Shape::ONE, &Buffers::None, &mut engine, source)
            }
            _ => WorkerEnd::default(),
        })
    }

    /// An operation lasts as long as the plan sets.
    fn pause_ns_max(&self) -> u64 {
        match &self.work {
            Work::Burn(plan) => plan.chunk.0.saturating_add(plan.rest.0),
            _ => 0,
        }
    }

    fn finish(&self, measurement: &mut Measurement) {
        measurement.program_end = self.program_end.get();
    }
}

/// Pacer for the rests after each operation, where there are any.
fn rests(plan: &Burn, seat: &Seat) -> Option<Pacer> {
    let think = (plan.rest.0 > 0).then(|| Think::after_each(plan.rest));
    let pace = Pace { think, ..Pace::default() };
    Pacer::new(&pace, Mix::READ, seat.rank, seat.workers, Random::new(seat.seed, 0x6275_726e))
}
