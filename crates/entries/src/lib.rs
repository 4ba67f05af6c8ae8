//! Entries: operations on named files and directories, one after another per worker.

mod calls;
mod walk;

use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::host::memory::{Mapping, Pages};
use candor_engine::names::Names;
use candor_engine::worker::{self, Buffers, Shape};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::entries::{Entries, OPERATIONS, Step};

use crate::calls::Calls;
use crate::walk::{Budget, SharedPath, Walk};

/// The family of entries.
pub struct EntriesFamily;

impl Family for EntriesFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        let Some(entries) = context.job.entries().filter(|entries| entries.is_run()) else {
            return Err(context.unfit("has steps that are not run", "name other steps"));
        };
        let known = context.plan.targets_by_name();
        let targets = context.job.targets.iter().filter_map(|name| known.get(name.as_str()));
        let names = Names::of(targets.copied());
        Ok(Box::new(ReadyEntries {
            bytes_max: bytes_max(entries, &names),
            names: names.into(),
            entries: entries.clone(),
            budget: Budget::of(context.stop),
        }))
    }
}

/// Length of the longest read or write: that of the plan, or the largest file; 0 where none is read
/// or written.
fn bytes_max(entries: &Entries, names: &Names) -> usize {
    let moves = entries.steps.iter().any(|step| matches!(step, Step::Read | Step::Write));
    let size = match (moves, entries.size) {
        (false, _) => 0,
        (true, Some(size)) => size.0,
        (true, None) => names.iter().map(|named| named.length()).max().unwrap_or(0),
    };
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// A job of entries, prepared but for its workers.
struct ReadyEntries {
    names: std::sync::Arc<Names>,
    entries: Entries,
    budget: Budget,
    bytes_max: usize,
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
        let bytes = self.bytes_max;
        let (names, path) = (self.names.clone(), SharedPath::default());
        let calls = Calls::new(&self.entries, path.clone());
        let walk = Walk::new(&self.entries, names, self.budget, bytes as u64, (path, &seat));
        if bytes == 0 {
            return Ok(worker::run_calls(seat, Shape::ONE, &Buffers::None, calls, walk));
        }
        let what = format!("allocate a buffer of {bytes} bytes");
        let mut buffer =
            Mapping::new(bytes, Pages::Contiguous).map_err(EngineError::system(what))?;
        buffer.as_mut_slice().fill(0x5a);
        Ok(worker::run_calls(seat, Shape::ONE, &Buffers::Host(&buffer, bytes), calls, walk))
    }

    fn name_of(&self, handle: u32) -> String {
        self.names.name(handle as usize).path.display().to_string()
    }
}
