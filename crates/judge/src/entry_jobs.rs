//! Jobs that work on names instead of data.

use candor_plan::Job;
use candor_plan::entries::{Entries, Step};
use candor_record::Measurement;
use candor_record::facts::TargetFacts;
use candor_record::fmt::ratio;

use crate::observed::{Observed, finite, measurement_of};

/// A job of steps over names that ran.
#[derive(Clone, Copy)]
pub struct EntryJob<'a> {
    /// The job.
    pub job: &'a Job,
    /// Work of the job.
    pub entries: &'a Entries,
    /// Step that it does to each name.
    pub step: Step,
    /// Measurement of the job.
    pub measured: &'a Measurement,
}

impl<'a> EntryJob<'a> {
    /// Steps done.
    pub fn ops(&self) -> f64 {
        self.measured.ops_done() as f64
    }

    /// Steps per second.
    pub fn ops_per_s(&self) -> f64 {
        ratio(self.ops(), self.measured.elapsed_ns as f64 / 1e9)
    }

    /// The job asks about names and changes none.
    pub fn looks(&self) -> bool {
        matches!(self.step, Step::Stat | Step::Lstat | Step::Statx)
    }

    /// Names that its targets have in the plan.
    pub fn names(&self, observed: &Observed) -> f64 {
        let targets = self.job.targets.iter().filter_map(|name| observed.plan.target(name));
        targets.map(|target| self.entries.names_of(target, self.ranks()) as f64).sum()
    }

    /// Ranks of its workers.
    pub fn ranks(&self) -> u64 {
        self.job.workers.into()
    }

    /// The targets.
    pub fn targets(&self, observed: &Observed<'a>) -> Vec<&'a TargetFacts> {
        let used = |target: &&TargetFacts| self.job.targets.contains(&target.target);
        observed.facts.targets.iter().filter(used).collect()
    }
}

/// The jobs on names that did something.
pub fn ran<'a>(observed: &Observed<'a>) -> Vec<EntryJob<'a>> {
    let jobs = observed.phase.jobs.iter().enumerate();
    let found = jobs.filter_map(|(index, job)| {
        let entries = job.entries()?;
        let step = entries.single()?;
        let measured = measurement_of(observed.record, index, &job.name)?;
        Some(EntryJob { job, entries, step, measured })
    });
    found.filter(|names| names.ops() > 0.0).collect()
}

/// Time that workers spent in operations, in ns, whatever their direction.
pub fn busy_ns(measured: &Measurement) -> f64 {
    let sides = measured.work_operations().filter_map(|stats| stats.latency.as_ref());
    sides.map(|latency| finite(latency.mean_ns) * latency.count as f64).sum()
}
