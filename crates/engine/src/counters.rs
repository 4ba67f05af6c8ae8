//! Live counters: written by one worker, read by anyone, without locks.
//!
//! Every counter has one writer, so adding is a plain load and store. A worker has two banks: one
//! for the ramp, and one for the measured part. Switching banks leaves the ramp out of the result.

use std::alloc::Layout;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use candor_plan::units::PerDirection;
use candor_plan::work::{Figure, Operation};
use candor_record::histogram::{BUCKETS, bucket_of};
use candor_record::{Histogram, Progress, SumAndMax, WindowSums, WorkerSample};

use crate::clock::{AtomicTicks, Clock, Ticks};
use crate::host::memory::{Mapping, Pages};
use crate::operation::Op;
use crate::worker_end::WorkerEnd;

/// Adds to a counter that only this thread writes.
#[inline(always)]
fn add(counter: &AtomicU64, value: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(value), Relaxed);
}

/// Buckets of one latency distribution, with exact sum, minimum and maximum.
pub struct Buckets {
    counts: Counts,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

/// One count per bucket, in an anonymous mapping. The kernel allocates a page at its first count,
/// so each of hundreds of workers uses memory only for latencies that occurred.
struct Counts(Mapping);

impl Counts {
    fn new() -> Counts {
        let bytes = BUCKETS * size_of::<AtomicU64>();
        // Like an allocation on the heap: abort if the kernel refuses 20 kB.
        Counts(Mapping::new(bytes, Pages::Ordinary).unwrap_or_else(|_| {
            std::alloc::handle_alloc_error(Layout::new::<[AtomicU64; BUCKETS]>())
        }))
    }
}

impl Deref for Counts {
    type Target = [AtomicU64; BUCKETS];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: the mapping is page-aligned, holds BUCKETS counters, starts as zeros, which are
        // valid counters, and is unmapped only when this value is dropped.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

// SAFETY: a shared reference gives access only to atomic counters.
unsafe impl Sync for Counts {}

impl Buckets {
    fn new() -> Buckets {
        Buckets {
            counts: Counts::new(),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
        }
    }

    /// Adds a latency shared by `ops` operations.
    #[inline(always)]
    pub fn record(&self, ops: u64, ns: u64) {
        add(&self.counts[bucket_of(ns)], ops);
        add(&self.sum_ns, ops * ns);
        if ns < self.min_ns.load(Relaxed) {
            self.min_ns.store(ns, Relaxed);
        }
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(ns, Relaxed);
        }
    }

    fn sum_ns(&self) -> u64 {
        self.sum_ns.load(Relaxed)
    }

    fn to_histogram(&self) -> Histogram {
        let counts = self.counts.iter().map(|count| count.load(Relaxed)).collect();
        Histogram::from_parts(
            counts,
            u128::from(self.sum_ns()),
            self.min_ns.load(Relaxed),
            self.max_ns.load(Relaxed),
        )
    }
}

/// Counters of one kind of operation.
#[derive(Default)]
pub struct Counters {
    /// Completed operations.
    pub ops: AtomicU64,
    /// Bytes moved.
    pub bytes: AtomicU64,
    /// Operations that completed with fewer bytes than requested.
    pub short: AtomicU64,
    /// Failed operations.
    pub failed: AtomicU64,
    /// Latency from submission to completion.
    pub latency: Option<Buckets>,
    /// Submission and completion latency, if the engine submits in a separate call.
    pub split: Option<Box<Split>>,
    /// Latency from the intended start to completion.
    pub intended: Option<Buckets>,
    /// Tick of the last completion.
    pub last: AtomicTicks,
    /// Maximum latencies since the last read, if the log of windows includes them.
    pub peaks: Option<Box<Peaks>>,
    /// Latencies by I/O priority, if operations set priorities.
    pub by_priority: Box<[OfPriority]>,
}

/// Latencies of operations of one I/O priority.
pub struct OfPriority {
    /// I/O priority in the kernel's form.
    priority: u16,
    latency: Buckets,
    completion: Option<Buckets>,
}

/// Maximum latencies of a window, in ns.
#[derive(Default)]
pub struct Peaks {
    latency: AtomicU64,
    submission: AtomicU64,
    completion: AtomicU64,
}

impl Peaks {
    /// Raises the peaks to the latencies of an operation.
    pub fn record(&self, clock: &Clock, times: CallTimes) {
        raise(&self.latency, clock.ns(times.latency()));
        raise(&self.submission, clock.ns(times.submission()));
        raise(&self.completion, clock.ns(times.completion()));
    }
}

fn raise(peak: &AtomicU64, ns: u64) {
    if ns > peak.load(Relaxed) {
        peak.fetch_max(ns, Relaxed);
    }
}

/// Ticks of one operation, or of several that were submitted and completed together.
#[derive(Clone, Copy, Debug)]
pub struct CallTimes {
    /// Tick of the submission.
    pub started: Ticks,
    /// Tick at which the submitting call returned.
    pub submitted: Ticks,
    /// Tick of the completion.
    pub completed: Ticks,
}

impl CallTimes {
    #[inline(always)]
    fn latency(self) -> Ticks {
        self.completed.saturating_sub(self.started)
    }

