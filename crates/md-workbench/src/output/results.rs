//! Metrics of each phase.

use candor_plan::entries::Entries;
use candor_record::{Latency, Measurement, PhaseRecord};

use crate::plan::{BenchPhase, Lowered, Part, Stage};
use crate::setup::Setup;

/// Metrics of an operation on objects or sets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpResult {
    /// Successful operations.
    pub done: u64,
    /// Operations that failed or found wrong data.
    pub failed: u64,
    /// Their latencies.
    pub latency: Option<Latency>,
}

impl OpResult {
    /// An operation with one call.
    fn of_call(measured: &Measurement, name: &str) -> OpResult {
        let op = measured.operation(name);
        OpResult { done: op.ops, failed: op.failed, latency: op.latency.clone() }
    }

    /// An operation from open to close of a file.
    fn of_file(measured: &Measurement, opens: &str, span: &str) -> OpResult {
        let (opened, span) = (measured.operation(opens), measured.operation(span));
        let begun = opened.ops + opened.failed;
        let failed = begun.saturating_sub(span.ops);
        OpResult { done: span.ops, failed, latency: span.latency.clone() }
    }

    /// The printed latencies in s: minimum, quartiles, 90 %, 99 %, maximum.
    pub fn seven(&self) -> Option<[f64; 7]> {
        let latency = self.latency.as_ref()?;
        let at = |quantile| latency.histogram.quantile(quantile).map_or(0, |value| value.0);
        let within = |ns: u64| seconds(ns.clamp(latency.min_ns, latency.max_ns));
        let [q1, median, q3, q90, q99] = [0.25, 0.5, 0.75, 0.9, 0.99].map(|q| within(at(q)));
        Some([seconds(latency.min_ns), q1, median, q3, q90, q99, seconds(latency.max_ns)])
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Metrics of a process in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessResult {
    /// Successful objects, in proportion to its share of all operations.
    pub objects: f64,
    /// Time until its last operation, in s.
    pub seconds: f64,
}

/// Metrics of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageResult {
    /// The phase.
    pub stage: Stage,
    /// Number of earlier benchmarks.
    pub iteration: u32,
    /// Waiting time as a multiple of an operation's duration.
    pub waiting: f64,
    /// Created or removed sets.
    pub sets: OpResult,
    /// Stats of objects.
    pub stat: OpResult,
    /// Objects with open, read and close.
    pub read: OpResult,
    /// Deleted objects.
    pub delete: OpResult,
    /// Objects with create, write and close.
    pub create: OpResult,
    /// Objects with wrong data.
    pub mismatches: u64,
    /// Reason of the first failure.
    pub reason: Option<String>,
    /// Objects of each set that every process reached at the time limit, and the time in s.
    pub stonewall: Option<(u64, f64)>,
    /// Metrics of each process.
    pub processes: Vec<ProcessResult>,
    /// True if all its parts ran.
    pub is_complete: bool,
}

impl StageResult {
    /// Operations on objects, by name.
    pub fn operations(&self) -> [(&'static str, &OpResult); 4] {
        [
            ("read", &self.read),
            ("stat", &self.stat),
            ("create", &self.create),
            ("delete", &self.delete),
        ]
    }

    /// Time of the slowest process, in s.
    pub fn seconds(&self) -> f64 {
        self.processes.iter().map(|process| process.seconds).fold(0.0, f64::max)
    }

    /// A count per second of the slowest process.
    pub fn per_second(&self, count: u64) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
    }

    /// Successful operations, including sets.
    pub fn done(&self) -> u64 {
        let objects = self.operations().map(|(_, op)| op.done);
        objects.iter().sum::<u64>() + self.sets.done
    }

    /// Successful objects of the phase.
    pub fn objects(&self) -> u64 {
        match self.stage {
            Stage::Precreate => self.create.done,
            Stage::Benchmark => self.read.done,
            Stage::Cleanup => self.delete.done,
        }
    }

    /// Failed operations, including sets.
    pub fn failed(&self) -> u64 {
        let objects = self.operations().map(|(_, op)| op.failed);
        objects.iter().sum::<u64>() + self.sets.failed
    }

