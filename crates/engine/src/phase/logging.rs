//! Log of one job, as the control plane collects it: every operation, sums over windows, histograms
//! of intervals.
//!
//! Windows and histograms are differences of the workers' counters, so they cost the loop nothing.
//! The loop itself records only single operations, and the greatest latency of a window.

use std::sync::Arc;

use candor_plan::trace::{Action, Step};
use candor_plan::units::{Direction, PerDirection};
use candor_plan::work::{Figure, Operation};
use candor_plan::{Bytes, LogPlan};
use candor_record::{Histogram, Log, LogHistogram, LogWindow, LoggedOp, SumAndMax, WindowSums};

use crate::clock::{Clock, Ticks};
use crate::counters::Live;
use crate::operation_log::{Entry, Moment, OperationLog};
use crate::phase::ready_job::ReadyJob;

/// The log of one job. Times are ns since counting began in the job.
pub struct Logging {
    plan: LogPlan,
    log: Log,
    rings: Vec<Arc<OperationLog>>,
    /// Entries for the job's file, each with its worker, where it has one.
    to_file: Option<Vec<(u32, Entry)>>,
    live: Arc<[Live]>,
    table: &'static [Operation],
    /// Index of the operation of each direction.
    directions: PerDirection<Option<usize>>,
    last: PerDirection<WindowSums>,
    window_from_ns: u64,
    window_due_ns: u64,
    histograms: PerDirection<Histogram>,
    histogram_due_ns: u64,
    drain_due_ns: u64,
    drain_every_ns: u64,
    bytes_max: Bytes,
}

/// Bounds of the interval at which rings are drained; it follows the rate at which they fill.
const DRAIN_EVERY_NS: std::ops::RangeInclusive<u64> = 100_000..=20_000_000;

impl Logging {
    /// Log of a job; none where the plan requests none.
    pub fn new(job: &ReadyJob) -> Option<Logging> {
        let ((plan, bytes_max), recorded) = (job.work.log(), &job.recorded);
        let to_file = job.job.operations_log.as_ref().map(|_| Vec::new());
        let index = |direction: Direction| recorded.index_of(direction.into());
        let directions = PerDirection {
            read: index(Direction::Read),
            write: index(Direction::Write),
            trim: index(Direction::Trim),
        };
        (!plan.is_off() || to_file.is_some()).then(|| Logging {
            log: Log::default(),
            rings: job.logs.clone(),
            to_file,
            live: job.live.clone(),
            table: recorded.table,
            directions,
            last: PerDirection::default(),
            window_from_ns: 0,
            window_due_ns: plan.window.map_or(u64::MAX, |window| window.0),
            histograms: PerDirection::default(),
            histogram_due_ns: plan.histogram.map_or(u64::MAX, |interval| interval.0),
            drain_due_ns: if job.logs.is_empty() { u64::MAX } else { 0 },
            drain_every_ns: *DRAIN_EVERY_NS.start(),
            bytes_max: Bytes(bytes_max),
            plan,
        })
    }

    /// Time at which something is due next.
    pub fn due_ns(&self) -> u64 {
        self.window_due_ns.min(self.histogram_due_ns).min(self.drain_due_ns)
    }

    /// Writes whatever is due.
    pub fn tick(&mut self, now_ns: u64) {
        self.pace_drains(now_ns);
        if now_ns >= self.window_due_ns {
            self.window(now_ns);
            let length = self.plan.window.map_or(u64::MAX, |window| window.0);
            self.window_due_ns = next_due(self.window_due_ns, length, now_ns);
        }
        if now_ns >= self.histogram_due_ns {
            self.histogram(now_ns);
            let length = self.plan.histogram.map_or(u64::MAX, |interval| interval.0);
            self.histogram_due_ns = next_due(self.histogram_due_ns, length, now_ns);
        }
    }

    /// Closes the log of a job that ended at that time: the rest goes into last, shorter intervals.
    pub fn finish(mut self, end_ns: u64) -> Log {
        if self.plan.window.is_some() {
            self.window(end_ns.max(self.window_from_ns));
        }
        if self.plan.histogram.is_some() {
            self.histogram(end_ns);
        }
        self.log.lost += self.lost();
        self.log.ops.sort_by_key(|op| op.at_ns);
        self.log.trace.sort_by_key(|step| step.at_ns);
        self.log
    }

    /// Sets the interval so that a ring is drained before it is half full, and not much more often.
    fn pace_drains(&mut self, now_ns: u64) {
        let filled = self.rings.iter().map(|ring| ring.filled());
        let Some((waiting, room)) = filled.max_by_key(|(waiting, _)| *waiting) else { return };
        if waiting > room / 4 {
            self.drain_every_ns /= 2;
        } else if waiting < room / 16 {
            self.drain_every_ns = self.drain_every_ns.saturating_mul(2);
        }
        let (least, most) = DRAIN_EVERY_NS.into_inner();
        self.drain_every_ns = self.drain_every_ns.clamp(least, most);
        self.drain_due_ns = now_ns + self.drain_every_ns;
    }

    /// Operations that found no room in the rings.
    pub fn lost(&self) -> u64 {
        self.rings.iter().map(|ring| ring.lost()).sum()
    }

    /// Takes the entries for the job's file that were drained since the last call.
    pub fn take_for_file(&mut self) -> Option<Vec<(u32, Entry)>> {
        self.to_file.as_mut().filter(|entries| !entries.is_empty()).map(std::mem::take)
    }

