//! Separate counts per target, for jobs with `per_target`.

use std::sync::Arc;

use candor_engine::counters::{Bank, CounterSum, Recorded};
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{Next, Source, Turn};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::units::PerDirection;
use candor_plan::work::Figure;
use candor_plan::{Job, PathText, Plan};
use candor_record::{TargetOp, TargetStats};

use crate::targets::files::Files;

/// Maximum number of counts of all workers of a job: each count needs several mappings.
const COUNTS_MAX: usize = 8192;

struct TargetName {
    target: String,
    path: String,
}

/// Targets that are counted separately: the job's targets or, for a single target, its files.
pub struct Targets {
    names: Box<[TargetName]>,
    /// Index in `names`, by the number of the file.
    of_file: Box<[u32]>,
}

impl Targets {
    /// The targets of a job.
    ///
    /// # Errors
    /// The counts would use too much memory.
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
        if by_file {
            let target = job.targets.first().cloned().unwrap_or_default();
            let files = files.all().iter();
            let names =
                files.map(|file| TargetName { target: target.clone(), path: file.path.text() });
            return Ok(Targets { names: names.collect(), of_file: (0..count as u32).collect() });
        }
        let names = job.targets.iter().map(|name| {
            let path = plan.target(name).map(|target| target.path.text());
            TargetName { target: name.clone(), path: path.unwrap_or_default() }
        });
        let of_file = files.all().iter().map(|file| file.target).collect();
        Ok(Targets { names: names.collect(), of_file })
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
    /// Wraps the outermost source of a job.
    pub fn new(inner: S, targets: Arc<Targets>, recorded: Recorded) -> PerTarget<S> {
        let priorities = PerDirection::default();
        let recorded =
            Recorded { submission: false, intended: false, peaks: false, priorities, ..recorded };
        let banks = targets.names.iter().map(|_| Bank::new(&recorded)).collect();
        PerTarget { inner, targets, recorded, banks, counts: false }
    }

    fn stats(&self, bank: &Bank, name: &TargetName) -> TargetStats {
        let rows = self.recorded.operations().into_iter();
        let operations = rows.map(|(at, row)| {
            let mut sum = CounterSum::default();
            bank.all()[at].add_to(&mut sum);
            let counts_bytes = row.moves_bytes || row.figure == Figure::Trim;
            TargetOp::of(row, sum.ops, if counts_bytes { sum.bytes } else { 0 }, sum.latency)
        });
        let TargetName { target, path } = name;
        TargetStats { target: target.clone(), path: path.clone(), operations: operations.collect() }
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
        end.per_target = each.map(|(bank, name)| self.stats(bank, name)).collect();
        self.inner.tell(end, turn);
    }
}
