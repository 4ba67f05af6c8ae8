//! Plans, phases and jobs.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::omit::{is_default, is_one};
use crate::rank_order::{DataOf, RankOrder};
use crate::units::{Direction, Extent, PerDirection};
use crate::{Blocks, Bucket, Bytes, Entries, Nanos, Objects, OperationsLog, Target, Threads, Work};

/// Version of the plan's shape. A reader refuses a newer one with a sentence.
pub const PLAN_VERSION: u32 = 2;

/// Everything needed to run, in order. Serialises to TOML (for people) and JSON (for machines).
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Version of the plan format.
    #[default(PLAN_VERSION)]
    #[cfg_attr(test, arbitrary(value = PLAN_VERSION))]
    pub version: u32,
    /// Name of the run.
    pub name: String,
    /// Seed of all random choices; equal seeds give equal offsets in all versions.
    #[default(1)]
    pub seed: u64,
    /// Number of runs of the whole list of phases.
    #[default(1)]
    pub repeats: u32,
    /// Hosts that run it together, each with all workers of each job: ranks count over all.
    #[serde(skip_serializing_if = "is_one")]
    #[default(1)]
    pub hosts: u32,
    /// Each of these hosts runs it as if there were no other: ranks and files count within a host,
    /// and phases begin together on all.
    #[serde(skip_serializing_if = "is_default")]
    pub hosts_apart: bool,
    /// Memory that each host keeps occupied from before the first phase until the end of the last,
    /// in bytes or as a share of what the host has, so that less is left to the page cache.
    pub occupy_memory: Option<Extent>,
    /// Targets that are exercised, by name.
    #[serde(rename = "target")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::few))]
    pub targets: Vec<Target>,
    /// Buckets whose objects are exercised, by name.
    #[serde(rename = "bucket", skip_serializing_if = "is_default")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::few))]
    pub buckets: Vec<Bucket>,
    /// Phases, in order.
    #[serde(rename = "phase")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::few))]
    pub phases: Vec<Phase>,
}

impl Plan {
    /// Ranks that divide the data of a job: its workers on all hosts, or the ranks of its part.
    pub fn ranks(&self, job: &Job) -> u64 {
        if let Some(part) = job.part {
            return part.of;
        }
        let is_on_one = job.only_on.is_some() || self.hosts_apart;
        let hosts = if is_on_one { 1 } else { self.hosts.max(1) };
        u64::from(job.workers) * u64::from(hosts)
    }

    /// The target of that name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|t| t.name == name)
    }

    /// The bucket of that name.
    pub fn bucket(&self, name: &str) -> Option<&Bucket> {
        self.buckets.iter().find(|bucket| bucket.name == name)
    }

    /// All targets by name, for many lookups.
    pub fn targets_by_name(&self) -> HashMap<&str, &Target> {
        // The first of a name counts, as above.
        self.targets.iter().rev().map(|target| (target.name.as_str(), target)).collect()
    }

    /// Position of a tree among the targets of its job, and their number: places are dealt among
    /// them ([`crate::Tree::home`]).
    pub fn tree_home(&self, target: &Target) -> (u64, u64) {
        let mut jobs = self.phases.iter().flat_map(|phase| &phase.jobs);
        let found = jobs.find_map(|job| {
            let of_trees = job.entries().is_some_and(|entries| !entries.over.is_of_targets());
            let at = job.targets.iter().position(|name| *name == target.name);
            Some((at.filter(|_| of_trees)? as u64, job.targets.len() as u64))
        });
        found.unwrap_or((0, 1))
    }
}

/// Jobs that start together after a barrier and end together.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase in the report.
    #[default("phase")]
    pub name: String,
    /// End of the phase; a job may set its own.
    pub stop: Stop,
    /// Time at the start that is run and not counted.
    pub ramp: Nanos,
    /// Amount at the start that is moved and not counted, instead of that time.
    pub ramp_amount: Option<RampAmount>,
    /// Wait before the phase starts.
    pub delay: Nanos,
    /// Length of the intervals with stored counts.
    #[default(Nanos::from_secs(1))]
    pub interval: Nanos,
    /// Number of runs of this phase in a row.
    #[default(1)]
    pub repeats: u32,
    /// Effect of one job's failure on the others.
    pub on_failure: OnFailure,
    /// The jobs.
    #[serde(rename = "job")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::few))]
    pub jobs: Vec<Job>,
}

impl Phase {
    /// True where something is run before operations count.
    pub fn has_ramp(&self) -> bool {
        self.ramp > Nanos(0) || self.ramp_amount.is_some()
    }
}

/// A ramp that ends after an amount of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct RampAmount {
    /// Bytes of each job that moves any.
    pub bytes: Bytes,
    /// Count the bytes of all jobs of the phase together.
    pub together: bool,
}

