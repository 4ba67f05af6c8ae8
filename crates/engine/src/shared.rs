//! What the workers of a job share with the control plane.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

use crate::clock::Clock;

/// The start of a job that waits for others.
pub const NOT_YET: u64 = u64::MAX / 2;

/// Set before the gate opens, read by the workers.
#[derive(Default)]
pub struct Shared {
    /// Tick at which the job starts.
    pub started: AtomicU64,
    /// Tick from which operations count.
    pub count_from: AtomicU64,
    /// Tick at which time is up.
    pub deadline: AtomicU64,
    /// Everyone is to stop: the user said so, or something failed.
    pub stop: AtomicBool,
}

impl Shared {
    /// Nanoseconds from the start of the job to a tick.
    #[inline(always)]
    pub fn elapsed_ns(&self, clock: &Clock, tick: u64) -> u64 {
        clock.ns(tick.saturating_sub(self.started.load(Relaxed)))
    }

    /// The tick that many nanoseconds after the start of the job.
    #[inline(always)]
    pub fn tick_at(&self, clock: &Clock, ns: u64) -> u64 {
        self.started.load(Relaxed) + clock.ticks(ns)
    }
}

/// The barrier at the start of a phase.
#[derive(Default)]
pub struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    /// Waits until it opens.
    pub fn pass(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*open {
            open = self.opened.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens it for good.
    pub fn release(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_all();
    }
}
