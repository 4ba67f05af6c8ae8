//! Entries: operations on named files and directories, one after another per worker.

mod calls;
mod places;
mod walk;

use std::sync::Arc;

use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::host::memory::{Mapping, Pages};
use candor_engine::names::Names;
use candor_engine::worker::{self, Buffers, Shape};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::TargetKind;
use candor_plan::entries::{Entries, OPERATIONS, Step};

use crate::calls::Calls;
use crate::places::{Places, TreeThings, WorkerNames};
use crate::walk::{Budget, SharedPaths, Walk};

pub use crate::places::file_size;

/// Choices of a worker's seed: the order of its names.
const ORDER: u64 = 0x6f72_6465;

/// The family of entries.
pub struct EntriesFamily;

impl Family for EntriesFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        let Some(entries) = context.job.entries() else {
            return Err(context.unfit("has no entries", "name steps"));
        };
        let places = places(entries, context)?;
        if places.handle_max(context.job.workers) > u64::from(u32::MAX) {
            let message = "has more than 4 billion names on one host";
            return Err(context.unfit(message, "use fewer items, or more hosts"));
        }
        Ok(Box::new(ReadyEntries {
            bytes_max: bytes_max(entries, &places),
            places: places.into(),
            entries: entries.clone(),
            budget: Budget::of(context.stop),
        }))
    }
}

/// The names of a job.
fn places(entries: &Entries, context: &JobContext<'_>) -> Result<Places, EngineError> {
    let (plan, job) = (context.plan, context.job);
    let known = plan.targets_by_name();
    let targets = job.targets.iter().filter_map(|name| known.get(name.as_str()));
    if entries.over.is_of_targets() {
        return Ok(Places::of_targets(Names::of(targets.copied()), context.ranks));
    }
    let of_tree = |target: &candor_plan::Target| {
        let tree = target.tree.clone().filter(|_| target.kind == TargetKind::Tree)?;
        Some(TreeThings::of(entries, target.path.clone(), tree, plan.seed))
    };
    let things = targets.copied().find_map(of_tree);
    let things =
        things.ok_or_else(|| context.unfit("has no tree", "give it a target of that kind"));
    Ok(Places::of_tree(things?, job.workers, context.ranks, job.rank_shift))
}

/// Length of the longest read or write: that of the plan, or the largest file; 0 where none is read
/// or written.
fn bytes_max(entries: &Entries, places: &Places) -> usize {
    let moves = entries.steps.iter().any(|step| matches!(step, Step::Read | Step::Write));
    let size = match (moves, entries.size) {
        (false, _) => 0,
        (true, Some(size)) => size.0.min(places.bytes_max()),
        (true, None) => places.bytes_max(),
    };
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// A job of entries, prepared but for its workers.
struct ReadyEntries {
    places: Arc<Places>,
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
        let (paths, seed) = (SharedPaths::default(), seat.seed_for(ORDER));
        let names = WorkerNames::new(self.places.clone(), seat.rank);
        let calls = Calls::new(&self.entries, paths.clone());
        let walk = Walk::new(&self.entries, names, self.budget, bytes as u64, (paths, seed));
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
        self.places.path_of(handle)
    }
}