    #[inline(always)]
    fn submission(self) -> Ticks {
        self.submitted.saturating_sub(self.started)
    }

    #[inline(always)]
    fn completion(self) -> Ticks {
        self.completed.saturating_sub(self.submitted)
    }
}

/// Latency, split at the return of the submitting call.
pub struct Split {
    /// Time in the submitting call.
    pub submission: Buckets,
    /// Time from the return of that call to completion.
    pub completion: Buckets,
}

impl Counters {
    /// Counts operations that completed with the same latency; `bytes` is their sum.
    #[inline(always)]
    pub fn completed(&self, ops: u64, bytes: u64, ns: u64) {
        add(&self.ops, ops);
        add(&self.bytes, bytes);
        if let Some(latency) = &self.latency {
            latency.record(ops, ns);
        }
    }

    /// Counts submission latency and completion latency, if both are recorded.
    #[inline(always)]
    pub fn split(&self, ops: u64, clock: &Clock, times: CallTimes) {
        if let Some(split) = &self.split {
            split.submission.record(ops, clock.ns(times.submission()));
            split.completion.record(ops, clock.ns(times.completion()));
        }
    }

    /// Counts the latency of operations with this priority, if latencies are recorded by priority.
    #[inline(always)]
    pub fn of_priority(&self, priority: u16, ops: u64, clock: &Clock, times: CallTimes) {
        let mut priorities = self.by_priority.iter();
        let Some(counters) = priorities.find(|counters| counters.priority == priority) else {
            return;
        };
        counters.latency.record(ops, clock.ns(times.latency()));
        if let Some(completion) = &counters.completion {
            completion.record(ops, clock.ns(times.completion()));
        }
    }

    /// Stores the tick of the last completion.
    #[inline(always)]
    pub fn at(&self, now: Ticks) {
        self.last.store(now, Relaxed);
    }

    /// Counts a completion that moved fewer bytes than requested.
    pub fn came_short(&self) {
        add(&self.short, 1);
    }

    /// Counts a failure.
    pub fn did_fail(&self) {
        add(&self.failed, 1);
    }

    /// Adds all completions so far to a window's sums, and resets the peaks.
    pub fn add_to_window(&self, sums: &mut WindowSums) {
        sums.ops += self.ops.load(Relaxed);
        sums.bytes += self.bytes.load(Relaxed);
        let latency_ns = self.latency.as_ref().map_or(0, Buckets::sum_ns);
        sums.latency.sum_ns += latency_ns;
        let split = self.split.as_deref();
        sums.submission.sum_ns += split.map_or(0, |split| split.submission.sum_ns());
        sums.completion.sum_ns += split.map_or(latency_ns, |split| split.completion.sum_ns());
        if let Some(peaks) = &self.peaks {
            take_peak(&peaks.latency, &mut sums.latency);
            take_peak(&peaks.submission, &mut sums.submission);
            take_peak(&peaks.completion, &mut sums.completion);
        }
    }

