//! The options of IOR's tests, as they were given.

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

pub use read::{FakeNodes, Reading, TestScope, read};
pub use reader::Test;
pub use rows::{Draft, Instead, TABLE, help};

/// The options of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Phases, repetitions and tasks.
    pub run: RunOptions,
    /// Files and the bytes in them.
    pub layout: LayoutOptions,
    /// Whose data is read.
    pub order: OrderOptions,
    /// Ends before all is done.
    pub ends: EndOptions,
    /// How I/O is issued.
    pub io: IoOptions,
    /// Content, and its verification.
    pub data: DataOptions,
    /// Results.
    pub output: OutputOptions,
}

/// Phases, repetitions and tasks.
#[derive(Clone, Debug, PartialEq)]
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
    pub repetitions: u32,
    /// Time before each write and each read.
    pub delay: Duration,
    /// Barriers between open, transfer and close.
    pub barriers: bool,
    /// Files are not deleted before they are written.
    pub use_existing: bool,
    /// Files stay at the end.
    pub keep: bool,
    /// Files stay where verification found errors.
    pub keep_with_error: bool,
    /// Tasks that take part; all by default.
    pub tasks: Option<u32>,
    /// Nodes, in place of what the host says.
    pub nodes: Option<u32>,
    /// Tasks on the first node, in place of what the host says.
    pub tasks_on_node0: Option<u32>,
    /// Memory that a node keeps occupied.
    pub memory_per_node: Option<Memory>,
    /// Memory in bytes that each task keeps occupied.
    pub memory_per_task: Option<u64>,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            write: false,
            read: false,
            check_write: false,
            check_read: false,
            repetitions: 1,
            delay: Duration::ZERO,
            barriers: false,
            use_existing: false,
            keep: false,
            keep_with_error: false,
            tasks: None,
            nodes: None,
            tasks_on_node0: None,
            memory_per_node: None,
            memory_per_task: None,
        }
    }
}

/// Files and the bytes in them.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutOptions {
    /// Path of the file; several with `@` between.
    pub test_file: String,
    /// Contiguous bytes of a task in a segment, 1 MiB by default.
    pub block_bytes: u64,
    /// Bytes per call, 256 KiB by default.
    pub transfer_bytes: u64,
    /// Segments, 1 by default.
    pub segments: u32,
    /// Each task has a file.
    pub file_per_process: bool,
    /// Each task's file has a directory.
    pub unique_dir: bool,
    /// Each repetition has files of its own.
    pub multi_file: bool,
    /// 1: transfers in random order; 2: blocks at random places.
    pub random: u32,
    /// Seed of that order; absent means the time.
    pub random_seed: Option<u32>,
    /// Bytes per call of a fill in sequence before random writes; 0: none.
    pub prefill_bytes: u64,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        LayoutOptions {
            test_file: "testFile".into(),
            block_bytes: 1 << 20,
            transfer_bytes: 256 << 10,
            segments: 1,
            file_per_process: false,
            unique_dir: false,
            multi_file: false,
            random: 0,
            random_seed: None,
            prefill_bytes: 0,
        }
    }
}

/// Whose data is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderOptions {
    /// That of a task at a constant distance (`-C`).
    pub constant: bool,
    /// 1: that of a random task; 2: of each task once, in random order (`-Z`).
    pub random: u32,
    /// Distance in nodes (`-Q`), 1 by default.
    pub offset: u32,
    /// Seed of the random order; negative means another one in each repetition.
    pub seed: i32,
}

impl Default for OrderOptions {
    fn default() -> Self {
        OrderOptions { constant: false, random: 0, offset: 1, seed: 0 }
    }
}

/// Ends before all is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndOptions {
    /// Seconds after which a phase ends (`-D`); 0 sets no limit.
    pub deadline_s: u64,
    /// Seconds until which each task repeats its transfers.
    pub min_s: u64,
    /// Tasks go on to the largest count that any had reached then.
    pub wear_out: bool,
    /// Transfers after which each task ends; 0 sets no limit.
    pub wear_out_iterations: u64,
    /// File that keeps that count from a write to a read.
    pub status_file: Option<String>,
    /// Minutes after which no other phase begins; 0 sets no limit.
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
    /// True where files may be opened without the page cache.
    pub fn can_be_direct(self) -> bool {
        !matches!(self, Api::Mmap | Api::Mpiio)
    }
}

/// Pauses of the back end DUMMY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DummyDelays {
    /// In each create.
    pub create_us: u32,
    /// In each close.
    pub close_us: u32,
}

/// How I/O is issued.
#[derive(Clone, Debug, PartialEq)]
pub struct IoOptions {
    /// Back end.
    pub api: Api,
    /// The page cache is bypassed.
    pub direct: bool,
    /// Lock of the kernel around each transfer.
    pub range_locks: bool,
    /// Files are flushed after the write phase.
    pub fsync: bool,
    /// Files are flushed after each write.
    pub fsync_per_write: bool,
    /// Collective calls were asked for.
    pub collective: bool,
    /// Pause after each transfer.
    pub delay_us: u64,
    /// Other pauses of DUMMY.
    pub dummy: DummyDelays,
    /// Transfers in flight of each task, for AIO and `io_uring`.
    pub pending_max: u32,
    /// Transfers that are submitted together.
    pub granularity: u32,
    /// Mapped pages are dropped first.
    pub map_dont_need: bool,
    /// Advice about the order of accesses to mappings.
    pub map_pattern: bool,
}

impl Default for IoOptions {
    fn default() -> Self {
        IoOptions {
            api: Api::Posix,
            direct: false,
            range_locks: false,
            fsync: false,
            fsync_per_write: false,
            collective: false,
            delay_us: 0,
            dummy: DummyDelays::default(),
            pending_max: 128,
            granularity: 16,
            map_dont_need: false,
            map_pattern: false,
        }
    }
}

choices! {
    /// Content of transfers. The first letter alone chooses one, too.
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
    /// Signature; 0 means the time of day.
    pub signature: i32,
    /// A phase ends at the first error that verification finds.
    pub quit_on_error: bool,
}

choices! {
    /// Form of the results.
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
    /// The user's number of the test.
    pub reference: i64,
    /// File of the results.
    pub summary_file: Option<String>,
    /// Form of the results.
    pub format: Format,
    /// The summary of each test follows its results.
    pub summary_always: bool,
    /// File that gets a row for each task and phase.
    pub rank_csv: Option<String>,
    /// Begin of the names of files with a row for each transfer.
    pub operations_csv: Option<String>,
    /// Seconds from the mean beyond which a task is named; 0 names none.
    pub outlier_s: u64,
    /// Nothing is done; the plan is printed.
    pub dry_run: bool,
    /// A warning ends the run before it begins.
    pub warnings_are_errors: bool,
    /// Text that is printed before the options.
    pub debug: Option<String>,
    /// Name of the platform, in place of the host's.
    pub platform: Option<String>,
}
