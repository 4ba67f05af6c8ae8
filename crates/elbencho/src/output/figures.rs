//! Metrics of a phase for the table and the result files.

use candor_record::{HostRecord, HostSample, Latency, Measurement, PhaseRecord};

use crate::plan::operations;
use crate::setup::{BenchPhase, PathKind, PhaseKind, READERS, Setup, StorePhase};

/// Entries that a phase counts in addition to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryNoun {
    /// Files.
    Files,
    /// Directories.
    Dirs,
    /// Objects.
    Objects,
    /// Buckets.
    Buckets,
}

impl EntryNoun {
    /// Name in the first column of rows.
    pub fn word(self) -> &'static str {
        match self {
            EntryNoun::Files => "Files",
            EntryNoun::Dirs => "Dirs",
            EntryNoun::Objects => "Objects",
            EntryNoun::Buckets => "Buckets",
        }
    }

    /// Name in live lines.
    pub fn lower_word(self) -> &'static str {
        match self {
            EntryNoun::Files => "files",
            EntryNoun::Dirs => "dirs",
            EntryNoun::Objects => "objects",
            EntryNoun::Buckets => "buckets",
        }
    }
}

/// Counts of writes or reads up to one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Side {
    /// Files or directories.
    pub entries: u64,
    /// Blocks.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Time since the start of the phase.
    pub over_ns: u64,
}

impl Side {
    /// Files or directories per second.
    pub fn entries_per_s(&self) -> f64 {
        self.per_s(self.entries)
    }

    /// Blocks per second.
    pub fn ios_per_s(&self) -> f64 {
        self.per_s(self.ios)
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.per_s(self.bytes)
    }

    fn per_s(&self, count: u64) -> f64 {
        if self.over_ns == 0 { 0.0 } else { count as f64 * 1e9 / self.over_ns as f64 }
    }

    /// Adds the counts of another job.
    fn add(&mut self, other: &Side) {
        self.entries += other.entries;
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.over_ns = self.over_ns.max(other.over_ns);
    }
}

/// One of the two columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Column {
    /// Time since the start of the phase.
    pub elapsed_ns: u64,
    /// CPU utilisation of the host in percent; absent if the kernel reports none.
    pub cpu_percent: Option<u64>,
    /// Work of the phase, without the reads of a mix.
    pub main: Side,
    /// Reads of a mix.
    pub read: Side,
}

/// Latencies of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    /// Latencies of whole files or directories: open, I/O and close.
    pub entries: Option<Latency>,
    /// Of blocks.
    pub ios: Option<Latency>,
}

/// Reads during the writes of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixKind {
    /// None.
    None,
    /// Some blocks are read.
    Blocks,
    /// Some workers read.
    Workers,
}

/// Metrics of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Entries that are counted in addition to blocks.
    pub noun: Option<EntryNoun>,
    /// Mix of reads and writes.
    pub mix: MixKind,
    /// Files per directory, if completed directories are counted.
    pub files_per_dir: Option<u64>,
    /// Counts at the end of the first worker.
    pub first: Column,
    /// Counts at the end.
    pub last: Column,
    /// True if the first column is unknown; the last column is repeated then.
    pub first_is_unknown: bool,
    /// Latencies of the work, without the reads of a mix.
    pub main: Latencies,
    /// Latencies of the reads of a mix.
    pub read: Latencies,
    /// Start of the phase in ms since 1970, if known.
    pub start_unix_ms: Option<u64>,
    /// Time of each worker by rank, in ms.
    pub each_ms: Vec<u64>,
    /// Time of each host, fastest first, in ns.
    pub each_host: Vec<(String, u64)>,
    /// Round-trip time to each host, slowest first, in us.
    pub each_round_trip: Vec<(String, u64)>,
}

impl Figures {
    /// Both columns of the work, without the reads of a mix.
    pub fn main(&self) -> [&Side; 2] {
        [&self.first.main, &self.last.main]
    }

