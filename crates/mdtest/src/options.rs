//! Options of mdtest.

mod rows;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use candor_front::{Environment, Plain, Table};
use candor_ior_family::reading::{self, Tool};
use smart_default::SmartDefault;

pub use rows::{TABLE, help};

pub use candor_ior_family::back_ends::BackEnd;
pub use candor_ior_family::content::Packet;
pub use candor_ior_family::reading::Instead;
pub use candor_ior_family::results::SummaryFormat;

/// A command line as read.
pub type Reading = reading::Reading<Options>;

/// Reads a command line, the program's name first.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    reading::read(argv, environment)
}

/// A test as requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The command line, the program's name first.
    pub command: Vec<String>,
    /// Number of tasks, each a worker.
    pub ranks: u32,
    /// Items and their tree.
    pub tree: TreeOptions,
    /// The operations.
    pub phases: Phases,
    /// Ways of creating names, and the tasks that create them.
    pub making: MakingOptions,
    /// Iterations, tasks and limits.
    pub run: RunOptions,
    /// Bytes of files.
    pub data: DataOptions,
    /// Results.
    pub output: OutputOptions,
}

impl Tool for Options {
    const NAME: &'static str = "mdtest";
    const TABLE: Table<Plain<Options>> = TABLE;

    fn begin(&mut self, ranks: u32, command: Vec<String>) {
        (self.ranks, self.command) = (ranks, command);
    }
}

/// Items and their tree.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct TreeOptions {
    /// The directories of `-d`.
    #[default(vec!["./out".into()])]
    pub paths: Vec<String>,
    /// Items of each task (`-n`); 0 if not given.
    pub items: u64,
    /// Items of each task in each directory (`-I`); 0 if not given.
    pub items_per_dir: u64,
    /// Levels below the root (`-z`).
    pub depth: u32,
    /// Directories in each directory (`-b`), 1 by default.
    #[default(1)]
    pub branch: u32,
    /// Put items into the deepest directories only (`-L`).
    pub leaf_only: bool,
    /// Each task has a tree (`-u`).
    pub unique: bool,
}

/// The requested operations; without any, all operations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// On files (`-F`).
    pub files: bool,
    /// On directories (`-D`).
    pub dirs: bool,
    /// Create (`-C`).
    pub create: bool,
    /// Stat (`-T`).
    pub stat: bool,
    /// Read (`-E`).
    pub read: bool,
    /// Remove (`-r`).
    pub remove: bool,
    /// Rename directories (`-U`).
    pub rename: bool,
}

/// Ways of creating names, and the tasks that create them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MakingOptions {
    /// Task 0 creates and removes all items (`-c`).
    pub collective: bool,
    /// All tasks work on the same files (`-S`).
    pub shared: bool,
    /// Create files with `mknod` (`-k`).
    pub mknod: bool,
    /// Sync each file after its write (`-y`).
    pub fsync: bool,
    /// Sync the filesystem after each phase (`-Y`).
    pub sync: bool,
}

/// Iterations, tasks and limits.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct RunOptions {
    /// Iterations (`-i`), 1 by default.
    #[default(1)]
    pub iterations: u32,
    /// Fewest tasks (`-f`), 1 by default.
    #[default(1)]
    pub first: u32,
    /// Most tasks (`-l`); 0 means only runs with all tasks.
    pub last: u32,
    /// Step from fewest to most (`-s`), 1 by default.
    #[default(1)]
    pub stride: u32,
    /// Number of tasks by which each phase shifts the items (`-N`).
    pub shift: u64,
    /// Disable barriers between phases (`-B`).
    pub no_barriers: bool,
    /// Wait before the tests of an iteration in s (`-p`).
    pub delay_s: u64,
    /// Time limit of file creation in s (`-W`); 0 means no limit.
    pub stonewall_s: u64,
    /// File with the number of created items (`-x`).
    pub stonewall_file: Option<String>,
    /// Stat and read in random order (`-R`).
    pub random: bool,
    /// Seed of the random order; 0 means the time.
    pub random_seed: u64,
    /// Command before each phase.
    pub before: Option<String>,
    /// Command after each phase, within its time.
    pub after: Option<String>,
    /// Treat warnings as errors.
    pub warnings_are_errors: bool,
    /// Verbosity (`-v`, `-V`).
    pub verbosity: u32,
}

/// Bytes of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// The back end (`-a`).
    pub back_end: BackEnd,
    /// Bytes to write to each file (`-w`).
    pub write_bytes: u64,
    /// Bytes to read from each file (`-e`).
    pub read_bytes: u64,
    /// Type of the data.
    pub packet: Packet,
    /// Seed of the data (`-G`); absent means the time.
    pub seed: Option<u64>,
    /// Verify reads (`-X`).
    pub verify_read: bool,
    /// Read writes back, and verify them.
    pub verify_write: bool,
    /// Bypass the page cache.
    pub direct: bool,
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Print rates, and times below them (`-P`).
    pub both: bool,
    /// Print times instead of rates (`-Z`).
    pub times: bool,
    /// Print rates of each task.
    pub all_procs: bool,
    /// Print statistics over tasks in addition to statistics over iterations.
    pub rank_statistics: bool,
    /// File for rates of each task.
    pub rank_file: Option<String>,
    /// Prefix of files with operation times.
    pub per_op_prefix: Option<String>,
    /// Format of the results as one document.
    pub summary_format: SummaryFormat,
    /// File for that document.
    pub summary_file: Option<String>,
}
