//! Log files: bandwidth, IOPS, latencies and histograms over time, one line per entry.
//!
//! A line is `time, value, direction, bytes[, offset], priority[, issue time]`, the time in ms. The
//! engine recorded every operation or sums over windows ([`candor_record::Log`]); here it only
//! becomes text.

pub mod aggregate;
pub mod iolog;
pub mod operations;

mod entry;
mod stored;

use std::io::{self, Write};

use candor_record::{Histogram, Log, LoggedOp, Measurement, Report, WindowSums};

use crate::job::{FioJob, Logs, WindowValue};
use entry::{Entry, direction};
use stored::Store;
pub use stored::inflate;

/// Bins of fio's histogram log: 29 groups of 64.
const FIO_BINS: usize = 29 * 64;
/// The end of the name of a compressed log.
const COMPRESSED: &str = ".fz";

/// The quantity in a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bandwidth,
    Iops,
    Submission,
    Completion,
    Latency,
    Histogram,
}

/// One log file: its name and its jobs.
#[derive(Clone, Debug)]
pub struct LogFile<'a> {
    /// The name as the job gave it, possibly with folders.
    pub name: String,
    kind: Kind,
    jobs: Vec<&'a FioJob>,
}

/// All requested log files. Jobs share a file if its name contains no number.
pub fn files(jobs: &[FioJob]) -> Vec<LogFile<'_>> {
    let mut files: Vec<LogFile> = Vec::new();
    for job in jobs {
        for (kind, name) in names(job) {
            match files.iter_mut().find(|file| file.name == name) {
                Some(file) => file.jobs.push(job),
                None => files.push(LogFile { name, kind, jobs: vec![job] }),
            }
        }
    }
    files
}

fn names(job: &FioJob) -> Vec<(Kind, String)> {
    let (logs, shown) = (&job.logs, &job.reporting);
    let end = if logs.per_job { format!(".{}.log", job.number) } else { ".log".into() };
    let latency = |shown: bool| logs.latency.as_ref().filter(|_| shown);
    let kinds = [
        (logs.bandwidth.as_ref(), Kind::Bandwidth, "bw"),
        (latency(shown.lat), Kind::Latency, "lat"),
        (latency(shown.slat), Kind::Submission, "slat"),
        (latency(shown.clat), Kind::Completion, "clat"),
        (logs.iops.as_ref(), Kind::Iops, "iops"),
        (logs.histogram.as_ref(), Kind::Histogram, "clat_hist"),
    ];
    let named = kinds.into_iter().filter_map(|(begin, kind, word)| {
        // Histograms stay text.
        let compressed = logs.compressed && kind != Kind::Histogram;
        let end = format!("{end}{}", if compressed { COMPRESSED } else { "" });
        begin.map(|begin| (kind, format!("{begin}_{word}{end}{}", logs.end)))
    });
    named.collect()
}

impl LogFile<'_> {
    /// Writes the file: the jobs' entries one job after the other.
    pub fn write(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        let mut store = Store::default();
        for job in &self.jobs {
            let mut put = |entry: Entry, out: &mut _| {
                if job.logs.compressed { store.add(&entry, out) } else { entry.line(out) }
            };
            // A repeated phase continues at its previous end.
            let mut begin_ns = 0;
            for measured in measured(report, job) {
                if let Some(log) = measured.log.as_ref().filter(|_| self.has_lines_of(job)) {
                    let lines = Lines { kind: self.kind, logs: &job.logs, log, begin_ns };
                    lines.write(out, &mut put)?;
                }
                begin_ns += measured.elapsed_ns;
            }
        }
        store.flush(out)
    }

    /// False for a log whose lines per operation are disabled.
    fn has_lines_of(&self, job: &FioJob) -> bool {
        job.logs.window_ms > 0
            || match self.kind {
                Kind::Bandwidth => job.reporting.bandwidth_by_operation,
                Kind::Iops => job.reporting.iops_by_operation,
                _ => true,
            }
    }
}

/// Measurements of a job, phase by phase.
pub(super) fn measured<'a>(
    report: &'a Report,
    job: &FioJob,
) -> impl Iterator<Item = &'a Measurement> {
    let (phase, job) = (job.phase, job.job);
    let phases = report.results().filter(move |p| p.phase == phase);
    phases.filter_map(move |phase| phase.measurements.get(job))
}

/// The lines that one log becomes.
struct Lines<'a> {
    kind: Kind,
    logs: &'a Logs,
    log: &'a Log,
    begin_ns: u64,
}

