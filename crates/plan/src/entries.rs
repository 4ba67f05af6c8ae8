//! Entries: operations on named things, in a tree or of the targets' own names.
//!
//! The engine runs single steps over the targets' own names; trees are in the model, and
//! [`crate::check`] says by name that they are not run yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Figure, Operation};
use crate::units::SizeSpec;
use crate::{Bytes, Nanos};

/// A directory tree, and the files in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tree {
    /// Levels of directories below the root; 0 means items stand in the root.
    pub depth: u32,
    /// Directories in each directory.
    pub width: u32,
    /// Items in each directory that holds items.
    pub items: u64,
    /// Each rank has `items` of its own in each of these directories, instead of all ranks
    /// dividing them.
    pub items_per_rank: bool,
    /// Items stand in every directory, or in the deepest only.
    pub leaves_only: bool,
    /// One tree per rank instead of one for all; all that is in it is the rank's own.
    pub per_rank: bool,
    /// Bytes per file.
    pub file_size: SizeSpec,
}

impl Entries {
    /// The only step over the targets' own names; none for work that is not run yet.
    pub fn single(&self) -> Option<Step> {
        match self.steps[..] {
            [step] if step.suits(self.over) => Some(step),
            _ => None,
        }
    }

    /// True where all steps are run: over the targets' own names, each on a file that an earlier
    /// one has opened, where it needs one.
    pub fn is_run(&self) -> bool {
        let mut open = false;
        let fits = |step: &Step| {
            let fits = step.suits(self.over) && (open || !step.needs_open());
            open = matches!(step, Step::Create | Step::Open) || (open && *step != Step::Close);
            fits
        };
        !self.steps.is_empty() && self.steps.iter().all(fits)
    }

    /// True where the names must be there beforehand.
    pub fn needs_names(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, Step::Create | Step::Mkdir))
    }
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            depth: 0,
            width: 1,
            items: 1,
            items_per_rank: false,
            leaves_only: false,
            per_rank: false,
            file_size: SizeSpec::Fixed(Bytes(0)),
        }
    }
}

impl Tree {
    /// Number of directories of one tree, the root included, at most what 64 bits hold.
    pub fn directories(&self) -> u64 {
        // Two levels more than 64 doublings change nothing: the sum is at its end by then, unless
        // every level has one directory or none.
        match self.width {
            0 => 1,
            1 => u64::from(self.depth) + 1,
            width => (0..=self.depth.min(65))
                .map(|level| u64::from(width).saturating_pow(level))
                .fold(0, u64::saturating_add),
        }
    }

    /// Number of directories that hold items.
    pub fn item_directories(&self) -> u64 {
        match self.leaves_only {
            true => u64::from(self.width).saturating_pow(self.depth),
            false => self.directories(),
        }
    }
}

/// Operations on the items of a tree, as one worker issues them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Entries {
    /// Objects of the steps.
    pub over: Over,
    /// Steps done to each of them, in order: `["open", "read", "close"]`.
    pub steps: Vec<Step>,
    /// Order in which they are taken.
    pub select: Select,
    /// Bytes per read or write call within a file; absent means the whole file at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Bypass the page cache.
    pub direct: bool,
    /// Consume batches at a fixed pace behind a queue, as a training job does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loader: Option<Loader>,
}

/// Objects of the steps of [`Entries`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The items of the tree. A worker takes its own, or its part of those that all share; with a
    /// rank shift, those of another rank.
    #[default]
    Items,
    /// The directories of the tree, its root included, parents before their children, or after
    /// them where they are removed.
    Directories,
    /// The files that the job's targets name, there or not; a worker takes every n-th.
    TargetFiles,
    /// The same, of directories.
    TargetDirectories,
}

impl Over {
    /// True where the targets' own names are meant, not a tree.
    pub fn is_of_targets(self) -> bool {
        matches!(self, Over::TargetFiles | Over::TargetDirectories)
    }
}

/// One operation on a named thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the system calls'")]
pub enum Step {
    Mkdir,
    Rmdir,
    List,
    Create,
    Open,
    Close,
    Read,
    Write,
    Fsync,
    Stat,
    Lstat,
    Statx,
    Truncate,
    Rename,
    Link,
    Unlink,
    Put,
    Get,
    Head,
    Delete,
}

/// The table of operations: one row per step, in the order of [`Step`].
pub const OPERATIONS: &[Operation] = &[
    Operation::of("mkdir", Figure::Names),
    Operation::of("rmdir", Figure::Names).destroying(),
    Operation::of("list", Figure::Names),
    Operation::of("create", Figure::Names),
    Operation::of("open", Figure::Names),
    Operation::of("close", Figure::Names),
    Operation::of("read", Figure::Read).moving(),
    Operation::of("write", Figure::Write).moving().destroying(),
    Operation::of("fsync", Figure::Flush),
    Operation::of("stat", Figure::Names),
    Operation::of("lstat", Figure::Names),
    Operation::of("statx", Figure::Names),
    Operation::of("truncate", Figure::Names).destroying(),
    Operation::of("rename", Figure::Names).destroying(),
    Operation::of("link", Figure::Names),
    Operation::of("unlink", Figure::Names).destroying(),
    Operation::of("put", Figure::Write).moving().destroying(),
    Operation::of("get", Figure::Read).moving(),
    Operation::of("head", Figure::Names),
    Operation::of("delete", Figure::Names).destroying(),
];

impl Step {
    /// Every step, in the order of their numbers.
    pub const ALL: [Step; 20] = [
        Step::Mkdir,
        Step::Rmdir,
        Step::List,
        Step::Create,
        Step::Open,
        Step::Close,
        Step::Read,
        Step::Write,
        Step::Fsync,
        Step::Stat,
        Step::Lstat,
        Step::Statx,
        Step::Truncate,
        Step::Rename,
        Step::Link,
        Step::Unlink,
        Step::Put,
        Step::Get,
        Step::Head,
        Step::Delete,
    ];

    /// The row in the table of operations.
    pub fn operation(self) -> &'static Operation {
        &OPERATIONS[self as usize]
    }

    /// The name used in reports: the system call's.
    pub fn name(self) -> &'static str {
        self.operation().name
    }

    /// True where it is done to a file that is open.
    pub fn needs_open(self) -> bool {
        matches!(self, Step::Read | Step::Write | Step::Fsync | Step::Close)
    }

    /// True where it can be done to a target's own name.
    pub fn suits(self, over: Over) -> bool {
        let looks = matches!(self, Step::Stat | Step::Lstat | Step::Statx);
        match over {
            Over::TargetFiles => {
                let changes = matches!(
                    self,
                    Step::Create | Step::Open | Step::Write | Step::Truncate | Step::Unlink
                );
                looks || changes || self.needs_open()
            }
            Over::TargetDirectories => looks || matches!(self, Step::Mkdir | Step::Rmdir),
            Over::Items | Over::Directories => false,
        }
    }
}

/// Order in which a worker takes the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// In the tree's order.
    #[default]
    Sequential,
    /// Every item once per pass, in an order keyed by seed and pass.
    Shuffled,
    /// Uniform, items may repeat.
    Random,
}

/// Consumption of items in batches at a fixed pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loader {
    /// Items per batch.
    pub batch: u32,
    /// Batches that may be ready ahead of the consumer.
    pub prefetch: u32,
    /// Time the consumer needs per batch.
    pub compute: Nanos,
}