    /// Drains the rings, unless entries for the job's file still wait: then the rings fill, and the
    /// workers wait. Counting began at tick `zero`.
    pub fn drain(&mut self, clock: &Clock, zero: Ticks) {
        if self.to_file.as_ref().is_some_and(|waiting| !waiting.is_empty()) {
            return;
        }
        let Logging { log, plan, table, rings, to_file, .. } = self;
        let full = |kept: usize| kept as u64 >= plan.entries_max;
        for (worker, ring) in (0..).zip(rings) {
            ring.drain(|entry| {
                if let Some(to_file) = to_file {
                    to_file.push((worker, entry));
                }
                let is_kept = match entry.moment {
                    Moment::Submitted => plan.trace,
                    Moment::Done => plan.each,
                    Moment::Failed => false,
                };
                if !is_kept || !entry.counts {
                    return;
                }
                let row = entry.op.row(table);
                match entry.moment {
                    Moment::Submitted => {
                        let step = action(row).map(|action| step(&entry, action, clock, zero));
                        keep(&mut log.trace, step, full, &mut log.lost);
                    }
                    _ => {
                        let op = row.figure.direction();
                        let op = op.map(|op| logged(&entry, op, clock, zero));
                        keep(&mut log.ops, op, full, &mut log.lost);
                    }
                }
            });
        }
    }

    fn window(&mut self, now_ns: u64) {
        let mut sums = PerDirection::<WindowSums>::default();
        for live in self.live.iter() {
            for op in Direction::ALL {
                if let Some(at) = self.directions.of(op) {
                    live.bank(true).all()[*at].add_to_window(sums.of_mut(op));
                }
            }
        }
        let mut ops = PerDirection::default();
        for op in Direction::ALL {
            *ops.of_mut(op) = since(sums.of(op), self.last.of(op));
        }
        let empty = ops.iter().all(|(_, sums): (Direction, &WindowSums)| sums.ops == 0);
        if !empty {
            let length_ns = now_ns - self.window_from_ns;
            self.log.windows.push(LogWindow { at_ns: now_ns, length_ns, ops });
        }
        (self.last, self.window_from_ns) = (sums, now_ns);
    }

    fn histogram(&mut self, now_ns: u64) {
        for op in Direction::ALL {
            let mut now = Histogram::new();
            for live in self.live.iter() {
                if let Some(at) = self.directions.of(op) {
                    live.bank(true).all()[*at].add_completions_to(&mut now);
                }
            }
            let before = std::mem::replace(self.histograms.of_mut(op), now);
            let histogram = self.histograms.of(op).since(&before);
            if histogram.count() > 0 {
                let bytes = u32::try_from(self.bytes_max.0).unwrap_or(u32::MAX);
                self.log.histograms.push(LogHistogram { at_ns: now_ns, op, bytes, histogram });
            }
        }
    }
}

/// Adds an entry to a list, or to the lost ones where the list is full.
fn keep<T>(list: &mut Vec<T>, entry: Option<T>, full: impl Fn(usize) -> bool, lost: &mut u64) {
    match entry {
        Some(_) if full(list.len()) => *lost += 1,
        entry => list.extend(entry),
    }
}

fn step(entry: &Entry, action: Action, clock: &Clock, zero: Ticks) -> Step {
    Step {
        at_ns: clock.ns(entry.started.saturating_sub(zero)),
        offset: entry.offset,
        length: u32::try_from(entry.length).unwrap_or(u32::MAX),
        file: entry.file,
        action,
    }
}

fn logged(entry: &Entry, op: Direction, clock: &Clock, zero: Ticks) -> LoggedOp {
    // A trim is never submitted by a call of its own, also where other operations are.
    let submitted = if op == Direction::Trim { entry.started } else { entry.submitted };
    LoggedOp {
        at_ns: clock.ns(entry.ended.saturating_sub(zero)),
        op,
        priority: entry.priority,
        file: entry.file,
        bytes: u32::try_from(entry.length).unwrap_or(u32::MAX),
        offset: entry.offset,
        latency_ns: clock.ns(entry.ended.saturating_sub(entry.started)),
        completion_ns: clock.ns(entry.ended.saturating_sub(submitted)),
    }
}

/// Form of an operation in a trace; none where traces have none.
fn action(row: &Operation) -> Option<Action> {
    match (row.figure, row.name) {
        (Figure::Flush, "fsync") => Some(Action::Fsync),
        (Figure::Flush, "fdatasync") => Some(Action::Fdatasync),
        (figure, _) => figure.direction().map(Action::Move),
    }
}

/// Next multiple of the length after now; intervals that were missed are not made up for.
fn next_due(due_ns: u64, length_ns: u64, now_ns: u64) -> u64 {
    due_ns.saturating_add(length_ns.saturating_mul((now_ns - due_ns) / length_ns.max(1) + 1))
}

fn since(now: &WindowSums, before: &WindowSums) -> WindowSums {
    let part = |now: SumAndMax, before: SumAndMax| SumAndMax {
        sum_ns: now.sum_ns.saturating_sub(before.sum_ns),
        max_ns: now.max_ns,
    };
    WindowSums {
        ops: now.ops.saturating_sub(before.ops),
        bytes: now.bytes.saturating_sub(before.bytes),
        submission: part(now.submission, before.submission),
        completion: part(now.completion, before.completion),
        latency: part(now.latency, before.latency),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_were_slept_through_are_left_out() {
        assert_eq!(next_due(100, 100, 100), 200);
        assert_eq!(next_due(100, 100, 199), 200);
        assert_eq!(next_due(100, 100, 450), 500);
    }
}
