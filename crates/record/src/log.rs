//! Records of single operations and of short intervals, kept only where a log was asked for.
//!
//! A job keeps every operation ([`LoggedOp`]), sums over windows of equal length ([`LogWindow`]),
//! histograms per interval ([`LogHistogram`]), or several of them. All of it
//! stays in memory until the phase has ended, so a log is no part of the written report: whoever
//! asked for it writes it to files of its own.

use candor_plan::trace::Step;
use candor_plan::units::{Direction, PerDirection};

use crate::Histogram;

/// Operations of one job, in order of completion. Times count from the moment at which counting
/// began in this job: after its delay and the ramp.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Wall clock at that moment, in ms since 1970.
    pub start_unix_ms: u64,
    /// Every operation, where that was asked for.
    pub ops: Vec<LoggedOp>,
    /// Every operation and flush in the order of hand-over, where that was asked for.
    pub trace: Vec<Step>,
    /// Sums over windows in which anything completed, where that was asked for.
    pub windows: Vec<LogWindow>,
    /// Completion latencies per interval and direction.
    pub histograms: Vec<LogHistogram>,
    /// Operations that found no room in the log.
    pub lost: u64,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedOp {
    /// Time of completion, in ns.
    pub at_ns: u64,
    /// Direction.
    pub op: Direction,
    /// I/O priority it was issued with: class in the upper three bits, level below.
    pub priority: u16,
    /// File, as an index into the job's files in the plan's order.
    pub file: u32,
    /// Bytes asked for.
    pub bytes: u32,
    /// Where in the file or device.
    pub offset: u64,
    /// From hand-over to completion.
    pub latency_ns: u64,
    /// From the end of the submitting call to completion; all of it where that is no call of its
    /// own.
    pub completion_ns: u64,
}

impl LoggedOp {
    /// From hand-over to the end of the submitting call.
    pub fn submission_ns(&self) -> u64 {
        self.latency_ns.saturating_sub(self.completion_ns)
    }

    /// The time of submission, in ns.
    pub fn issued_ns(&self) -> u64 {
        self.at_ns.saturating_sub(self.latency_ns)
    }
}

/// Sums over one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogWindow {
    /// End, in ns.
    pub at_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Sums of the window, per direction.
    pub ops: PerDirection<WindowSums>,
}

/// Operations that completed in one window in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowSums {
    /// Operations.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// From hand-over to the end of the submitting call.
    pub submission: SumAndMax,
    /// From there to completion.
    pub completion: SumAndMax,
    /// From hand-over to completion.
    pub latency: SumAndMax,
}

/// Sum and greatest of a number of latencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SumAndMax {
    /// Sum, in ns.
    pub sum_ns: u64,
    /// Greatest, in ns.
    pub max_ns: u64,
}

/// Completion latencies of one direction in one interval.
#[derive(Clone, Debug, PartialEq)]
pub struct LogHistogram {
    /// End of the interval.
    pub at_ns: u64,
    /// The direction.
    pub op: Direction,
    /// Greatest size of an operation in it, in bytes.
    pub bytes: u32,
    /// From the end of the submitting call to completion.
    pub histogram: Histogram,
}
