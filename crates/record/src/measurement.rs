//! Counts of the engine for one job in one phase.

use std::collections::BTreeMap;
use std::fmt;

use candor_plan::blocks::{IoPriority, PriorityClass};
use candor_plan::units::Direction;
use candor_plan::work::{BlocksOp, Figure, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::by_name::Named;
use crate::{HttpStats, LatencyCounts, Log};

mod first_done;
mod latency;
mod merge;
mod per_target;
mod stages;
mod stopped;
mod verification;

pub use first_done::{FirstDone, OpCount};
pub use latency::{Latency, PERCENTILES, samples_needed};
pub use per_target::{TargetOp, TargetStats};
pub use stages::{StageSpan, Stages, WearOut};
pub use stopped::{Stopped, StoppedBy};
pub use verification::{
    BadSector, BlockIdentity, FinishedWrite, JournalStats, LastUse, LastWrites, MISMATCHES_KEPT,
    Mismatch, MismatchKind, SeenBy, VerifyStats, WrongByte,
};

/// Work of the workers of one job in one phase, merged over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// The job's name.
    pub job: String,
    /// Number of workers.
    pub workers: u32,
    /// From the release of the barrier (after the ramp) to the last completion of the last worker.
    pub elapsed_ns: u64,
    /// From the release to the end of the final flush, where one was asked for or made.
    pub elapsed_with_flush_ns: Option<u64>,
    /// Counters and latencies of each operation that was to occur, in the order of the work's
    /// table ([`candor_plan::Work::operations`]).
    #[serde(with = "crate::by_name")]
    #[schemars(with = "BTreeMap<String, OpStats>")]
    pub operations: Vec<OpStats>,
    /// All workers' counts when the first of them that had work ended: how far they were while
    /// all were busy. Absent where none completed anything, and where workers read back after
    /// their work.
    pub first_done: Option<FirstDone>,
    /// All workers' counts at the end.
    pub last_done: Progress,
    /// One entry per interval of the phase in which it was at work, without the ramp.
    pub samples: Vec<Sample>,
    /// Each worker's own figures.
    pub per_worker: Vec<WorkerStats>,
    /// Work on each target apart, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_target: Vec<TargetStats>,
    /// Errors, alike ones counted together.
    pub errors: Vec<IoFailure>,
    /// Result of verification, where it was on.
    pub verify: Option<VerifyStats>,
    /// Reads that read back what was written; not part of `operations` nor `elapsed_ns`.
    #[serde(default)]
    pub read_back: Option<ReadBack>,
    /// How the program of a job that runs one ended; of several, one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_end: Option<ProgramEnd>,
    /// Engine and features that were really used.
    pub engine: EngineUsed,
    /// Mean number of operations in flight, flushes included: sum of latencies ÷ elapsed.
    pub occupancy: f64,
    /// Why it ended.
    pub ended: Ended,
    /// How many operations were in flight, submitted and completed at once, where that was counted.
    #[serde(default)]
    pub depths: Option<Depths>,
    /// The greatest depth at which the latency goal was met, 0 if there is none; absent where there
    /// was no goal.
    #[serde(default)]
    pub depth_reached: Option<u32>,
    /// Time of one dependent load from memory, in ns, where loads were chased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_latency_ns: Option<f64>,
    /// HTTP requests, for work on objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<Box<HttpStats>>,
    /// Zones that were reset so that they could be written again.
    #[serde(default)]
    pub zone_resets: u64,
    /// Items that workers passed over because their state did not suit the steps, by reason:
    /// `busy`, `absent`, `present`, `whole`, `empty`, `no_parent`, `has_directories`, `has_files`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub passed_over: BTreeMap<String, u64>,
    /// How steady it had become, where that was a way to end.
    #[serde(default)]
    pub steady: Option<SteadyState>,
    /// Opening, transfer and closing over all workers, where each opened its files in the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// How far workers were when their time was up, where all went on to the furthest one's count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear_out: Option<WearOut>,
    /// Time in which the whole process was stopped, where it was. `elapsed_ns` and the lengths of
    /// samples leave it out; latencies of operations in flight do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Wall clock when its workers began, before the ramp, in ms since 1970.
    #[serde(default)]
    pub start_unix_ms: Option<u64>,
    /// Single operations or short intervals, where a log was asked for. Not part of the written
    /// report.
    #[serde(skip)]
    pub log: Option<Box<Log>>,
}

/// Name of writes that each have a flush of their own, together with that flush.
pub const DURABLE_WRITE: &str = "durable write";

