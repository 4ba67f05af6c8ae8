//! Live counters: written by one worker, read by anyone, without locks.
//!
//! Every counter has one writer, so adding is a plain load and store. A worker has two banks: one
//! for the ramp and one that counts; switching banks is how the ramp is left out.

use std::alloc::Layout;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use candor_plan::units::{Direction, PerDirection};
use candor_record::histogram::{BUCKETS, bucket_of};
use candor_record::{Histogram, Progress, SumAndMax, WindowSums};

use crate::clock::Clock;
use crate::host::memory::Mapping;
use crate::operations::slots::{Kind, Slot};
use crate::worker::WorkerEnd;

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

/// One count per bucket, in pages of their own: a page costs memory from its first count on, so
/// that of hundreds of workers each pays for the latencies it had.
struct Counts(Mapping);

impl Counts {
    fn new() -> Counts {
        let bytes = BUCKETS * size_of::<AtomicU64>();
        // As with the heap, there is nothing left to do once the kernel refuses 20 kB.
        let refused = |_| std::alloc::handle_alloc_error(Layout::new::<[AtomicU64; BUCKETS]>());
        Counts(Mapping::new(bytes, false).unwrap_or_else(refused))
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

    /// Adds a latency that `ops` operations had.
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
    /// Completed.
    pub ops: AtomicU64,
    /// Bytes moved.
    pub bytes: AtomicU64,
    /// Completed with fewer bytes than asked.
    pub short: AtomicU64,
    /// Failed.
    pub failed: AtomicU64,
    /// From hand-over to completion.
    pub latency: Option<Buckets>,
    /// The two parts of it, where submitting is a call of its own.
    pub split: Option<Box<Split>>,
    /// From the intended start to completion.
    pub intended: Option<Buckets>,
    /// Tick of the last completion.
    pub last: AtomicU64,
    /// Greatest latencies since they were last taken, where windows are logged with them.
    pub peaks: Option<Box<Peaks>>,
    /// Latencies by I/O priority, where operations have one of their own.
    pub by_priority: Box<[Apart]>,
}

/// Latencies of operations of one I/O priority.
pub struct Apart {
    /// It, in the kernel's form.
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
    /// Takes the ticks of hand-over, of the submitting call's return and of completion.
    pub fn note(&self, clock: &Clock, [started, submitted, now]: [u64; 3]) {
        let note = |peak: &AtomicU64, ticks: u64| {
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
    /// From its return to completion.
    pub completion: Buckets,
}

impl Counters {
    /// Counts operations that completed with one latency, and the bytes they moved together.
    #[inline(always)]
    pub fn completed(&self, ops: u64, bytes: u64, ns: u64) {
        add(&self.ops, ops);
        add(&self.bytes, bytes);
        if let Some(latency) = &self.latency {
            latency.record(ops, ns);
        }
    }

    /// Counts the parts of a latency: the ticks of hand-over, of the submitting call's return and
    /// of completion.
    #[inline(always)]
    pub fn split(&self, ops: u64, clock: &Clock, [started, submitted, now]: [u64; 3]) {
        if let Some(split) = &self.split {
            split.submission.record(ops, clock.ns(submitted.saturating_sub(started)));
            split.completion.record(ops, clock.ns(now.saturating_sub(submitted)));
        }
    }

    /// Counts the latency of operations with that priority, where priorities are told apart: the
    /// ticks are those of [`Counters::split`].
    #[inline(always)]
    pub fn apart(&self, priority: u16, ops: u64, clock: &Clock, ticks: [u64; 3]) {
        let Some(apart) = self.by_priority.iter().find(|apart| apart.priority == priority) else {
            return;
        };
        let [started, submitted, now] = ticks;
        apart.latency.record(ops, clock.ns(now - started));
        if let Some(completion) = &apart.completion {
            completion.record(ops, clock.ns(now.saturating_sub(submitted)));
        }
    }

    /// Notes when one completed.
    #[inline(always)]
    pub fn at(&self, now: u64) {
        self.last.store(now, Relaxed);
    }

    /// Counts a completion that moved fewer bytes than asked.
    pub fn came_short(&self) {
        add(&self.short, 1);
    }

    /// Counts a failure.
    pub fn did_fail(&self) {
        add(&self.failed, 1);
    }

    /// Adds what completed so far to a window's sums, and takes the peaks.
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

    /// Adds the latencies from the end of submission on, which without such a call are all of it.
    pub fn add_completions_to(&self, histogram: &mut Histogram) {
        let split = self.split.as_deref().map(|split| &split.completion);
        if let Some(buckets) = split.or(self.latency.as_ref()) {
            histogram.merge(&buckets.to_histogram());
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
                sum.by_priority.push(ApartSum { priority: apart.priority, ..ApartSum::default() });
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
    /// Completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Completed with fewer bytes than asked.
    pub short: u64,
    /// Failed.
    pub failed: u64,
    /// From hand-over to completion.
    pub latency: Histogram,
    /// Time in the submitting call.
    pub submission: Histogram,
    /// From its return to completion.
    pub completion: Histogram,
    /// Tick of the last completion.
    pub last: u64,
    /// From the intended start to completion.
    pub intended: Histogram,
    /// Latencies by I/O priority.
    pub by_priority: Vec<ApartSum>,
}

/// Latencies of operations of one I/O priority, summed over workers.
#[derive(Default)]
pub struct ApartSum {
    /// It, in the kernel's form.
    pub priority: u16,
    /// From hand-over to completion.
    pub latency: Histogram,
    /// From the return of the submitting call to completion.
    pub completion: Histogram,
}

/// Which latencies a worker records.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Kinds that occur, by [`Kind::counted`].
    pub kinds: [bool; Kind::COUNTED],
    /// The engine's submission is a call of its own.
    pub submission: bool,
    /// There is a rate.
    pub intended: bool,
    /// Windows are logged with their greatest latencies.
    pub peaks: bool,
    /// I/O priorities that are told apart, per direction.
    pub priorities: PerDirection<Box<[u16]>>,
}

impl Recorded {
    /// The engine's submission is told apart for operations of that kind.
    fn splits(&self, kind: usize) -> bool {
        self.submission && self.kinds[kind] && [0, 1, Kind::READ_BACK].contains(&kind)
    }

    fn by_priority(&self, kind: usize) -> Box<[Apart]> {
        let priorities = match kind {
            _ if !self.kinds[kind] => return Box::default(),
            1 => &self.priorities.write,
            0 | Kind::READ_BACK => &self.priorities.read,
            _ => return Box::default(),
        };
        let apart = |priority: &u16| Apart {
            priority: *priority,
            latency: Buckets::new(),
            completion: self.splits(kind).then(Buckets::new),
        };
        priorities.iter().map(apart).collect()
    }
}

/// One worker's counters of a phase, or of its ramp.
pub struct Bank([Counters; Kind::COUNTED]);

impl Bank {
    fn new(recorded: &Recorded) -> Bank {
        Bank(std::array::from_fn(|kind| {
            let buckets = |wanted: bool| (recorded.kinds[kind] && wanted).then(Buckets::new);
            Counters {
                latency: buckets(true),
                split: recorded.splits(kind).then(|| {
                    Box::new(Split { submission: Buckets::new(), completion: Buckets::new() })
                }),
                by_priority: recorded.by_priority(kind),
                peaks: (recorded.peaks && recorded.kinds[kind]).then(Box::default),
                intended: buckets(recorded.intended && kind < 3),
                ..Counters::default()
            }
        }))
    }

    /// Counters of a kind.
    #[inline(always)]
    pub fn of(&self, kind: Kind) -> &Counters {
        &self.0[kind.counted()]
    }

    /// Counters of reads that read back.
    #[inline(always)]
    pub fn read_back(&self) -> &Counters {
        &self.0[Kind::READ_BACK]
    }

    /// Counters that an operation belongs to.
    pub fn of_slot(&self, slot: &Slot) -> &Counters {
        &self.0[slot.counted()]
    }

    /// Counters by [`Kind::counted`].
    pub fn all(&self) -> &[Counters; Kind::COUNTED] {
        &self.0
    }
}

/// One worker's counters, on cache lines of its own.
#[repr(align(128))]
pub struct Live {
    ramp: Bank,
    counted: Bank,
    /// What the worker told when it was last asked.
    told: Mutex<Option<Box<WorkerEnd>>>,
}

impl Live {
    /// All zero.
    pub fn new(recorded: &Recorded) -> Live {
        Live { ramp: Bank::new(recorded), counted: Bank::new(recorded), told: Mutex::default() }
    }

    /// The bank of the ramp, or the one that counts.
    pub fn bank(&self, counting: bool) -> &Bank {
        if counting { &self.counted } else { &self.ramp }
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

    /// Leaves word of how far the worker is: for the rare moments when it is asked.
    pub fn tell(&self, interim: WorkerEnd) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(interim));
    }

    /// Takes what the worker told, if it did.
    pub fn told(&self) -> Option<WorkerEnd> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.take().map(|told| *told)
    }

    /// Operations that ended so far, well or not, ramp included: what a watchdog looks at.
    pub fn progress(&self) -> u64 {
        let ended = |c: &Counters| c.ops.load(Relaxed) + c.failed.load(Relaxed);
        let sum = |bank: &Bank| bank.0.iter().map(ended).sum::<u64>();
        sum(&self.ramp) + sum(&self.counted)
    }
}

/// Sums over workers at a moment, for samples: one per operation of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals(pub [OpTotals; Kind::COUNTED]);

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
    /// Of these workers, in the ramp or while counting.
    pub fn of<'a>(workers: impl Iterator<Item = &'a Live>, counting: bool) -> Totals {
        let mut totals = Totals::default();
        for worker in workers {
            for (sum, counters) in totals.0.iter_mut().zip(worker.bank(counting).all()) {
                let latency_sum_ns =
                    counters.latency.as_ref().map_or(0, |l| l.sum_ns.load(Relaxed));
                let (ops, bytes) = (counters.ops.load(Relaxed), counters.bytes.load(Relaxed));
                sum.add(&OpTotals { ops, bytes, latency_sum_ns });
            }
        }
        totals
    }

    /// Sums of reads, writes or trims.
    pub fn direction(&self, direction: Direction) -> &OpTotals {
        &self.0[Kind::from(direction).counted()]
    }

    /// Sums of reads, writes and trims together.
    pub fn work(&self) -> OpTotals {
        let mut sum = OpTotals::default();
        Direction::ALL.into_iter().for_each(|op| sum.add(self.direction(op)));
        sum
    }

    /// The same with reads that read back taken for reads.
    #[must_use]
    pub fn with_read_back(mut self) -> Totals {
        let back = self.0[Kind::READ_BACK];
        self.0[Kind::Read.counted()].add(&back);
        self
    }

    /// As a progress mark.
    pub fn progress(&self, at_ns: u64) -> Progress {
        let done = self.work();
        Progress { at_ns, ops: done.ops, bytes: done.bytes }
    }
}
