//! Metrics of each row, per iteration and per task.

use std::collections::BTreeMap;

use candor_plan::entries::Division;
use candor_plan::work::Figure;
use candor_record::{IoFailure, Latency, Measurement, OpStats, PhaseRecord};

use crate::plan::{BenchPhase, Lowered, Part};
use crate::setup::{Setup, Test};

/// Metrics of a task in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankResult {
    /// Successful items.
    pub items: f64,
    /// Time until its last operation, in s.
    pub seconds: f64,
}

impl RankResult {
    /// Items per second.
    pub fn rate(&self) -> f64 {
        per_second(self.items, self.seconds)
    }
}

/// Metrics of a row in an iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestResult {
    /// Successful items of all tasks.
    pub items: u64,
    /// Time of the phase in s, including its follow-up work.
    pub seconds: f64,
    /// Items per second: number of tasks × rate of the slowest task.
    pub rate: f64,
    /// Failed operations.
    pub failed: u64,
    /// Blocks with wrong data.
    pub mismatches: u64,
    /// Short reads: reads that ended with the file.
    pub short: u64,
    /// Reason of the first failure.
    pub reason: Option<String>,
    /// Items per task at the time limit: minimum, maximum and mean; then all tasks reached the
    /// maximum.
    pub stonewall: Option<[f64; 3]>,
    /// Metrics of each task.
    pub ranks: Vec<RankResult>,
    /// Latency of whole items.
    pub latency: Option<Latency>,
    /// Latency of each operation, if an item takes several operations.
    pub steps: Vec<(String, Latency)>,
}

/// Rows of one iteration.
pub type Iteration = BTreeMap<Test, TestResult>;

/// Results for one number of tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskRun {
    /// Number of tasks.
    pub tasks: u32,
    /// Rows of each iteration.
    pub iterations: Vec<Iteration>,
    /// True if all iterations ran.
    pub is_complete: bool,
}

impl TaskRun {
    /// A row in all iterations; all values are 0 if it did not run.
    pub fn of(&self, test: Test) -> Vec<TestResult> {
        let result = |iteration: &Iteration| iteration.get(&test).cloned().unwrap_or_default();
        self.iterations.iter().map(result).collect()
    }

    /// Errors by mdtest's count: blocks with wrong data, and short reads.
    pub fn data_errors(&self) -> u64 {
        let rows = self.iterations.iter().flat_map(BTreeMap::values);
        rows.map(|result| result.mismatches + result.short).sum()
    }

    /// Latencies of a row over all iterations.
    pub fn latency(&self, test: Test) -> Option<Latency> {
        let mut all = None;
        for iteration in &self.iterations {
            let result = iteration.get(&test).and_then(|result| result.latency.as_ref());
            Latency::merge(&mut all, result);
        }
        all
    }
}

/// Results so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Runs by number of tasks, in run order.
    pub runs: Vec<TaskRun>,
}

impl Results {
    /// Adds a phase as it was recorded.
    pub fn add(&mut self, lowered: &Lowered, bench: &BenchPhase, record: &PhaseRecord) {
        if self.runs.last().is_none_or(|run| run.is_complete) {
            let iterations = Vec::new();
            self.runs.push(TaskRun { tasks: bench.tasks, iterations, is_complete: false });
        }
        let (Some(run), Some(measured)) = (self.runs.last_mut(), record.measurements.first())
        else {
            return;
        };
        run.is_complete = bench.is_last;
        let iteration = bench.iteration as usize;
        if run.iterations.len() <= iteration {
            run.iterations.resize_with(iteration + 1, Iteration::new);
        }
        let result = run.iterations[iteration].entry(bench.test).or_default();
        let setup = &lowered.setup;
        match bench.part {
            Part::Before => {}
            Part::Work => {
                result.work(setup, bench, measured, division(lowered, record));
                result.stonewall = stonewall(lowered, record, measured);
            }
            Part::Fill => result.fill(bench, measured),
            Part::After => result.follow(bench, measured.elapsed_ns),
        }
        result.note_failures(measured);
    }

    /// Files created per task, if the time limit ended their creation.
    pub fn files_made(&self) -> Option<u64> {
        let created = self.runs.last()?.iterations.last()?.get(&Test::FileCreate)?;
        let items = created.ranks.iter().map(|rank| rank.items);
        Some(items.fold(0.0, f64::max).round() as u64)
    }
}

/// Division of items among the tasks of a recorded phase.
fn division(lowered: &Lowered, record: &PhaseRecord) -> Division {
    let phase = lowered.plan.phases.get(record.phase);
    let entries = phase.and_then(|phase| phase.jobs.first()?.entries());
    entries.map_or(Division::Own, |entries| entries.division)
}