    /// Both columns of the reads of a mix.
    pub fn read(&self) -> [&Side; 2] {
        [&self.first.read, &self.last.read]
    }

    /// The metrics of a phase.
    pub fn of(setup: &Setup, phase: &BenchPhase, record: &PhaseRecord) -> Figures {
        let count = Count { setup, kind: phase.kind };
        let jobs = &record.measurements;
        let is_mix = phase.kind == PhaseKind::Write && jobs.iter().any(reads);
        let of_workers = setup.asked.mix.read_threads.is_some();
        let elapsed_ns = jobs.iter().map(|job| job.elapsed_ns).max().unwrap_or(0);
        let mut last = Column { elapsed_ns, ..Column::default() };
        let mut first = Column { elapsed_ns: u64::MAX, ..Column::default() };
        let (mut main, mut read) = (Latencies::default(), Latencies::default());
        let mut first_is_unknown = false;
        for job in jobs {
            let is_reader = job.job == READERS;
            let reads_beside = is_mix && !is_reader && reads(job);
            let all = Counts::at_end(job, elapsed_ns);
            first_is_unknown |= job.first_done.is_none() && job.workers > 1 && job.ops_done() > 0;
            let then = Counts::at_first(job).unwrap_or(Counts::at_end(job, elapsed_ns));
            first.elapsed_ns = first.elapsed_ns.min(then.over_ns);
            for (column, counts) in [(&mut first, &then), (&mut last, &all)] {
                let to = if is_reader { &mut column.read } else { &mut column.main };
                to.add(&count.side(counts, is_reader, is_reader || !is_mix));
                if reads_beside {
                    column.read.add(&counts.ios(&["read"]));
                }
            }
            let to = if is_reader { &mut read } else { &mut main };
            count.latencies(job, to, if is_reader || !is_mix { BOTH } else { WRITES });
            if reads_beside {
                let of_reads = job.operation("read").latency.as_ref();
                Latency::merge(&mut read.ios, of_reads);
            }
        }
        first.elapsed_ns = first.elapsed_ns.min(last.elapsed_ns);
        if phase.kind.is_of_keys() {
            last.main.entries = jobs.iter().map(|job| keys(job, phase.kind)).sum();
            first = last;
            first_is_unknown = jobs.iter().any(|job| job.workers > 1);
        }
        [first.cpu_percent, last.cpu_percent] = cpu(record, first.elapsed_ns);
        let workers = jobs.iter().flat_map(|job| &job.per_worker);
        Figures {
            noun: noun(setup, phase.kind),
            mix: match (is_mix, of_workers) {
                (false, _) => MixKind::None,
                (true, false) => MixKind::Blocks,
                (true, true) => MixKind::Workers,
            },
            files_per_dir: files_per_dir(setup, phase.kind),
            first,
            last,
            first_is_unknown,
            main,
            read,
            start_unix_ms: jobs.iter().filter_map(|job| job.start_unix_ms).min(),
            each_ms: workers.map(|worker| worker.elapsed_ns / 1_000_000).collect(),
            each_host: each_host(record),
            each_round_trip: each_round_trip(record),
        }
    }
}

/// Files per directory, if completed files count directories.
fn files_per_dir(setup: &Setup, kind: PhaseKind) -> Option<u64> {
    let asked = &setup.asked.tree;
    let of_files = setup.path_kind == PathKind::Directory && setup.listed.is_none();
    let moves = matches!(kind, PhaseKind::Write | PhaseKind::Read);
    (asked.dir_stats && of_files && moves && asked.files > 0).then_some(asked.files)
}

/// Name or address of each host and its time in ns, fastest first.
fn each_host(record: &PhaseRecord) -> Vec<(String, u64)> {
    let mut all: Vec<_> = record.hosts.iter().map(|host| host_time(record, host)).collect();
    all.sort_by_key(|(_, ns)| *ns);
    all
}

