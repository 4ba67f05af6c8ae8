//! Options of elbencho.

mod credentials;
mod read;
mod rows;
pub mod s3;
#[cfg(test)]
mod tests;

use smart_default::SmartDefault;

pub use read::{Reading, read};
pub use rows::{TABLE, help};

/// Part of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelpPart {
    /// The first one.
    Overview,
    /// Large files.
    Large,
    /// Many small files.
    Multi,
    /// Block devices.
    BlockDevices,
    /// Several hosts.
    Hosts,
    /// Object stores.
    S3,
    /// All options.
    All,
}

/// Request for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// A part of the help.
    Help(HelpPart),
    /// The version.
    Version,
}

/// A benchmark as requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The paths, with brackets expanded.
    pub paths: Vec<String>,
    /// The command line, the program's name first.
    pub command: Vec<String>,
    /// Workers, repeats and time limits.
    pub run: RunOptions,
    /// The phases.
    pub phases: Phases,
    /// Directories of small files.
    pub tree: TreeOptions,
    /// Sizes, and order of offsets.
    pub access: AccessOptions,
    /// How I/O is issued.
    pub io: IoOptions,
    /// Content of files, and its verification.
    pub data: DataOptions,
    /// Checks reads during writes.
    pub mix: MixOptions,
    /// Lists of directories and files.
    pub list: ListOptions,
    /// Object stores.
    pub s3: s3::S3Options,
    /// Several hosts.
    pub hosts: HostsOptions,
    /// Results.
    pub output: OutputOptions,
}

/// Several hosts: services and the master.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct HostsOptions {
    /// Addresses of services, with brackets expanded, in rank order.
    pub list: Vec<String>,
    /// File with more hosts.
    pub file: Option<String>,
    /// Number of hosts to use.
    pub count: Option<usize>,
    /// Each host has its own data set, like a single host.
    pub own_data: bool,
    /// Number of hosts by which each phase shifts the data.
    pub rotate: u32,
    /// Seconds to wait for services to come up.
    #[default(5)]
    pub wait_s: u64,
    /// Run as a service.
    pub service: bool,
    /// The service stays in the foreground.
    pub foreground: bool,
    /// Port of services.
    #[default(PORT)]
    pub port: u16,
    /// End services.
    pub quit: bool,
    /// Interrupt the run of services.
    pub interrupt: bool,
    /// File with the shared secret of services.
    pub secret_file: Option<String>,
}

/// Port of elbencho's services.
const PORT: u16 = 1611;

impl HostsOptions {
    /// Number of hosts that run the benchmark.
    pub fn hosts(&self) -> u32 {
        self.list.len().max(1) as u32
    }

    /// Number of data sets: one of all hosts, or one per host.
    pub fn data_sets(&self) -> u64 {
        if self.own_data { self.hosts().into() } else { 1 }
    }

    /// Addresses with ports.
    pub fn addresses(&self) -> Vec<String> {
        let with_port = |host: &String| {
            if host.contains(':') { host.clone() } else { format!("{host}:{}", self.port) }
        };
        self.list.iter().map(with_port).collect()
    }
}

/// Workers, repeats and time limits.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct RunOptions {
    /// Workers (`-t`), 1 by default.
    #[default(1)]
    pub threads: u32,
    /// Repeats of all phases (`-i`), 1 by default.
    #[default(1)]
    pub iterations: u32,
    /// Time limit of a phase in seconds; no phase follows. 0 means no limit.
    pub time_limit_s: u64,
    /// Workers start over until the time limit.
    pub infinite_loop: bool,
    /// Seconds between two phases.
    pub phase_delay_s: u64,
    /// Start of the first phase in seconds since 1970; 0 means at once.
    pub start_at_s: u64,
    /// Sync filesystems before the first phase and after each phase.
    pub sync: bool,
    /// Drop the kernel's caches before the first phase and after each phase.
    pub drop_caches: bool,
    /// Print totals only.
    pub dry_run: bool,
    /// Text for the results.
    pub label: String,
    /// Verbosity, 0 to 2.
    pub log_level: u8,
    /// CPUs to bind workers to, in turn.
    pub cores: Bind,
    /// NUMA nodes to bind workers to, in turn.
    pub zones: Bind,
    /// Number of the first worker.
    pub rank_offset: u64,
}