/// Items of tasks at the time limit.
fn stonewall(lowered: &Lowered, record: &PhaseRecord, measured: &Measurement) -> Option<[f64; 3]> {
    let counts = measured.wear_out.as_ref()?;
    let entries = lowered.plan.phases.get(record.phase)?.jobs.first()?.entries()?;
    let each = entries.operations_per_item(lowered.setup.asked.data.write_bytes)?.max(1) as f64;
    let mean = counts.ops_sum as f64 / each / f64::from(measured.workers.max(1));
    let is_early = counts.ops_least as f64 / each < lowered.setup.items as f64;
    is_early.then_some([counts.ops_least as f64 / each, counts.ops as f64 / each, mean])
}

fn per_second(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 && count > 0.0 { count / seconds } else { 0.0 }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Reason of a failure by short reads.
pub const SHORT_READS: &str = "files are shorter than what -e reads of each";

/// Short reads: reads that ended with the file.
pub fn short_reads(measured: &Measurement) -> u64 {
    measured.operation("read").short
}

/// True for reads that started at the end of a file.
pub fn is_at_end(error: &IoFailure) -> bool {
    const AT_END: i32 = 0;
    error.op.as_deref() == Some("read") && error.errno == AT_END
}

/// Name of the operation that counts items.
fn counted(measured: &Measurement) -> &str {
    let mut names = measured.operations.iter().map(|op| op.name.as_str());
    let is_whole = names.clone().any(|name| name == "item");
    if is_whole { "item" } else { names.next().unwrap_or_default() }
}

impl TestResult {
    /// The work of a phase: items, time, and shares of the tasks.
    fn work(
        &mut self,
        setup: &Setup,
        bench: &BenchPhase,
        measured: &Measurement,
        division: Division,
    ) {
        let op = measured.operation(counted(measured));
        // A short read is a failure.
        self.items = op.ops.saturating_sub(short_reads(measured));
        self.latency = op.latency.clone();
        let of_step = |step: &OpStats| Some((step.name.clone(), step.latency.clone()?));
        let steps = measured.operations.iter().filter(|step| step.figure != Figure::Item);
        self.steps = steps.filter(|_| op.figure == Figure::Item).filter_map(of_step).collect();
        let whole_ns = measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns);
        self.seconds = seconds(whole_ns);
        let all: u64 = measured.per_worker.iter().map(|worker| worker.ops).sum();
        let each = per_second(self.items as f64, all as f64);
        let of_worker = |worker: &candor_record::WorkerStats| RankResult {
            items: worker.ops as f64 * each,
            seconds: seconds(worker.elapsed_ns),
        };
        self.ranks = measured.per_worker.iter().map(of_worker).collect();
        if bench.test.is_of_tree() {
            // The rate is for one tree, even if several tasks create theirs at the same time.
            let trees = if setup.asked.tree.unique { u64::from(bench.tasks) } else { 1 };
            self.rate = per_second(self.items as f64 / trees as f64, self.seconds);
            return;
        }
        self.rate = match division {
            Division::First => per_second(self.items as f64, self.seconds),
            _ if setup.asked.run.no_barriers => self.slowest(bench.tasks, RankResult::rate),
            _ => {
                let phase_s = self.seconds;
                self.slowest(bench.tasks, |rank| per_second(rank.items, phase_s))
            }
        };
    }

    /// Number of tasks × rate of the slowest.
    fn slowest(&self, tasks: u32, rate: impl Fn(&RankResult) -> f64) -> f64 {
        let least = self.ranks.iter().map(rate).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least * f64::from(tasks) } else { 0.0 }
    }

    /// Adds a second part of the work on the same items.
    fn fill(&mut self, bench: &BenchPhase, measured: &Measurement) {
        let op = measured.operation(counted(measured));
        self.items = self.items.min(op.ops);
        self.follow(bench, measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns));
    }

    /// Adds time after the work.
    fn follow(&mut self, bench: &BenchPhase, elapsed_ns: u64) {
        let before = self.seconds;
        self.seconds += seconds(elapsed_ns);
        for rank in &mut self.ranks {
            rank.seconds += seconds(elapsed_ns);
        }
        let is_of_first = self.ranks.iter().filter(|rank| rank.items > 0.0).count() == 1;
        self.rate = if is_of_first || bench.tasks == 0 {
            per_second(self.items as f64, self.seconds)
        } else {
            self.rate * per_second(before, self.seconds)
        };
    }

    fn note_failures(&mut self, measured: &Measurement) {
        let short = short_reads(measured);
        self.failed += measured.errors.iter().map(|error| error.count).sum::<u64>() + short;
        let at_end = measured.errors.iter().filter(|error| is_at_end(error));
        self.short += short + at_end.map(|error| error.count).sum::<u64>();
        if let Some(stats) = &measured.verify {
            self.mismatches +=
                stats.flipped + stats.torn + stats.misdirected + stats.stale + stats.foreign;
        }
        if self.reason.is_none() {
            self.reason = measured.errors.first().map(|error| match &error.op {
                Some(op) => format!("{op} of {}: {}", error.path, error.message),
                None => error.message.clone(),
            });
            let too_short = (short > 0).then(|| SHORT_READS.to_owned());
            self.reason = self.reason.take().or(too_short);
        }
    }
}
