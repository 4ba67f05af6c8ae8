//! Live metrics: a line on the terminal, and lines of CSV.
//!
//! [`Live`] adds up the samples of a phase; each [`Interval`] has all values to print.

use candor_record::{HostSample, JobSample, WorkerStats, cpu_busy_of};

use super::figures::{BOTH, Count, EntryNoun, READS, WRITES, entry_steps, moves, noun};
use super::numbers::whole;
use super::{MIB, Moment};
use crate::setup::{BenchPhase, PathKind, PhaseKind, READERS, Setup};

/// Column names; elbencho ends each line with a comma.
pub const COLUMNS: [&str; 17] = [
    "ISO Date",
    "Label",
    "Phase",
    "RuntimeMS",
    "Rank",
    "MixType",
    "Done%",
    "DoneBytes",
    "MiB/s",
    "IOPS",
    "Entries",
    "Entries/s",
    "Lat Ent us",
    "Lat IO us",
    "Active",
    "CPU",
    "Service",
];

/// Rank in the line of all workers.
const ALL: &str = "Total";

/// A running phase.
pub struct Live<'a> {
    count: Count<'a>,
    phase: &'a BenchPhase,
    /// Entry operations of the work, and of the readers of a mix.
    entries: [u64; 2],
    /// Bytes of the work, and of the reads of a mix.
    bytes: [u64; 2],
    is_mix: bool,
}

/// Metrics of one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// Time since the start of the phase.
    pub runtime_ns: u64,
    /// Workers that still run.
    pub active: u32,
    /// CPU utilisation in percent, if the kernel reports it.
    pub cpu_percent: Option<u64>,
    /// The work, without the reads of a mix.
    pub main: LiveSide,
    /// Reads of a mix.
    pub read: Option<LiveSide>,
}

/// Writes or reads of one interval; amounts count from the start of the phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LiveSide {
    /// Bytes so far.
    pub bytes: u64,
    /// Files or directories so far.
    pub entries: u64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Blocks per second.
    pub ios_per_s: f64,
    /// Files or directories per second.
    pub entries_per_s: f64,
    /// Mean latency of the entries, in ns.
    pub entry_latency_ns: f64,
    /// Mean latency of the blocks, in ns.
    pub io_latency_ns: f64,
}

/// Progress of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerSoFar {
    /// Rank among all workers of the phase.
    pub rank: u32,
    /// True for a reader in a phase of writes.
    pub is_reader: bool,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
}

impl WorkerSoFar {
    /// A worker of a job whose first worker has rank `first`.
    pub fn of(job: &str, first: u32, stats: &WorkerStats) -> WorkerSoFar {
        let WorkerStats { rank, ops, bytes, .. } = *stats;
        WorkerSoFar { rank: first + rank, is_reader: job == READERS, ops, bytes }
    }
}

/// Sums of one interval.
#[derive(Clone, Copy, Default)]
struct Sums {
    ops: u64,
    bytes: u64,
    latency_ns: u64,
}

impl Sums {
    /// Sums of the operations with these names.
    fn of<'s>(jobs: impl Iterator<Item = &'s JobSample>, names: &[&str]) -> Sums {
        let operations = jobs.flat_map(|job| &job.sample.operations);
        let named = operations.filter(|op| names.contains(&op.name.as_str()));
        named.fold(Sums::default(), |sum, op| Sums {
            ops: sum.ops + op.ops,
            bytes: sum.bytes + op.bytes,
            latency_ns: sum.latency_ns + op.latency_sum_ns,
        })
    }

    fn mean_ns(self) -> f64 {
        if self.ops == 0 { 0.0 } else { self.latency_ns as f64 / self.ops as f64 }
    }
}

fn is_reader(job: &JobSample) -> bool {
    job.job == READERS
}

fn has_reads(job: &JobSample) -> bool {
    job.sample.operations.iter().any(|op| op.name == "read")
}

fn per_s(count: u64, ns: u64) -> f64 {
    if ns == 0 { 0.0 } else { count as f64 * 1e9 / ns as f64 }
}

fn mib(bytes: u64) -> u64 {
    (bytes as f64 / MIB) as u64
}

