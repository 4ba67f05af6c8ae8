//! How fast: rates, think time, latency goals, shares between jobs.

pub(super) mod errors;
pub(super) mod stops;

use candor_plan::blocks::{Arrival, Floor, Flow, LatencyGoal, Pace, Think, ThinkCount};
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{Blocks, BytesPerSec, Nanos, OpsPerSec};

use super::{Diagnostics, Instance};
use crate::fio::job_options::{RateProcess, ThinkBlocks};

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let said = &from.options.rate;
    let mut pace = Pace {
        think: think(from),
        think_shifts: said.ignore_think && from.options.think.time > Nanos(0),
        floor: floor(from),
        flow: flow(from),
        goal: goal(from, diagnostics),
        arrival: match said.process {
            RateProcess::Linear => Arrival::Fixed,
            RateProcess::Poisson => Arrival::Poisson,
        },
        ..Pace::default()
    };
    rates(from, blocks, &mut pace);
    if !pace.is_rated() {
        // fio takes it without effect.
        pace.arrival = Arrival::Fixed;
    }
    blocks.pace = pace;
}

/// fio holds each direction of a mix to a rate of its own; a job that goes in one has one rate.
fn rates(from: &Instance<'_>, blocks: &Blocks, pace: &mut Pace) {
    let said = &from.options.rate;
    let used: Vec<Direction> =
        Direction::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0).collect();
    let some = |rate: u64| Some(rate).filter(|rate| *rate > 0);
    if let [only] = used[..] {
        pace.bytes = some(*said.bytes.of(only)).map(BytesPerSec);
        pace.ops = some(*said.iops.of(only)).map(OpsPerSec);
        return;
    }
    let of_used = |rates: &PerDirection<u64>| {
        let mut kept = PerDirection::all(0);
        used.iter().for_each(|op| *kept.of_mut(*op) = *rates.of(*op));
        kept.iter().any(|(_, rate)| *rate > 0).then_some(kept)
    };
    pace.per_direction = of_used(&said.iops).map(|rates| rates.map(OpsPerSec));
    pace.bytes_per_direction = of_used(&said.bytes).map(|rates| rates.map(BytesPerSec));
}

fn floor(from: &Instance<'_>) -> Option<Floor> {
    let said = &from.options.rate;
    let (bytes, ops) = (said.bytes_min, said.iops_min);
    let any = bytes.iter().chain(ops.iter()).any(|(_, rate)| *rate > 0);
    let cycle_ms = if said.cycle_ms == 0 { 1000 } else { said.cycle_ms };
    any.then(|| Floor {
        bytes: bytes.map(BytesPerSec),
        ops: ops.map(OpsPerSec),
        cycle: Nanos(cycle_ms.saturating_mul(1_000_000)),
    })
}

fn flow(from: &Instance<'_>) -> Option<Flow> {
    let said = &from.options.flow;
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    (said.weight > 0).then(|| Flow {
        id: small(said.id),
        weight: small(said.weight),
        wait: said.sleep,
    })
}

/// How long each depth is tried where fio is told no time.
const WINDOW: Nanos = Nanos::from_secs(1);

fn goal(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<LatencyGoal> {
    let said = &from.options.goals;
    if said.target == Nanos(0) {
        return None;
    }
    let window = if said.window > Nanos(0) { said.window } else { WINDOW };
    if said.window == Nanos(0) {
        let did = format!("each depth is tried for {WINDOW}");
        diagnostics.note(from, "latency_target", &did, "latency_window is not set");
    }
    Some(LatencyGoal {
        latency: said.target,
        percentile: said.percentile,
        window,
        goes_on: said.run,
    })
}

fn think(from: &Instance<'_>) -> Option<Think> {
    let said = &from.options.think;
    if said.time == Nanos(0) {
        return None;
    }
    let by_time = said.io_time > Nanos(0);
    // By time alone, unless a number of operations is given too.
    let by_ops = !by_time || from.options.given.get("thinktime_blocks").is_some();
    let every = match by_ops && said.blocks > 0 {
        true => u32::try_from(said.blocks).unwrap_or(u32::MAX),
        false if by_time => u32::MAX,
        false => 1,
    };
    let spin = said.spin >= said.time;
    Some(Think {
        time: said.time,
        every,
        every_time: by_time.then_some(said.io_time),
        count: match said.blocks_type {
            ThinkBlocks::Complete => ThinkCount::Completed,
            ThinkBlocks::Issue => ThinkCount::Issued,
        },
        spin,
        spin_first: if spin { Nanos(0) } else { said.spin },
    })
}