/// Effect of one job's failure on the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The phase and the run end; a phase with a job that cannot be made ready does not begin.
    #[default]
    EndRun,
    /// The phase ends; the run continues. A job that cannot be prepared is left out.
    EndPhase,
    /// Only the failed job ends, also if it cannot be prepared.
    EndJob,
}

/// Effect of one job's end on the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum OnDone {
    /// The other jobs continue.
    #[default]
    GoOn,
    /// The other jobs end with it, without a failure.
    EndPhase,
    /// The other jobs end with it, and no further phase runs.
    EndRun,
    /// The other jobs continue; no further phase runs if its time ended before its work was done.
    EndRunByTime,
}

/// End of a phase or a job: the first of the given bounds to be reached.
///
/// With none given, blocks end after one pass over the worker's share, entries after one pass
/// over its items.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Wall time after the ramp.
    pub time: Option<Nanos>,
    /// Bytes moved by each worker.
    pub bytes: Option<Bytes>,
    /// Operations done by each worker.
    pub ops: Option<u64>,
    /// Passes over the worker's share (a loader's epochs).
    pub passes: Option<u32>,
    /// Repeat passes until each worker has moved N bytes, or a share of all bytes it uses, within
    /// one operation.
    pub at_least: Option<Extent>,
    /// Each worker repeats its whole amount until this time has passed; it checks the time when an
    /// amount ends. For blocks.
    pub min_time: Option<Nanos>,
    /// A criterion of steadiness.
    pub steady: Option<Steady>,
    /// A full filesystem or device is the expected end of writing, not an error.
    pub until_full: bool,
    /// Continue after an I/O error, and count it.
    pub continue_on_error: bool,
    /// Continue after these errors only, and count them.
    #[serde(skip_serializing_if = "is_default")]
    pub tolerate: Vec<Tolerated>,
    /// An operation that takes longer ends the job as a failure; 0 sets no limit.
    #[serde(skip_serializing_if = "is_default")]
    pub latency_max: PerDirection<Nanos>,
    /// When time is up: stop at once, or carry every worker to the furthest one's count.
    pub stonewall: Stonewall,
}

impl Stop {
    /// True where an amount of work ends a worker, alone or before time is up.
    pub fn is_bounded(&self) -> bool {
        let amount = self.bytes.is_some()
            || self.ops.is_some()
            || self.passes.is_some()
            || self.at_least.is_some();
        amount || (self.time.is_none() && self.steady.is_none())
    }
}

/// An error that does not end a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Tolerated {
    /// Of operations in this direction.
    pub op: Direction,
    /// The kernel's error number.
    pub errno: i32,
}

/// Behaviour of workers when time is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Stonewall {
    /// Each stops where it is; the rate uses what was really moved.
    #[default]
    Cut,
    /// All workers continue to the largest count of any worker; the rest counts.
    WearOut,
}

/// When a run counts as steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Steady {
    /// SNIA's criterion over `windows` windows: range at most 20 % of the mean and fitted change
    /// at most 10 % of it.
    Snia {
        /// Length of one window.
        window: Nanos,
        /// Number of windows, 5 in SNIA's specification.
        windows: u32,
    },
    /// The last `windows` windows agree within `percent` of their mean.
    Agree {
        /// Length of one window.
        window: Nanos,
        /// Number of windows.
        windows: u32,
        /// Largest deviation from the mean, in percent.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        percent: f64,
    },
    /// One metric of the last `windows` windows stays within a limit.
    Hold {
        /// Figure that is judged.
        figure: SteadyFigure,
        /// How far off it is.
        fit: SteadyFit,
        /// The limit.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        limit: f64,
        /// Limit in percent of the mean; by default in the unit of the metric.
        percent: bool,
        /// Length of one window.
        window: Nanos,
        /// Number of windows.
        windows: u32,
        /// Time before the first window.
        #[serde(default)]
        ramp: Nanos,
    },
}

impl Steady {
    /// Length of one window.
    pub fn window(&self) -> Nanos {
        match self {
            Steady::Snia { window, .. }
            | Steady::Agree { window, .. }
            | Steady::Hold { window, .. } => *window,
        }
    }

    /// Number of windows.
    pub fn windows(&self) -> u32 {
        match self {
            Steady::Snia { windows, .. }
            | Steady::Agree { windows, .. }
            | Steady::Hold { windows, .. } => *windows,
        }
    }

    /// Time before the first window.
    pub fn ramp(&self) -> Nanos {
        match self {
            Steady::Hold { ramp, .. } => *ramp,
            _ => Nanos(0),
        }
    }

    /// Figure that is judged.
    pub fn figure(&self) -> SteadyFigure {
        match self {
            Steady::Hold { figure, .. } => *figure,
            _ => SteadyFigure::Ops,
        }
    }
}

/// Figure that is judged for steadiness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum SteadyFigure {
    /// Operations per second.
    #[default]
    Ops,
    /// Bytes per second.
    Bytes,
    /// Mean latency in ns.
    Latency,
}

