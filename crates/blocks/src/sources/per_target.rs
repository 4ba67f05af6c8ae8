//! Counts of each target apart, for jobs that ask for them.

use std::sync::Arc;

use candor_engine::counters::{Bank, CounterSum, Recorded};
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{Next, Source, Turn};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::units::PerDirection;
use candor_plan::work::{Figure, Operation};
use candor_plan::{Job, PathText, Plan};
use candor_record::{TargetOp, TargetStats};

use crate::targets::files::{Files, OpenFile};

/// Most counts apart of all workers of a job together: each has some mappings of its own.
const COUNTS_MAX: usize = 8192;

/// Targets that are counted apart: those of the job or, of a single one, its files.
pub struct Targets {
    /// Name and path of each.
    names: Box<[(String, String)]>,
    /// Index in `names`, by the number of the file.
    of_file: Box<[u32]>,
}

impl Targets {
    /// The targets of a job.
    ///
    /// # Errors
    /// Their counts would take too much memory.
    pub fn new(plan: &Plan, job: &Job, files: &Files) -> Result<Targets, (String, &'static str)> {
        let by_file = job.targets.len() < 2;
        let count = if by_file { files.all().len() } else { job.targets.len() };
        if count.saturating_mul(job.workers as usize) > COUNTS_MAX {
            let message = format!(
                "{count} targets counted apart in each of {} workers are more than {COUNTS_MAX}",
                job.workers
            );
            return Err((message, "leave out per_target, or take fewer files or workers"));
        }
        let named = |name: &String| {
            let path = plan.target(name).map(|target| target.path.text());
            (name.clone(), path.unwrap_or_default())
        };
        let target = job.targets.first().cloned().unwrap_or_default();
        let file = |file: &OpenFile| (target.clone(), file.path.text());
        let names = if by_file {
            files.all().iter().map(file).collect()
        } else {
            job.targets.iter().map(named).collect()
        };
        let own = |(number, file): (u32, &OpenFile)| if by_file { number } else { file.target };
        Ok(Targets { names, of_file: (0..).zip(files.all()).map(own).collect() })
    }
}

/// A source that counts its operations by their targets.
pub struct PerTarget<S> {
    inner: S,
    targets: Arc<Targets>,
    recorded: Recorded,
    banks: Box<[Bank]>,
    /// False during the ramp.
    counts: bool,
}

impl<S: Source> PerTarget<S> {
    /// Wraps the outermost source of a job that records so much.
    pub fn new(inner: S, targets: Arc<Targets>, recorded: Recorded) -> PerTarget<S> {
        let priorities = PerDirection::default();
        let recorded =
            Recorded { submission: false, intended: false, peaks: false, priorities, ..recorded };
        let banks = targets.names.iter().map(|_| Bank::new(&recorded)).collect();
        PerTarget { inner, targets, recorded, banks, counts: false }
    }

    fn stats(&self, (bank, (target, path)): (&Bank, &(String, String))) -> TargetStats {
        let operation = |(at, row): (usize, &Operation)| {
            let mut sum = CounterSum::default();
            bank.all()[at].add_to(&mut sum);
            let counts_bytes = row.moves_bytes || row.figure == Figure::Trim;
            TargetOp::of(row, sum.ops, if counts_bytes { sum.bytes } else { 0 }, sum.latency)
        };
        let operations = self.recorded.operations().into_iter().map(operation).collect();
        TargetStats { target: target.clone(), path: path.clone(), operations }
    }
}

impl<S: Source> Source for PerTarget<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        self.inner.next(slot, turn)
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        match outcome {
            Outcome::Done(count) if self.counts && (count > 0 || slot.length == 0) => {
                let target = self.targets.of_file[slot.handle as usize] as usize;
                let ns = turn.clock.ns(turn.now.saturating_sub(slot.started));
                self.banks[target].of(slot.op).completed(1, count, ns);
            }
            _ => {}
        }
        self.inner.completed(slot, outcome, turn);
    }

    fn begin(&mut self) {
        self.counts = true;
        self.inner.begin();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        let each = self.banks.iter().zip(&self.targets.names);
        end.per_target = each.map(|each| self.stats(each)).collect();
        self.inner.tell(end, turn);
    }
}
