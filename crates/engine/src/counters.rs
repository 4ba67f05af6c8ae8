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

/// Buckets of one latency distribution, with its exact sum, least and greatest.
pub struct Buckets {
    counts: Counts,
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
}

/// One count per bucket, on pages of their own. A page costs memory only from its first count on,
/// so each of hundreds of workers pays only for the latencies that occurred.
struct Counts(Mapping);

impl Counts {
    fn new() -> Counts {
        let bytes = BUCKETS * size_of::<AtomicU64>();
        // As with the heap, nothing is left to do once the kernel refuses 20 kB.
        Counts(Mapping::new(bytes, Pages::Ordinary).unwrap_or_else(|_| {
            std::alloc::handle_alloc_error(Layout::new::<[AtomicU64; BUCKETS]>())
        }))
    }
}

impl Deref for Counts {
    type Target = [AtomicU64; BUCKETS];

    #[inline(always)]
    fn deref(&self) -> &Self::Target {
        // SAFETY: the mapping starts at a page and holds that many counters; its zeros are valid
        // ones, and it is given back only with this value.
        unsafe { &*self.0.as_ptr().cast() }
    }
}

// SAFETY: all that is reached through a shared reference are atomic counters.
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

    fn to_histogram(&self) -> Histogram {
        let counts = self.counts.iter().map(|count| count.load(Relaxed)).collect();
        Histogram::from_parts(
            counts,
            u128::from(self.sum_ns.load(Relaxed)),
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
    /// Latency in two parts, where submitting is a call of its own.
    pub split: Option<Box<Split>>,
    /// Latency from the intended start to completion.
    pub intended: Option<Buckets>,
    /// Tick of the last completion.
    pub last: AtomicTicks,
    /// Greatest latencies since they were last read, where windows are logged with them.
    pub peaks: Option<Box<Peaks>>,
    /// Latencies by I/O priority, where operations have priorities of their own.
    pub by_priority: Box<[OfPriority]>,
}

/// Latencies of operations of one I/O priority.
pub struct OfPriority {
    /// I/O priority in the kernel's form.
    priority: u16,
    latency: Buckets,
    completion: Option<Buckets>,
}

/// Greatest latencies of a window, in ns.
#[derive(Default)]
pub struct Peaks {
    latency: AtomicU64,
    submission: AtomicU64,
    completion: AtomicU64,
}

impl Peaks {
    /// Takes the ticks of submission, of the submitting call's return, and of completion.
    pub fn note(&self, clock: &Clock, [started, submitted, now]: [Ticks; 3]) {
        let note = |peak: &AtomicU64, ticks: Ticks| {
            let ns = clock.ns(ticks);
            if ns > peak.load(Relaxed) {
                peak.fetch_max(ns, Relaxed);
            }
        };
        note(&self.latency, now.saturating_sub(started));
        note(&self.submission, submitted.saturating_sub(started));
        note(&self.completion, now.saturating_sub(submitted));
    }
}

/// Latency in two parts.
pub struct Split {
    /// Time in the submitting call.
    pub submission: Buckets,
    /// Time from the return of that call to completion.
    pub completion: Buckets,
}

impl Counters {
    /// Counts operations that completed with one latency, and the bytes that they moved together.
    #[inline(always)]
    pub fn completed(&self, ops: u64, bytes: u64, ns: u64) {
        add(&self.ops, ops);
        add(&self.bytes, bytes);
        if let Some(latency) = &self.latency {
            latency.record(ops, ns);
        }
    }

    /// Counts the parts of a latency, from the ticks of submission, of the submitting call's
    /// return, and of completion.
    #[inline(always)]
    pub fn split(&self, ops: u64, clock: &Clock, [started, submitted, now]: [Ticks; 3]) {
        if let Some(split) = &self.split {
            split.submission.record(ops, clock.ns(submitted.saturating_sub(started)));
            split.completion.record(ops, clock.ns(now.saturating_sub(submitted)));
        }
    }

    /// Counts the latency of operations with that priority, where priorities are counted apart. The
    /// ticks are those of [`Counters::split`].
    #[inline(always)]
    pub fn of_priority(&self, priority: u16, ops: u64, clock: &Clock, ticks: [Ticks; 3]) {
        let Some(apart) = self.by_priority.iter().find(|apart| apart.priority == priority) else {
            return;
        };
        let [started, submitted, now] = ticks;
        apart.latency.record(ops, clock.ns(now - started));
        if let Some(completion) = &apart.completion {
            completion.record(ops, clock.ns(now.saturating_sub(submitted)));
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

    /// Adds all completions so far to a window's sums, and takes the peaks.
    pub fn add_to_window(&self, sums: &mut WindowSums) {
        sums.ops += self.ops.load(Relaxed);
        sums.bytes += self.bytes.load(Relaxed);
        let sum = |buckets: Option<&Buckets>| buckets.map_or(0, |b| b.sum_ns.load(Relaxed));
        let latency_ns = sum(self.latency.as_ref());
        sums.latency.sum_ns += latency_ns;
        let split = self.split.as_deref();
        sums.submission.sum_ns += sum(split.map(|split| &split.submission));
        sums.completion.sum_ns += split.map_or(latency_ns, |split| sum(Some(&split.completion)));
        if let Some(peaks) = &self.peaks {
            let take = |peak: &AtomicU64, to: &mut SumAndMax| {
                to.max_ns = to.max_ns.max(peak.swap(0, Relaxed));
            };
            take(&peaks.latency, &mut sums.latency);
            take(&peaks.submission, &mut sums.submission);
            take(&peaks.completion, &mut sums.completion);
        }
    }

    /// Adds the latencies from the end of submission on. Where submitting is no call of its own,
    /// these are the whole latencies.
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
            latency_sum_ns: self.latency.as_ref().map_or(0, |l| l.sum_ns.load(Relaxed)),
        }
    }

    /// Adds these counters to a sum over workers.
    pub fn add_to(&self, sum: &mut CounterSum) {
        sum.ops += self.ops.load(Relaxed);
        sum.bytes += self.bytes.load(Relaxed);
        sum.short += self.short.load(Relaxed);
        sum.failed += self.failed.load(Relaxed);
        let merge = |from: &Option<Buckets>, to: &mut Histogram| {
            if let Some(from) = from {
                to.merge(&from.to_histogram());
            }
        };
        merge(&self.latency, &mut sum.latency);
        merge(&self.intended, &mut sum.intended);
        if let Some(split) = &self.split {
            sum.submission.merge(&split.submission.to_histogram());
            sum.completion.merge(&split.completion.to_histogram());
        }
        sum.last = sum.last.max(self.last.load(Relaxed));
        for (at, apart) in self.by_priority.iter().enumerate() {
            // All workers of a job have the same priorities in the same order.
            if sum.by_priority.len() == at {
                sum.by_priority
                    .push(OfPrioritySum { priority: apart.priority, ..OfPrioritySum::default() });
            }
            let to = &mut sum.by_priority[at];
            to.latency.merge(&apart.latency.to_histogram());
            merge(&apart.completion, &mut to.completion);
        }
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
    /// True where the engine's submission is a call of its own.
    pub submission: bool,
    /// True where the job has a rate.
    pub intended: bool,
    /// True where windows are logged with their greatest latencies.
    pub peaks: bool,
    /// I/O priorities that are counted apart, per direction.
    pub priorities: PerDirection<Box<[u16]>>,
}

impl Recorded {
    /// Records all operations of a table that occur, with their latencies and no more.
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

    /// Sums at this moment.
    pub fn totals(&self) -> Totals {
        Totals { table: self.table, sums: self.counters.iter().map(Counters::totals).collect() }
    }

    /// Operations of the work that ended, completed or failed.
    pub fn tried(&self) -> u64 {
        let work = self.table.iter().zip(&self.counters).filter(|(row, _)| row.figure.is_work());
        work.map(|(_, counters)| counters.ended()).sum()
    }
}

/// One worker's counters, on cache lines of its own.
#[repr(align(128))]
pub struct Live {
    ramp: Bank,
    counted: Bank,
    /// Figures that the worker left at the last request for interim results.
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

    /// Operations of the work that completed, and the bytes that they moved, in the ramp or while
    /// counting.
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

    /// Leaves the figures so far. Called only for interim results, which are rare.
    pub fn leave_interim(&self, interim: WorkerEnd) {
        *self.interim.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(interim));
    }

    /// Takes the figures that the worker left, if it did.
    pub fn take_interim(&self) -> Option<WorkerEnd> {
        let mut interim = self.interim.lock().unwrap_or_else(PoisonError::into_inner);
        interim.take().map(|interim| *interim)
    }

    /// Operations that ended so far, completed or failed, ramp included. The watchdog reads it.
    pub fn progress(&self) -> u64 {
        let sum = |bank: &Bank| bank.counters.iter().map(Counters::ended).sum::<u64>();
        sum(&self.ramp) + sum(&self.counted)
    }
}

/// Sums over workers at a moment, for samples: one sum per operation of the table.
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
    /// Growth since an earlier moment.
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

    /// Sums of the operation with that index; zero where nothing was counted yet.
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

    /// The same sums, with reads that read back counted as reads.
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
