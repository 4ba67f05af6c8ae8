//! The options of elbencho, as they were given.

mod read;
mod rows;
#[cfg(test)]
mod tests;

pub use read::{Reading, read};
pub use rows::{Draft, TABLE, help};

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

/// A benchmark as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The paths, brackets expanded.
    pub paths: Vec<String>,
    /// The command line, the program's name first.
    pub command: Vec<String>,
    /// Workers, repeats, and ends.
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
    /// Reads beside writes.
    pub mix: MixOptions,
    /// Lists of directories and files.
    pub list: ListOptions,
    /// Several hosts.
    pub hosts: HostsOptions,
    /// Results.
    pub output: OutputOptions,
}

/// Several hosts: services, and those who lead them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostsOptions {
    /// Addresses of services, brackets expanded, in the order of their ranks.
    pub list: Vec<String>,
    /// File with more of them.
    pub file: Option<String>,
    /// Only so many of them are used.
    pub count: Option<usize>,
    /// Each host has a data set of its own, as if it were the only one.
    pub own_data: bool,
    /// Each phase has the hosts in another order, shifted by so many.
    pub rotate: u32,
    /// Seconds to wait for services that are not there yet.
    pub wait_s: u64,
    /// Be a service.
    pub service: bool,
    /// A service stays in the foreground.
    pub foreground: bool,
    /// Port of services.
    pub port: u16,
    /// End services.
    pub quit: bool,
    /// End the run of services.
    pub interrupt: bool,
    /// File with the secret that services share.
    pub secret_file: Option<String>,
}

/// Port of elbencho's services.
const PORT: u16 = 1611;

impl Default for HostsOptions {
    fn default() -> Self {
        HostsOptions {
            list: Vec::new(),
            file: None,
            count: None,
            own_data: false,
            rotate: 0,
            wait_s: 5,
            service: false,
            foreground: false,
            port: PORT,
            quit: false,
            interrupt: false,
            secret_file: None,
        }
    }
}

impl HostsOptions {
    /// Number of hosts that run the benchmark.
    pub fn hosts(&self) -> u32 {
        self.list.len().max(1) as u32
    }

    /// Number of data sets: one of all hosts together, or one of each.
    pub fn data_sets(&self) -> u64 {
        if self.own_data { self.hosts().into() } else { 1 }
    }

    /// Addresses with their port.
    pub fn addresses(&self) -> Vec<String> {
        let with_port = |host: &String| {
            if host.contains(':') { host.clone() } else { format!("{host}:{}", self.port) }
        };
        self.list.iter().map(with_port).collect()
    }
}

/// Workers, repeats, and ends.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOptions {
    /// Workers (`-t`), 1 by default.
    pub threads: u32,
    /// Runs of the whole list of phases (`-i`), 1 by default.
    pub iterations: u32,
    /// Seconds after which a phase ends, and the run with it; 0 sets no limit.
    pub time_limit_s: u64,
    /// Workers start over until the time limit.
    pub infinite_loop: bool,
    /// Seconds between two phases.
    pub phase_delay_s: u64,
    /// Start of the first phase in seconds since 1970; 0 is at once.
    pub start_at_s: u64,
    /// Filesystems are synced before the first phase and after each.
    pub sync: bool,
    /// The kernel's caches are dropped at the same moments.
    pub drop_caches: bool,
    /// Only the totals are printed.
    pub dry_run: bool,
    /// Text for the results.
    pub label: String,
    /// Verbosity, 0 to 2.
    pub log_level: u8,
    /// CPUs to which workers are bound in turn.
    pub cores: Bind,
    /// NUMA nodes to which workers are bound in turn.
    pub zones: Bind,
    /// Number of the first worker.
    pub rank_offset: u64,
}

impl Options {
    /// True if blocks are compared, or read back after their write.
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

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            threads: 1,
            iterations: 1,
            time_limit_s: 0,
            infinite_loop: false,
            phase_delay_s: 0,
            start_at_s: 0,
            sync: false,
            drop_caches: false,
            dry_run: false,
            label: String::new(),
            log_level: 0,
            cores: Bind::None,
            zones: Bind::None,
            rank_offset: 0,
        }
    }
}

