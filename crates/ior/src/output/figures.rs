//! Metrics of a phase, and of the repetitions of a test.

use candor_plan::units::Direction;
use candor_record::{Measurement, Stages, WorkerStats};

use super::numbers::MIB;
use crate::plan::{PhaseKind, TestPhase};
use crate::setup::TestSetup;

const NS: f64 = 1e9;

/// Direction of a measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Files were written.
    Write,
    /// Files were read.
    Read,
}

impl Access {
    /// Name in tables.
    pub fn word(self) -> &'static str {
        match self {
            Access::Write => "write",
            Access::Read => "read",
        }
    }
}

/// Progress of the tasks at the time limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stonewall {
    /// Seconds since the first transfer.
    pub seconds: f64,
    /// Mean bytes per task.
    pub bytes_mean: f64,
    /// Transfers of the slowest task.
    pub transfers_min: u64,
    /// Transfers of the fastest task, which all tasks reached.
    pub transfers_max: u64,
}

/// Times of a task, in seconds since the start of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TaskTimes {
    /// Bytes.
    pub bytes: u64,
    /// Transfers.
    pub transfers: u64,
    /// Start and end of the open.
    pub open: [f64; 2],
    /// Start and end of the transfers, with their flush.
    pub transfer: [f64; 2],
    /// Start and end of the close.
    pub close: [f64; 2],
}

impl TaskTimes {
    /// Seconds from the start of the open to the end of the close.
    pub fn total_s(&self) -> f64 {
        self.close[1] - self.open[0]
    }

    /// Seconds of the transfers.
    pub fn transfer_s(&self) -> f64 {
        length(self.transfer)
    }
}

/// Metrics of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Direction.
    pub access: Access,
    /// Number of the repetition.
    pub repetition: u32,
    /// Bytes of all tasks.
    pub bytes: u64,
    /// Transfers of all tasks.
    pub transfers: u64,
    /// Seconds from the first start to the last end of an open.
    pub open_s: f64,
    /// Seconds from the first start to the last end of transfers, with their flush.
    pub transfer_s: f64,
    /// Seconds from the first start to the last end of a close.
    pub close_s: f64,
    /// Seconds from the first start of an open to the last end of a close.
    pub total_s: f64,
    /// Minimum of the tasks' mean transfer times in seconds: IOR's latency. candor's own report has
    /// the percentiles.
    pub latency_s: f64,
    /// Progress of the tasks at the time limit, if they wore out.
    pub stonewall: Option<Stonewall>,
    /// Times of each task, by rank.
    pub tasks: Vec<TaskTimes>,
}

impl Figures {
    /// The metrics of a measured phase.
    pub fn of(test: &TestSetup, phase: &TestPhase, measured: &Measurement) -> Figures {
        let access = match phase.kind {
            PhaseKind::Write => Access::Write,
            _ => Access::Read,
        };
        let direction = match access {
            Access::Write => Direction::Write,
            Access::Read => Direction::Read,
        };
        let done = measured.of(direction);
        let transfer_bytes = test.options.layout.transfer_bytes;
        let stages = measured.stages.unwrap_or_else(|| whole(last_ns(measured)));
        let tasks: Vec<TaskTimes> = measured.per_worker.iter().map(worker_times).collect();
        let means = tasks.iter().filter(|task| task.transfers > 0);
        let means = means.map(|task| task.transfer_s() / task.transfers as f64);
        let all = task_times(&stages);
        Figures {
            access,
            repetition: phase.repetition,
            bytes: done.bytes,
            transfers: done.ops,
            open_s: length(all.open),
            transfer_s: length(all.transfer),
            close_s: length(all.close),
            total_s: all.total_s(),
            latency_s: means.reduce(f64::min).unwrap_or(0.0),
            stonewall: measured.wear_out.map(|wear_out| Stonewall {
                seconds: wear_out.at_ns.saturating_sub(stages.transfer.begin_ns) as f64 / NS,
                bytes_mean: (wear_out.ops_sum * transfer_bytes) as f64
                    / f64::from(test.tasks.max(1)),
                transfers_min: wear_out.ops_least,
                transfers_max: wear_out.ops,
            }),
            tasks,
        }
    }

    /// Bytes per second over the whole time, in MiB.
    pub fn mib_per_s(&self) -> f64 {
        per_s(self.bytes as f64 / MIB, self.total_s)
    }

    /// Transfers per second of the transfer time, for rows.
    pub fn transfers_per_s(&self) -> f64 {
        per_s(self.transfers as f64, self.transfer_s)
    }

    /// Transfers per second of the whole time, for the summary.
    pub fn transfers_per_total_s(&self) -> f64 {
        per_s(self.transfers as f64, self.total_s)
    }
}

pub(super) fn per_s(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { count / seconds } else { 0.0 }
}

fn length([begin, end]: [f64; 2]) -> f64 {
    end - begin
}

fn last_ns(measured: &Measurement) -> u64 {
    measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns)
}

/// Times of files that stay open for the whole phase: all time is transfer time.
fn whole(elapsed_ns: u64) -> Stages {
    let mut stages = Stages::default();
    stages.transfer.end_ns = elapsed_ns;
    (stages.close.begin_ns, stages.close.end_ns) = (elapsed_ns, elapsed_ns);
    stages
}

fn worker_times(worker: &WorkerStats) -> TaskTimes {
    let stages = worker.stages.unwrap_or_else(|| whole(worker.elapsed_ns));
    TaskTimes { bytes: worker.bytes, transfers: worker.ops, ..task_times(&stages) }
}

fn task_times(stages: &Stages) -> TaskTimes {
    let [open, transfer, close] = [stages.open, stages.transfer, stages.close]
        .map(|stage| [stage.begin_ns, stage.end_ns.max(stage.begin_ns)].map(|ns| ns as f64 / NS));
    TaskTimes { open, transfer, close, ..TaskTimes::default() }
}

/// Maximum, minimum, mean, and standard deviation (dividing by n).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Greatest.
    pub max: f64,
    /// Least.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

impl Statistics {
    pub(super) fn of(numbers: &[f64]) -> Statistics {
        let count = numbers.len().max(1) as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        Statistics {
            max: numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            min: numbers.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}

/// The repetitions of one direction of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Direction.
    pub access: Access,
    /// MiB per second.
    pub mib_per_s: Statistics,
    /// Transfers per second over the whole time.
    pub transfers_per_s: Statistics,
    /// Mean of the whole times, in seconds.
    pub mean_s: f64,
    /// Progress of the tasks at the time limit, in the first repetition.
    pub stonewall: Option<Stonewall>,
    /// Bytes of the first repetition.
    pub bytes: u64,
}

impl Summary {
    /// Statistics of rows with this direction; `None` without rows.
    pub fn of(access: Access, rows: &[Figures]) -> Option<Summary> {
        let rows: Vec<&Figures> = rows.iter().filter(|row| row.access == access).collect();
        let first = rows.first()?;
        let statistics = |of: fn(&Figures) -> f64| {
            Statistics::of(&rows.iter().map(|row| of(row)).collect::<Vec<_>>())
        };
        Some(Summary {
            access,
            mib_per_s: statistics(Figures::mib_per_s),
            transfers_per_s: statistics(Figures::transfers_per_total_s),
            mean_s: statistics(|row| row.total_s).mean,
            stonewall: first.stonewall,
            bytes: first.bytes,
        })
    }
}
