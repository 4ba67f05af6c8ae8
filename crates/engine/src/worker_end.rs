//! Figures that a worker leaves.

use candor_record::{Depths, Ended, TargetStats, VerifyStats, WorkerStats};

use crate::clock::Ticks;
use crate::failures::Failures;

/// Figures of a worker.
#[derive(Clone, Default)]
pub struct WorkerEnd {
    /// Counts, times and resource usage.
    pub stats: WorkerStats,
    /// Reason why the worker ended.
    pub ended: Ended,
    /// Failed operations.
    pub failures: Failures,
    /// Results of verification.
    pub verify: Option<VerifyStats>,
    /// Time spent on reading back alone; none where nothing is read back.
    pub read_back: Option<Spent>,
    /// Number of zones reset before writes.
    pub zone_resets: u64,
    /// Counts of depth, where they are requested.
    pub depths: Option<Depths>,
    /// Greatest depth that met the latency goal, where there is one.
    pub depth_reached: Option<usize>,
    /// Work on each target, where it is counted apart.
    pub per_target: Vec<TargetStats>,
    /// Items that were passed over because their state did not suit, by reason.
    pub passed_over: Vec<(&'static str, u64)>,
    /// Engine features in use.
    pub features: Vec<String>,
}

/// Time and CPU time that do not count as the work's.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Elapsed time.
    pub ticks: Ticks,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
}
