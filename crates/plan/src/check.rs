//! Whether a plan makes sense, before anything is opened.
//!
//! Pure rules over the plan: all problems are reported at once, each with the name of its rule, its
//! place, the value and a remedy. Other crates check what only the host knows, such as whether a
//! file exists or consent is given.

mod access;
mod buckets;
mod content;
mod engine;
mod entries;
mod http;
mod jobs;
mod limits;
mod listing;
mod memory;
mod objects;
mod opening;
mod passthrough;
mod program;
mod ranges;
mod sizes;
mod stop;
mod targets;
mod threads;
mod timing;
mod whole;
mod window;
mod words;
mod zones;

use std::collections::HashMap;

use crate::{Blocks, Job, OnFailure, Phase, Plan, PlanPath, Problem, Severity, Target, Tree, Work};

pub use limits::*;

/// Everything that is wrong with the plan, errors and warnings, in the plan's order.
pub fn check(plan: &Plan) -> Vec<Problem> {
    let mut out = Found::default();
    whole::check(plan, &mut out);
    targets::check(plan, &mut out);
    buckets::check(plan, &mut out);
    let jobs = plan.phases.iter().map(|phase| phase.jobs.len()).sum();
    let known = Known { plan, targets: plan.targets_by_name(), jobs };
    for (i, phase) in plan.phases.iter().enumerate() {
        let at = PlanPath::root().key("phase").index(i);
        check_phase(&known, phase, &at, &mut out);
    }
    out.problems
}

/// True if nothing in `problems` keeps the plan from running.
pub fn can_run(problems: &[Problem]) -> bool {
    problems.iter().all(|problem| problem.severity < Severity::Error)
}

/// A plan with its targets by name.
struct Known<'p> {
    plan: &'p Plan,
    targets: HashMap<&'p str, &'p Target>,
    /// Number of jobs of all phases.
    jobs: usize,
}

impl<'p> Known<'p> {
    /// Shape of a target that is a tree.
    fn tree(&self, target: &str) -> Option<&'p Tree> {
        self.targets.get(target).and_then(|target| target.tree.as_ref())
    }
}

fn check_phase(known: &Known<'_>, phase: &Phase, at: &PlanPath, out: &mut Found) {
    stop::check(&phase.stop, &at.key("stop"), out);
    whole::check_phase(phase, at, out);
    opening::check_phase(phase, at, out);
    for (i, job) in phase.jobs.iter().enumerate() {
        let at = at.key("job").index(i);
        jobs::check_after(phase, i, &at.key("after"), out);
        jobs::check_flow(phase, i, &at, out);
        window::check(known, phase, i, &at, out);
        let alone = phase.on_failure == OnFailure::EndJob && known.jobs > 1;
        check_job(known, job, alone, &at, out);
        let stop = job.stop.as_ref().unwrap_or(&phase.stop);
        zones::check_recovery(job, stop, &at, out);
        stop::check_min_time(job, stop, &at, out);
    }
}

/// `alone` is true where the failure of the job keeps no other from running.
fn check_job(known: &Known<'_>, job: &Job, alone: bool, at: &PlanPath, out: &mut Found) {
    jobs::check(known, job, at, out);
    if let Some(own) = &job.stop {
        stop::check(own, &at.key("stop"), out);
    }
    let at = at.key("work").key(job.work.name());
    match &job.work {
        Work::Blocks(blocks) => check_blocks(known, job, alone, blocks, at, out),
        Work::Entries(entries) => entries::check_job(entries, &at, out),
        Work::Objects(objects) => objects::check(known.plan, job, objects, &at, out),
        Work::Program(program) => program::check(program, &at, out),
        Work::Burn(burn) => program::check_burn(burn, &at, out),
        Work::Memory(memory) => memory::check(memory, &at, out),
    }
}

fn check_blocks(
    known: &Known<'_>,
    job: &Job,
    alone: bool,
    blocks: &Blocks,
    at: PlanPath,
    out: &mut Found,
) {
    let targets = job.targets.iter();
    let targets = targets.filter_map(|name| known.targets.get(name.as_str()).copied());
    let view = View { job, alone, blocks, targets: targets.collect(), at };
    sizes::check(&view, out);
    access::check(&view, out);
    zones::check(&view, out);
    ranges::check(&view, out);
    engine::check(&view, out);
    http::check(known.plan, &view, out);
    passthrough::check(&view, out);
    timing::check(&view, out);
    opening::check(&view, out);
    content::check(&view, out);
    words::check(&view, out);
}

/// The blocks of a job with what surrounds them.
struct View<'p> {
    job: &'p Job,
    /// True where the failure of the job keeps no other from running.
    alone: bool,
    blocks: &'p Blocks,
    /// The job's targets, as far as they exist.
    targets: Vec<&'p Target>,
    /// PlanPath of `blocks`.
    at: PlanPath,
}

impl View<'_> {
    /// The place of a key of the blocks.
    fn key(&self, key: &str) -> PlanPath {
        self.at.key(key)
    }

    /// Number of files of all its targets.
    fn files(&self) -> u64 {
        self.targets.iter().map(|target| target.files_named()).sum()
    }

    /// Most workers of one host that use the same file.
    fn seats_max(&self) -> u64 {
        crate::rank::seats_max(self.job.sharing, u64::from(self.job.workers), self.files())
    }
}

/// The problems found so far.
#[derive(Default)]
struct Found {
    problems: Vec<Problem>,
}

impl Found {
    fn error(
        &mut self,
        rule: &'static str,
        place: PlanPath,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problems.push(Problem::error(rule, place, message, remedy));
    }

    fn warning(
        &mut self,
        rule: &'static str,
        place: PlanPath,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problems.push(Problem::warning(rule, place, message, remedy));
    }

    /// A number that must lie between 1 and `max`.
    fn count(&mut self, rule: &'static str, place: PlanPath, value: u64, max: u64) {
        let what = key_of(&place).to_owned();
        match value {
            0 => {
                let remedy = format!("set {what} to 1 or more");
                self.error(rule, place, format!("{what} is 0"), remedy);
            }
            value if value > max => {
                let message = format!("{what} is {value}, more than the {max} that are supported");
                self.error(rule, place, message, format!("set {what} to at most {max}"));
            }
            _ => {}
        }
    }

    /// A share in percent that must lie between `low` and 100.
    fn percent(&mut self, rule: &'static str, place: PlanPath, value: f64, low: f64) {
        if !(low..=100.0).contains(&value) {
            let what = key_of(&place).to_owned();
            let remedy = format!("set it to {low} to 100");
            self.error(rule, place, format!("{what} is {value} %, not {low} to 100 %"), remedy);
        }
    }
}

/// The last key of a place.
fn key_of(place: &PlanPath) -> &str {
    place.as_str().rsplit('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
