//! Entries: operations on named files and directories, one after another per worker.

mod calls;
mod walk;

use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::host::memory::Mapping;
use candor_engine::names::Names;
use candor_engine::worker::{self, Buffers, Shape, WorkerEnd};
use candor_plan::entries::{Entries, OPERATIONS, Step};

use crate::calls::Calls;
use crate::walk::{Budget, Walk};

/// The family of entries.
pub struct EntriesFamily;

impl Family for EntriesFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        let Some(entries) = context.job.entries().filter(|entries| entries.is_run()) else {
            return Err(context.unfit("has steps that are not run", "name other steps"));
        };
        let known = context.plan.targets_by_name();
        let targets = context.job.targets.iter().filter_map(|name| known.get(name.as_str()));
        Ok(Box::new(ReadyEntries {
            names: Names::of(targets.copied()).into(),
            entries: entries.clone(),
            budget: Budget::of(context.stop),
        }))
    }
}

/// A job of entries, prepared but for its workers.
struct ReadyEntries {
    names: std::sync::Arc<Names>,
    entries: Entries,
    budget: Budget,
}

impl ReadyEntries {
    /// Length of one read or write; at most 1 MiB where the plan sets none.
    fn bytes_max(&self) -> usize {
        const WHOLE_MAX: u64 = 1 << 20;
        match self.entries.steps.iter().any(|step| matches!(step, Step::Read | Step::Write)) {
            false => 0,
            true => self.entries.size.map_or(WHOLE_MAX, |size| size.0) as usize,
        }
    }
}

impl JobWork for ReadyEntries {
    fn recorded(&self) -> Recorded {
        Recorded::of(OPERATIONS, |row| {
            self.entries.steps.iter().any(|step| step.name() == row.name)
        })
    }

    /// A single step gives the engine its name.
    fn engine_name(&self) -> &'static str {
        match self.entries.steps[..] {
            [step] => step.name(),
            _ => "calls",
        }
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let bytes = self.bytes_max();
        let walk = Walk::new(&self.entries, self.names.clone(), self.budget, bytes as u64, &seat);
        let calls = Calls::new(&self.entries, self.names.clone());
        if bytes == 0 {
            return Ok(worker::run_calls(seat, Shape::ONE, &Buffers::None, calls, walk));
        }
        let what = format!("allocate a buffer of {bytes} bytes");
        let mut buffer = Mapping::new(bytes, false).map_err(EngineError::system(what))?;
        buffer.as_mut_slice().fill(0x5a);
        Ok(worker::run_calls(seat, Shape::ONE, &Buffers::Host(&buffer, bytes), calls, walk))
    }

    fn name_of(&self, handle: u32) -> String {
        self.names.name(handle as usize).path.display().to_string()
    }
}