/// True where there are commits, and as many flushes as writes, but for the last ones.
pub(crate) fn is_flushed_each(commits: u64, flushes: u64, writes: u64) -> bool {
    const OF_WRITES_PERCENT: u64 = 90;
    commits > 0 && flushes.saturating_mul(100) >= writes.saturating_mul(OF_WRITES_PERCENT)
}

impl Measurement {
    /// Bytes moved by all operations.
    pub fn bytes_moved(&self) -> u64 {
        let moved = self.operations.iter().filter(|op| op.figure != Figure::Trim);
        moved.fold(0, |sum, op| sum.saturating_add(op.bytes))
    }

    /// Operations done, flushes apart.
    pub fn ops_done(&self) -> u64 {
        self.work_operations().fold(0, |sum, op| sum.saturating_add(op.ops))
    }

    /// The operation of that name; one that never occurred, where there is none.
    pub fn operation(&self, name: &str) -> &OpStats {
        static NONE: OpStats = OpStats::NONE;
        self.operations.iter().find(|op| op.name == name).unwrap_or(&NONE)
    }

    /// Reads, writes or trims.
    pub fn of(&self, direction: Direction) -> &OpStats {
        self.operation(direction.name())
    }

    /// The same, to be changed; it is added where there is none.
    pub fn of_mut(&mut self, direction: Direction) -> &mut OpStats {
        self.operation_mut(BlocksOp::from(direction).operation())
    }

    /// Sets the counters of a direction.
    pub fn put(&mut self, direction: Direction, stats: OpStats) {
        let row = BlocksOp::from(direction).operation();
        let (name, figure) = (row.name.into(), row.figure);
        *self.of_mut(direction) = OpStats { name, figure, ..stats };
    }

    /// An operation, to be changed; it is added where there is none.
    pub fn operation_mut(&mut self, operation: &Operation) -> &mut OpStats {
        let known = self.operations.iter().position(|op| op.name == operation.name);
        let at = known.unwrap_or_else(|| {
            self.operations.push(OpStats::of(operation));
            self.operations.len() - 1
        });
        &mut self.operations[at]
    }

    /// All operations but flushes, which belong to writes, and items, which consist of operations.
    pub fn work_operations(&self) -> impl Iterator<Item = &OpStats> {
        self.operations.iter().filter(|op| op.figure.is_work())
    }

    /// Durable writes, where each write has a flush of its own: they are the result of such work,
    /// with the bytes of the writes. The latency is the time of a commit.
    pub fn durable_writes(&self) -> Option<OpStats> {
        let commits = self.figure(Figure::Commit);
        let (writes, flushes) = (self.figure(Figure::Write), self.figure(Figure::Flush));
        is_flushed_each(commits.ops, flushes.ops, writes.ops).then(|| OpStats {
            name: DURABLE_WRITE.to_owned(),
            bytes: writes.bytes,
            bytes_per_s: writes.bytes_per_s,
            ..commits
        })
    }

    /// Operations of the work as results show them: durable writes in place of writes that each
    /// have a flush.
    pub fn shown_operations(&self) -> Vec<OpStats> {
        let durable = self.durable_writes();
        self.work_operations()
            .map(|op| match &durable {
                Some(durable) if op.figure == Figure::Write => durable.clone(),
                _ => op.clone(),
            })
            .collect()
    }

    /// Reads, writes and trims, each with its direction.
    pub fn directions(&self) -> impl Iterator<Item = (Direction, &OpStats)> {
        Direction::ALL.into_iter().map(|direction| (direction, self.of(direction)))
    }

    /// Times over which operations count.
    pub fn times(&self) -> Times {
        let with_flush_ns = self.elapsed_with_flush_ns.unwrap_or(self.elapsed_ns);
        Times { elapsed_ns: self.elapsed_ns, with_flush_ns }
    }

    /// All operations of a figure together: `fsync` and `fdatasync` are both flushes.
    pub fn figure(&self, figure: Figure) -> OpStats {
        let mut all = self.operations.iter().filter(|op| op.figure == figure);
        let mut sum = all.next().cloned().unwrap_or_default();
        all.for_each(|op| sum.add(op));
        sum
    }
}

/// Times over which the operations of a job count.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    elapsed_ns: u64,
    with_flush_ns: u64,
}

impl Times {
    /// Time of operations of a figure. Writes are done when the final flush is, so their rate is
    /// the media's and not the memory's.
    pub fn of_ns(self, figure: Figure) -> u64 {
        if figure == Figure::Write { self.with_flush_ns } else { self.elapsed_ns }
    }
}

