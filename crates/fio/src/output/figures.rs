//! Metrics of one job or group in fio's terms, from measurements.

pub(super) mod by_priority;
pub(super) mod direction;
pub(super) mod disks;
pub(super) mod spread;
pub(super) mod steady;

use std::borrow::Cow;

use candor_plan::units::{Direction, PerDirection};
use candor_plan::work::{BlocksOp, Figure};
use candor_record::{Depths, Measurement, ReadBack, Report, SteadyState};

use crate::job::{FioJob, Reporting};
use crate::output::figures::direction::DirectionFigures;
use crate::output::figures::spread::{Spread, Table, share};

/// One entry of the results: a job, or a group that is reported as one.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    /// The job, or the first of the group: it lends name and units.
    pub job: &'a FioJob,
    /// The job, or the last of the group: as with fio it lends options and goals.
    pub last: &'a FioJob,
    /// Units of the first job, percentiles of the last.
    pub reporting: Reporting,
    /// Number of jobs in it.
    pub jobs: usize,
    /// Metrics of the entry.
    pub figures: Figures,
}

/// Names of the steps of depths.
pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// Names of the steps of batches.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Bandwidth of all entries of a group together, in KiB/s.
pub(super) fn group_rate(all: &[Entry], group_id: u32, of: impl Fn(&Entry) -> f64) -> f64 {
    let group = all.iter().filter(|entry| entry.job.group_id == group_id);
    group.map(of).sum::<f64>() / 1024.0
}

/// The measurement as fio counts it: work that is no I/O under the direction of `rw`.
fn as_counted<'m>(measured: &'m Measurement, job: &FioJob) -> Cow<'m, Measurement> {
    let Some(direction) = job.counted_as else { return Cow::Borrowed(measured) };
    let (mut counted, row) = (measured.clone(), BlocksOp::from(direction).operation());
    for operation in &mut counted.operations {
        (operation.name, operation.figure) = (row.name.into(), row.figure);
    }
    for operation in counted.samples.iter_mut().flat_map(|sample| &mut sample.operations) {
        (operation.name, operation.figure) = (row.name.into(), row.figure);
    }
    Cow::Owned(counted)
}

/// The entries of a report, in order: jobs one by one, groups at their first job.
pub(super) fn entries<'a>(report: &Report, jobs: &'a [FioJob]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry> = Vec::new();
    for job in jobs.iter().filter(|job| job.reporting.stats) {
        let figures = Figures::of_job(report, job);
        match entries.iter_mut().find(|entry| {
            job.group_reporting && entry.job.group_reporting && entry.job.group_id == job.group_id
        }) {
            Some(entry) => {
                entry.jobs += 1;
                entry.last = job;
                entry.reporting = job.reporting.clone().in_units_of(&entry.job.reporting);
                entry.figures.add_beside(&figures);
            }
            None => {
                let reporting = job.reporting.clone();
                entries.push(Entry { job, last: job, reporting, jobs: 1, figures });
            }
        }
    }
    entries
}

/// An error that ended or troubled a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// The kernel's number.
    pub errno: u32,
    /// The operation that failed.
    pub doing: &'static str,
    /// The text.
    pub text: String,
}

/// `EILSEQ`: fio's error for a block with wrong data.
const NOT_AS_WRITTEN: u32 = 84;

/// `ENOENT`.
const NOT_THERE: u32 = 2;
/// `EINVAL`.
const INVALID: u32 = 22;

/// Metrics of one or several jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Reads, writes and trims.
    pub ops: PerDirection<DirectionFigures>,
    /// Flushes of all kinds.
    pub sync: Spread,
    /// Flushes: `fsync`, `fdatasync` and `sync_file_range`.
    pub flushes: u64,
    /// Thread id of the first worker; 0 if unknown.
    pub pid: u32,
    /// The first error.
    pub trouble: Option<Trouble>,
    /// Number of errors.
    pub errors: u64,
    /// Run times of all jobs together, in ns.
    pub runtime_sum_ns: u64,
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Voluntary and involuntary context switches.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
    /// Page faults served from memory.
    pub faults_minor: u64,
    /// Depths reached.
    pub depths: Depths,
    /// When counting began, in ms since 1970.
    pub start_unix_ms: Option<u64>,
    /// Steady state of the first job, if measured.
    pub steady: Option<SteadyState>,
    /// Highest depth that met the first job's latency goal, if it had one.
    pub depth_reached: Option<u32>,
}