fn host_time(record: &PhaseRecord, host: &HostRecord) -> (String, u64) {
    let jobs = if host.measurements.is_empty() { &record.measurements } else { &host.measurements };
    let ns = jobs.iter().map(|job| job.elapsed_ns).max().unwrap_or(0);
    let name = host.member.as_ref().map_or(&host.host, |member| &member.address);
    (name.clone(), ns)
}

/// Address of each host and its round-trip time in us, slowest first; empty for one host.
fn each_round_trip(record: &PhaseRecord) -> Vec<(String, u64)> {
    let members = record.hosts.iter().filter_map(|host| host.member.as_ref());
    let trips = members.map(|of| (of.address.clone(), of.round_trip_ns.div_ceil(1000)));
    let mut all: Vec<_> = trips.collect();
    all.sort_by_key(|(_, us)| std::cmp::Reverse(*us));
    all
}

/// True for a job with reads.
fn reads(job: &Measurement) -> bool {
    let is_reader = job.job == READERS;
    job.operations.iter().any(|op| op.ops > 0 && (is_reader || op.name == "read"))
}

/// Block operations: reads and writes of blocks, ranges, parts or whole objects, and requests on
/// many keys.
pub const BOTH: &[&str] = &["read", "write", "get", "put", "put_part", "list", "delete_many"];
/// Block operations that write.
pub const WRITES: &[&str] = &["write", "put", "put_part"];
/// Block operations that do not.
pub const READS: &[&str] = &["read", "get", "list", "delete_many"];

/// Operations of a job up to one time.
struct Counts {
    over_ns: u64,
    operations: Vec<(String, u64, u64)>,
}

impl Counts {
    fn at_end(job: &Measurement, over_ns: u64) -> Counts {
        let count = job.operations.iter().map(|op| (op.name.clone(), op.ops, op.bytes));
        Counts { over_ns, operations: count.collect() }
    }

    fn at_first(job: &Measurement) -> Option<Counts> {
        let first = job.first_done.as_ref()?;
        let count = first.operations.iter().map(|op| (op.name.clone(), op.ops, op.bytes));
        Some(Counts { over_ns: first.at_ns, operations: count.collect() })
    }

    fn ops(&self, name: &str) -> u64 {
        self.operations.iter().filter(|op| op.0 == name).map(|op| op.1).sum()
    }

    fn ios(&self, names: &[&str]) -> Side {
        let of = self.operations.iter().filter(|op| names.contains(&op.0.as_str()));
        let (ios, bytes) = of.fold((0, 0), |(ios, bytes), op| (ios + op.1, bytes + op.2));
        Side { ios, bytes, over_ns: self.over_ns, entries: 0 }
    }
}

/// Rules for counting a phase.
pub struct Count<'a> {
    /// The benchmark.
    pub setup: &'a Setup,
    /// The phase.
    pub kind: PhaseKind,
}

impl Count<'_> {
    /// Counts of a job: writes, unless the job reads.
    fn side(&self, counts: &Counts, is_reader: bool, reads: bool) -> Side {
        let mut side = Side { over_ns: counts.over_ns, ..Side::default() };
        if reads {
            side.add(&counts.ios(READS));
        }
        if !is_reader {
            side.add(&counts.ios(WRITES));
        }
        let steps = entry_steps(self.setup, self.kind);
        side.entries = steps.iter().map(|step| counts.ops(step)).sum();
        side
    }

    /// Entries of one worker's operations, without the directories of ranks.
    pub fn entries_of_worker(&self, operations: u64) -> u64 {
        let (dirs, ranks) = (self.setup.dirs(), self.setup.dirs_of_ranks());
        match self.kind {
            kind if kind.is_of_dirs() => operations * dirs / (dirs + ranks).max(1),
            _ => operations,
        }
    }

    /// Adds the latencies of a job.
    fn latencies(&self, job: &Measurement, to: &mut Latencies, of_blocks: &[&str]) {
        for name in of_blocks {
            Latency::merge(&mut to.ios, job.operation(name).latency.as_ref());
        }
        // elbencho's results have no latencies for removals of named files.
        let of_names = self.setup.path_kind == PathKind::Directory;
        for step in entry_steps(self.setup, self.kind).iter().filter(|_| of_names) {
            Latency::merge(&mut to.entries, job.operation(step).latency.as_ref());
        }
    }
}