impl Options {
    /// True if blocks are verified, or read back after their write.
    pub fn checks(&self) -> bool {
        self.data.verify_salt > 0 || self.tree.read_inline
    }

    /// Workers on all hosts.
    pub fn threads_of_all(&self) -> u64 {
        u64::from(self.run.threads) * u64::from(self.hosts.hosts())
    }

    /// Workers that share a data set.
    pub fn threads_of_data_set(&self) -> u64 {
        self.threads_of_all() / self.hosts.data_sets()
    }
}

/// Numbers to bind workers to, in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// None.
    #[default]
    None,
    /// All numbers of the host.
    All,
    /// Listed numbers.
    Listed(Vec<u32>),
}

/// Requested phases; their order is fixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Make directories (`-d`).
    pub make_dirs: bool,
    /// Write (`-w`).
    pub write: bool,
    /// Stat files (`--stat`).
    pub stat: bool,
    /// Read (`-r`).
    pub read: bool,
    /// Remove files (`-F`).
    pub remove_files: bool,
    /// Remove directories (`-D`).
    pub remove_dirs: bool,
}

/// Directories of small files.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq)]
pub struct TreeOptions {
    /// Directories of each worker (`-n`), 1 by default; 0 puts files into the given path.
    #[default(1)]
    pub dirs: u64,
    /// Files of each worker in each directory (`-N`), 1 by default.
    #[default(1)]
    pub files: u64,
    /// All workers use the directories of worker 0.
    pub dir_sharing: bool,
    /// Count completed directories in addition.
    pub dir_stats: bool,
    /// Stat each file after its open.
    pub stat_inline: bool,
    /// Read each file back after its write.
    pub read_inline: bool,
    /// A removal ignores missing names.
    pub no_delete_errors: bool,
}

/// Sizes, and order of offsets.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq)]
pub struct AccessOptions {
    /// Bytes of each file (`-s`); absent means its current size.
    pub file_bytes: Option<u64>,
    /// Bytes per I/O (`-b`), 1 MiB by default.
    #[default(1 << 20)]
    pub block_bytes: u64,
    /// Offsets are random.
    pub random: bool,
    /// Random offsets are not multiples of the block.
    pub random_unaligned: bool,
    /// Bytes at random offsets over all workers; absent means the size of all files.
    pub random_bytes: Option<u64>,
    /// Source of random offsets.
    pub random_source: RandomSource,
    /// Offsets descend from the end.
    pub backward: bool,
    /// Worker i of n uses every n-th block, starting with block i.
    pub strided: bool,
}

/// Source of random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandomSource {
    /// No source is named: aligned writes use each block once, other accesses draw offsets.
    #[default]
    Chosen,
    /// Drawn offsets, which may repeat.
    Drawn,
}

/// How I/O is issued.
#[derive(Clone, Debug, SmartDefault, PartialEq)]
pub struct IoOptions {
    /// I/Os in flight of each worker, 1 by default.
    #[default(1)]
    pub depth: u32,
    /// Bypass the page cache.
    pub direct: bool,
    /// Skip the alignment check of direct I/O.
    pub no_alignment_check: bool,
    /// Map files and copy bytes.
    pub mmap: bool,
    /// Advice about each file.
    pub file_advice: Vec<FileAdvice>,
    /// Advice about each mapping.
    pub map_advice: Vec<MapAdvice>,
    /// Lock of the kernel around each I/O.
    pub lock: FileLock,
    /// Each worker opens the files itself.
    pub no_fd_sharing: bool,
    /// Truncate files at open.
    pub truncate: bool,
    /// Extend files to their size at open.
    pub truncate_to_size: bool,
    /// Allocate blocks at open.
    pub preallocate: bool,
    /// Largest read rate of each worker in bytes per second; 0 means no limit.
    pub read_limit_bytes_per_s: u64,
    /// Largest write rate of each worker in bytes per second; 0 means no limit.
    pub write_limit_bytes_per_s: u64,
}

