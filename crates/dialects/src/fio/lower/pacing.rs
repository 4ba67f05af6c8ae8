//! How fast: rates and think time.

use candor_plan::blocks::{Arrival, Pace, Think};
use candor_plan::units::{Mix, Op, PerOp};
use candor_plan::{Blocks, BytesPerSec, Nanos, OpsPerSec};

use super::{Instance, Told};
use crate::fio::settings::RateProcess;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, told: &mut Told) {
    let said = &from.settings.rate;
    let mut pace = Pace { think: think(from, told), ..Pace::default() };
    if let Some(bytes) = one_rate(&said.bytes, blocks.mix) {
        pace.bytes = bytes.map(BytesPerSec);
    } else {
        told.refuse(from, "rate", "rates in bytes of one direction only are not built yet");
    }
    match one_rate(&said.iops, blocks.mix) {
        Some(ops) => pace.ops = ops.map(OpsPerSec),
        None => pace.per_direction = per_direction(from, blocks.mix, told),
    }
    pace.arrival = match said.process {
        RateProcess::Linear => Arrival::Fixed,
        RateProcess::Poisson => Arrival::Poisson,
    };
    blocks.pace = pace;
}

/// The rate of a job that goes in one direction, or of none at all; absent where directions have
/// rates of their own.
fn one_rate(rates: &PerOp<u64>, mix: Mix) -> Option<Option<u64>> {
    let used: Vec<_> = Op::ALL.into_iter().filter(|op| mix.of(*op) > 0).collect();
    match used[..] {
        [only] => Some(Some(*rates.of(only)).filter(|rate| *rate > 0)),
        _ if used.iter().all(|op| *rates.of(*op) == 0) => Some(None),
        _ => None,
    }
}

/// fio holds each direction of a mix to a rate of its own.
fn per_direction(from: &Instance<'_>, mix: Mix, told: &mut Told) -> Option<PerOp<OpsPerSec>> {
    let said = &from.settings.rate.iops;
    if Op::ALL.into_iter().any(|op| mix.of(op) > 0 && *said.of(op) == 0) {
        let why = "a rate for one direction of a mix and none for another is not built yet";
        told.refuse(from, "rate_iops", why);
    }
    let rate = |op: Op| OpsPerSec(if mix.of(op) > 0 { *said.of(op) } else { 0 });
    Some(PerOp { read: rate(Op::Read), write: rate(Op::Write), trim: rate(Op::Trim) })
}

fn think(from: &Instance<'_>, told: &mut Told) -> Option<Think> {
    let said = &from.settings.think;
    if said.time == Nanos(0) {
        return None;
    }
    let spin = said.spin > Nanos(0);
    if spin && said.spin < said.time {
        told.refuse(from, "thinktime_spin", "burning the CPU for a part of the rest is not built");
    }
    let every = u32::try_from(said.blocks.max(1)).unwrap_or(u32::MAX);
    Some(Think { every, spin, ..Think::after_each(said.time) })
}
