//! Flags with a list of values: a phase for each value, or for each pair of two lists.

use candor_plan::blocks::{Access, Blocks};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{Bytes, Job, Objects, Phase, Plan, PlanPath, Problem};
use candor_record::fmt;

use super::s3::Operations;
use super::work_names;

/// Most flags with lists.
const LISTS_MAX: usize = 2;

/// A value of a flag that takes lists.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `--rw`.
    Rw(Mix, Access),
    /// `--rw` of buckets.
    Ops(Operations),
    /// `--bs`.
    Size(SizeSpec),
    /// `--bs` of buckets.
    Range(Bytes),
    /// `--depth`.
    Depth(u32),
    /// `--workers`.
    Workers(u32),
}

impl Value {
    /// Sets it.
    pub fn put(&self, job: &mut Job, blocks: &mut Blocks, objects: &mut Objects) {
        match self {
            Value::Rw(mix, access) => (blocks.mix, blocks.access) = (*mix, access.clone()),
            Value::Ops(operations) => operations.put(objects),
            Value::Size(size) => blocks.size = PerDirection::all(size.clone()),
            Value::Range(size) => objects.range = Some(*size),
            Value::Depth(depth) => blocks.depth = *depth,
            Value::Workers(workers) => job.workers = *workers,
        }
    }

    /// The value as a phase is named by it.
    fn name(&self) -> String {
        match self {
            Value::Rw(mix, access) => work_names::kind(*mix, access),
            Value::Ops(operations) => operations.name(),
            Value::Size(size) => work_names::size(size),
            Value::Range(size) => work_names::size(&SizeSpec::Fixed(*size)),
            Value::Depth(depth) => format!("depth {depth}"),
            Value::Workers(workers) => fmt::counted(u64::from(*workers), "worker"),
        }
    }
}

/// The values of one flag, two at least.
#[derive(Debug)]
pub struct List {
    /// Name of the flag.
    pub flag: &'static str,
    /// Values, as given.
    pub values: Vec<Value>,
}

/// The values of a flag: one, or those of a list.
pub fn read(text: &str, value: fn(&str) -> Result<Value, String>) -> Result<Vec<Value>, String> {
    // Sizes with weights are one value.
    if text.contains(':') {
        return Ok(vec![value(text)?]);
    }
    let mut values: Vec<Value> = Vec::new();
    for part in text.split(',') {
        let value = value(part)?;
        if values.contains(&value) {
            return Err(format!("`{text}` has {part} twice"));
        }
        values.push(value);
    }
    Ok(values)
}

/// One value of each list, in every way, the last list changing fastest; one empty choice where
/// there is no list.
pub fn choices(lists: &[List]) -> Vec<Vec<&Value>> {
    let mut choices: Vec<Vec<&Value>> = vec![Vec::new()];
    for list in lists {
        let mut longer = Vec::new();
        for choice in &choices {
            longer.extend(list.values.iter().map(|value| [&choice[..], &[value]].concat()));
        }
        choices = longer;
    }
    choices
}

/// The name of the phase that has these values.
pub fn name(values: &[&Value]) -> String {
    values.iter().map(|value| value.name()).collect::<Vec<_>>().join(", ")
}

/// Lists that cannot be run beside the other flags that were given.
pub fn problems(lists: &[List], given: &[&str]) -> Vec<Problem> {
    let names: Vec<String> = lists.iter().map(|list| format!("--{}", list.flag)).collect();
    let mut problems = Vec::new();
    if let Some(third) = names.get(LISTS_MAX) {
        let message = format!("{} are lists; at most {LISTS_MAX} may be", names.join(", "));
        let remedy = format!("give {third} one value, and run again with the next");
        problems.push(Problem::error("lists", place(third), message, remedy));
    }
    let refined = given.iter().find(|flag| ["mix", "access"].contains(flag));
    if let (Some(flag), true) = (refined, names.iter().any(|name| name == "--rw")) {
        let message = format!("--rw is a list, and --{flag} would set the same for all of it");
        let remedy = format!("leave --{flag} out, or give --rw one value");
        problems.push(Problem::error("lists", place("--rw"), message, remedy));
    }
    problems
}

fn place(flag: &str) -> PlanPath {
    PlanPath::from(flag)
}

/// How many runs a plan is and how long they take; nothing for a single one.
pub fn announcement(plan: &Plan) -> String {
    let times = |phase: &Phase| u64::from(phase.repeats.max(1)) * u64::from(plan.repeats.max(1));
    let runs: u64 = plan.phases.iter().map(times).sum();
    let ns = |phase: &Phase| {
        // The phase ends with its last job.
        let stop = |job: &Job| job.stop.clone().unwrap_or_else(|| phase.stop.clone());
        let jobs = phase.jobs.iter().map(|job| Some(stop(job).time?.0 + job.delay.0));
        let time = jobs.max_by_key(|time| time.unwrap_or(u64::MAX))??;
        Some((time + phase.ramp.0 + phase.delay.0).saturating_mul(times(phase)))
    };
    let all: Option<u64> = plan.phases.iter().map(ns).sum();
    let long = match all {
        Some(ns) => format!("about {} of load", fmt::wait(ns)),
        None => "each as long as its pass takes".to_owned(),
    };
    if runs > 1 { format!("{runs} runs, one after another, {long}.\n") } else { String::new() }
}