impl IoOptions {
    /// I/Os in flight of each worker. With a lock, each I/O waits for it.
    pub fn in_flight(&self) -> u32 {
        if self.lock == FileLock::None { self.depth } else { 1 }
    }
}

/// Lock of the kernel around each I/O (`fcntl`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileLock {
    /// None.
    #[default]
    None,
    /// Over the block.
    Range,
    /// Over the whole file.
    Full,
}

/// Advice about a file (`posix_fadvise`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kernel's")]
pub enum FileAdvice {
    Sequential,
    Random,
    WillNeed,
    DontNeed,
    NoReuse,
}

/// Advice about a mapping (`madvise`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kernel's")]
pub enum MapAdvice {
    Sequential,
    Random,
    WillNeed,
    DontNeed,
    HugePage,
    NoHugePage,
}

/// Content of files, and its verification.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq)]
pub struct DataOptions {
    /// Share of each block with new random bytes, in percent; 100 by default.
    #[default(100)]
    pub variance_percent: u8,
    /// Salt of written and compared words; 0 disables verification.
    pub verify_salt: u64,
    /// Read back and compare each block after its write.
    pub verify_direct: bool,
}

/// Checks reads during writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MixOptions {
    /// Share of reads in the write phase in percent; 0 is a mix, too.
    pub read_percent: Option<u8>,
    /// Number of readers in the write phase; 0 is a mix, too.
    pub read_threads: Option<u32>,
    /// Share of bytes that these readers read, in percent; 0 sets no share.
    pub read_threads_percent: u8,
}

/// Lists of directories and files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// File that lists directories and files.
    pub tree_file: Option<String>,
    /// Directory to scan for such a list.
    pub tree_scan: Option<String>,
    /// Size in bytes above which all workers share a file; absent means 32 blocks.
    pub share_bytes: Option<u64>,
    /// Multiple to which file sizes are rounded up; 0 disables rounding.
    pub round_up_bytes: u64,
    /// Shuffle the files.
    pub shuffled: bool,
    /// Deal files to workers in turn, regardless of size.
    pub round_robin: bool,
}

/// Results.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct OutputOptions {
    /// Print minimum, mean and maximum latencies.
    pub latency: bool,
    /// Latencies: percentiles.
    pub percentiles: bool,
    /// Nines after the decimal point of further percentiles: 1 is 99.9 %.
    pub percentile_nines: u8,
    /// Latencies: histogram.
    pub histogram: bool,
    /// Print times of all workers.
    pub all_elapsed: bool,
    /// Print times of all hosts, slowest first.
    pub hosts_elapsed: bool,
    /// Print round-trip times to each host.
    pub hosts_round_trip: bool,
    /// CPU utilisation.
    pub cpu: bool,
    /// Print units as powers of 10.
    pub base10: bool,
    /// File to append the table to.
    pub result_file: Option<String>,
    /// File to append lines of CSV to.
    pub csv_file: Option<String>,
    /// Omit the header of the CSV.
    pub no_csv_labels: bool,
    /// File to append a line of JSON per phase to.
    pub json_file: Option<String>,
    /// Interval of live metrics in ms; 2000 by default.
    #[default(2000)]
    pub live_interval_ms: u64,
    /// Print live metrics on one line.
    pub live_line: bool,
    /// Print each interval on a new line.
    pub live_lines: bool,
    /// Disable live metrics on the terminal.
    pub no_live: bool,
    /// File, or `stdout`, for live metrics as CSV.
    pub live_csv_file: Option<String>,
    /// Write a CSV row for each worker.
    pub live_csv_extended: bool,
    /// File for a line of JSON before and after each operation.
    pub operations_log: Option<String>,
    /// Write lines of that file under a lock.
    pub operations_log_locked: bool,
}
