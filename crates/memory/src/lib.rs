//! Memory: bandwidth and latency of the host's memory, by number of threads and size.
//!
//! [`MemoryFamily`] takes a job whose work is [`candor_plan::Memory`]: load, store or copy of a
//! worker's buffers in order, or dependent loads at random addresses (chase). One piece is one
//! operation; a chase counts single loads and adds their latency to the measurement.
//!
//! A job that this family runs:
//!
//! ```toml
//! [[phase.job]]
//! workers = 8
//! work.memory = { access = "copy", size = "256m" }
//! ```

mod accesses;

use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::operation::Op;
use candor_engine::source::Repeated;
use candor_engine::worker::{self, Buffers, Shape};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::memory::OPERATIONS;
use candor_plan::{Memory, MemoryAccess, Stop, Work};
use candor_record::Measurement;

use crate::accesses::{Chase, Copy, LINE_BYTES, LOADS, Load, Store};

/// The family of memory.
pub struct MemoryFamily;

impl Family for MemoryFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        match context.job.work {
            Work::Memory(plan) => Ok(Box::new(ReadyMemory { plan, ops: ops(&plan, context.stop) })),
            _ => Err(context.unfit("has no memory to work on", "give it memory")),
        }
    }
}

/// Bytes of one operation.
fn length(plan: &Memory) -> u64 {
    if plan.access == MemoryAccess::Chase { LOADS * LINE_BYTES } else { plan.piece.0 }
}

/// Operations of a worker, beside time. A job without bounds uses its buffers once.
fn ops(plan: &Memory, stop: &Stop) -> u64 {
    let timed = stop.time.is_some() || stop.steady.is_some();
    let length = length(plan).max(1);
    let pass = (plan.size.0 / length).max(1);
    let passes = stop.passes.map(|passes| u64::from(passes).saturating_mul(pass));
    let bytes = stop.bytes.map(|bytes| bytes.0.div_ceil(length));
    let bounds = [stop.ops, passes, bytes].into_iter().flatten().min();
    bounds.unwrap_or(if timed { u64::MAX } else { pass })
}

/// A job on memory, prepared but for its workers.
struct ReadyMemory {
    plan: Memory,
    ops: u64,
}

impl JobWork for ReadyMemory {
    fn recorded(&self) -> Recorded {
        Recorded::of(OPERATIONS, |row| row.name == self.plan.access.operation().name)
    }

    fn engine_name(&self) -> &'static str {
        "memory"
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let (plan, shape, none) = (&self.plan, Shape::ONE, Buffers::None);
        let source = Repeated::new(Op(plan.access as u8), length(plan), self.ops);
        let seed = seat.seed_for(seat.rank.into());
        Ok(match plan.access {
            MemoryAccess::Load => worker::run_calls(seat, shape, &none, Load::new(plan)?, source),
            MemoryAccess::Store => worker::run_calls(seat, shape, &none, Store::new(plan)?, source),
            MemoryAccess::Copy => worker::run_calls(seat, shape, &none, Copy::new(plan)?, source),
            MemoryAccess::Chase => {
                worker::run_calls(seat, shape, &none, Chase::new(plan, seed)?, source)
            }
        })
    }

    /// Adds the latency of single loads, of which an operation has many.
    fn finish(&self, measurement: &mut Measurement) {
        let chased = measurement.operation(MemoryAccess::Chase.operation().name);
        measurement.load_latency_ns =
            chased.latency.as_ref().map(|latency| latency.mean_ns / LOADS as f64);
    }
}
