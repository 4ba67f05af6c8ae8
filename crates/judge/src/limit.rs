//! The limit of a phase.

use candor_record::{Finding, Limit};

use crate::causes::stage_of;
use crate::ceilings::Kind;
use crate::follow_ups;
use crate::observed::Observed;
use crate::rules::depth::workers_starved_of_cpu;
use crate::stage::Stage;
use crate::thresholds::{MORE_IN_DEVICE, PACED, QUEUE_SEEN};

/// The limit of a phase: that of the findings, the plan's own rate, or the device where nothing
/// else is left and it had all that was asked of it.
pub fn limited_by(observed: &Observed, findings: &[Finding]) -> Option<Limit> {
    if observed.ran.is_empty() {
        return first_at(findings, |stage| stage == Stage::Names).or_else(|| own_cost(observed));
    }
    // Without a cache or a throttle the plan's rate was not reached.
    first_at(findings, |stage| stage <= Stage::Throttle)
        .or_else(|| pace(observed))
        .or_else(|| starvation(observed, findings))
        .or_else(|| first_at(findings, |stage| stage < Stage::Queue))
        // A short follow-up with more load knows better than the number of operations in flight.
        .or_else(|| by_follow_up(observed))
        .or_else(|| first_at(findings, |stage| stage == Stage::Queue))
        .or_else(|| device(observed))
}

/// The limit that the deepest of these findings names.
fn first_at(findings: &[Finding], at: impl Fn(Stage) -> bool) -> Option<Limit> {
    let named = findings.iter().filter(|f| f.limits.is_some() && at(stage_of(f)));
    named.min_by_key(|finding| stage_of(finding))?.limits.clone()
}

/// Workers that waited for a CPU most of the time were held up by nothing else.
fn starvation(observed: &Observed, findings: &[Finding]) -> Option<Limit> {
    let most = workers_starved_of_cpu::is_most(observed);
    let id = workers_starved_of_cpu::RULE.text.id;
    findings.iter().find(|finding| most && finding.rule == id)?.limits.clone()
}

/// Blocks that move nothing measure candor; programs, names and memory do not.
fn own_cost(observed: &Observed) -> Option<Limit> {
    let ran = observed.record.measurements.iter().any(|m| m.ops_done() > 0);
    let is_blocks = observed.phase.jobs.iter().all(|job| job.blocks().is_some());
    (ran && is_blocks).then_some(Limit::Candor)
}

/// The plan's rate or think time.
fn pace(observed: &Observed) -> Option<Limit> {
    let reached = observed.bounds.iter().find(|bound| {
        bound.kind == Kind::Pace && bound.ceiling.used.is_some_and(|used| used >= PACED.value)
    });
    let rate = reached.map(|bound| {
        let ceiling = &bound.ceiling;
        Limit::PlanRate { bytes_per_s: ceiling.bytes_per_s, ops_per_s: ceiling.ops_per_s }
    });
    let thinks = observed.ran.iter().any(|ran| ran.blocks.pace.think.is_some());
    rate.or_else(|| thinks.then_some(Limit::ThinkTime))
}

/// The load, where more of it paid; the device, where it had all that was asked of it and gave no
/// more for twice as much.
fn by_follow_up(observed: &Observed) -> Option<Limit> {
    let beside = follow_ups::doubled(observed)?;
    let (doubled, times) = (follow_ups::load(beside.follow_up)?, beside.times);
    if beside.pays() {
        return Some(Limit::Load { doubled, times });
    }
    let fed = queue_of_all(observed).is_some() && beside.is_flat();
    fed.then(|| Limit::DeviceFlat { depth: observed.concurrency(), doubled, times })
}

/// Operations in the device, where that is as many as were asked for.
fn queue_of_all(observed: &Observed) -> Option<f64> {
    observed.queue_ops().filter(|queue| *queue >= QUEUE_SEEN.value * observed.concurrency())
}

/// The device, where it had what was asked for in flight.
fn device(observed: &Observed) -> Option<Limit> {
    let requested = observed.concurrency();
    let queue = queue_of_all(observed)?;
    let mean_ns = observed.mean_latency_ns()?;
    let applies = observed.all_direct() && requested > 1.0;
    applies.then_some(Limit::Device {
        depth: requested,
        in_flight: queue,
        // More than was asked for cannot be all ours.
        with_others: queue > MORE_IN_DEVICE.value * requested,
        mean_latency_ns: mean_ns,
    })
}
