//! Pacing: rates, think time, latency goals, shares between jobs.

pub(super) mod errors;
pub(super) mod stops;

use candor_plan::blocks::{Arrival, Floor, Flow, LatencyGoal, Pace, Think, ThinkCount};
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{Blocks, BytesPerSec, Nanos, OpsPerSec};

use super::instance::Instance;
use crate::options::{RateProcess, ThinkBlocks};
use candor_front::Diagnostics;

pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let options = &from.options.rate;
    let mut pace = Pace {
        think: think(from),
        think_shifts: options.ignore_think && from.options.think.rests(),
        floor: floor(from),
        flow: flow(from),
        goal: goal(from, diagnostics),
        arrival: match options.process {
            RateProcess::Linear => Arrival::Fixed,
            RateProcess::Poisson => Arrival::Poisson,
        },
        ..Pace::default()
    };
    rates(from, blocks, &mut pace);
    if !pace.is_rated() {
        // fio ignores it.
        pace.arrival = Arrival::Fixed;
    }
    blocks.pace = pace;
}

/// fio limits each direction of a mix separately; a job with one direction has one rate.
fn rates(from: &Instance<'_>, blocks: &Blocks, pace: &mut Pace) {
    let options = &from.options.rate;
    let used: Vec<Direction> =
        Direction::ALL.into_iter().filter(|op| blocks.mix.of(*op) > 0).collect();
    let some = |rate: u64| Some(rate).filter(|rate| *rate > 0);
    if let [only] = used[..] {
        pace.bytes = some(*options.bytes.of(only)).map(BytesPerSec);
        pace.ops = some(*options.iops.of(only)).map(OpsPerSec);
        return;
    }
    let of_used = |rates: &PerDirection<u64>| {
        let mut kept = PerDirection::all(0);
        used.iter().for_each(|op| *kept.of_mut(*op) = *rates.of(*op));
        kept.iter().any(|(_, rate)| *rate > 0).then_some(kept)
    };
    pace.per_direction = of_used(&options.iops).map(|rates| rates.map(OpsPerSec));
    pace.bytes_per_direction = of_used(&options.bytes).map(|rates| rates.map(BytesPerSec));
}

fn floor(from: &Instance<'_>) -> Option<Floor> {
    let options = &from.options.rate;
    let (bytes, ops) = (options.bytes_min, options.iops_min);
    let any = bytes.iter().chain(ops.iter()).any(|(_, rate)| *rate > 0);
    let cycle_ms = if options.cycle_ms == 0 { 1000 } else { options.cycle_ms };
    any.then(|| Floor {
        bytes: bytes.map(BytesPerSec),
        ops: ops.map(OpsPerSec),
        cycle: Nanos(cycle_ms.saturating_mul(1_000_000)),
    })
}

fn flow(from: &Instance<'_>) -> Option<Flow> {
    let options = &from.options.flow;
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    (options.weight > 0).then(|| Flow {
        id: small(options.id),
        weight: small(options.weight),
        wait: options.sleep,
        ..Flow::default()
    })
}

/// Default time to try each depth.
const WINDOW: Nanos = Nanos::from_secs(1);

fn goal(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<LatencyGoal> {
    let options = &from.options.goals;
    if options.target == Nanos(0) {
        return None;
    }
    let window = if options.window > Nanos(0) { options.window } else { WINDOW };
    if options.window == Nanos(0) {
        let did = format!("each depth is tried for {WINDOW}");
        diagnostics.note(from, "latency_target", &did, "latency_window is not set");
    }
    Some(LatencyGoal {
        latency: options.target,
        percentile: options.percentile,
        window,
        goes_on: options.run,
    })
}

fn think(from: &Instance<'_>) -> Option<Think> {
    let options = &from.options.think;
    if !options.rests() {
        return None;
    }
    let by_time = options.io_time > Nanos(0);
    // By time alone, unless a number of operations is given too.
    let by_ops = !by_time || from.options.given.get("thinktime_blocks").is_some();
    let every = if by_ops && options.blocks > 0 {
        u32::try_from(options.blocks).unwrap_or(u32::MAX)
    } else if by_time {
        u32::MAX
    } else {
        1
    };
    let spin = options.spin >= options.time && options.time > Nanos(0);
    Some(Think {
        time: options.time,
        relative: 0.0,
        every,
        every_time: by_time.then_some(options.io_time),
        count: match options.blocks_type {
            ThinkBlocks::Complete => ThinkCount::Completed,
            ThinkBlocks::Issue => ThinkCount::Issued,
        },
        spin,
        spin_first: if spin { Nanos(0) } else { options.spin },
        spin_cycles: options.cycles,
    })
}
