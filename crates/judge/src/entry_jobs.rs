//! Jobs that work on names instead of data.

use candor_plan::entries::{Entries, Step};
use candor_plan::work::Figure;
use candor_plan::{Job, Target};
use candor_record::facts::TargetFacts;
use candor_record::fmt::ratio;
use candor_record::{Measurement, OpStats, Setting};

use crate::observed::{Observed, finite, measurement_of};

/// Command that empties the caches of pages, names and inodes. ext4's journal keeps blocks that it
/// wrote until its own cache was dropped, so that only a second try reaches them.
const DROP: &str = "sync; for i in 1 2; do echo 3 > /proc/sys/vm/drop_caches; done";

/// A job of steps over names that ran.
#[derive(Clone, Copy)]
pub struct EntryJob<'a> {
    /// Place among the jobs of the phase.
    pub index: usize,
    /// The job.
    pub job: &'a Job,
    /// Work of the job.
    pub entries: &'a Entries,
    /// Step on names that took most of its time.
    pub step: Step,
    /// Measurement of the job.
    pub measured: &'a Measurement,
}

impl<'a> EntryJob<'a> {
    /// How often that step was done.
    pub fn ops(&self) -> f64 {
        self.measured.operation(self.step.name()).ops as f64
    }

    /// How often it was done per second.
    pub fn ops_per_s(&self) -> f64 {
        ratio(self.ops(), self.measured.elapsed_ns as f64 / 1e9)
    }

    /// The job asks about names, and changes or writes nothing.
    pub fn looks(&self) -> bool {
        !self.entries.changes() && self.entries.all_steps().any(Step::looks_up)
    }

    /// The job makes, removes or changes names.
    pub fn changes(&self) -> bool {
        self.entries.all_steps().any(Step::changes_names)
    }

    /// Each change is durable before the next one.
    pub fn durable_each(&self) -> bool {
        let changes = |step: &Step| step.changes_names() || *step == Step::Write;
        let mut lists = self.entries.lists().filter(|steps| steps.iter().any(changes));
        lists.all(|steps| steps.iter().any(|step| step.makes_durable()))
    }

    /// Bytes that it wrote into the page cache, to stay there until somebody flushes.
    pub fn absorbed_bytes(&self) -> f64 {
        if self.entries.direct || self.durable_each() {
            0.0
        } else {
            self.measured.figure(Figure::Write).bytes as f64
        }
    }

    /// Settings with which the job bypasses the page cache.
    pub fn directly(&self, observed: &Observed) -> Vec<Setting> {
        let is_so = self.entries.direct;
        self.with(observed, "work.entries.direct", "true").filter(|_| !is_so).into_iter().collect()
    }

    /// Settings with which the job syncs the filesystem at its end.
    pub fn synced(&self, observed: &Observed) -> Vec<Setting> {
        let is_so = self.entries.syncfs_at_end;
        let setting = self.with(observed, "work.entries.syncfs_at_end", "true");
        setting.filter(|_| !is_so).into_iter().collect()
    }

    /// Settings with which the caches of names, inodes and pages are dropped before the job; root's
    /// to do.
    pub fn uncached(&self, observed: &Observed) -> Vec<Setting> {
        let is_free = self.job.hooks.before.is_none();
        let setting = self.with(observed, "hooks.before.command", DROP);
        setting.filter(|_| is_free).into_iter().collect()
    }

    /// One key of the job, where the plan has the phase.
    fn with(&self, observed: &Observed, key: &str, value: &str) -> Option<Setting> {
        observed.plan.phases.get(observed.phase_index)?;
        let key = format!("phase[{}].job[{}].{key}", observed.phase_index, self.index);
        Some(Setting { key, value: value.into() })
    }

    /// Items that all workers have in progress at most.
    pub fn in_progress(&self) -> f64 {
        f64::from(self.job.workers) * f64::from(self.entries.lanes())
    }

    /// Names that its targets have in the plan, or in the list that was read.
    fn names(&self, observed: &Observed) -> f64 {
        let targets = self.planned(observed).into_iter();
        // Trees of one job share their names.
        let of_trees = !self.entries.over.is_of_targets();
        let targets = targets.take(if of_trees { 1 } else { usize::MAX });
        let listed = || self.targets(observed).first().and_then(|target| target.files_in_all);
        let names = |target| self.entries.names_of(target, self.ranks()).or_else(listed);
        targets.map(|target| names(target).map_or(f64::INFINITY, |names| names as f64)).sum()
    }

    /// Different names that it worked on.
    pub fn names_done(&self, observed: &Observed) -> f64 {
        self.names(observed).min(self.ops())
    }

    /// Ranks of its workers.
    pub fn ranks(&self) -> u64 {
        self.job.workers.into()
    }

    /// The targets as planned.
    pub fn planned(&self, observed: &Observed<'a>) -> Vec<&'a Target> {
        self.job.targets.iter().filter_map(|name| observed.plan.target(name)).collect()
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
        let measured = measurement_of(observed.record, index, &job.name)?;
        let step = longest(entries, measured)?;
        Some(EntryJob { index, job, entries, step, measured })
    });
    found.filter(|names| names.ops() > 0.0).collect()
}

/// The step on names that took most of the time.
fn longest(entries: &Entries, measured: &Measurement) -> Option<Step> {
    let of_names = entries.all_steps().filter(|step| step.operation().figure == Figure::Names);
    let took = |step: &Step| time_ns(measured.operation(step.name()));
    of_names.max_by(|a, b| took(a).total_cmp(&took(b)))
}

/// Time that workers spent in operations on names, in ns.
pub fn names_ns(measured: &Measurement) -> f64 {
    measured.work_operations().filter(|stats| stats.figure == Figure::Names).map(time_ns).sum()
}

/// Time that workers spent in other operations, in ns.
pub fn data_ns(measured: &Measurement) -> f64 {
    measured.work_operations().filter(|stats| stats.figure != Figure::Names).map(time_ns).sum()
}

fn time_ns(stats: &OpStats) -> f64 {
    stats.latency.as_ref().map_or(0.0, |latency| finite(latency.mean_ns) * latency.count as f64)
}