/// Operations per entry. Keys that a request lists or deletes are no operations.
pub fn entry_steps(setup: &Setup, kind: PhaseKind) -> Vec<&'static str> {
    let steps: &[&str] = match kind {
        _ if kind.is_of_keys() => &[],
        PhaseKind::Write | PhaseKind::Read if setup.cuts_objects() => &["object"],
        PhaseKind::Write | PhaseKind::Read if setup.store.is_some() => &["get", "put"],
        // A bucket is done when its last operation is.
        _ if setup.store.is_some() => {
            return operations(setup, kind)
                .last()
                .map(|op| op.operation().name)
                .into_iter()
                .collect();
        }
        PhaseKind::MakeDirs => &["mkdir"],
        PhaseKind::RemoveDirs => &["rmdir"],
        PhaseKind::Stat => &["stat", "lstat", "statx"],
        PhaseKind::RemoveFiles => &["unlink"],
        PhaseKind::Write | PhaseKind::Read if setup.path_kind == PathKind::Directory => &["item"],
        _ => &[],
    };
    steps.to_vec()
}

/// Keys that requests of a job listed or deleted.
fn keys(job: &Measurement, kind: PhaseKind) -> u64 {
    let objects = job.http.as_ref().map(|http| &http.objects);
    objects.map_or(0, |objects| match kind {
        PhaseKind::OfStore(StorePhase::DeleteMany) => objects.keys_deleted,
        _ => objects.keys,
    })
}

/// Entries that a phase counts in addition to blocks.
pub fn noun(setup: &Setup, kind: PhaseKind) -> Option<EntryNoun> {
    match kind {
        PhaseKind::Sync | PhaseKind::DropCaches => None,
        _ if setup.store.is_some() && kind.is_of_dirs() => Some(EntryNoun::Buckets),
        _ if setup.store.is_some() => Some(EntryNoun::Objects),
        PhaseKind::MakeDirs | PhaseKind::RemoveDirs => Some(EntryNoun::Dirs),
        PhaseKind::Stat | PhaseKind::RemoveFiles | PhaseKind::OfStore(_) => Some(EntryNoun::Files),
        PhaseKind::Write | PhaseKind::Read => {
            (setup.path_kind == PathKind::Directory).then_some(EntryNoun::Files)
        }
    }
}

/// True if a phase reads or writes blocks; empty files have none.
pub fn moves(setup: &Setup, kind: PhaseKind) -> bool {
    let is_empty = setup.path_kind == PathKind::Directory && !setup.has_bytes();
    matches!(kind, PhaseKind::Write | PhaseKind::Read) && !is_empty
}

/// Mean CPU utilisation of the hosts.
fn cpu(record: &PhaseRecord, first_ns: u64) -> [Option<u64>; 2] {
    let all: Vec<[Option<u64>; 2]> =
        record.hosts.iter().map(|host| cpu_of(host, first_ns)).collect();
    let mean = |at: usize| {
        let known: Vec<u64> = all.iter().filter_map(|host| host[at]).collect();
        known.iter().sum::<u64>().checked_div(known.len() as u64)
    };
    [mean(0), mean(1)]
}

/// CPU utilisation of a host until the first end, from counters of every second, and over the whole
/// phase.
fn cpu_of(host: &HostRecord, first_ns: u64) -> [Option<u64>; 2] {
    let first_at_ns = host.before.at_ns.saturating_add(first_ns);
    let first = host.during.iter().find(|snapshot| snapshot.at_ns >= first_at_ns);
    [first.unwrap_or(&host.after), &host.after].map(|after| {
        let busy = HostSample::between("", &host.before, after).cpu_busy;
        busy.map(|share| (share * 100.0) as u64)
    })
}
