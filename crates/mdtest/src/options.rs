//! The options of mdtest, as they were given.

mod read;
mod rows;
#[cfg(test)]
mod tests;
pub use read::{Reading, read};
pub use rows::{Draft, TABLE, help};

pub use candor_ior_family::back_ends::BackEnd;
pub use candor_ior_family::reading::Instead;
pub use candor_ior_family::results::{Packet, SummaryFormat};

/// A test as it is asked for.
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
    /// How names are made, and by whom.
    pub making: MakingOptions,
    /// Iterations, tasks, ends.
    pub run: RunOptions,
    /// Bytes of files.
    pub data: DataOptions,
    /// Results.
    pub output: OutputOptions,
}

/// Items and their tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// The directories of `-d`.
    pub paths: Vec<String>,
    /// Items of each task (`-n`); 0 where it is not given.
    pub items: u64,
    /// Items of each task in each directory (`-I`); 0 where it is not given.
    pub items_per_dir: u64,
    /// Levels below the root (`-z`).
    pub depth: u32,
    /// Directories in each directory (`-b`), 1 by default.
    pub branch: u32,
    /// Items stand in the deepest directories only (`-L`).
    pub leaf_only: bool,
    /// Each task has a tree (`-u`).
    pub unique: bool,
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions {
            paths: vec!["./out".into()],
            items: 0,
            items_per_dir: 0,
            depth: 0,
            branch: 1,
            leaf_only: false,
            unique: false,
        }
    }
}

/// The operations that are asked for; where none is, all are.
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

/// How names are made, and by whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MakingOptions {
    /// Task 0 makes and removes the items of all (`-c`).
    pub collective: bool,
    /// All tasks work on the same files (`-S`).
    pub shared: bool,
    /// Files are made by `mknod` (`-k`).
    pub mknod: bool,
    /// Each file is synced after its write (`-y`).
    pub fsync: bool,
    /// The filesystem is synced after each phase (`-Y`).
    pub sync: bool,
}

/// Iterations, tasks, ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Iterations (`-i`), 1 by default.
    pub iterations: u32,
    /// Fewest tasks (`-f`), 1 by default.
    pub first: u32,
    /// Most tasks (`-l`); 0 means all, and only these.
    pub last: u32,
    /// Step from fewest to most (`-s`), 1 by default.
    pub stride: u32,
    /// Each phase works on the items of the task so many further on than the phase before (`-N`).
    pub shift: u64,
    /// Phases of one task do not wait for the others (`-B`).
    pub no_barriers: bool,
    /// Wait before the tests of an iteration in s (`-p`).
    pub delay_s: u64,
    /// Time after which file creation ends, in s (`-W`); 0 sets none.
    pub stonewall_s: u64,
    /// File with the number of items that were created (`-x`).
    pub stonewall_file: Option<String>,
    /// Stat and read in random order (`-R`).
    pub random: bool,
    /// Seed of that order; 0 means the time.
    pub random_seed: u64,
    /// Command before each phase.
    pub before: Option<String>,
    /// Command after each phase, in its time.
    pub after: Option<String>,
    /// A warning is an error.
    pub warnings_are_errors: bool,
    /// Verbosity (`-v`, `-V`).
    pub verbosity: u32,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            iterations: 1,
            first: 1,
            last: 0,
            stride: 1,
            shift: 0,
            no_barriers: false,
            delay_s: 0,
            stonewall_s: 0,
            stonewall_file: None,
            random: false,
            random_seed: 0,
            before: None,
            after: None,
            warnings_are_errors: false,
            verbosity: 0,
        }
    }
}

/// Bytes of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// The back end (`-a`).
    pub back_end: BackEnd,
    /// Bytes that are written into each file (`-w`).
    pub write_bytes: u64,
    /// Bytes that are read of each file (`-e`).
    pub read_bytes: u64,
    /// Kind of the bytes.
    pub packet: Packet,
    /// Seed of the bytes (`-G`); absent means the time.
    pub seed: Option<u64>,
    /// Reads are compared (`-X`).
    pub verify_read: bool,
    /// Writes are read back and compared.
    pub verify_write: bool,
    /// The page cache is bypassed.
    pub direct: bool,
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Rates, and times below them (`-P`).
    pub both: bool,
    /// Times instead of rates (`-Z`).
    pub times: bool,
    /// Rates of each task.
    pub all_procs: bool,
    /// Statistics over tasks beside those over iterations.
    pub rank_statistics: bool,
    /// File that gets rates of each task.
    pub rank_file: Option<String>,
    /// Begin of the names of files that get each operation's time.
    pub per_op_prefix: Option<String>,
    /// Form of the results as one document.
    pub summary_format: SummaryFormat,
    /// File that gets that document.
    pub summary_file: Option<String>,
}