impl Figures {
    /// Of one job: everything that its phase did, however often it was repeated.
    fn of_job(report: &Report, job: &FioJob) -> Figures {
        let mut figures = Figures::default();
        let phases = report.results().filter(|p| p.phase == job.phase);
        for measured in phases.filter_map(|phase| phase.measurements.get(job.job)) {
            figures.add_after(Figures::of_measurement(&as_counted(measured, job), job));
        }
        figures
    }

    fn of_measurement(measured: &Measurement, job: &FioJob) -> Figures {
        let workers = &measured.per_worker;
        let sum = |of: fn(&candor_record::WorkerStats) -> u64| workers.iter().map(of).sum();
        let direction = |op| DirectionFigures::of(op, measured, job);
        let mut read = direction(Direction::Read);
        // fio counts reading back as reads.
        let back = measured.read_back.as_ref();
        if let Some(back) = back {
            let checked = DirectionFigures::of(Direction::Read, &as_measured(back), job);
            let longer_ns = read.runtime_ns.max(checked.runtime_ns);
            read.add_after(checked);
            if job.checks_beside {
                read.runtime_ns = longer_ns;
            }
        }
        let (back_ns, back_user_ns, back_system_ns) =
            back.map_or((0, 0, 0), |back| (back.elapsed_ns, back.cpu_user_ns, back.cpu_system_ns));
        // Reading back during the work took the same time.
        let ran_ns = if job.checks_beside || job.verify_only {
            measured.elapsed_ns.max(back_ns)
        } else {
            measured.elapsed_ns + back_ns
        };
        let mut write = direction(Direction::Write);
        if let Some(back) = back.filter(|_| job.verify_only) {
            write.ops += back.reads.ops;
            write.bytes += back.reads.bytes;
        }
        let mut trim = direction(Direction::Trim);
        if job.shape.instead.is_some() {
            // A job that moves nothing has no rate.
            for direction in [&mut read, &mut write, &mut trim] {
                direction.runtime_ns = 0;
            }
        }
        // Names are processed one by one.
        let depths = match job.per_name {
            Some(_) => Depths::one_at_a_time(read.ops + write.ops + trim.ops),
            None => Depths::default(),
        };
        if let Some(counted) = job.per_name {
            for direction in [&mut read, &mut write, &mut trim] {
                direction.ops *= counted.ops;
                direction.bytes = direction.ops * counted.bytes;
            }
        }
        let verify = measured
            .verify
            .as_ref()
            .map_or(0, |v| v.flipped + v.torn + v.misdirected + v.stale + v.foreign);
        Figures {
            ops: PerDirection { read, write, trim },
            sync: Spread::of(measured.figure(Figure::Flush).latency.as_ref()),
            flushes: measured.figure(Figure::Flush).ops,
            pid: workers.first().and_then(|worker| worker.thread_id).unwrap_or(0),
            trouble: trouble(measured, job, verify),
            errors: measured.errors.iter().map(|error| error.count).sum::<u64>() + verify,
            runtime_sum_ns: ran_ns * u64::from(measured.workers.max(1)),
            user_ns: sum(|w| w.cpu_user_ns) + back_user_ns,
            system_ns: sum(|w| w.cpu_system_ns) + back_system_ns,
            switches: sum(|w| w.switches_voluntary + w.switches_involuntary),
            faults_major: sum(|w| w.faults_major),
            faults_minor: sum(|w| w.faults_minor),
            depths: batches(measured.depths.unwrap_or(depths), job),
            start_unix_ms: measured.start_unix_ms,
            steady: measured.steady.clone(),
            depth_reached: measured.depth_reached,
        }
    }

    fn add_after(&mut self, other: Figures) {
        self.add_counts(&other);
        self.steady = self.steady.take().or(other.steady);
        self.ops.read.add_after(other.ops.read);
        self.ops.write.add_after(other.ops.write);
        self.ops.trim.add_after(other.ops.trim);
    }

    pub fn add_beside(&mut self, other: &Figures) {
        self.add_counts(other);
        self.steady = match (self.steady.take(), &other.steady) {
            (Some(one), Some(other)) => Some(steady::added(&one, other)),
            (one, other) => one.or_else(|| other.clone()),
        };
        for op in Direction::ALL {
            self.ops.of_mut(op).add_beside(other.ops.of(op));
        }
    }