/// Counters and latencies of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpStats {
    /// Name in the work's table; the key under which it is written.
    #[serde(skip)]
    pub name: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations that completed.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Of these, operations that moved fewer bytes than asked.
    pub short: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Operations per second over the phase.
    pub ops_per_s: f64,
    /// Bytes per second over the phase.
    pub bytes_per_s: f64,
    /// From the release of the barrier (after the ramp) to the last completion of this kind; 0
    /// where none completed.
    #[serde(default)]
    pub elapsed_ns: u64,
    /// From submission to completion as the worker saw it.
    pub latency: Option<Latency>,
    /// Time inside the submitting system call, where that is a call of its own.
    pub submission: Option<Latency>,
    /// From the end of that call to completion; with `submission` it makes up `latency`.
    #[serde(default)]
    pub completion: Option<Latency>,
    /// From the intended start to completion, under a rate.
    pub from_intended: Option<Latency>,
    /// Latencies by I/O priority, where operations have one of their own; the first is that of
    /// all others.
    #[serde(default)]
    pub by_priority: Vec<OfPriority>,
}

impl OpStats {
    /// An operation that never occurred.
    pub const NONE: OpStats = OpStats {
        name: String::new(),
        figure: Figure::Read,
        ops: 0,
        bytes: 0,
        short: 0,
        failed: 0,
        ops_per_s: 0.0,
        bytes_per_s: 0.0,
        elapsed_ns: 0,
        latency: None,
        submission: None,
        completion: None,
        from_intended: None,
        by_priority: Vec::new(),
    };

    /// None done yet, of that row of a work's table.
    pub fn of(operation: &Operation) -> OpStats {
        OpStats { name: operation.name.into(), figure: operation.figure, ..OpStats::NONE }
    }

    /// Adds what was done beside it, in the same time.
    pub fn add(&mut self, other: &OpStats) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.short += other.short;
        self.failed += other.failed;
        self.ops_per_s += other.ops_per_s;
        self.bytes_per_s += other.bytes_per_s;
        self.elapsed_ns = self.elapsed_ns.max(other.elapsed_ns);
        Latency::merge(&mut self.latency, other.latency.as_ref());
        Latency::merge(&mut self.submission, other.submission.as_ref());
        Latency::merge(&mut self.completion, other.completion.as_ref());
        Latency::merge(&mut self.from_intended, other.from_intended.as_ref());
        for theirs in &other.by_priority {
            match self.by_priority.iter_mut().find(|mine| mine.priority() == theirs.priority()) {
                Some(mine) => {
                    Latency::merge(&mut mine.latency, theirs.latency.as_ref());
                    Latency::merge(&mut mine.completion, theirs.completion.as_ref());
                }
                None => self.by_priority.push(theirs.clone()),
            }
        }
    }
}

/// Latencies of operations of one I/O priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfPriority {
    /// Class.
    pub class: PriorityClass,
    /// Level within the class.
    pub level: u8,
    /// Hint for the device.
    pub hint: u16,
    /// From submission to completion.
    pub latency: Option<Latency>,
    /// From the return of the submitting call to completion, where that is a call of its own.
    pub completion: Option<Latency>,
}

impl OfPriority {
    /// None measured yet, of that priority.
    pub fn of(IoPriority { class, level, hint }: IoPriority) -> OfPriority {
        OfPriority { class, level, hint, ..OfPriority::default() }
    }

    /// The priority.
    pub fn priority(&self) -> IoPriority {
        IoPriority { class: self.class, level: self.level, hint: self.hint }
    }
}

/// How deep the queue was, in counts per bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Depths {
    /// Operations by how many were in flight once the call that handed them over was made: 1, 2
    /// to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, 64 and more.
    pub in_flight: [u64; 7],
    /// Submissions by the number of operations they handed over: 0, 1 to 4, 5 to 8, 9 to 16, 17
    /// to 32, 33 to 64, more.
    pub submitted: [u64; 7],
    /// Looks for completions by how many were taken back, in the same buckets.
    pub reaped: [u64; 7],
}

impl Depths {
    /// Of operations that were done one at a time.
    pub fn one_at_a_time(ops: u64) -> Depths {
        let by_batch = [0, ops, 0, 0, 0, 0, 0];
        Depths { in_flight: [ops, 0, 0, 0, 0, 0, 0], submitted: by_batch, reaped: by_batch }
    }

