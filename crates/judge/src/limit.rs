//! What limited a phase, in a few words.

use candor_record::Finding;

use crate::ceilings::Kind;
use crate::fmt;
use crate::rules::b8;
use crate::slices;
use crate::thresholds::{MORE_IN_DEVICE, PACED, QUEUE_SEEN};
use crate::view::View;

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
pub fn limited_by(view: &View, findings: &[Finding]) -> Option<String> {
    if view.ran.is_empty() {
        return first_of(findings, &["H1"]).or_else(|| own_cost(view));
    }
    first_of(findings, FIRST)
        .or_else(|| pace(view))
        .or_else(|| first_of(findings, &["B8"]).filter(|_| b8::is_most(view)))
        .or_else(|| first_of(findings, THEN))
        .or_else(|| by_slice(view))
        .or_else(|| first_of(findings, WEAK))
        .or_else(|| device(view))
}

fn first_of(findings: &[Finding], order: &[&str]) -> Option<String> {
    order
        .iter()
        .find_map(|rule| findings.iter().filter(|f| f.rule == *rule).find_map(|f| f.limits.clone()))
}

/// Jobs that move nothing measure candor.
fn own_cost(view: &View) -> Option<String> {
    let ran = view.report.measurements.iter().any(|m| m.ops.iter().any(|(_, s)| s.ops > 0));
    ran.then(|| "candor itself: no byte was moved".into())
}

/// The rate or the rests that the plan asks for.
fn pace(view: &View) -> Option<String> {
    let reached = view.bounds.iter().find(|bound| {
        bound.kind == Kind::Pace && bound.ceiling.used.is_some_and(|used| used >= PACED.value)
    });
    let rate = reached.map(|bound| {
        let rate = match (bound.ceiling.bytes_per_s, bound.ceiling.ops_per_s) {
            (Some(bytes), _) => fmt::rate(bytes),
            (None, ops) => fmt::iops(ops.unwrap_or(0.0)),
        };
        format!("the rate that the plan asks for ({rate})")
    });
    let thinks = view.ran.iter().any(|ran| ran.blocks.pace.think.is_some());
    rate.or_else(|| thinks.then(|| "the rests that the plan asks for".into()))
}

/// What more load showed: the load, where it paid; the device, where it had all that was asked of
/// it and gave no more for twice as much.
fn by_slice(view: &View) -> Option<String> {
    let doubled = slices::doubled(view)?;
    let (what, times) = (slices::what(doubled.slice), fmt::number(doubled.times));
    if doubled.pays() {
        return Some(format!("the load: {what} moved {times} times as much"));
    }
    let fed = queue_of_all(view).is_some() && doubled.is_flat();
    fed.then(|| {
        let asked = fmt::count(view.concurrency());
        format!("the device at depth {asked}: {what} moved {times} times as much")
    })
}

/// Operations in the device, where that is as many as were asked for.
fn queue_of_all(view: &View) -> Option<f64> {
    view.queue_ops().filter(|queue| *queue >= QUEUE_SEEN.value * view.concurrency())
}

/// The device, where it had what was asked for in flight.
fn device(view: &View) -> Option<String> {
    let asked = view.concurrency();
    let queue = queue_of_all(view)?;
    let mean_ns = view.mean_latency_ns()?;
    let applies = view.all_direct() && asked > 1.0;
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
