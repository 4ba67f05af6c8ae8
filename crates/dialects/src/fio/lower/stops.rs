//! When jobs start and end.

use candor_plan::{Blocks, Bytes, Job, Nanos, Plan, Steady, SteadyFigure, SteadyFit, Stop};

use super::files::{self, share};
use super::groups::Groups;
use super::{Instance, Told, errors};
use crate::fio::options;
use crate::fio::settings::{Amount, Settings, SteadyOf};
use crate::fio::words::{Section, Texts};

pub(super) fn lower(
    from: &Instance<'_>,
    phase: usize,
    blocks: &Blocks,
    job: &mut Job,
    told: &mut Told,
) {
    job.workers = 1;
    job.delay = delay(from);
    if job.delay > Nanos(0) && phase > 0 {
        let did = format!("it starts {} after the jobs that it waits for have ended", job.delay);
        told.note(from, "startdelay", &did, "fio counts from the start of the whole run");
    }
    job.stop = Some(stop(from, blocks, told));
}

/// Without a time, or with one that is only a bound, a job ends when its amount is done; based on
/// time it begins again until the time is over.
fn stop(from: &Instance<'_>, blocks: &Blocks, told: &mut Told) -> Stop {
    let settings = from.settings;
    let said = &settings.runtime;
    let mut stop = Stop {
        time: Some(said.runtime).filter(|time| *time > Nanos(0)),
        until_full: settings.area.fill_device,
        tolerate: errors::tolerated(from, told),
        latency_max: settings.goals.max,
        steady: steady(settings),
        ..Stop::default()
    };
    if said.time_based && stop.time.is_none() {
        told.note(from, "time_based", "it has no effect", "no runtime is set");
    }
    if !said.time_based || stop.time.is_none() {
        bounds(from, blocks, &mut stop, told);
    }
    stop
}

/// fio judges so many samples at a time as fit into the duration.
fn steady(settings: &Settings) -> Option<Steady> {
    let said = &settings.runtime.steady;
    if said.duration == Nanos(0) {
        return None;
    }
    let window = said.interval.max(Nanos(1_000_000));
    let (figure, fit) = match said.of {
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
        limit: said.limit,
        percent: said.percent,
        window,
        windows: u32::try_from(said.duration.0 / window.0).unwrap_or(u32::MAX).max(2),
        ramp: said.ramp,
    })
}

/// Bounds other than time. Each loop adds as much again.
fn bounds(from: &Instance<'_>, blocks: &Blocks, stop: &mut Stop, told: &mut Told) {
    let (area, loops) = (&from.settings.area, from.settings.runtime.loops.max(1));
    let has = &from.settings.files;
    let times = |amount: u64| Some(amount.saturating_mul(loops)).filter(|amount| *amount > 0);
    stop.ops = times(area.number_ios);
    stop.passes = Some(u32::try_from(loops).unwrap_or(u32::MAX));
    match (area.io_size, area.size) {
        (Some(Amount::Bytes(bytes)), _) if bytes > 0 => {
            stop.bytes = times(bytes).map(Bytes);
            stop.passes = None;
        }
        (Some(Amount::Percent(percent)), size) => {
            let whole = match size {
                Some(Amount::Bytes(size)) => Some(size),
                _ => files::there(from, blocks),
            };
            match whole {
                Some(whole) => stop.bytes = times(share(whole, percent)).map(Bytes),
                None => told.refuse(from, "io_size", "a share of files that are not there yet"),
            }
            stop.passes = None;
        }
        (Some(Amount::Zones(_)), _) => told.refuse(from, "io_size", "zones are not built yet"),
        // What is left out of a pass is made up for by beginning again.
        (_, Some(Amount::Bytes(size))) if leaves_out(from) && size > 0 => {
            stop.bytes = times(size).map(Bytes);
            stop.passes = None;
        }
        // The files may hold more than the size of the job.
        (_, Some(Amount::Bytes(size))) if has.size.is_some() || has.opendir.is_some() => {
            stop.bytes = times(size).map(Bytes);
        }
        _ => {}
    }
    if loops > 1 && (stop.ops.is_some() || area.io_size.is_some()) {
        let did = "loops follow each other without starting at the first offset again";
        told.note(from, "loops", did, "one run of a job has one order of offsets");
    }
}

/// A pass in order does not touch every byte.
fn leaves_out(from: &Instance<'_>) -> bool {
    let rw = &from.settings.rw;
    !rw.direction.is_random() && rw.suffix.is_some_and(|suffix| suffix > 0)
}

/// The delay of a clone: of a range, each draws its own from the seed.
fn delay(from: &Instance<'_>) -> Nanos {
    let (low, high) = from.settings.runtime.delay;
    let span = high.0.saturating_sub(low.0);
    if span == 0 {
        return low;
    }
    let seed = from.settings.random.seed ^ from.number.wrapping_add(1);
    Nanos(low.0 + mixed(seed) % (span + 1))
}

/// Bits of a number thrown together (the finalizer of splitmix64).
pub(super) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A ramp belongs to a phase: the longest one of its jobs.
pub(super) fn ramps(
    sections: &[(&Section, Settings)],
    groups: &Groups,
    texts: &Texts,
    plan: &mut Plan,
    told: &mut Told,
) {
    for (nth, (_, settings)) in sections.iter().enumerate() {
        let Some(seat) = groups.seat(nth) else { continue };
        let phase = &mut plan.phases[seat.phase];
        phase.ramp = phase.ramp.max(settings.runtime.ramp);
    }
    for (nth, (_, settings)) in sections.iter().enumerate() {
        let Some(seat) = groups.seat(nth) else { continue };
        let ramp = plan.phases[seat.phase].ramp;
        if settings.runtime.ramp < ramp {
            let did = format!("nothing counts for {ramp}");
            let why = "jobs that run together have one ramp, the longest";
            told.add_note(options::note(settings, texts, "ramp_time", &did, why));
        }
    }
}