    /// Adds a submission of `count` operations while `before` were in flight. All of one call have
    /// the depth that the call comes to.
    #[inline]
    pub fn hand_over(&mut self, before: usize, count: usize) {
        if count > 0 {
            self.submitted[batch_bucket(count)] += 1;
            self.in_flight[((before + count).ilog2() as usize).min(6)] += count as u64;
        }
    }

    /// Adds a look for completions that took `count` back.
    #[inline]
    pub fn take_back(&mut self, count: usize) {
        self.reaped[batch_bucket(count)] += 1;
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Depths) {
        let mine = [&mut self.in_flight, &mut self.submitted, &mut self.reaped];
        let theirs = [&other.in_flight, &other.submitted, &other.reaped];
        for (mine, theirs) in mine.into_iter().zip(theirs) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }
}

/// The bucket of a number of operations in one call.
fn batch_bucket(count: usize) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        count => ((count - 1).ilog2() as usize).min(6),
    }
}

/// How steady a job had become: the last windows that were judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyState {
    /// The criterion was met.
    pub attained: bool,
    /// Mean of the figure that was judged, in its own unit.
    pub mean: f64,
    /// Greatest distance of a window from it.
    pub deviation_max: f64,
    /// Change per window of the line fitted through them.
    pub slope: f64,
    /// The windows, oldest first.
    pub windows: Vec<SteadyWindow>,
}

/// One window of a search for steadiness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyWindow {
    /// End, in ns since counting began in the job.
    pub at_ns: u64,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency of what completed in it, in ns.
    pub latency_mean_ns: f64,
}

/// All workers' counts at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// Since the release of the barrier (after the ramp).
    pub at_ns: u64,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Counts within one interval of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// End of the interval, since the release of the barrier (after the ramp).
    pub at_ns: u64,
    /// Length in ns.
    pub length_ns: u64,
    /// Operations that completed, in the order of the work's table; reads that read back count as
    /// reads.
    #[serde(with = "crate::by_name")]
    #[schemars(with = "BTreeMap<String, OpSample>")]
    pub operations: Vec<OpSample>,
}

/// Operations of one kind that completed within an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpSample {
    /// Name in the work's table; the key under which it is written.
    #[serde(skip)]
    pub name: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// Their median latency; absent where none completed, and in intervals under a second.
    pub latency_ns_p50: Option<u64>,
    /// Their 99th percentile, where ten of them lie beyond it.
    pub latency_ns_p99: Option<u64>,
    /// Their greatest latency; absent as the median is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_max: Option<u64>,
    /// Standard deviation of their latencies; absent as the median is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_stddev: Option<u64>,
    /// Their latencies by buckets; empty as above.
    #[serde(default, skip_serializing_if = "LatencyCounts::is_empty")]
    pub latency_counts: LatencyCounts,
}

impl Named for OpStats {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }
}

impl Named for OpSample {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }
}

impl OpSample {
    /// None done, of that row of a work's table.
    pub fn of(operation: &Operation) -> OpSample {
        OpSample { name: operation.name.into(), figure: operation.figure, ..OpSample::default() }
    }
}

impl Sample {
    /// Operations of all kinds, flushes apart.
    pub fn ops_done(&self) -> u64 {
        self.of_work().map(|op| op.ops).sum()
    }

    /// Bytes moved by all operations.
    pub fn bytes_moved(&self) -> u64 {
        self.operations.iter().filter(|op| op.figure != Figure::Trim).map(|op| op.bytes).sum()
    }

    /// Sum of the latencies of all operations, flushes apart.
    pub fn latency_sum_ns(&self) -> u64 {
        self.of_work().map(|op| op.latency_sum_ns).sum()
    }

    /// Operations in one direction: `get` is a read, too.
    pub fn ops(&self, direction: Direction) -> u64 {
        self.directed(direction).map(|op| op.ops).sum()
    }

    /// Bytes in one direction.
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.directed(direction).map(|op| op.bytes).sum()
    }

    fn directed(&self, direction: Direction) -> impl Iterator<Item = &OpSample> {
        let figure = Figure::from(direction);
        self.operations.iter().filter(move |op| op.figure == figure)
    }

    /// Reads, writes or trims, to be changed; they are added where there are none.
    pub fn of_mut(&mut self, direction: Direction) -> &mut OpSample {
        let row = BlocksOp::from(direction).operation();
        let known = self.operations.iter().position(|op| op.name == row.name);
        let at = known.unwrap_or_else(|| {
            self.operations.push(OpSample::of(row));
            self.operations.len() - 1
        });
        &mut self.operations[at]
    }

    fn of_work(&self) -> impl Iterator<Item = &OpSample> {
        self.operations.iter().filter(|op| op.figure.is_work())
    }
}