    /// The longest operation on an object, in s.
    pub fn longest_s(&self) -> f64 {
        let of = |op: &OpResult| op.latency.as_ref().map_or(0, |latency| latency.max_ns);
        let longest = self.operations().map(|(_, op)| of(op)).into_iter().max();
        longest.unwrap_or(0) as f64 / 1e9
    }

    /// Bytes read and written, in MiB/s.
    pub fn mib_per_s(&self, size: u64) -> f64 {
        self.per_second(self.read.done + self.create.done) * size as f64 / f64::from(1 << 20)
    }

    fn add(&mut self, part: Part, measured: &Measurement) {
        match (self.stage, part) {
            (Stage::Precreate, Part::Sets) => self.sets = OpResult::of_call(measured, "mkdir"),
            (Stage::Cleanup, Part::Sets) => self.sets = OpResult::of_call(measured, "rmdir"),
            (_, Part::Objects) => {
                self.stat = OpResult::of_call(measured, "stat");
                self.delete = OpResult::of_call(measured, "unlink");
                self.read = OpResult::of_file(measured, "open", "open_to_close");
                self.create = OpResult::of_file(measured, "create", "create_to_close");
            }
            (Stage::Benchmark, Part::Sets) => {}
        }
        if let Some(stats) = &measured.verify {
            let wrong =
                stats.flipped + stats.torn + stats.misdirected + stats.stale + stats.foreign;
            self.mismatches += wrong;
            self.read.failed += wrong;
            self.read.done = self.read.done.saturating_sub(wrong);
        }
        let all: u64 = measured.per_worker.iter().map(|worker| worker.ops).sum();
        self.processes.resize(measured.per_worker.len(), ProcessResult::default());
        for (process, worker) in self.processes.iter_mut().zip(&measured.per_worker) {
            process.seconds += worker.elapsed_ns as f64 / 1e9;
        }
        if part == Part::Objects && all > 0 {
            let each = self.objects() as f64 / all as f64;
            for (process, worker) in self.processes.iter_mut().zip(&measured.per_worker) {
                process.objects = worker.ops as f64 * each;
            }
        }
        if self.reason.is_none() {
            self.reason = measured.errors.first().map(|error| match &error.op {
                Some(op) => format!("{op} of {}: {}", error.path, error.message),
                None => error.message.clone(),
            });
        }
    }
}

/// Results so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The phases in run order.
    pub stages: Vec<StageResult>,
}

impl Results {
    /// Adds a phase as it was recorded.
    pub fn add(&mut self, lowered: &Lowered, bench: &BenchPhase, record: &PhaseRecord) {
        let Some(measured) = record.measurements.first() else { return };
        if self.stages.last().is_none_or(|stage| stage.is_complete) {
            let BenchPhase { stage, iteration, waiting, .. } = *bench;
            let result = StageResult { stage, iteration, waiting, ..StageResult::default() };
            self.stages.push(result);
        }
        let Some(result) = self.stages.last_mut() else { return };
        result.is_complete = bench.is_last;
        result.add(bench.part, measured);
        let phase = lowered.plan.phases.get(record.phase);
        let entries = phase.and_then(|phase| phase.jobs.first()?.entries());
        result.stonewall = entries.and_then(|of| stonewall(&lowered.setup, of, measured));
    }

    /// Number of the oldest object of each set.
    pub fn position(&self, setup: &Setup) -> u64 {
        let moves =
            |stage: &&StageResult| stage.stage == Stage::Benchmark && !setup.asked.run.read_only;
        let moved = |stage: &StageResult| {
            stage.stonewall.map_or(setup.asked.objects.steps, |(reached, _)| reached)
        };
        setup.start + self.stages.iter().filter(moves).map(moved).sum::<u64>()
    }
}

/// Objects of each set that every process had completed at the time limit, and the time.
fn stonewall(setup: &Setup, entries: &Entries, measured: &Measurement) -> Option<(u64, f64)> {
    let counts = measured.wear_out.as_ref()?;
    let each = entries.operations_per_item(setup.asked.data.size)?.max(1);
    let reached = counts.ops / each / setup.asked.objects.sets;
    Some((reached, counts.at_ns as f64 / 1e9))
}
