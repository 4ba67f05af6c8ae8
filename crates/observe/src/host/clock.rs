//! The monotonic clock, and what it costs to read it.

use crate::source::Roots;
use candor_record::facts::Fact;
use rustix::time::{ClockId, clock_gettime};

/// Enough to see a slow clock, and over in a few milliseconds even with one.
const READS: u32 = 1000;
const BATCHES: u32 = 4;

/// `CLOCK_MONOTONIC` in ns.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

/// Mean cost of a read in ns, of the quickest batch: the others were interrupted.
pub(crate) fn cost_ns(roots: &Roots) -> Option<Fact<f64>> {
    let quickest = || Some((0..BATCHES).map(|_| batch_ns()).min()? as f64 / f64::from(READS));
    let from = format!("clock_gettime(CLOCK_MONOTONIC), best of {BATCHES} × {READS}");
    Some(Fact::new(roots.own("clock_cost_ns", quickest)?, from))
}

fn batch_ns() -> u64 {
    let start = now_ns();
    for _ in 0..READS {
        std::hint::black_box(now_ns());
    }
    now_ns().saturating_sub(start)
}
