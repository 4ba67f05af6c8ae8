//! The options of md-workbench, as they were given.

mod read;
mod rows;
#[cfg(test)]
mod tests;

pub use read::{Reading, read};
pub use rows::{Draft, TABLE, help};

pub use candor_ior_family::reading::Instead;
pub use candor_ior_family::results::{Packet, SummaryFormat};

/// A run as it is asked for.
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

/// Sets and the objects in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Directory of the sets (`-o`).
    pub prefix: String,
    /// Sets of each process (`-D`).
    pub sets: u64,
    /// Objects in each set (`-P`).
    pub precreate: u64,
    /// Objects of each set that the benchmark works on (`-I`).
    pub steps: u64,
    /// Ranks from a process to the one whose objects it works on, for each set (`-O`).
    pub offset: u32,
    /// Number of the first object; 0 where it is not given.
    pub start_item: u64,
}

impl Default for ObjectOptions {
    fn default() -> Self {
        ObjectOptions {
            prefix: "./out".into(),
            sets: 10,
            precreate: 3000,
            steps: 1000,
            offset: 1,
            start_item: 0,
        }
    }
}

/// Phases, and their ends.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Make sets and objects (`-1`).
    pub precreate: bool,
    /// Stat, read, delete and create (`-2`).
    pub benchmark: bool,
    /// Remove objects and sets (`-3`).
    pub cleanup: bool,
    /// Benchmarks one after another (`-R`).
    pub iterations: u32,
    /// Waiting time, in times of an operation's (`-t`).
    pub waiting: f64,
    /// Each benchmark again with several waiting times (`-T`).
    pub adaptive: bool,
    /// Time after which a benchmark ends, in s (`-w`); 0 sets none.
    pub stonewall_s: u64,
    /// All processes go on to the furthest one's count then (`-W`).
    pub wear_out: bool,
    /// The benchmark stats and reads only.
    pub read_only: bool,
    /// A failure of the first phase ends nothing.
    pub ignore_precreate_errors: bool,
    /// File with the number of the oldest object.
    pub run_info_file: String,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            precreate: false,
            benchmark: false,
            cleanup: false,
            iterations: 3,
            waiting: 0.0,
            adaptive: false,
            stonewall_s: 0,
            wear_out: false,
            read_only: false,
            ignore_precreate_errors: false,
            run_info_file: "md-workbench.status".into(),
        }
    }
}

/// Bytes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOptions {
    /// Bytes of each object (`-S`).
    pub size: u64,
    /// Kind of the bytes.
    pub packet: Packet,
    /// Seed of the bytes (`-G`); absent means the time.
    pub seed: Option<u64>,
    /// Reads are compared (`-X`).
    pub verify_read: bool,
    /// The page cache is bypassed.
    pub direct: bool,
}

impl Default for DataOptions {
    fn default() -> Self {
        DataOptions {
            size: 3901,
            packet: Packet::Timestamp,
            seed: None,
            verify_read: false,
            direct: false,
        }
    }
}

/// Results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Only the lines of the phases (`-q`).
    pub quiet: bool,
    /// Verbosity (`-v`).
    pub verbosity: u32,
    /// A line of counts for each phase, in columns.
    pub detailed: bool,
    /// Begin of the names of files that get each operation's time (`-L`).
    pub latency_prefix: Option<String>,
    /// These files have the operations of all processes.
    pub latency_all: bool,
    /// Form of the results as one document.
    pub summary_format: SummaryFormat,
    /// File that gets that document.
    pub summary_file: Option<String>,
}
