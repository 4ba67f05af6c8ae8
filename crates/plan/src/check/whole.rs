//! The plan and its phases as such.

use std::collections::HashSet;

use super::{Found, INTERVAL_MIN, PARTS_MAX, REPEATS_MAX, TARGETS_MAX, TIME_MAX, WORKERS_MAX};
use crate::units::Extent;
use crate::{Bytes, Nanos, PLAN_VERSION, Phase, Plan, PlanPath, RampAmount};

pub(super) fn check(plan: &Plan, out: &mut Found) {
    let root = PlanPath::root();
    if plan.version != PLAN_VERSION {
        let message = format!("the plan is of version {}", plan.version);
        let remedy = format!(
            "set it to {PLAN_VERSION}; since that version, each job's work is under \
                     `work`"
        );
        out.error("version", root.key("version"), message, remedy);
    }
    out.count("repeats", root.key("repeats"), plan.repeats.into(), REPEATS_MAX.into());
    let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    // Work of the CPU or of memory alone has no target.
    if plan.phases.is_empty() || jobs.any(|job| job.work.uses_targets()) {
        parts("no-targets", plan.targets.len(), &root, "target", out);
    }
    occupy_memory(plan, &root, out);
    parts("no-phases", plan.phases.len(), &root, "phase", out);
    let names = plan.phases.iter().map(|phase| phase.name.as_str());
    duplicates(names, &root.key("phase"), "phase", out);
}

/// Memory that is occupied is some, and not all.
fn occupy_memory(plan: &Plan, root: &PlanPath, out: &mut Found) {
    let Some(extent) = plan.occupy_memory else { return };
    let place = root.key("occupy_memory");
    match extent {
        Extent::Percent(percent) if !(percent > 0.0 && percent < 100.0) => {
            let message = format!("occupy_memory is {percent} %, not above 0 and below 100");
            out.error("occupy-memory", place, message, "give bytes, or 1 % to 99 %");
        }
        Extent::Bytes(Bytes(0)) => {
            let message = "occupy_memory is 0: nothing is occupied";
            out.error("occupy-memory", place, message, "give an amount, or remove it");
        }
        _ => {}
    }
}

pub(super) fn check_phase(phase: &Phase, at: &PlanPath, out: &mut Found) {
    out.count("repeats", at.key("repeats"), phase.repeats.into(), REPEATS_MAX.into());
    time_limit(phase.ramp, at.key("ramp"), out);
    time_limit(phase.delay, at.key("delay"), out);
    time_limit(phase.interval, at.key("interval"), out);
    if phase.interval < INTERVAL_MIN {
        let message = format!("the interval is {}, shorter than {INTERVAL_MIN}", phase.interval);
        out.error("interval", at.key("interval"), message, "set interval = \"1s\"");
    }
    if let Some(amount) = phase.ramp_amount {
        ramp_amount(phase, amount, at, out);
    }
    parts("no-jobs", phase.jobs.len(), at, "job", out);
    let names = phase.jobs.iter().map(|job| job.name.as_str());
    duplicates(names, &at.key("job"), "job", out);
    let workers: u64 = phase.jobs.iter().map(|job| u64::from(job.workers)).sum();
    // A single job with too many workers is reported at its own place.
    let single = phase.jobs.iter().any(|job| job.workers > WORKERS_MAX);
    if workers > u64::from(WORKERS_MAX) && !single {
        let message =
            format!("phase {} has {workers} workers in all, more than {WORKERS_MAX}", phase.name);
        out.error("workers", at.clone(), message, "use fewer workers and more depth");
    }
}

fn ramp_amount(phase: &Phase, amount: RampAmount, at: &PlanPath, out: &mut Found) {
    let at = at.key("ramp_amount");
    if amount.bytes == Bytes(0) {
        out.error("ramp", at.key("bytes"), "the ramp is 0 bytes", "give an amount, or remove it");
    }
    if phase.ramp > Nanos(0) {
        let message = "a ramp ends by time or by an amount, and both are set";
        out.error("ramp", at.clone(), message, "remove one of the two");
    }
    if let Some(job) = phase.jobs.iter().find(|job| !job.after.is_empty()) {
        let message = format!("job {} waits for others, which end after the ramp", job.name);
        out.error("ramp", at, message, "set ramp instead, or let it begin with the others");
    }
}

/// At least one part, and not more than are supported.
fn parts(rule: &'static str, number: usize, at: &PlanPath, key: &str, out: &mut Found) {
    let whole = if at.parent().is_none() { "the plan" } else { "the phase" };
    let most = if key == "target" { TARGETS_MAX } else { PARTS_MAX };
    match number {
        0 => {
            let message = format!("{whole} has no {key}");
            out.error(rule, at.clone(), message, format!("add a [[{}]] section", section(at, key)));
        }
        n if n > most => {
            let message = format!("{whole} has {n} {key}s, more than {most}");
            out.error("parts-limit", at.key(key), message, "divide it into several plans");
        }
        _ => {}
    }
}

fn section(at: &PlanPath, key: &str) -> String {
    if at.parent().is_none() { key.to_owned() } else { format!("phase.{key}") }
}

fn duplicates<'a>(
    names: impl Iterator<Item = &'a str>,
    at: &PlanPath,
    what: &str,
    out: &mut Found,
) {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        // Two that were left unnamed are not confused by anyone who wrote names.
        if !seen.insert(name) && name != what && !name.is_empty() {
            let message = format!("another {what} is called {name} too");
            let remedy = "give each its own name, which reports use";
            out.warning("duplicate-name", at.index(i).key("name"), message, remedy);
        }
    }
}

/// No time is longer than a year.
pub(super) fn time_limit(time: Nanos, place: PlanPath, out: &mut Found) {
    if time > TIME_MAX {
        let what = super::key_of(&place).to_owned();
        let message = format!("{what} is {time}, more than a year");
        out.error("time-limit", place, message, format!("set {what} to at most {TIME_MAX}"));
    }
}