impl Lines<'_> {
    fn write<W: Write>(
        &self,
        out: &mut W,
        put: &mut impl FnMut(Entry, &mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.kind == Kind::Histogram {
            return self.log.histograms.iter().try_for_each(|entry| {
                let (time, op) = (self.time_ms(entry.at_ns), direction(entry.op));
                write!(out, "{time}, {op}, {}", entry.bytes)?;
                let bins = coarse(&entry.histogram, self.logs.coarseness);
                bins.iter().try_for_each(|n| write!(out, ", {n}"))?;
                out.write_all(b"\n")
            });
        }
        // An engine that submits and waits in one call has no submission latency: an empty file.
        if self.kind == Kind::Submission && !self.has_submission() {
            return Ok(());
        }
        match self.logs.window_ms {
            0 => self.log.ops.iter().try_for_each(|op| put(self.op(op), out)),
            _ => self.windows().try_for_each(|entry| put(entry, out)),
        }
    }

    fn has_submission(&self) -> bool {
        self.log.ops.iter().any(|op| op.submission_ns() > 0)
            || self
                .log
                .windows
                .iter()
                .any(|window| window.ops.iter().any(|(_, sums)| sums.submission.sum_ns > 0))
    }

    fn time_ms(&self, at_ns: u64) -> u64 {
        self.logs
            .epoch_ahead_ms
            .map_or(0, |ahead_ms| self.log.start_unix_ms.saturating_add_signed(ahead_ms))
            + (self.begin_ns + at_ns) / 1_000_000
    }

    /// One operation. Its bandwidth is in thousands of bytes per second, its rate is one.
    fn op(&self, op: &LoggedOp) -> Entry {
        let value = match self.kind {
            Kind::Bandwidth => u64::from(op.bytes) * 1_000_000 / op.completion_ns.max(1),
            Kind::Iops | Kind::Histogram => 1,
            Kind::Submission => op.submission_ns(),
            Kind::Completion => op.completion_ns,
            Kind::Latency => op.latency_ns,
        };
        // fio knows the issue time if it measures parts of the latency.
        let issued_ns = match self.kind {
            Kind::Submission | Kind::Completion => self.begin_ns + op.issued_ns(),
            _ => 0,
        };
        Entry {
            time_ms: self.time_ms(op.at_ns),
            value,
            max: (self.logs.window_value == WindowValue::Both).then_some(value),
            direction: direction(op.op),
            bytes: u64::from(op.bytes),
            offset: self.logs.offset.then_some(op.offset),
            priority: op.priority,
            full_priority: self.logs.priority,
            issued_ns: self.logs.issue_time.then_some(issued_ns),
        }
    }

    /// One entry per window and direction. A rate over the rest of a window would be the rate of an
    /// instant; latencies need no duration.
    fn windows(&self) -> impl Iterator<Item = Entry> {
        let longest = self.log.windows.iter().map(|window| window.length_ns).max().unwrap_or(0);
        let is_rate = matches!(self.kind, Kind::Bandwidth | Kind::Iops);
        self.log
            .windows
            .iter()
            .filter(move |window| !is_rate || window.length_ns * 10 >= longest * 9)
            .flat_map(|window| {
                let filled = window.ops.iter().filter(|(_, sums)| sums.ops > 0);
                filled.map(|(op, sums)| {
                    let (mean, max) = window_values(self.kind, sums, window.length_ns);
                    Entry {
                        time_ms: self.time_ms(window.at_ns),
                        value: if self.logs.window_value == WindowValue::Max { max } else { mean },
                        max: (self.logs.window_value == WindowValue::Both).then_some(max),
                        direction: direction(op),
                        offset: self.logs.offset.then_some(0),
                        full_priority: self.logs.priority,
                        issued_ns: self.logs.issue_time.then_some(0),
                        ..Entry::default()
                    }
                })
            })
    }
}

/// Mean and maximum of a window; rates have only one value.
fn window_values(kind: Kind, sums: &WindowSums, length_ns: u64) -> (u64, u64) {
    let per_second = |n: u64| {
        let rate = (u128::from(n) * 1_000_000_000 / u128::from(length_ns.max(1))) as u64;
        (rate, rate)
    };
    let latency = |of: &candor_record::SumAndMax| (of.sum_ns / sums.ops.max(1), of.max_ns);
    match kind {
        Kind::Bandwidth => {
            let (rate, _) = per_second(sums.bytes);
            (rate / 1024, rate / 1024)
        }
        Kind::Iops | Kind::Histogram => per_second(sums.ops),
        Kind::Submission => latency(&sums.submission),
        Kind::Completion => latency(&sums.completion),
        Kind::Latency => latency(&sums.latency),
    }
}

/// fio's bins, each of `2^coarseness` of them together. Its columns are fixed, so latencies from
/// 17.2 s on count in the last one; the results show them as they were.
fn coarse(histogram: &Histogram, coarseness: u32) -> Vec<u64> {
    let mut bins = vec![0; FIO_BINS >> coarseness.min(6)];
    let last = bins.len() - 1;
    for (bucket, n) in histogram.filled() {
        bins[(bucket >> coarseness.min(6)).min(last)] += n;
    }
    bins
}

#[cfg(test)]
mod tests;
