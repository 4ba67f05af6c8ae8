//! Options of IOR's tests.

mod read;
mod reader;
mod rows;
mod script;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

use super::grammar::Memory;
use candor_front::choices;
use smart_default::SmartDefault;

pub use read::{FakeNodes, Reading, TestScope, read};
pub use reader::Test;
pub use rows::{TABLE, help};

/// Request for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
}

/// The options of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Phases, repetitions and tasks.
    pub run: RunOptions,
    /// Files and the bytes in them.
    pub layout: LayoutOptions,
    /// Order of reads among the tasks.
    pub order: OrderOptions,
    /// Limits that end a test early.
    pub ends: EndOptions,
    /// How I/O is issued.
    pub io: IoOptions,
    /// Content, and its verification.
    pub data: DataOptions,
    /// Results.
    pub output: OutputOptions,
}

/// Phases, repetitions and tasks.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct RunOptions {
    /// Write (`-w`).
    pub write: bool,
    /// Read (`-r`).
    pub read: bool,
    /// Read back and verify after writing (`-W`).
    pub check_write: bool,
    /// Verify while reading (`-R`).
    pub check_read: bool,
    /// Repetitions, 1 by default.
    #[default(1)]
    pub repetitions: u32,
    /// Time before each write and each read.
    pub delay: Duration,
    /// Barriers between open, transfer and close.
    pub barriers: bool,
    /// Do not delete files before the write.
    pub use_existing: bool,
    /// Keep files at the end.
    pub keep: bool,
    /// Keep files with verification errors.
    pub keep_with_error: bool,
    /// Number of tasks; all by default.
    pub tasks: Option<u32>,
    /// Number of nodes, instead of the host's answer.
    pub nodes: Option<u32>,
    /// Tasks on the first node, instead of the host's answer.
    pub tasks_on_node0: Option<u32>,
    /// Memory to occupy on each node.
    pub memory_per_node: Option<Memory>,
    /// Memory to occupy for each task, in bytes.
    pub memory_per_task: Option<u64>,
}

/// Files and the bytes in them.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct LayoutOptions {
    /// Path of the file; several paths are separated by `@`.
    #[default = "testFile"]
    pub test_file: String,
    /// Contiguous bytes of a task in a segment, 1 MiB by default.
    #[default(1 << 20)]
    pub block_bytes: u64,
    /// Bytes per call, 256 KiB by default.
    #[default(256 << 10)]
    pub transfer_bytes: u64,
    /// Segments, 1 by default.
    #[default(1)]
    pub segments: u32,
    /// Use a file per task.
    pub file_per_process: bool,
    /// Use a directory per task file.
    pub unique_dir: bool,
    /// Use new files in each repetition.
    pub multi_file: bool,
    /// 1: transfers in random order; 2: blocks at random positions.
    pub random: u32,
    /// Seed of the random order; absent means the time.
    pub random_seed: Option<u32>,
    /// Bytes per call for a sequential fill before random writes; 0 disables it.
    pub prefill_bytes: u64,
}

/// Order of reads among the tasks.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct OrderOptions {
    /// Read the data of a task at a constant distance (`-C`).
    pub constant: bool,
    /// 1: read the data of a random task; 2: read each task's data once, in random order (`-Z`).
    pub random: u32,
    /// Distance in nodes (`-Q`), 1 by default.
    #[default(1)]
    pub offset: u32,
    /// Seed of the random order; a negative seed changes in each repetition.
    pub seed: i32,
}

/// Limits that end a test early.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndOptions {
    /// Time limit of a phase in seconds (`-D`); 0 means no limit.
    pub deadline_s: u64,
    /// Minimum time of each task's transfers in seconds.
    pub min_s: u64,
    /// After the limit, all tasks continue to the largest count of any task.
    pub wear_out: bool,
    /// Number of transfers of each task; 0 means no limit.
    pub wear_out_iterations: u64,
    /// File that passes this count from a write to a read.
    pub status_file: Option<String>,
    /// Time in minutes after which no phase starts; 0 means no limit.
    pub max_time_min: u64,
}

choices! {
    /// Back end.
    pub enum Api {
        #[default]
        Posix = "system calls": "POSIX",
        Mpiio = "MPI-IO, by independent system calls": "MPIIO",
        Mmap = "files mapped into memory": "MMAP",
        Dummy = "no I/O at all": "DUMMY",
        Aio = "the kernel's aio": "AIO",
        IoUring = "io_uring, candor's own addition": "io_uring",
    }
}

impl Api {
    /// True if the back end can bypass the page cache.
    pub fn can_be_direct(self) -> bool {
        !matches!(self, Api::Mmap | Api::Mpiio)
    }
}

/// Pauses of the back end DUMMY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DummyDelays {
    /// Pause in each create.
    pub create_us: u32,
    /// Pause in each close.
    pub close_us: u32,
}

/// How I/O is issued.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct IoOptions {
    /// Back end.
    pub api: Api,
    /// Bypass the page cache.
    pub direct: bool,
    /// Lock of the kernel around each transfer.
    pub range_locks: bool,
    /// Flush files after the write phase.
    pub fsync: bool,
    /// Flush the file after each write.
    pub fsync_per_write: bool,
    /// Use collective calls.
    pub collective: bool,
    /// Pause after each transfer.
    pub delay_us: u64,
    /// Other pauses of DUMMY.
    pub dummy: DummyDelays,
    /// Transfers in flight of each task, for AIO and `io_uring`.
    #[default(128)]
    pub pending_max: u32,
    /// Transfers per submission.
    #[default(16)]
    pub granularity: u32,
    /// Drop mapped pages first.
    pub map_dont_need: bool,
    /// Advise the kernel on the access order of mappings.
    pub map_pattern: bool,
}

choices! {
    /// Content of transfers. The first letter alone is enough.
    pub enum Packet {
        #[default]
        Timestamp = "time stamp, rank and a counter": "timestamp" | "t",
        Offset = "the same, with the offset in each 4 KiB": "offset" | "o",
        Incompressible = "one random word, with the offset in each 4 KiB": "incompressible" | "i",
        Random = "random words": "random" | "r",
    }
}

impl Packet {
    /// The letter.
    pub fn letter(self) -> &'static str {
        &self.word()[..1]
    }
}

/// Content, and its verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataOptions {
    /// Content.
    pub packet: Packet,
    /// Signature; 0 means the current time.
    pub signature: i32,
    /// End a phase at the first verification error.
    pub quit_on_error: bool,
}

choices! {
    /// Format of the results.
    pub enum Format {
        #[default]
        Default = "tables": "default",
        Json = "one document": "JSON",
        Csv = "a row for each result": "CSV",
    }
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Verbosity, 0 to 5.
    pub verbose: u32,
    /// Number of the test, chosen by the user.
    pub reference: i64,
    /// File of the results.
    pub summary_file: Option<String>,
    /// Format of the results.
    pub format: Format,
    /// Print the summary of each test after its results.
    pub summary_always: bool,
    /// File for a row per task and phase.
    pub rank_csv: Option<String>,
    /// Prefix of the files with a row per transfer.
    pub operations_csv: Option<String>,
    /// Seconds from the mean beyond which a task is reported; 0 disables reports.
    pub outlier_s: u64,
    /// Print the plan only.
    pub dry_run: bool,
    /// Warnings are errors, and end the run before it starts.
    pub warnings_are_errors: bool,
    /// Text to print before the options.
    pub debug: Option<String>,
    /// Name of the platform, instead of the host's.
    pub platform: Option<String>,
}