impl<'a> Live<'a> {
    /// A new phase.
    pub fn new(setup: &'a Setup, phase: &'a BenchPhase) -> Live<'a> {
        let count = Count { setup, kind: phase.kind };
        Live { count, phase, entries: [0; 2], bytes: [0; 2], is_mix: false }
    }

    /// Adds the samples of an interval; `active` workers still run.
    pub fn add(&mut self, samples: &[JobSample], hosts: &[HostSample], active: u32) -> Interval {
        let writes = self.phase.kind == PhaseKind::Write;
        self.is_mix |= writes && samples.iter().any(|job| is_reader(job) || has_reads(job));
        let is_mix = self.is_mix;
        let of_blocks: [&[&str]; 2] = if is_mix { [WRITES, READS] } else { [BOTH, &[]] };
        let steps = entry_steps(self.count.setup, self.phase.kind);
        let length_ns = samples.iter().map(|job| job.sample.length_ns).max().unwrap_or(0);
        let sides = [0, 1].map(|at| {
            let ios = Sums::of(samples.iter(), of_blocks[at]);
            let of_side = samples.iter().filter(|job| is_reader(job) == (at == 1));
            self.side(at, Sums::of(of_side, &steps), ios, length_ns)
        });
        Interval {
            runtime_ns: samples.iter().map(|job| job.sample.at_ns).max().unwrap_or(0),
            active,
            cpu_percent: cpu_busy_of(hosts).map(|share| (share * 100.0) as u64),
            main: sides[0],
            read: is_mix.then_some(sides[1]),
        }
    }

    /// Adds the samples of writes or reads, and returns their metrics.
    fn side(&mut self, at: usize, entries: Sums, ios: Sums, length_ns: u64) -> LiveSide {
        self.entries[at] += entries.ops;
        self.bytes[at] += ios.bytes;
        LiveSide {
            bytes: self.bytes[at],
            entries: self.entries[at],
            bytes_per_s: per_s(ios.bytes, length_ns),
            ios_per_s: per_s(ios.ops, length_ns),
            entries_per_s: per_s(entries.ops, length_ns),
            entry_latency_ns: entries.mean_ns(),
            io_latency_ns: ios.mean_ns(),
        }
    }

    /// Completed share of the phase for writes or reads, of `parts` equal parts.
    fn done_percent(&self, side: &LiveSide, parts: u64) -> u64 {
        let (setup, kind) = (self.count.setup, self.phase.kind);
        let (done, all) = if moves(setup, kind) {
            (side.bytes, expected_bytes(setup, kind))
        } else {
            (side.entries, expected_entries(setup, kind))
        };
        let done = u128::from(done) * u128::from(parts) * 100;
        done.checked_div(all.into()).unwrap_or(0).min(100) as u64
    }

    /// One line for the terminal: `READ: 30151 IOPS; 117 MiB/s; 235 MiB; 4 threads; 17% CPU; 2s`.
    pub fn line(&self, interval: &Interval) -> String {
        let setup = self.count.setup;
        let (unit, bytes) = if setup.asked.output.base10 { ("MB/s", 1e6) } else { ("MiB/s", MIB) };
        // Keys of requests that list or delete many are not known yet.
        let is_tree = setup.path_kind == PathKind::Directory && !self.phase.kind.is_of_keys();
        let noun = noun(setup, self.phase.kind).map_or("files", EntryNoun::lower_word);
        let rates = |side: &LiveSide, entries: bool| {
            let rate = match (is_tree, entries) {
                (true, true) => format!("{} {noun}/s; ", side.entries_per_s as u64),
                (true, false) => String::new(),
                (false, _) => format!("{} IOPS; ", side.ios_per_s as u64),
            };
            format!("{rate}{} {unit}", (side.bytes_per_s / bytes) as u64)
        };
        let (main, read) = (&interval.main, interval.read.as_ref());
        let of_files = |side: &LiveSide| {
            if is_tree {
                rates(side, true)
            } else {
                format!("{}; {} MiB", rates(side, true), mib(side.bytes))
            }
        };
        let by_workers = setup.asked.mix.read_threads.is_some();
        let mut parts = match read {
            None => vec![of_files(main)],
            Some(read) if is_tree => {
                vec![format!("wr=[{}] rd=[{}]", rates(main, true), rates(read, by_workers))]
            }
            Some(read) => vec![format!("wr=[{}] rd=[{}]", of_files(main), of_files(read))],
        };
        if is_tree {
            let (entries, bytes) = read.map_or((0, 0), |read| (read.entries, read.bytes));
            parts.push(format!("{} {noun}", main.entries + entries));
            parts.push(format!("{} MiB", mib(main.bytes + bytes)));
        }
        parts.push(format!("{} threads", interval.active));
        parts.push(format!("{}% CPU", interval.cpu_percent.unwrap_or(0)));
        parts.push(elapsed_seconds(interval.runtime_ns / 1_000_000_000));
        format!("{}: {}", self.phase.name, parts.join("; "))
    }

    /// CSV lines of an interval: all workers, then each listed worker with progress. A mix has a
    /// line for writes and a line for reads.
    pub fn csv(&self, interval: &Interval, workers: &[WorkerSoFar], now: &Moment) -> String {
        let rows = |rank: &str, sides: [&LiveSide; 2], parts: u64| {
            let types: &[&str] = if self.is_mix { &["Write", "Read"] } else { &[""] };
            let rows = types.iter().zip(sides);
            let head = |(mix, side): (&&str, &LiveSide)| {
                let mut row = [const { String::new() }; COLUMNS.len()];
                row[0] = now.iso();
                row[1] = self.count.setup.asked.run.label.clone();
                row[2] = self.phase.name.clone();
                row[3] = (interval.runtime_ns / 1_000_000).to_string();
                (row[4], row[5]) = (rank.to_owned(), (*mix).to_owned());
                row[6] = self.done_percent(side, parts).to_string();
                row[7] = side.bytes.to_string();
                row[10] = side.entries.to_string();
                row
            };
            rows.map(head).collect::<Vec<Row>>()
        };
        let read = interval.read.unwrap_or_default();
        let mut all = rows(ALL, [&interval.main, &read], 1);
        for (row, side) in all.iter_mut().zip([&interval.main, &read]) {
            self.put_rates(row, side, interval);
        }
        for worker in workers {
            let [main, read] = self.worker_sides(worker);
            let parts = self.count.setup.asked.threads_of_all();
            all.extend(rows(&worker.rank.to_string(), [&main, &read], parts));
        }
        all.into_iter().map(csv_line).collect()
    }

    /// Additional fields in the line of all workers.
    fn put_rates(&self, row: &mut Row, side: &LiveSide, interval: &Interval) {
        let is_tree = self.count.setup.path_kind == PathKind::Directory;
        let by_blocks = self.count.setup.asked.mix.read_threads.is_none();
        // Reads of a block mix use the files that the writes count.
        let of = if self.is_mix && by_blocks { &interval.main } else { side };
        row[8] = whole(side.bytes_per_s / MIB);
        row[9] = whole(side.ios_per_s);
        row[10] = if is_tree { of.entries } else { 0 }.to_string();
        row[11] = whole(if is_tree { of.entries_per_s } else { 0.0 });
        row[12] = whole(side.entry_latency_ns / 1e3);
        row[13] = whole(side.io_latency_ns / 1e3);
        row[14] = interval.active.to_string();
        row[15] = interval.cpu_percent.unwrap_or(0).to_string();
    }

    /// Progress of a worker: its work, or its writes and reads.
    fn worker_sides(&self, worker: &WorkerSoFar) -> [LiveSide; 2] {
        let setup = self.count.setup;
        let is_tree = setup.path_kind == PathKind::Directory;
        let entries = match moves(setup, self.phase.kind) {
            _ if !is_tree => 0,
            // Files of a list differ in size; the mean is used.
            true => {
                let files = u128::from(worker.bytes) * u128::from(setup.small_files());
                files.checked_div(setup.small_files_bytes().into()).unwrap_or(0) as u64
            }
            false => self.count.entries_of_worker(worker.ops),
        };
        let side = |bytes: u64| LiveSide { bytes, entries, ..LiveSide::default() };
        let none = LiveSide::default();
        match (self.is_mix, setup.asked.mix.read_threads.is_some()) {
            (false, _) => [side(worker.bytes), none],
            (true, true) if worker.is_reader => [none, side(worker.bytes)],
            (true, true) => [side(worker.bytes), none],
            (true, false) => {
                let read = self.bytes_read(worker);
                [side(worker.bytes - read), side(read)]
            }
        }
    }

    /// Bytes that a worker reads in a block mix: the first blocks of each hundred, counted from the
    /// worker's rank.
    fn bytes_read(&self, worker: &WorkerSoFar) -> u64 {
        let setup = self.count.setup;
        let percent = u64::from(setup.asked.mix.read_percent.unwrap_or(0));
        let block = setup.block_bytes.max(1);
        let blocks = worker.bytes.div_ceil(block);
        let rest = (0..blocks % 100).filter(|nth| (u64::from(worker.rank) + nth) % 100 < percent);
        let read = blocks / 100 * percent + rest.count() as u64;
        (read * block).min(worker.bytes)
    }
}

