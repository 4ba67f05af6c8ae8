//! Options of md-workbench.

mod rows;
#[cfg(test)]
mod tests;

use std::ffi::OsString;

use candor_front::{Environment, Plain, Table};
use candor_ior_family::reading::{self, Tool};
use smart_default::SmartDefault;

pub use rows::{TABLE, help};

pub use candor_ior_family::content::Packet;
pub use candor_ior_family::reading::Instead;
pub use candor_ior_family::results::SummaryFormat;

/// A command line as read.
pub type Reading = reading::Reading<Options>;

/// Reads a command line, the program's name first.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    reading::read(argv, environment)
}

/// A run as requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The command line, the program's name first.
    pub command: Vec<String>,
    /// Number of processes, each a worker.
    pub ranks: u32,
    /// Sets and the objects in them.
    pub objects: ObjectOptions,
    /// Phases, and their ends.
    pub run: RunOptions,
    /// Bytes of objects.
    pub data: DataOptions,
    /// Results.
    pub output: OutputOptions,
}

impl Tool for Options {
    const NAME: &'static str = "md-workbench";
    const TABLE: Table<Plain<Options>> = TABLE;

    fn begin(&mut self, ranks: u32, command: Vec<String>) {
        (self.ranks, self.command) = (ranks, command);
    }
}

/// Sets and the objects in them.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Directory of the sets (`-o`).
    #[default = "./out"]
    pub prefix: String,
    /// Sets of each process (`-D`).
    #[default(10)]
    pub sets: u64,
    /// Objects in each set (`-P`).
    #[default(3000)]
    pub precreate: u64,
    /// Objects of each set that the benchmark uses (`-I`).
    #[default(1000)]
    pub steps: u64,
    /// Distance in ranks to the owner of the used objects, per set (`-O`).
    #[default(1)]
    pub offset: u32,
    /// Number of the first object; 0 if not given.
    pub start_item: u64,
}

/// Phases, and their ends.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct RunOptions {
    /// Make sets and objects (`-1`).
    pub precreate: bool,
    /// Stat, read, delete and create (`-2`).
    pub benchmark: bool,
    /// Remove objects and sets (`-3`).
    pub cleanup: bool,
    /// Benchmarks one after another (`-R`).
    #[default(3)]
    pub iterations: u32,
    /// Waiting time as a multiple of an operation's duration (`-t`).
    pub waiting: f64,
    /// Repeat each benchmark with several waiting times (`-T`).
    pub adaptive: bool,
    /// Time limit of a benchmark in s (`-w`); 0 means no limit.
    pub stonewall_s: u64,
    /// After the limit, all processes continue to the furthest process's count (`-W`).
    pub wear_out: bool,
    /// The benchmark stats and reads only.
    pub read_only: bool,
    /// Continue after a failure of the first phase.
    pub ignore_precreate_errors: bool,
    /// File with the number of the oldest object.
    #[default = "md-workbench.status"]
    pub run_info_file: String,
}

/// Bytes of objects.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq)]
pub struct DataOptions {
    /// Bytes of each object (`-S`).
    #[default(3901)]
    pub size: u64,
    /// Type of the data.
    pub packet: Packet,
    /// Seed of the data (`-G`); absent means the time.
    pub seed: Option<u64>,
    /// Verify reads (`-X`).
    pub verify_read: bool,
    /// Bypass the page cache.
    pub direct: bool,
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Print the lines of the phases only (`-q`).
    pub quiet: bool,
    /// Verbosity (`-v`).
    pub verbosity: u32,
    /// Print a line of counts for each phase, in columns.
    pub detailed: bool,
    /// Prefix of files with operation times (`-L`).
    pub latency_prefix: Option<String>,
    /// Write the operations of all processes to these files.
    pub latency_all: bool,
    /// Format of the results as one document.
    pub summary_format: SummaryFormat,
    /// File for that document.
    pub summary_file: Option<String>,
}