    fn add_counts(&mut self, other: &Figures) {
        self.sync.add(&other.sync);
        self.flushes += other.flushes;
        self.pid = if self.pid == 0 { other.pid } else { self.pid };
        self.trouble = self.trouble.take().or_else(|| other.trouble.clone());
        self.errors += other.errors;
        self.runtime_sum_ns += other.runtime_sum_ns;
        self.user_ns += other.user_ns;
        self.system_ns += other.system_ns;
        self.switches += other.switches;
        self.faults_major += other.faults_major;
        self.faults_minor += other.faults_minor;
        self.depths.merge(&other.depths);
        self.start_unix_ms = self.start_unix_ms.or(other.start_unix_ms);
        self.depth_reached = self.depth_reached.or(other.depth_reached);
    }

    /// True if fio has it begin: it got as far as its first operation, or as opening its files.
    /// Invalid arguments are found before that.
    pub fn began(&self) -> bool {
        self.start_unix_ms.is_some()
            || self.trouble.as_ref().is_some_and(|trouble| trouble.errno != INVALID)
    }

    /// All directions as one.
    pub fn mixed(&self) -> DirectionFigures {
        let mut mixed = DirectionFigures::default();
        Direction::ALL.iter().for_each(|op| mixed.add_beside(self.ops.of(*op)));
        mixed
    }

    /// Resets of zones, whatever needed them.
    pub fn zone_resets(&self) -> u64 {
        self.ops.write.zone_resets
    }

    /// Operations of all directions.
    pub fn ops_done(&self) -> u64 {
        self.ops.iter().map(|(_, direction)| direction.ops).sum()
    }

    /// Shares of completion latencies of all directions.
    pub fn table(&self) -> Table {
        let mut all = Spread::default();
        self.ops.iter().for_each(|(_, direction)| all.add(&direction.clat));
        Table::of(&all, self.ops_done())
    }

    /// Depths in percent of the reads, writes and trims. Flushes have a depth as well, so that the
    /// sum may be more than 100.
    pub fn depth_shares(&self) -> [f64; 7] {
        let counts = &self.depths.in_flight;
        let total = counts.iter().sum::<u64>().saturating_sub(self.flushes);
        counts.map(|n| share(n, total, 0.1))
    }

    /// CPU time in user mode and in the kernel, in percent of the run time.
    pub fn cpu_percent(&self) -> (f64, f64) {
        let percent = |ns: u64| match self.runtime_sum_ns {
            0 => 0.0,
            whole => ns as f64 * 100.0 / whole as f64,
        };
        (percent(self.user_ns), percent(self.system_ns))
    }
}

/// Depths as in fio: the null engine completes operations in the queue without submit and reap, and
/// each submitting thread has one operation.
fn batches(depths: Depths, job: &FioJob) -> Depths {
    if job.shape.offloads {
        return Depths::one_at_a_time(depths.in_flight.iter().sum());
    }
    if job.shape.engine == "null" && job.shape.depth <= 1 {
        Depths { in_flight: depths.in_flight, ..Depths::default() }
    } else {
        depths
    }
}

/// Reading back as a separate measurement.
fn as_measured(back: &ReadBack) -> Measurement {
    let mut measured = Measurement { elapsed_ns: back.elapsed_ns, ..Measurement::default() };
    measured.put(Direction::Read, back.reads.clone());
    measured
}

/// Shares of a row of batches in percent; fio shows a trace as 0.1.
pub(super) fn shares(counts: &[u64; 7]) -> [f64; 7] {
    let total = counts.iter().sum();
    counts.map(|n| share(n, total, 0.1))
}

/// The first error of a job.
fn trouble(measured: &Measurement, job: &FioJob, mismatches: u64) -> Option<Trouble> {
    if let Some(error) = measured.errors.first() {
        let doing = match error.op.as_deref() {
            Some("write") => "write",
            Some("trim") => "trim",
            None | Some("fsync" | "fdatasync" | "sync_file_range") => "sync",
            // Operations on names are reads to fio.
            Some(_) => "read",
        };
        let errno = error.errno.unsigned_abs();
        let opens = measured.start_unix_ms.is_some() && job.per_name.is_none();
        if errno == NOT_THERE && job.without_size && !opens {
            // To fio the error is the unknown size of the file.
            return Some(Trouble { errno: INVALID, doing, text: "Invalid argument".into() });
        }
        let text = &error.message;
        let text = text.split(" (os error").next().unwrap_or(text).to_owned();
        return Some(Trouble { errno, doing, text });
    }
    let text = "Invalid or incomplete multibyte or wide character".into();
    (mismatches > 0).then_some(Trouble { errno: NOT_AS_WRITTEN, doing: "verify", text })
}
