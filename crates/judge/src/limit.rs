//! The limit of a phase.

use candor_plan::{Engine, Job};
use candor_record::{Ceiling, Finding, Limit};

use crate::bound::Kind;
use crate::causes::stage_of;
use crate::ceilings;
use crate::more_load::{self, Growth};
use crate::object_jobs::{self, ObjectJob};
use crate::object_load;
use crate::observed::Observed;
use crate::rules::depth::host_cpus_busy;
use crate::stage::Stage;
use crate::thresholds::{ALL_CPUS_BUSY, MORE_IN_DEVICE, PACED};

/// The limit of a phase: that of the findings, the plan's own rate, or the device where nothing
/// else is left and it had all that was asked of it.
pub fn limited_by(observed: &Observed, findings: &[Finding]) -> Option<Limit> {
    if observed.ran.is_empty() {
        let on_objects = object_jobs::ran(observed);
        if !on_objects.is_empty() {
            return of_objects(observed, findings, &on_objects);
        }
        return first_at(findings, |stage| {
            stage <= Stage::Throttle || [Stage::Device, Stage::Names].contains(&stage)
        })
        .or_else(|| own_cost(observed));
    }
    // Without a cache or a throttle the plan's rate was not reached.
    first_at(findings, |stage| stage <= Stage::Throttle)
        .or_else(|| pace(observed))
        // Trials with more load know better than any share of the time.
        .or_else(|| load(observed))
        .or_else(|| starvation(findings))
        .or_else(|| first_at(findings, |stage| stage < Stage::Queue))
        .or_else(|| flat(observed))
        .or_else(|| first_at(findings, |stage| stage == Stage::Queue))
        .or_else(|| device(observed).filter(|_| !found(findings, "A5")))
}

/// The limit of requests for objects: a limit of the findings, the plan's rate, or the server if
/// nothing else is left and all requests were in flight.
fn of_objects(observed: &Observed, findings: &[Finding], jobs: &[ObjectJob]) -> Option<Limit> {
    let only = if let [job] = jobs { Some(job) } else { None };
    first_at(findings, |stage| stage <= Stage::Throttle)
        .or_else(|| object_load::pace(only?))
        .or_else(|| object_load::load(observed, only?))
        .or_else(|| first_at(findings, |stage| stage <= Stage::Queue))
        .or_else(|| object_load::server(observed, only?))
}

fn found(findings: &[Finding], rule: &str) -> bool {
    findings.iter().any(|finding| finding.rule == rule)
}

/// The limit that the deepest of these findings names.
fn first_at(findings: &[Finding], at: impl Fn(Stage) -> bool) -> Option<Limit> {
    let named = findings.iter().filter(|f| f.limits.is_some() && at(stage_of(f)));
    named.min_by_key(|finding| stage_of(finding))?.limits.clone()
}

/// Workers that waited for a CPU most of the time.
fn starvation(findings: &[Finding]) -> Option<Limit> {
    findings.iter().find(|finding| finding.rule == "B8")?.limits.clone()
}

/// True for blocks that move nothing; memory and objects in place of a target are moved.
pub fn moves_nothing(job: &Job) -> bool {
    job.blocks().is_some_and(|blocks| !matches!(blocks.engine, Engine::PageFault | Engine::Http(_)))
}

/// Blocks that move nothing measure candor; programs, names and memory do not.
fn own_cost(observed: &Observed) -> Option<Limit> {
    let ran = observed.record.measurements.iter().any(|m| m.ops_done() > 0);
    (ran && observed.phase.jobs.iter().all(moves_nothing)).then_some(Limit::Candor)
}

/// The plan's rate or think time.
fn pace(observed: &Observed) -> Option<Limit> {
    let paces = ceilings::bounds(observed).into_iter().filter(|bound| bound.kind == Kind::Pace);
    let mut paces = paces.map(|bound| bound.ceiling);
    let reached = paces.find(|ceiling| ceiling.used.is_some_and(|used| used >= PACED.value));
    let rate = reached
        .map(|Ceiling { bytes_per_s, ops_per_s, .. }| Limit::PlanRate { bytes_per_s, ops_per_s });
    let thinks = observed.ran.iter().any(|ran| ran.blocks.pace.think.is_some());
    rate.or_else(|| thinks.then_some(Limit::ThinkTime))
}

/// The load, where more of it moved much more.
fn load(observed: &Observed) -> Option<Limit> {
    let growth = growth(observed).filter(Growth::pays)?;
    growth.best.map(|(doubled, times)| Limit::Load { doubled, times })
}

/// The device, where it had all that was requested of it and gave no more for as much as was tried.
fn flat(observed: &Observed) -> Option<Limit> {
    let growth = growth(observed).filter(Growth::levelled)?;
    observed.queue_full().filter(|_| !lacks_free_cpu(observed))?;
    let depth = observed.concurrency();
    Some(Limit::DeviceFlat { depth, doubled: growth.most?, times: growth.times() })
}

/// The CPUs that the workers may use were busy nearly all the time, so that a trial with more load
/// could not have more of them.
fn lacks_free_cpu(observed: &Observed) -> bool {
    let allowed: Vec<u32> =
        observed.ran.iter().flat_map(|ran| ran.job.placement.cpus.iter().copied()).collect();
    let (before, after) = (&observed.host.before, &observed.host.after);
    let each = (0u32..).zip(before.cpus.iter().zip(&after.cpus));
    let used = each.filter(|(cpu, _)| allowed.is_empty() || allowed.contains(cpu));
    let busy: Vec<f64> = used.map(|(_, (from, to))| host_cpus_busy::busy(from, to)).collect();
    !busy.is_empty() && candor_stats::mean(&busy) >= ALL_CPUS_BUSY.value
}

fn growth(observed: &Observed) -> Option<Growth> {
    let [ran] = observed.ran.as_slice() else { return None };
    more_load::of(observed, ran)
}

/// The device, where it had what was asked for in flight, and nothing tells what more would have
/// done.
fn device(observed: &Observed) -> Option<Limit> {
    if growth(observed).is_some() {
        return None;
    }
    let requested = observed.concurrency();
    let queue = observed.queue_full()?;
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
