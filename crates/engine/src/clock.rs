//! The clock that latencies are taken with.
//!
//! The clock is the processor's time-stamp counter where the kernel itself uses it as its clock
//! source: then the counter is constant, synchronised and never stops. It is calibrated against
//! `CLOCK_MONOTONIC`. Elsewhere the clock is `CLOCK_MONOTONIC`. The loop compares and subtracts
//! ticks; only differences are converted to nanoseconds.

pub mod check;

use std::fs;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A reading of a [`Clock`], or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticks(pub u64);

impl Ticks {
    /// A tick later than any run lasts.
    pub const MAX: Ticks = Ticks(u64::MAX);

    /// Difference of two readings; 0 where the other one is later.
    #[inline(always)]
    #[must_use]
    pub fn saturating_sub(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(other.0))
    }
}

impl Add for Ticks {
    type Output = Ticks;

    #[inline(always)]
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0 + other.0)
    }
}

impl AddAssign for Ticks {
    #[inline(always)]
    fn add_assign(&mut self, other: Ticks) {
        self.0 += other.0;
    }
}

impl Sub for Ticks {
    type Output = Ticks;

    #[inline(always)]
    fn sub(self, other: Ticks) -> Ticks {
        Ticks(self.0 - other.0)
    }
}

impl Sum for Ticks {
    fn sum<I: Iterator<Item = Ticks>>(ticks: I) -> Ticks {
        Ticks(ticks.map(|ticks| ticks.0).sum())
    }
}

/// Ticks that one thread writes and others read.
#[derive(Debug, Default)]
pub struct AtomicTicks(AtomicU64);

impl AtomicTicks {
    /// Present value.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> Ticks {
        Ticks(self.0.load(order))
    }

    /// Sets the value.
    #[inline(always)]
    pub fn store(&self, ticks: Ticks, order: Ordering) {
        self.0.store(ticks.0, order);
    }
}

/// A clock whose reading costs a few nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    tsc: bool,
    /// Nanoseconds per tick as a fixed-point number with [`FRACTION_BITS`].
    scale: u64,
}

const FRACTION_BITS: u32 = 32;
/// Length of the calibration. Both readings are exact to about 50 ns, so the rate is exact to about
/// one part in 10⁵.
const CALIBRATION: Duration = Duration::from_millis(5);

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn tsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn tsc() -> u64 {
    monotonic_ns()
}

/// Time-stamp counter, read after all loads before it.
#[cfg(target_arch = "x86_64")]
pub(crate) fn ordered_tsc() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    unsafe { std::arch::x86_64::_mm_lfence() };
    tsc()
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn ordered_tsc() -> u64 {
    tsc()
}

/// True where the kernel takes the time-stamp counter for its own clock.
pub fn tsc_is_trusted() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64")
        && fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc")
}

/// A calibration that has begun. Other set-up work fills the time until it ends.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// Tick and nanosecond at the beginning, for the time-stamp counter.
    began: Option<(u64, u64)>,
}

impl Calibration {
    /// Chooses the clock, and begins to calibrate it.
    pub fn begin() -> Calibration {
        Calibration { began: tsc_is_trusted().then(paired_reading) }
    }

    /// Ends the calibration; waits until enough time has passed.
    pub fn end(self) -> Clock {
        let Some((ticks_before, ns_before)) = self.began else {
            return Clock { tsc: false, scale: 1 << FRACTION_BITS };
        };
        let passed = Duration::from_nanos(monotonic_ns().saturating_sub(ns_before));
        std::thread::sleep(CALIBRATION.saturating_sub(passed));
        let (ticks_after, ns_after) = paired_reading();
        let ticks = u128::from(ticks_after - ticks_before).max(1);
        let scale = (u128::from(ns_after - ns_before) << FRACTION_BITS) / ticks;
        Clock { tsc: true, scale: scale as u64 }
    }
}

impl Clock {
    /// Chooses and calibrates the clock; takes 5 ms for the time-stamp counter.
    pub fn calibrated() -> Clock {
        Calibration::begin().end()
    }

    /// Present tick.
    #[inline(always)]
    pub fn now(&self) -> Ticks {
        Ticks(if self.tsc { tsc() } else { monotonic_ns() })
    }

    /// Nanoseconds in a difference of ticks.
    #[inline(always)]
    pub fn ns(&self, Ticks(ticks): Ticks) -> u64 {
        ((u128::from(ticks) * u128::from(self.scale)) >> FRACTION_BITS) as u64
    }

    /// Ticks in a length of time; saturates at a tick later than any run lasts.
    pub fn ticks(&self, ns: u64) -> Ticks {
        let ticks = (u128::from(ns) << FRACTION_BITS) / u128::from(self.scale.max(1));
        Ticks(u64::try_from(ticks).unwrap_or(u64::MAX / 4).min(u64::MAX / 4))
    }

    /// Nanoseconds in a number of the processor's cycles, as its time-stamp counter counts them.
    /// Takes 5 ms where the clock is another one; without the counter a cycle is 1 ns.
    pub fn cycles_ns(&self, cycles: u64) -> u64 {
        let clock =
            if self.tsc { *self } else { Calibration { began: Some(paired_reading()) }.end() };
        clock.ns(Ticks(cycles))
    }

    /// Name of the clock: `tsc` or `monotonic`.
    pub fn name(&self) -> &'static str {
        if self.tsc { "tsc" } else { "monotonic" }
    }

    /// Mean cost of one reading in nanoseconds.
    pub fn cost_ns(&self) -> f64 {
        const READINGS: u32 = 2000;
        let before = monotonic_ns();
        for _ in 0..READINGS {
            std::hint::black_box(self.now());
        }
        (monotonic_ns() - before) as f64 / f64::from(READINGS)
    }
}

/// Both clocks at the same moment. Of several tries, the pair that took the shortest time to read
/// counts, so that a preemption in between does not spoil the calibration.
fn paired_reading() -> (u64, u64) {
    let reading = |_| {
        let before = tsc();
        let ns = monotonic_ns();
        let after = tsc();
        (after - before, (before + (after - before) / 2, ns))
    };
    (0..16).map(reading).min_by_key(|(gap, _)| *gap).map_or((0, 0), |(_, pair)| pair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_monotonic_clock() {
        let clock = Clock::calibrated();
        let (tick, ns) = (clock.now(), monotonic_ns());
        std::thread::sleep(Duration::from_millis(50));
        let read_ns = clock.ns(clock.now() - tick) as f64;
        let true_ns = (monotonic_ns() - ns) as f64;
        assert!((read_ns / true_ns - 1.0).abs() < 0.01, "{read_ns} ns read for {true_ns} ns");
    }

    #[test]
    fn ticks_and_ns_invert() {
        let clock = Clock::calibrated();
        for ns in [1_000, 1_000_000, 3_600_000_000_000] {
            let back = clock.ns(clock.ticks(ns));
            assert!(back.abs_diff(ns) <= ns / 1000 + 2, "{back} for {ns}");
        }
        assert!(clock.ticks(u64::MAX) >= Ticks(1 << 61));
    }
}