/// How far windows are from being steady.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum SteadyFit {
    /// The greatest distance from the mean.
    #[default]
    Deviation,
    /// Change per window of the fitted line.
    Slope,
}

/// A number of identical workers doing the same work on the same targets.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Name of the job in the report.
    #[serde(default = "job_name")]
    #[default(job_name())]
    pub name: String,
    /// Number of workers on each host; a worker is one thread.
    #[serde(default = "one_worker")]
    #[default(one_worker())]
    pub workers: u32,
    /// Names of the targets it works on.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Assignment of workers to files.
    #[serde(default)]
    pub sharing: Sharing,
    /// Work on the data of the worker that many ranks further on (modulo ranks), so that no
    /// worker reads what it wrote itself.
    #[serde(default)]
    pub rank_shift: i64,
    /// Order in which workers take the data of ranks, instead of a shift.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rank_order: RankOrder,
    /// The page cache and the caches of names are expected to answer, like for an application that
    /// relies on them: cached results are then valid.
    #[serde(default, skip_serializing_if = "is_default")]
    pub wants_cache: bool,
    /// Caches of this host may answer, as in benchmarks that count any answer: the number includes
    /// them, which is a caution, not a fault.
    #[serde(default, skip_serializing_if = "is_default")]
    pub allows_cache: bool,
    /// CPUs and NUMA node of its threads.
    #[serde(default)]
    pub placement: Placement,
    /// Attributes of the threads: scheduling, user and group.
    #[serde(default, skip_serializing_if = "is_default")]
    pub threads: Threads,
    /// Wait after the start of the phase, or after the end of the jobs of `after`.
    #[serde(default)]
    pub delay: Nanos,
    /// Jobs of the same phase that must have ended before this one starts: all of these names.
    #[serde(default)]
    pub after: Vec<String>,
    /// Only make its files ready, and run nothing.
    #[serde(default)]
    pub prepare_only: bool,
    /// Of several hosts only that one, by its number from 0, has its workers.
    pub only_on: Option<u32>,
    /// The workers are some of the ranks that divide the data, and other jobs have the others.
    pub part: Option<RankPart>,
    /// Ends as soon as all jobs of the phase that are not in the background have ended.
    #[serde(default)]
    pub background: bool,
    /// Effect of its end on the other jobs of the phase.
    #[serde(default)]
    pub on_done: OnDone,
    /// Commands that run before and after it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub hooks: Hooks,
    /// Log of each of its operations, which costs some of its rate.
    pub operations_log: Option<OperationsLog>,
    /// End of the job, instead of the end of the phase.
    pub stop: Option<Stop>,
    /// Work of each of its workers.
    pub work: Work,
}

/// Ranks of a job's workers among those that divide the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct RankPart {
    /// Rank of the job's first worker.
    pub first: u64,
    /// Number of ranks.
    pub of: u64,
}

impl Job {
    /// Blocks, where that is its work.
    pub fn blocks(&self) -> Option<&Blocks> {
        self.work.blocks()
    }

    /// The same, to be changed.
    pub fn blocks_mut(&mut self) -> Option<&mut Blocks> {
        self.work.blocks_mut()
    }

    /// The ranks on whose data its workers work.
    pub fn data_of(&self) -> DataOf {
        DataOf { shift: self.rank_shift, order: self.rank_order }
    }

    /// Objects, where that is its work.
    pub fn objects(&self) -> Option<&Objects> {
        self.work.objects()
    }

    /// Entries, where that is its work.
    pub fn entries(&self) -> Option<&Entries> {
        self.work.entries()
    }
}

fn job_name() -> String {
    "job".into()
}

fn one_worker() -> u32 {
    1
}

/// Commands that run before and after a job, given to the shell.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Hooks {
    /// Before the phase of the job begins; if it fails, so does the job, unless it may.
    pub before: Option<Hook>,
    /// After the phase has ended.
    pub after: Option<Hook>,
}

impl Hooks {
    /// True where nothing runs.
    pub fn is_empty(&self) -> bool {
        *self == Hooks::default()
    }
}

/// A command for the shell.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Hook {
    /// The command line.
    pub command: String,
    /// File for its output, overwritten; absent discards the output.
    pub output: Option<String>,
    /// Permit failure: a failure becomes a note, and a job with a failed first command is left out
    /// without a failure.
    #[serde(skip_serializing_if = "is_default")]
    pub may_fail: bool,
}

/// Assignment of workers to files of the job's targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every worker uses all files, taking the next one for each operation.
    #[default]
    Shared,
    /// Worker r uses file r modulo the number of files, and no other.
    Own,
}

/// Where the threads of a job run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// CPUs to use.
    pub cpus: Vec<u32>,
    /// Worker i is bound to the i-th of `cpus` (modulo their number) instead of to all of them.
    pub split: bool,
    /// NUMA node of the CPUs and the memory to use.
    pub numa_node: Option<u32>,
}