    /// Adds completion latencies, or total latencies if the engine does not submit in a separate
    /// call.
    pub fn add_completions_to(&self, histogram: &mut Histogram) {
        let split = self.split.as_deref().map(|split| &split.completion);
        if let Some(buckets) = split.or(self.latency.as_ref()) {
            histogram.merge(&buckets.to_histogram());
        }
    }

    /// Operations that ended, completed or failed.
    pub fn ended(&self) -> u64 {
        self.ops.load(Relaxed) + self.failed.load(Relaxed)
    }

    fn totals(&self) -> OpTotals {
        OpTotals {
            ops: self.ops.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            latency_sum_ns: self.latency.as_ref().map_or(0, Buckets::sum_ns),
        }
    }

    /// Adds these counters to a sum over workers.
    pub fn add_to(&self, sum: &mut CounterSum) {
        sum.ops += self.ops.load(Relaxed);
        sum.bytes += self.bytes.load(Relaxed);
        sum.short += self.short.load(Relaxed);
        sum.failed += self.failed.load(Relaxed);
        merge(self.latency.as_ref(), &mut sum.latency);
        merge(self.intended.as_ref(), &mut sum.intended);
        if let Some(split) = &self.split {
            merge(Some(&split.submission), &mut sum.submission);
            merge(Some(&split.completion), &mut sum.completion);
        }
        sum.last = sum.last.max(self.last.load(Relaxed));
        for (at, counters) in self.by_priority.iter().enumerate() {
            // All workers of a job have the same priorities in the same order.
            if sum.by_priority.len() == at {
                let priority = counters.priority;
                sum.by_priority.push(OfPrioritySum { priority, ..OfPrioritySum::default() });
            }
            let to = &mut sum.by_priority[at];
            merge(Some(&counters.latency), &mut to.latency);
            merge(counters.completion.as_ref(), &mut to.completion);
        }
    }
}

fn take_peak(peak: &AtomicU64, to: &mut SumAndMax) {
    to.max_ns = to.max_ns.max(peak.swap(0, Relaxed));
}

fn merge(from: Option<&Buckets>, to: &mut Histogram) {
    if let Some(from) = from {
        to.merge(&from.to_histogram());
    }
}

/// Counters of one kind of operation, summed over workers.
#[derive(Default)]
pub struct CounterSum {
    /// Completed operations.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that completed with fewer bytes than requested.
    pub short: u64,
    /// Failed operations.
    pub failed: u64,
    /// Latency from submission to completion.
    pub latency: Histogram,
    /// Time in the submitting call.
    pub submission: Histogram,
    /// Time from the return of that call to completion.
    pub completion: Histogram,
    /// Tick of the last completion.
    pub last: Ticks,
    /// Latency from the intended start to completion.
    pub intended: Histogram,
    /// Latencies by I/O priority.
    pub by_priority: Vec<OfPrioritySum>,
}

/// Latencies of operations of one I/O priority, summed over workers.
#[derive(Default)]
pub struct OfPrioritySum {
    /// I/O priority in the kernel's form.
    pub priority: u16,
    /// Latency from submission to completion.
    pub latency: Histogram,
    /// Time from the return of the submitting call to completion.
    pub completion: Histogram,
}

/// Latencies that a worker records.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Table of operations of the work.
    pub table: &'static [Operation],
    /// Operations that occur, in the order of the table.
    pub occurs: Box<[bool]>,
    /// True if the engine submits in a separate call.
    pub submission: bool,
    /// True if the job has a rate.
    pub intended: bool,
    /// True if the log of windows includes maximum latencies.
    pub peaks: bool,
    /// I/O priorities that are counted separately, per direction.
    pub priorities: PerDirection<Box<[u16]>>,
}

impl Recorded {
    /// Records the latencies of all operations of a table that occur, without options.
    pub fn of(table: &'static [Operation], occurs: impl Fn(&Operation) -> bool) -> Recorded {
        Recorded {
            table,
            occurs: table.iter().map(occurs).collect(),
            submission: false,
            intended: false,
            peaks: false,
            priorities: PerDirection::default(),
        }
    }