/// Numbers that workers are bound to in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// None.
    #[default]
    None,
    /// All that the host has.
    All,
    /// These.
    Listed(Vec<u32>),
}

/// The phases that are asked for; their order is fixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Make directories (`-d`).
    pub make_dirs: bool,
    /// Write (`-w`).
    pub write: bool,
    /// Look files up (`--stat`).
    pub stat: bool,
    /// Read (`-r`).
    pub read: bool,
    /// Remove files (`-F`).
    pub remove_files: bool,
    /// Remove directories (`-D`).
    pub remove_dirs: bool,
}

/// Directories of small files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// Directories of each worker (`-n`), 1 by default; with 0 files stand in the given path.
    pub dirs: u64,
    /// Files of each worker in each directory (`-N`), 1 by default.
    pub files: u64,
    /// All workers use the directories of worker 0.
    pub dir_sharing: bool,
    /// Directories that are completed count as well.
    pub dir_stats: bool,
    /// Files are looked up when they have been opened.
    pub stat_inline: bool,
    /// Files are read back when they have been written.
    pub read_inline: bool,
    /// Names that are not there are no error of a removal.
    pub no_delete_errors: bool,
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions {
            dirs: 1,
            files: 1,
            dir_sharing: false,
            dir_stats: false,
            stat_inline: false,
            read_inline: false,
            no_delete_errors: false,
        }
    }
}

/// Sizes, and order of offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessOptions {
    /// Bytes of each file (`-s`); absent means those that it has.
    pub file_bytes: Option<u64>,
    /// Bytes per I/O (`-b`), 1 MiB by default.
    pub block_bytes: u64,
    /// Offsets are random.
    pub random: bool,
    /// Random offsets are not multiples of the block.
    pub random_unaligned: bool,
    /// Bytes at random offsets over all workers; absent means those of all files.
    pub random_bytes: Option<u64>,
    /// Source of random offsets.
    pub random_source: RandomSource,
    /// Offsets descend from the end.
    pub backward: bool,
    /// Worker i of n takes every n-th block, beginning with the i-th.
    pub strided: bool,
}

impl Default for AccessOptions {
    fn default() -> Self {
        AccessOptions {
            file_bytes: None,
            block_bytes: 1 << 20,
            random: false,
            random_unaligned: false,
            random_bytes: None,
            random_source: RandomSource::Chosen,
            backward: false,
            strided: false,
        }
    }
}

/// Source of random offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandomSource {
    /// None is named: aligned writes take each block once, others draw.
    #[default]
    Chosen,
    /// Offsets are drawn, and may repeat.
    Drawn,
}

/// How I/O is issued.
#[derive(Clone, Debug, PartialEq)]
pub struct IoOptions {
    /// I/Os in flight of each worker, 1 by default.
    pub depth: u32,
    /// The page cache is bypassed.
    pub direct: bool,
    /// Sizes and offsets of direct I/O are not looked at.
    pub no_alignment_check: bool,
    /// Files are mapped, and bytes are copied.
    pub mmap: bool,
    /// Advice about each file.
    pub file_advice: Vec<FileAdvice>,
    /// Advice about each mapping.
    pub map_advice: Vec<MapAdvice>,
    /// Lock of the kernel around each I/O.
    pub lock: FileLock,
    /// Each worker opens the files for itself.
    pub no_fd_sharing: bool,
    /// Files are emptied when they are opened.
    pub truncate: bool,
    /// Files are extended to their size when they are opened.
    pub truncate_to_size: bool,
    /// Blocks are allocated when files are opened.
    pub preallocate: bool,
    /// Bytes per second that each worker reads at most; 0 sets no limit.
    pub read_limit_bytes_per_s: u64,
    /// Bytes per second that each worker writes at most; 0 sets no limit.
    pub write_limit_bytes_per_s: u64,
}

impl IoOptions {
    /// I/Os in flight of each worker: each waits for its lock, if there is one.
    pub fn in_flight(&self) -> u32 {
        if self.lock == FileLock::None { self.depth } else { 1 }
    }
}

