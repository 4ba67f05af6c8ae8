//! Pace and durability.

use super::whole::time_limit;
use super::{Found, INTERVAL_MIN, View};
use crate::blocks::{Arrival, Durability, OpenSync, Pace, Think};
use crate::{BytesPerSec, Nanos, OpsPerSec, PlanPath};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    check_pace(&view.blocks.pace, &view.key("pace"), out);
    log(view, out);
    durability(view, out);
}

/// Rates, rests, floors, flows and goals.
pub(super) fn check_pace(pace: &Pace, at: &PlanPath, out: &mut Found) {
    let remedy = "give a rate above 0, or remove it for full speed";
    if pace.ops == Some(OpsPerSec(0)) {
        out.error("pace", at.key("ops"), "the rate is 0 operations per second", remedy);
    }
    if pace.bytes == Some(BytesPerSec(0)) {
        out.error("pace", at.key("bytes"), "the rate is 0 bytes per second", remedy);
    }
    if pace.arrival == Arrival::Poisson && !pace.is_rated() {
        let message = "arrival is poisson, but no rate is set";
        out.error("arrival", at.key("arrival"), message, "set pace.ops or pace.bytes");
    }
    check_steps(pace, at, out);
    let per_direction = [
        ("per_direction", pace.per_direction.map(|rates| rates.iter().any(|(_, r)| r.0 > 0))),
        (
            "bytes_per_direction",
            pace.bytes_per_direction.map(|rates| rates.iter().any(|(_, r)| r.0 > 0)),
        ),
    ];
    for (key, rated) in per_direction.into_iter().filter_map(|(k, rated)| Some((k, rated?))) {
        if pace.ops.is_some() || pace.bytes.is_some() {
            let message = "a rate of the whole job and rates per direction exclude each other";
            out.error("pace", at.key(key), message, "remove one of the two");
        }
        if !rated {
            let message = "rates per direction are set, and all of them are 0";
            out.error("pace", at.key(key), message, "give a rate above 0, or remove them");
        }
    }
    if let Some(think) = &pace.think {
        check_think(think, &at.key("think"), out);
    }
    goals(pace, at, out);
}

/// Most steps of a rate.
const STEPS_MAX: usize = 100_000;

fn check_steps(pace: &Pace, at: &PlanPath, out: &mut Found) {
    let rated = Pace { steps: Vec::new(), ..pace.clone() }.is_rated();
    let (count, steps) = (pace.steps.len(), &pace.steps);
    let (message, remedy) = if steps.is_empty() {
        if !pace.bursts {
            return;
        }
        ("bursts need steps, and there are none", "add steps")
    } else if rated {
        ("steps and another rate exclude each other", "remove one of the two")
    } else if count > STEPS_MAX {
        ("there are more than 100000 steps", "use fewer, longer ones")
    } else if steps.iter().any(|step| step.time == Nanos(0)) {
        ("a step lasts no time", "give each step a time")
    } else if steps.iter().all(|step| step.ops == OpsPerSec(0)) {
        ("all steps have a rate of 0", "give one of them a rate above 0")
    } else {
        return;
    };
    let key = if steps.is_empty() { "bursts" } else { "steps" };
    out.error("pace", at.key(key), message, remedy);
}

/// Longest rest, in times of the operations before it.
const RELATIVE_MAX: f64 = 1e6;

fn check_think(think: &Think, at: &PlanPath, out: &mut Found) {
    if think.every == 0 {
        let message = "think.every is 0: after how many operations is the rest?";
        out.error("think", at.key("every"), message, "set every = 1");
    }
    if !(0.0..=RELATIVE_MAX).contains(&think.relative) {
        let message = format!("think.relative is {}, no number from 0 on", think.relative);
        let remedy = "give 1 for a rest as long as the operations before it took";
        out.error("think", at.key("relative"), message, remedy);
    }
    if think.time == Nanos(0) && think.spin_cycles == 0 && think.relative == 0.0 {
        let message = "think.time is 0, so there is no rest";
        out.warning("think", at.key("time"), message, "give a time, or remove think");
    }
    time_limit(think.time, at.key("time"), out);
    if let Some(time) = think.every_time {
        time_limit(time, at.key("every_time"), out);
        if time == Nanos(0) {
            let message = "think.every_time is 0: after how long is the rest?";
            out.error("think", at.key("every_time"), message, "give a time, or remove it");
        }
    }
}

/// Floors, flows and latency goals.
fn goals(pace: &Pace, at: &PlanPath, out: &mut Found) {
    if let Some(floor) = &pace.floor {
        let at = at.key("floor").key("cycle");
        time_limit(floor.cycle, at.clone(), out);
        if floor.cycle < INTERVAL_MIN {
            let message = format!("the cycle is {}, shorter than {INTERVAL_MIN}", floor.cycle);
            out.error("interval", at, message, "set cycle = \"1s\"");
        }
    }
    if let Some(flow) = &pace.flow {
        if flow.weight == 0 {
            let at = at.key("flow").key("weight");
            out.error("flow", at, "a job of weight 0 never runs", "give a weight, or remove flow");
        }
        time_limit(flow.wait, at.key("flow").key("wait"), out);
    }
    if let Some(goal) = &pace.goal {
        let at = at.key("goal");
        out.percent("goal", at.key("percentile"), goal.percentile, 0.0);
        for (key, time) in [("latency", goal.latency), ("window", goal.window)] {
            time_limit(time, at.key(key), out);
            if time == Nanos(0) {
                let message = format!("goal.{key} is 0");
                out.error("goal", at.key(key), message, "give a time, or remove goal");
            }
        }
    }
}

/// Intervals that a log can keep.
fn log(view: &View<'_>, out: &mut Found) {
    let log = &view.blocks.measure.log;
    let at = view.key("measure").key("log");
    for (key, length) in [("window", log.window), ("histogram", log.histogram)] {
        let Some(length) = length else { continue };
        time_limit(length, at.key(key), out);
        if length < INTERVAL_MIN {
            let message = format!("{key} is {length}, shorter than {INTERVAL_MIN}");
            out.error("interval", at.key(key), message, format!("set {key} = \"1s\""));
        }
    }
    if log.peaks && log.window.is_none() {
        let message = "the greatest latency of each window is requested, but no window is set";
        out.error("log-peaks", at.key("peaks"), message, "set measure.log.window as well");
    }
}

fn durability(view: &View<'_>, out: &mut Found) {
    let durability = view.blocks.durability;
    let Durability { open, fsync_every, fdatasync_every, fsync_at_end, .. } = durability;
    let at = view.key("durability");
    if durability.range.is_some_and(|range| range.every == 0) {
        let message = "range is set to be done after every 0 writes";
        out.error("range", at.key("range").key("every"), message, "use 1 or more");
    }
    let between = fsync_every > 0 || fdatasync_every > 0 || durability.range.is_some();
    if durability.in_turn && !between {
        let message = "in_turn is set, but nothing is synced between writes";
        out.error("in-turn", at.key("in_turn"), message, "set fsync_every as well");
    }
    let syncs = between || fsync_at_end || durability.syncfs_at_end || open != OpenSync::None;
    if syncs && !view.blocks.mix.destroys() {
        let message = "durability is set, but nothing is written";
        out.warning("fsync-reads", at, message, "remove it, or write");
    }
}