/// One worker's own figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerStats {
    /// Number within the job.
    pub rank: u32,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// From the release of the barrier (after the ramp) to its last completion.
    pub elapsed_ns: u64,
    /// CPU time in user mode.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// Time it was runnable and waited for a CPU; absent if the kernel does not say.
    pub run_wait_ns: Option<u64>,
    /// Times it gave up the CPU.
    pub switches_voluntary: u64,
    /// Times the CPU was taken from it.
    pub switches_involuntary: u64,
    /// Page faults served from memory.
    pub faults_minor: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
    /// Time spent filling buffers, outside the measured latencies.
    pub fill_ns: u64,
    /// Time spent verifying, outside the measured latencies.
    pub verify_ns: u64,
    /// Time spent waiting on purpose: rate limit and think time.
    pub paced_ns: u64,
    /// The kernel's number of its thread.
    #[serde(default)]
    pub thread_id: Option<u32>,
    /// The CPU on which it ended.
    #[serde(default)]
    pub cpu: Option<u32>,
    /// Opening, transfer and closing, where it opened its files in the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
}

/// Errors of one kind on one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoFailure {
    /// Name of the operation; absent for set-up and the final flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The file or device.
    pub path: String,
    /// Offset of the first one.
    pub offset: u64,
    /// The kernel's error number.
    pub errno: i32,
    /// Text of the error.
    pub message: String,
    /// How many.
    pub count: u64,
}

/// Reads the counters of an operation that has no key of its own.
fn named_read_back<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<OpStats, D::Error> {
    let name = BlocksOp::ReadBack.operation().name.to_owned();
    Ok(OpStats { name, ..OpStats::deserialize(deserializer)? })
}

/// Reads that read back what the job had written, after the rest of its work or in between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// Their counters and latencies; rates are over `elapsed_ns`.
    #[serde(deserialize_with = "named_read_back")]
    pub reads: OpStats,
    /// Time in which they ran: after the work, which has ended then, or beside it.
    pub elapsed_ns: u64,
    /// CPU time in user mode of the part after the work.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel of the part after the work.
    pub cpu_system_ns: u64,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnd {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl ProgramEnd {
    /// True for exit code 0.
    pub fn is_success(self) -> bool {
        self == ProgramEnd::Exited(0)
    }
}

impl fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramEnd::Exited(code) => write!(f, "exit status: {code}"),
            ProgramEnd::Killed(signal) => write!(f, "signal: {signal}"),
        }
    }
}

/// Engine and features that were really used, which may be less than was possible elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EngineUsed {
    /// Name.
    pub name: String,
    /// Features in use, such as `fixed-buffers`, `defer-taskrun`, [`EngineUsed::HUGE_PAGES`].
    pub features: Vec<String>,
    /// The clock that latencies were taken with: `tsc` or `monotonic`.
    pub clock: String,
    /// Cost of reading that clock.
    pub clock_cost_ns: f64,
}

impl EngineUsed {
    /// Feature: the buffers are in huge pages, so that each goes to a device in few pieces.
    pub const HUGE_PAGES: &str = "huge-pages";
}

/// Why a job ended, from the least to the most severe.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// All that was asked was done.
    #[default]
    Done,
    /// The time was up.
    Time,
    /// The job had become steady.
    Steady,
    /// Nothing more could be stored, which was where it was to end.
    Full,
    /// The user interrupted it.
    Interrupted,
    /// Nothing completed for longer than the watchdog waits.
    Stalled,
    /// An error stopped it.
    Failed,
}

impl Ended {
    /// True where it did all that it was to do.
    pub fn is_sound(self) -> bool {
        matches!(self, Ended::Done | Ended::Time | Ended::Steady | Ended::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_a_submission_has_its_depth() {
        let mut depths = Depths::default();
        depths.hand_over(0, 0);
        assert_eq!(depths, Depths::default());
        depths.hand_over(0, 5);
        assert_eq!(depths.in_flight, [0, 0, 5, 0, 0, 0, 0]);
        depths.hand_over(5, 1);
        depths.hand_over(60, 40);
        assert_eq!(depths.in_flight, [0, 0, 6, 0, 0, 0, 40]);
        assert_eq!(depths.submitted, [0, 1, 1, 0, 0, 1, 0]);
    }

    #[test]
    fn batches_fall_into_their_buckets() {
        let buckets: Vec<usize> =
            [0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 4096].map(batch_bucket).to_vec();
        assert_eq!(buckets, [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    }
}
