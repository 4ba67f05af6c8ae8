//! What limited a phase, in a few words.

use candor_record::Finding;

use crate::ceilings::Kind;
use crate::fmt;
use crate::follow_ups;
use crate::observed::Observed;
use crate::rules::depth::workers_starved_of_cpu;
use crate::thresholds::{MORE_IN_DEVICE, PACED, QUEUE_SEEN};

/// Rules whose limit comes before the plan's own rate: without them the rate was not reached.
const FIRST: &[&str] = &["A16", "A8", "A9", "A13", "A10", "A14", "A5", "H5", "A1", "A3", "F4"];
/// The others, from the outside in: what was hit first is named first.
const THEN: &[&str] = &[
    "F6", "F3", "D10", "D1", "D2", "D3", "D4", "D5", "D6", "D8", "C9", "C7", "E1", "E7", "B5",
    "F5", "G9", "B7", "B1", "B2", "B18", "B19", "B15", "B8", "B9",
];
/// Those that name what may be the limit: a slice with more load knows better.
pub const WEAK: &[&str] = &["B4", "C6"];

/// What limited a phase: what the findings say, the plan's own rate, or the device where nothing
/// else is left and it had all that was asked of it.
pub fn limited_by(observed: &Observed, findings: &[Finding]) -> Option<String> {
    if observed.ran.is_empty() {
        return first_of(findings, &["H1"]).or_else(|| own_cost(observed));
    }
    first_of(findings, FIRST)
        .or_else(|| pace(observed))
        .or_else(|| {
            first_of(findings, &["B8"]).filter(|_| workers_starved_of_cpu::is_most(observed))
        })
        .or_else(|| first_of(findings, THEN))
        .or_else(|| by_slice(observed))
        .or_else(|| first_of(findings, WEAK))
        .or_else(|| device(observed))
}

fn first_of(findings: &[Finding], order: &[&str]) -> Option<String> {
    order
        .iter()
        .find_map(|rule| findings.iter().filter(|f| f.rule == *rule).find_map(|f| f.limits.clone()))
}

/// Jobs that move nothing measure candor.
fn own_cost(observed: &Observed) -> Option<String> {
    let ran = observed.report.measurements.iter().any(|m| m.ops.iter().any(|(_, s)| s.ops > 0));
    ran.then(|| "candor itself: no byte was moved".into())
}

/// The rate or the rests that the plan asks for.
fn pace(observed: &Observed) -> Option<String> {
    let reached = observed.bounds.iter().find(|bound| {
        bound.kind == Kind::Pace && bound.ceiling.used.is_some_and(|used| used >= PACED.value)
    });
    let rate = reached.map(|bound| {
        let rate = match (bound.ceiling.bytes_per_s, bound.ceiling.ops_per_s) {
            (Some(bytes), _) => fmt::rate(bytes),
            (None, ops) => fmt::iops(ops.unwrap_or(0.0)),
        };
        format!("the rate that the plan asks for ({rate})")
    });
    let thinks = observed.ran.iter().any(|ran| ran.blocks.pace.think.is_some());
    rate.or_else(|| thinks.then(|| "the rests that the plan asks for".into()))
}

/// What more load showed: the load, where it paid; the device, where it had all that was asked of
/// it and gave no more for twice as much.
fn by_slice(observed: &Observed) -> Option<String> {
    let doubled = follow_ups::doubled(observed)?;
    let (what, times) = (follow_ups::what(doubled.slice), fmt::number(doubled.times));
    if doubled.pays() {
        return Some(format!("the load: {what} moved {times} times as much"));
    }
    let fed = queue_of_all(observed).is_some() && doubled.is_flat();
    fed.then(|| {
        let asked = fmt::count(observed.concurrency());
        format!("the device at depth {asked}: {what} moved {times} times as much")
    })
}

/// Operations in the device, where that is as many as were asked for.
fn queue_of_all(observed: &Observed) -> Option<f64> {
    observed.queue_ops().filter(|queue| *queue >= QUEUE_SEEN.value * observed.concurrency())
}

/// The device, where it had what was asked for in flight.
fn device(observed: &Observed) -> Option<String> {
    let asked = observed.concurrency();
    let queue = queue_of_all(observed)?;
    let mean_ns = observed.mean_latency_ns()?;
    let applies = observed.all_direct() && asked > 1.0;
    // More than was asked for cannot be all ours.
    let whose = if queue > MORE_IN_DEVICE.value * asked { " with those of others" } else { "" };
    applies.then(|| {
        format!(
            "the device at depth {} ({} in flight{whose}, mean latency {})",
            fmt::count(asked),
            fmt::number(queue),
            fmt::time(mean_ns)
        )
    })
}