    /// Operations that occur and belong to the work, with their indices in the table.
    pub fn operations(&self) -> Vec<(usize, &'static Operation)> {
        let rows = self.table.iter().enumerate();
        rows.filter(|(at, row)| self.occurs[*at] && row.figure != Figure::ReadBack).collect()
    }

    /// Index of the first operation of that figure that occurs.
    pub fn index_of(&self, figure: Figure) -> Option<usize> {
        let mut rows = self.table.iter().zip(&self.occurs);
        rows.position(|(row, occurs)| *occurs && row.figure == figure)
    }

    fn counters(&self, at: usize) -> Counters {
        let (occurs, figure) = (self.occurs[at], self.table[at].figure);
        let buckets = |wanted: bool| (occurs && wanted).then(Buckets::new);
        let moves = matches!(figure, Figure::Read | Figure::Write | Figure::ReadBack);
        let splits = self.submission && occurs && moves;
        let split = || Box::new(Split { submission: Buckets::new(), completion: Buckets::new() });
        let priorities = match figure {
            Figure::Write if occurs => &*self.priorities.write,
            Figure::Read | Figure::ReadBack if occurs => &*self.priorities.read,
            _ => &[],
        };
        let of_priority = |priority: &u16| OfPriority {
            priority: *priority,
            latency: Buckets::new(),
            completion: splits.then(Buckets::new),
        };
        Counters {
            latency: buckets(true),
            split: splits.then(split),
            by_priority: priorities.iter().map(of_priority).collect(),
            peaks: (self.peaks && occurs).then(Box::default),
            intended: buckets(self.intended && figure.is_work()),
            ..Counters::default()
        }
    }
}

/// One worker's counters of a phase, or of its ramp.
pub struct Bank {
    table: &'static [Operation],
    counters: Box<[Counters]>,
}

impl Bank {
    /// Counters that are all zero.
    pub fn new(recorded: &Recorded) -> Bank {
        let counters = (0..recorded.table.len()).map(|at| recorded.counters(at)).collect();
        Bank { table: recorded.table, counters }
    }

    /// Counters of an operation.
    #[inline(always)]
    pub fn of(&self, op: Op) -> &Counters {
        &self.counters[op.index()]
    }

    /// Counters of all operations, in the order of the table.
    pub fn all(&self) -> &[Counters] {
        &self.counters
    }

    /// Current sums.
    pub fn totals(&self) -> Totals {
        Totals { table: self.table, sums: self.counters.iter().map(Counters::totals).collect() }
    }

    /// Operations of the work that ended, completed or failed.
    pub fn tried(&self) -> u64 {
        let work = self.table.iter().zip(&self.counters).filter(|(row, _)| row.figure.is_work());
        work.map(|(_, counters)| counters.ended()).sum()
    }
}

/// One worker's counters, on separate cache lines.
#[repr(align(128))]
pub struct Live {
    ramp: Bank,
    counted: Bank,
    /// Results that the worker stored at the last request for interim results.
    interim: Mutex<Option<Box<WorkerEnd>>>,
}

impl Live {
    /// Counters that are all zero.
    pub fn new(recorded: &Recorded) -> Live {
        Live { ramp: Bank::new(recorded), counted: Bank::new(recorded), interim: Mutex::default() }
    }

    /// Bank of the measured part, or of the ramp.
    pub fn bank(&self, counting: bool) -> &Bank {
        if counting { &self.counted } else { &self.ramp }
    }

    /// Completed operations of the work and the bytes moved, in the ramp or while counting.
    pub fn work(&self, counting: bool) -> WorkerSample {
        let bank = self.bank(counting);
        let work = bank.table.iter().zip(&bank.counters).filter(|(row, _)| row.figure.is_work());
        work.fold(WorkerSample::default(), |sum, (row, counters)| WorkerSample {
            ops: sum.ops + counters.ops.load(Relaxed),
            bytes: sum.bytes
                + if row.figure == Figure::Trim { 0 } else { counters.bytes.load(Relaxed) },
        })
    }

