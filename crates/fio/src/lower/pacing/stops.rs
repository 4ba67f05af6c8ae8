//! When jobs start and end.

use candor_plan::{Bytes, Job, Nanos, Plan, RampAmount, Steady, SteadyFigure, SteadyFit, Stop};

use crate::ast::Section;
use crate::lower::groups::Groups;
use crate::lower::instance::{Instance, mixed};
use crate::lower::pacing::errors;
use crate::options;
use crate::options::{JobOptions, SteadyOf};
use candor_front::Texts;
use candor_front::{Diagnostic, Diagnostics};

pub(in crate::lower) fn lower(
    from: &Instance<'_>,
    phase: usize,
    job: &mut Job,
    diagnostics: &mut Diagnostics,
) {
    job.workers = 1;
    job.delay = delay(from);
    if job.delay > Nanos(0) && phase > 0 {
        let did = format!("it starts {} after the jobs that it waits for have ended", job.delay);
        diagnostics.note(from, "startdelay", &did, "fio counts from the start of the whole run");
    }
    job.stop = Some(stop(from, diagnostics));
}

/// Without a time, or with one that is only a bound, a job ends when its amount is done (see
/// [`crate::lower::offsets::amounts`]); based on time it begins again until the time is over.
fn stop(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Stop {
    let options = from.options;
    let given = &options.runtime;
    let stop = Stop {
        time: Some(given.runtime).filter(|time| *time > Nanos(0)),
        until_full: options.area.fill_device,
        tolerate: errors::tolerated(from, diagnostics),
        latency_max: options.goals.max,
        steady: steady(from, diagnostics),
        ..Stop::default()
    };
    if given.time_based && stop.time.is_none() {
        diagnostics.note(from, "time_based", "it has no effect", "no runtime is set");
    }
    stop
}

/// fio judges as many samples at a time as the duration contains.
fn steady(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<Steady> {
    let options = from.options;
    let given = &options.runtime.steady;
    if given.windows() == 0 {
        return None;
    }
    if options.statistics.group && options.runtime.clones > 1 {
        let did = "each job ends when its own values are steady; the group's values are reported";
        diagnostics.note(from, "steadystate", did, "fio ends the jobs of a group together");
    }
    let (figure, fit) = match given.of {
        SteadyOf::Iops => (SteadyFigure::Ops, SteadyFit::Deviation),
        SteadyOf::IopsSlope => (SteadyFigure::Ops, SteadyFit::Slope),
        SteadyOf::Bandwidth => (SteadyFigure::Bytes, SteadyFit::Deviation),
        SteadyOf::BandwidthSlope => (SteadyFigure::Bytes, SteadyFit::Slope),
        SteadyOf::Latency => (SteadyFigure::Latency, SteadyFit::Deviation),
        SteadyOf::LatencySlope => (SteadyFigure::Latency, SteadyFit::Slope),
    };
    Some(Steady::Hold {
        figure,
        fit,
        limit: given.limit,
        percent: given.percent,
        window: given.window(),
        windows: given.windows().max(2),
        ramp: given.ramp,
    })
}

/// The delay of a clone; clones draw from a range with the seed.
fn delay(from: &Instance<'_>) -> Nanos {
    let (low, high) = from.options.runtime.delay;
    let span = high.0.saturating_sub(low.0);
    if span == 0 {
        return low;
    }
    let seed = from.options.random.seed ^ from.number.wrapping_add(1);
    Nanos(low.0 + mixed(seed) % (span + 1))
}

/// A phase has one ramp: the longest of its jobs.
pub(in crate::lower) fn ramps(
    sections: &[(&Section, JobOptions)],
    groups: &Groups,
    texts: &Texts,
    plan: &mut Plan,
    diagnostics: &mut Diagnostics,
) {
    for (nth, (_, options)) in sections.iter().enumerate() {
        let Some(seat) = groups.seat(nth) else { continue };
        let phase = &mut plan.phases[seat.phase];
        phase.ramp = phase.ramp.max(options.runtime.ramp);
    }
    amounts(sections, groups, texts, plan, diagnostics);
    for (nth, (_, options)) in sections.iter().enumerate() {
        let Some(seat) = groups.seat(nth) else { continue };
        let ramp = plan.phases[seat.phase].ramp;
        if options.runtime.ramp < ramp {
            let did = format!("nothing counts for {ramp}");
            let why = "jobs that run together have one ramp, the longest";
            diagnostics.add_note(options::TABLE.note(
                &options.given,
                texts,
                "ramp_time",
                &did,
                why,
            ));
        }
    }
}

/// The largest amount of a phase's jobs ends its ramp. Jobs of one reporting group move it
/// together.
fn amounts(
    sections: &[(&Section, JobOptions)],
    groups: &Groups,
    texts: &Texts,
    plan: &mut Plan,
    diagnostics: &mut Diagnostics,
) {
    let seats = || {
        sections
            .iter()
            .enumerate()
            .filter_map(|(nth, (_, options))| Some((groups.seat(nth)?, options)))
    };
    for (index, phase) in plan.phases.iter_mut().enumerate() {
        let within = || seats().filter(|(seat, _)| seat.phase == index);
        let most = within().map(|(_, options)| options.runtime.ramp_bytes).max().unwrap_or(0);
        if most == 0 {
            continue;
        }
        let first = within().map(|(seat, _)| seat.group).next();
        let one_group = within().all(|(seat, _)| Some(seat.group) == first);
        let grouped = within().any(|(_, options)| options.statistics.group);
        let together = grouped && one_group;
        phase.ramp_amount = Some(RampAmount { bytes: Bytes(most), together });
        for (_, options) in within() {
            let of_time = options.runtime.ramp > Nanos(0);
            let differs = options.runtime.ramp_bytes != most || (grouped && !one_group);
            if let Some(at) = options.given.at("ramp_size").filter(|_| of_time) {
                let message = "a ramp ends by time or by an amount, and ramp_time is set too";
                let diagnostic = Diagnostic::new(at, "ramp", "ramp_size", message);
                diagnostics.push(diagnostic.remedy("remove one of the two"));
            } else if differs {
                let of = if together { "all jobs have" } else { "each job has" };
                let did = format!("nothing counts until {of} moved {}", Bytes(most));
                let why = "jobs that run together have one ramp, the greatest";
                let (given, name) = (&options.given, "ramp_size");
                diagnostics.add_note(options::TABLE.note(given, texts, name, &did, why));
            }
        }
    }
}
