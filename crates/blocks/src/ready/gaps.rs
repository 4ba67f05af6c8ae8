//! Gaps of a schedule, by which a stall is told from a slow rate.

use candor_plan::BytesPerSec;
use candor_plan::blocks::{Blocks, Pace};
use candor_plan::units::{Direction, PerDirection};

/// Longest gap between a worker's operations under its rate; 0 without a rate.
pub(super) fn longest_gap_ns(pace: &Pace, blocks: &Blocks, workers: u32) -> u64 {
    let gap = |per_s: u64| 1_000_000_000u64.saturating_mul(u64::from(workers)) / per_s.max(1);
    let size = blocks.size.iter().map(|(_, size)| size.max().0).max().unwrap_or(0);
    let of_bytes = |rate: BytesPerSec| gap(rate.0).saturating_mul(size);
    let used = |op: Direction| blocks.mix.of(op) > 0;
    let ops = pace.per_direction.iter().flat_map(PerDirection::iter);
    let ops = ops.filter(|(op, rate)| used(*op) && rate.0 > 0).map(|(_, rate)| gap(rate.0));
    let bytes = pace.bytes_per_direction.iter().flat_map(PerDirection::iter);
    let bytes = bytes.filter(|(op, rate)| used(*op) && rate.0 > 0).map(|(_, r)| of_bytes(*r));
    let whole = [pace.ops.map(|rate| gap(rate.0)), pace.bytes.map(of_bytes)];
    // Steps without operations may follow each other.
    let pauses = pace.steps.iter().filter(|step| step.ops.0 == 0).map(|step| step.time.0);
    let pauses = pauses.fold(0, u64::saturating_add);
    let steps = pace.steps.iter().map(|step| gap(step.ops.0).saturating_add(pauses));
    whole.into_iter().flatten().chain(ops).chain(bytes).chain(steps).max().unwrap_or(0)
}