    /// Latencies of one operation of all workers, in the ramp or while counting.
    pub fn latencies(workers: &[Live], counting: bool, operation: usize) -> Histogram {
        let mut sum = Histogram::new();
        for worker in workers {
            if let Some(latency) = &worker.bank(counting).all()[operation].latency {
                sum.merge(&latency.to_histogram());
            }
        }
        sum
    }

    /// Stores the results so far. Called only for interim results, which are rare.
    pub fn leave_interim(&self, interim: WorkerEnd) {
        *self.interim.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(interim));
    }

    /// Takes the results that the worker stored, if any.
    pub fn take_interim(&self) -> Option<WorkerEnd> {
        let mut interim = self.interim.lock().unwrap_or_else(PoisonError::into_inner);
        interim.take().map(|interim| *interim)
    }

    /// Operations that ended so far, completed or failed, ramp included; for the watchdog.
    pub fn progress(&self) -> u64 {
        let sum = |bank: &Bank| bank.counters.iter().map(Counters::ended).sum::<u64>();
        sum(&self.ramp) + sum(&self.counted)
    }
}

/// Sums over workers at one time, for samples: one sum per operation of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    table: &'static [Operation],
    sums: Vec<OpTotals>,
}

/// Sums of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpTotals {
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of latencies.
    pub latency_sum_ns: u64,
}

impl OpTotals {
    /// Growth since earlier sums.
    #[must_use]
    pub fn since(&self, before: &OpTotals) -> OpTotals {
        OpTotals {
            ops: self.ops.saturating_sub(before.ops),
            bytes: self.bytes.saturating_sub(before.bytes),
            latency_sum_ns: self.latency_sum_ns.saturating_sub(before.latency_sum_ns),
        }
    }

    fn add(&mut self, other: &OpTotals) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.latency_sum_ns += other.latency_sum_ns;
    }
}

impl Totals {
    /// Sums of zero for every operation of a table.
    pub fn none(table: &'static [Operation]) -> Totals {
        Totals { table, sums: vec![OpTotals::default(); table.len()] }
    }

    /// Sums of reads of blocks alone.
    #[cfg(test)]
    pub fn of_reads(reads: OpTotals) -> Totals {
        let mut totals = Totals::none(candor_plan::work::BlocksOp::TABLE);
        totals.sums[0] = reads;
        totals
    }

    /// Sums over these workers, in the ramp or while counting.
    pub fn of<'a>(workers: impl Iterator<Item = &'a Live>, counting: bool) -> Totals {
        let mut totals = Totals::default();
        for worker in workers {
            let more = worker.bank(counting).totals();
            if totals.sums.is_empty() {
                totals = Totals::none(more.table);
            }
            totals.sums.iter_mut().zip(&more.sums).for_each(|(sum, more)| sum.add(more));
        }
        totals
    }

    /// Sums of the operation with that index; zero before the first count.
    pub fn at(&self, index: usize) -> OpTotals {
        self.sums.get(index).copied().unwrap_or_default()
    }

    /// Sums of a figure's operations.
    pub fn figure(&self, figure: Figure) -> OpTotals {
        self.sum(|row| row.figure == figure)
    }

    /// Sums of all operations of the work together.
    pub fn work(&self) -> OpTotals {
        self.sum(|row| row.figure.is_work())
    }

    fn sum(&self, wanted: impl Fn(&Operation) -> bool) -> OpTotals {
        let mut sum = OpTotals::default();
        let rows = self.table.iter().zip(&self.sums).filter(|(row, _)| wanted(row));
        rows.for_each(|(_, totals)| sum.add(totals));
        sum
    }

    /// The same sums, with verifying reads counted as reads.
    #[must_use]
    pub fn with_read_back(mut self) -> Totals {
        let back = self.figure(Figure::ReadBack);
        let read = self.table.iter().position(|row| row.figure == Figure::Read);
        if let Some(read) = read {
            self.sums[read].add(&back);
        }
        self
    }

    /// The sums as a progress mark.
    pub fn progress(&self, at_ns: u64) -> Progress {
        let done = self.work();
        Progress { at_ns, ops: done.ops, bytes: done.bytes }
    }
}