/// A time: `59s`, `2m3s`, `1h2m3s`.
fn elapsed_seconds(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds}s"),
        (hours, minutes, seconds) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

/// Fields of a line, in the order of the columns.
type Row = [String; COLUMNS.len()];

/// Header of a CSV file.
pub fn header() -> String {
    COLUMNS.join(",") + ",\n"
}

fn csv_line(fields: Row) -> String {
    fields.map(|field| field.replace(['\n', ','], " ")).join(",") + ",\n"
}

/// Bytes that a phase will read or write.
fn expected_bytes(setup: &Setup, kind: PhaseKind) -> u64 {
    match (setup.random_bytes, setup.path_kind) {
        // Reads draw objects, writes have each one once.
        (_, PathKind::Directory) if kind == PhaseKind::Write => setup.small_files_bytes(),
        (0, PathKind::Directory) => setup.small_files_bytes(),
        (0, _) => setup.bytes_of_paths.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)),
        (bytes, _) => bytes,
    }
}

/// Files or directories that a phase will stat, create or remove.
fn expected_entries(setup: &Setup, kind: PhaseKind) -> u64 {
    match (kind, setup.path_kind) {
        (PhaseKind::Sync | PhaseKind::DropCaches, _) => 0,
        (kind, _) if kind.is_of_dirs() => setup.dirs(),
        (_, PathKind::Directory) => setup.small_files(),
        _ => setup.asked.paths.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_plan::work::{BlocksOp, Operation};
    use candor_record::{OpSample, Sample};

    use super::*;

    fn setup(path_kind: PathKind) -> Setup {
        let file_bytes = 1 << 30;
        let mut setup = Setup { path_kind, file_bytes, block_bytes: 4096, ..Setup::default() };
        setup.asked.run.threads = 4;
        setup.asked.paths = vec!["/data/f".into()];
        setup.bytes_of_paths = vec![file_bytes];
        setup
    }

    fn phase(kind: PhaseKind, name: &str) -> BenchPhase {
        BenchPhase { kind, name: name.into() }
    }

    fn samples(second: u64, operations: &[(&Operation, u64, u64)]) -> Vec<JobSample> {
        let op = |(row, ops, bytes): &(&Operation, u64, u64)| OpSample {
            ops: *ops,
            bytes: *bytes,
            latency_sum_ns: ops * 530_000,
            ..OpSample::of(row)
        };
        let length_ns = 1_000_000_000;
        let operations = operations.iter().map(op).collect();
        let sample = Sample { at_ns: second * length_ns, length_ns, operations };
        vec![JobSample { job: "job".into(), sample, ..JobSample::default() }]
    }

    fn host() -> HostSample {
        HostSample { cpu_busy: Some(0.178), ..HostSample::default() }
    }

    fn moment() -> Moment {
        let at = "2026-02-09T16:18:30.170Z".parse().expect("a time");
        Moment::of(at, jiff::tz::TimeZone::fixed(jiff::tz::offset(-5)), [0, 0])
    }

    #[test]
    fn reads_have_a_line_in_every_form() {
        let (setup, read) = (setup(PathKind::File), phase(PhaseKind::Read, "READ"));
        let mut live = Live::new(&setup, &read);
        let reads = [(BlocksOp::Read.operation(), 30_151, 30_151 * 4096)];
        live.add(&samples(1, &reads), &[host()], 4);
        let interval = live.add(&samples(2, &reads), &[host()], 4);
        let line = "READ: 30151 IOPS; 117 MiB/s; 235 MiB; 4 threads; 17% CPU; 2s";
        assert_eq!(live.line(&interval), line);
        let csv = "2026-02-09T11:18:30.170-0500,,READ,2000,Total,,23,246996992,117,30151,0,0,0,530,\
                   4,17,,\n";
        assert_eq!(live.csv(&interval, &[], &moment()), csv);
        assert_eq!(header().split(',').count(), csv.split(',').count());
    }

    #[test]
    fn a_mix_has_a_line_for_its_writes_and_one_for_its_reads() {
        let (setup, write) = (setup(PathKind::File), phase(PhaseKind::Write, "RWMIX70"));
        let mut live = Live::new(&setup, &write);
        let operations = [
            (BlocksOp::Read.operation(), 700, 700 * 4096),
            (BlocksOp::Write.operation(), 300, 300 * 4096),
        ];
        let interval = live.add(&samples(1, &operations), &[host()], 4);
        let line =
            "RWMIX70: wr=[300 IOPS; 1 MiB/s; 1 MiB] rd=[700 IOPS; 2 MiB/s; 2 MiB]; 4 threads;";
        assert!(live.line(&interval).starts_with(line), "{}", live.line(&interval));
        let csv = live.csv(&interval, &[], &moment());
        let of = |line: &str, at: usize| line.split(',').nth(at).map(String::from);
        let types: Vec<_> = csv.lines().map(|line| (of(line, 5), of(line, 9))).collect();
        let side = |name: &str, ios: &str| (Some(name.to_owned()), Some(ios.to_owned()));
        assert_eq!(types, [side("Write", "300"), side("Read", "700")]);
        // Reads are blocks 0 to 69 of each hundred; worker 3 begins at 3.
        let mut mix = setup.clone();
        mix.asked.mix.read_percent = Some(70);
        let live = Live { is_mix: true, ..Live::new(&mix, &write) };
        let worker = WorkerSoFar { rank: 3, bytes: 169 * 4096, ..WorkerSoFar::default() };
        let csv = live.csv(&interval, &[worker], &moment());
        let of_worker: Vec<_> =
            csv.lines().skip(2).map(|line| (of(line, 4), of(line, 7))).collect();
        let bytes = |blocks: u64| (Some("3".to_owned()), Some((blocks * 4096).to_string()));
        assert_eq!(of_worker, [bytes(32), bytes(137)]);
    }

    #[test]
    fn names_count_as_entries() {
        let mut setup = setup(PathKind::Directory);
        (setup.asked.tree.dirs, setup.asked.tree.files) = (10, 10);
        let stat = phase(PhaseKind::Stat, "STAT");
        let mut live = Live::new(&setup, &stat);
        let interval = live.add(&samples(1, &[(Step::Stat.operation(), 100, 0)]), &[host()], 3);
        assert_eq!(
            live.line(&interval),
            "STAT: 100 files/s; 0 MiB/s; 100 files; 0 MiB; 3 threads; 17% CPU; 1s"
        );
        assert_eq!(live.done_percent(&interval.main, 1), 25);
        assert_eq!(interval.main.entry_latency_ns, 530_000.0);
    }

    #[test]
    fn lines_of_workers_follow_the_line_of_all() {
        let (setup, read) = (setup(PathKind::File), phase(PhaseKind::Read, "READ"));
        let mut live = Live::new(&setup, &read);
        let reads = [(BlocksOp::Read.operation(), 30_151, 30_151 * 4096)];
        let interval = live.add(&samples(1, &reads), &[host()], 4);
        let stats = WorkerStats { rank: 1, bytes: 1 << 27, ..WorkerStats::default() };
        let workers = [WorkerSoFar::of("workers", 0, &stats), WorkerSoFar::of(READERS, 2, &stats)];
        let csv = live.csv(&interval, &workers, &moment());
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].contains(",READ,1000,Total,,11,123498496,117,30151,0,"), "{csv}");
        // Half of the quarter of 1 GiB.
        let of = |rank: u32| {
            format!("2026-02-09T11:18:30.170-0500,,READ,1000,{rank},,50,134217728,,,0,,,,,,,")
        };
        assert_eq!(lines[1..], [of(1), of(3)]);
    }

    #[test]
    fn files_and_directories_of_workers_are_counted() {
        let mut setup = setup(PathKind::Directory);
        (setup.asked.tree.dirs, setup.asked.tree.files, setup.file_bytes) = (2, 10, 4096);
        let count = |kind, name, worker: WorkerSoFar| {
            let phase = phase(kind, name);
            Live::new(&setup, &phase).worker_sides(&worker)[0].entries
        };
        let written = WorkerSoFar { ops: 99, bytes: 7 * 4096, ..WorkerSoFar::default() };
        assert_eq!(count(PhaseKind::Write, "WRITE", written), 7);
        // The third one is the directory of the rank.
        let made = WorkerSoFar { ops: 3, ..WorkerSoFar::default() };
        assert_eq!(count(PhaseKind::MakeDirs, "MKDIRS", made), 2);
    }
}