impl Default for IoOptions {
    fn default() -> Self {
        IoOptions {
            depth: 1,
            direct: false,
            no_alignment_check: false,
            mmap: false,
            file_advice: Vec::new(),
            map_advice: Vec::new(),
            lock: FileLock::None,
            no_fd_sharing: false,
            truncate: false,
            truncate_to_size: false,
            preallocate: false,
            read_limit_bytes_per_s: 0,
            write_limit_bytes_per_s: 0,
        }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataOptions {
    /// Share of each block with new random bytes, in percent; 100 by default.
    pub variance_percent: u8,
    /// Salt of the words that are written and compared; 0 verifies nothing.
    pub verify_salt: u64,
    /// Each block is read back and compared when it has been written.
    pub verify_direct: bool,
}

impl Default for DataOptions {
    fn default() -> Self {
        DataOptions { variance_percent: 100, verify_salt: 0, verify_direct: false }
    }
}

/// Reads beside writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MixOptions {
    /// Share of blocks of the write phase that are read, in percent; 0 is a mix, too.
    pub read_percent: Option<u8>,
    /// Workers that read in the write phase; 0 is a mix, too.
    pub read_threads: Option<u32>,
    /// Share of bytes that those workers read, in percent; 0 leaves it open.
    pub read_threads_percent: u8,
}

/// Lists of directories and files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// File with lines of directories and files.
    pub tree_file: Option<String>,
    /// Directory that is walked to make such a file.
    pub tree_scan: Option<String>,
    /// Bytes from which on a file is cut among all workers; absent means 32 blocks.
    pub share_bytes: Option<u64>,
    /// Sizes of files are rounded up to a multiple of it; 0 leaves them.
    pub round_up_bytes: u64,
    /// Files come in random order.
    pub shuffled: bool,
    /// Workers take files in turn, whatever their sizes.
    pub round_robin: bool,
}

/// Results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// Latencies: least, mean, greatest.
    pub latency: bool,
    /// Latencies: percentiles.
    pub percentiles: bool,
    /// Nines behind the point of further percentiles: 1 is 99.9 %.
    pub percentile_nines: u8,
    /// Latencies: histogram.
    pub histogram: bool,
    /// Times of all workers.
    pub all_elapsed: bool,
    /// Times of all hosts, slowest first.
    pub hosts_elapsed: bool,
    /// Times of a message to each host and back.
    pub hosts_round_trip: bool,
    /// CPU utilisation.
    pub cpu: bool,
    /// Units are powers of 10.
    pub base10: bool,
    /// File that gets the table as well, at its end.
    pub result_file: Option<String>,
    /// File that gets lines of CSV at its end.
    pub csv_file: Option<String>,
    /// The CSV has no header.
    pub no_csv_labels: bool,
    /// File that gets a line of JSON for each phase at its end.
    pub json_file: Option<String>,
    /// Interval of live figures in ms; 2000 by default.
    pub live_interval_ms: u64,
    /// Live figures on one line that is overwritten.
    pub live_line: bool,
    /// Live figures on a new line each.
    pub live_lines: bool,
    /// No live figures on the terminal.
    pub no_live: bool,
    /// File, or `stdout`, that gets live figures as CSV.
    pub live_csv_file: Option<String>,
    /// The same with a row for each worker.
    pub live_csv_extended: bool,
    /// File that gets a line of JSON before and after each operation.
    pub operations_log: Option<String>,
    /// Lines of that file are written under a lock.
    pub operations_log_locked: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        OutputOptions {
            latency: false,
            percentiles: false,
            percentile_nines: 0,
            histogram: false,
            all_elapsed: false,
            hosts_elapsed: false,
            hosts_round_trip: false,
            cpu: false,
            base10: false,
            result_file: None,
            csv_file: None,
            no_csv_labels: false,
            json_file: None,
            live_interval_ms: 2000,
            live_line: false,
            live_lines: false,
            no_live: false,
            live_csv_file: None,
            live_csv_extended: false,
            operations_log: None,
            operations_log_locked: false,
        }
    }
}
