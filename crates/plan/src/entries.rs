//! Entries: operations on named things, in a tree or of the targets' own names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::operation::{Figure, Operation};
use crate::{Bytes, Nanos, Target};

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
    /// The steps are done to the other name of each thing, [`ALIAS`] longer, which `rename`, `link`
    /// or `symlink` gave it; these three then give it its first name.
    pub on_alias: bool,
    /// Consume batches at a fixed pace behind a queue, as a training job does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loader: Option<Loader>,
}

/// End of the other name of a thing.
pub const ALIAS: &str = ".alias";

impl Entries {
    /// The only step; none where each thing has several.
    pub fn single(&self) -> Option<Step> {
        match self.steps[..] {
            [step] => Some(step),
            _ => None,
        }
    }

    /// Number of things of a target that so many ranks work on.
    pub fn names_of(&self, target: &Target, ranks: u64) -> u64 {
        let totals = target.tree.as_ref().map(|tree| tree.totals(ranks));
        match (self.over, totals) {
            (Over::Items, Some(totals)) => totals.items,
            (Over::Directories, Some(totals)) => totals.directories,
            _ => target.files_named(),
        }
    }

    /// Most things of a target that stand in one directory; none where their names tell it not.
    pub fn names_in_one_directory(&self, target: &Target, ranks: u64) -> Option<u64> {
        match (self.over, &target.tree) {
            (Over::Items, Some(tree)) => {
                let owners = if tree.items_per_rank && !tree.per_rank { ranks } else { 1 };
                Some(tree.items.saturating_mul(owners))
            }
            (Over::Directories, Some(tree)) => Some(tree.width.into()),
            _ => target.is_flat().then(|| target.files_named()),
        }
    }

    /// True where the names must be there beforehand.
    pub fn needs_names(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, Step::Create | Step::Mkdir))
    }

    /// True where the things are directories, not files.
    pub fn is_of_directories(&self) -> bool {
        let of_directories = |step: &Step| matches!(step, Step::Mkdir | Step::Rmdir | Step::List);
        matches!(self.over, Over::Directories | Over::TargetDirectories)
            || self.steps.iter().any(of_directories)
    }

    /// True where directories are removed: children go before their parents.
    pub fn removes_directories(&self) -> bool {
        self.over == Over::Directories && self.steps.contains(&Step::Rmdir)
    }

    /// True where directories of a tree come or go.
    pub fn makes_or_removes_directories(&self) -> bool {
        self.removes_directories()
            || (self.over == Over::Directories && self.steps.contains(&Step::Mkdir))
    }

    /// True where a step has another name than the thing's own as well.
    pub fn uses_alias(&self) -> bool {
        self.on_alias || self.steps.iter().any(|step| step.gives_alias())
    }
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
    Symlink,
    Readlink,
    Setxattr,
    Getxattr,
    Removexattr,
    Syncfs,
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
    Operation::of("symlink", Figure::Names),
    Operation::of("readlink", Figure::Names),
    Operation::of("setxattr", Figure::Names).destroying(),
    Operation::of("getxattr", Figure::Names),
    Operation::of("removexattr", Figure::Names).destroying(),
    Operation::of("syncfs", Figure::Flush),
];

impl Step {
    /// Every step, in the order of their numbers.
    pub const ALL: [Step; 22] = [
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
        Step::Symlink,
        Step::Readlink,
        Step::Setxattr,
        Step::Getxattr,
        Step::Removexattr,
        Step::Syncfs,
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

    /// True where it gives a thing its other name.
    pub fn gives_alias(self) -> bool {
        matches!(self, Step::Rename | Step::Link | Step::Symlink)
    }

    /// True where it can be done to such things.
    pub fn suits(self, over: Over) -> bool {
        match self {
            Step::Stat | Step::Lstat | Step::Statx | Step::Rename | Step::Syncfs => true,
            Step::Symlink | Step::Readlink => true,
            Step::Setxattr | Step::Getxattr | Step::Removexattr => true,
            Step::Mkdir | Step::Rmdir | Step::List => over != Over::TargetFiles,
            Step::Create
            | Step::Open
            | Step::Close
            | Step::Read
            | Step::Write
            | Step::Fsync
            | Step::Truncate
            | Step::Link
            | Step::Unlink => {
                matches!(over, Over::Items | Over::TargetFiles)
            }
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
