//! Plans, targets, phases and jobs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Blocks, Bytes, Entries, Nanos};

/// Version of the plan's shape. A reader refuses a newer one with a sentence.
pub const PLAN_VERSION: u32 = 1;

/// Everything needed to run, in order. Serialises to TOML (for people) and JSON (for machines).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Version of this shape, [`PLAN_VERSION`].
    pub version: u32,
    /// What the user calls this run.
    pub name: String,
    /// All pseudo-random choices derive from it; the same seed gives the same offsets for ever.
    pub seed: u64,
    /// How often the whole list of phases runs.
    pub repeats: u32,
    /// What is exercised, by name.
    #[serde(rename = "target")]
    pub targets: Vec<Target>,
    /// What happens, in order.
    #[serde(rename = "phase")]
    pub phases: Vec<Phase>,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            version: PLAN_VERSION,
            name: String::new(),
            seed: 1,
            repeats: 1,
            targets: Vec::new(),
            phases: Vec::new(),
        }
    }
}

impl Plan {
    /// The target of that name.
    pub fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|t| t.name == name)
    }
}

/// A thing to exercise: a file, a set of files under a directory, a block device, a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The name by which jobs refer to it.
    pub name: String,
    /// File, directory or block device. Not used by the null engine.
    pub path: PathBuf,
    /// What the path is taken for.
    pub kind: TargetKind,
    /// Bytes used of each file or of the device; absent means its present size.
    pub size: Option<Bytes>,
    /// Number of files, for a file set.
    pub files: u32,
    /// How missing bytes of a file come into being before the first phase that needs them.
    pub layout: Layout,
    /// Keep files that candor made. Files it did not make are never removed.
    pub keep: bool,
    /// Consent to destroy what is there: writing to a device or to a file candor did not make.
    pub overwrite: bool,
    /// Shape of the tree, for entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<crate::entries::Tree>,
}

impl Default for Target {
    fn default() -> Self {
        Target {
            name: "target".into(),
            path: PathBuf::new(),
            kind: TargetKind::Auto,
            size: None,
            files: 1,
            layout: Layout::Write,
            keep: false,
            overwrite: false,
            tree: None,
        }
    }
}

/// What a target's path is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A directory holds a file set, a block device is a device, anything else is one file.
    #[default]
    Auto,
    /// One regular file.
    File,
    /// `files` files named `NAME.0`, `NAME.1`, … in the directory `path`.
    FileSet,
    /// A block device.
    Device,
    /// A directory tree, for entries.
    Tree,
    /// Nothing at all: offsets are generated, no byte moves (null engine, ring no-ops).
    Null,
}

/// How missing bytes of a file come into being.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Written with the incompressible pool and flushed: the only honest ground for reads.
    #[default]
    Write,
    /// `fallocate`: blocks reserved, never written (reads measure the filesystem's zeros).
    Allocate,
    /// `ftruncate`: a sparse file (reads measure holes).
    Sparse,
    /// Nothing is made; a short or missing file is an error for reads and grows under writes.
    Never,
}

/// Jobs that start together behind a barrier and end together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Phase {
    /// What the report calls it.
    pub name: String,
    /// When it ends; a job may set its own.
    pub stop: Stop,
    /// Time at the start that is run and not counted.
    pub ramp: Nanos,
    /// Wait before the phase starts.
    pub delay: Nanos,
    /// How often this phase runs in a row.
    pub repeats: u32,
    /// The jobs.
    #[serde(rename = "job")]
    pub jobs: Vec<Job>,
}

impl Default for Phase {
    fn default() -> Self {
        Phase {
            name: "phase".into(),
            stop: Stop::default(),
            ramp: Nanos(0),
            delay: Nanos(0),
            repeats: 1,
            jobs: Vec::new(),
        }
    }
}

/// What ends a phase or a job: the first of the given bounds to be reached.
///
/// With none given, blocks end after one pass over the worker's share, entries after one pass
/// over its items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Wall time after the ramp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Nanos>,
    /// Bytes moved by each worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Operations done by each worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
    /// Passes over the worker's share (a loader's epochs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// A criterion of steadiness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// Go on after an I/O error, counting it.
    pub continue_on_error: bool,
    /// When time is up: stop at once, or carry every worker to the furthest one's count.
    pub stonewall: Stonewall,
}

/// What workers do when time is up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stonewall {
    /// Each stops where it is; the rate uses what was really moved.
    #[default]
    Cut,
    /// All go on to the largest count that any had reached; the tail counts.
    WearOut,
}

/// When a run counts as steady.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        percent: f64,
    },
}

/// A number of identical workers doing the same work on the same targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// What the report calls it.
    pub name: String,
    /// Number of workers on each host; a worker is one thread.
    pub workers: u32,
    /// Names of the targets it works on.
    pub targets: Vec<String>,
    /// Which worker works on which file.
    pub sharing: Sharing,
    /// Work on the data of the worker that many ranks further on (modulo ranks), so that no
    /// worker reads what it wrote itself.
    pub rank_shift: i64,
    /// Where its threads run.
    pub placement: Placement,
    /// Wait after the phase started.
    pub delay: Nanos,
    /// Its own end, instead of the phase's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Reads, writes and trims. Exactly one of `blocks` and `entries` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Blocks>,
    /// Operations on named things.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Entries>,
}

impl Default for Job {
    fn default() -> Self {
        Job {
            name: "job".into(),
            workers: 1,
            targets: Vec::new(),
            sharing: Sharing::Shared,
            rank_shift: 0,
            placement: Placement::default(),
            delay: Nanos(0),
            stop: None,
            blocks: None,
            entries: None,
        }
    }
}

/// Which worker works on which file of the job's targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// Every worker uses all files, taking the next one for each operation.
    #[default]
    Shared,
    /// Worker r uses file r modulo the number of files, and no other.
    Own,
}

/// Where the threads of a job run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// CPUs to use.
    pub cpus: Vec<u32>,
    /// Worker i is bound to the i-th of `cpus` (modulo their number) instead of to all of them.
    pub split: bool,
    /// NUMA node whose CPUs and memory to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u32>,
}
