//! fio's logs: bandwidth, rates, latencies and histograms over time, the files of a job together.
//!
//! A line is `time, value, direction, bytes[, offset], priority[, issue time]`, the time in ms.
//! Logs of windows (`log_avg_msec`) have 0 bytes, and a line stands for the window before it. Logs
//! of single operations are added up to windows: their bytes and latencies are exact, while their
//! bandwidth is that of one operation.

mod line;
mod series;

use std::collections::BTreeMap;

use candor_plan::units::Direction;
use candor_plan::{PathText, path_of};
use candor_record::results::{JobResults, OpResults, PhaseResults, Results};

use super::{Names, begin, intervals, moment};
use line::{Kind, Line};
use series::{ByKind, Series};

/// Times from here on count since 1970 (`log_unix_epoch`): no job runs for 30 years.
const EPOCH_MS_MIN: u64 = 1_000_000_000_000;

/// A name such as `run/rd_bw.1.log`, taken apart.
struct Name<'a> {
    /// All before the kind: `run/rd`.
    prefix: &'a str,
    kind: Kind,
    /// Number of the job with its dot; empty where jobs share a file.
    number: &'a str,
}

impl Name<'_> {
    fn of(name: &str) -> Option<Name<'_>> {
        let stem = name.strip_suffix(".log")?;
        let (stem, number) = match stem.rsplit_once('.') {
            Some((before, n)) if !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()) => {
                (before, &stem[before.len()..])
            }
            _ => (stem, ""),
        };
        let kind = Kind::ALL.into_iter().find(|kind| stem.ends_with(kind.end()))?;
        Some(Name { prefix: stem.strip_suffix(kind.end())?, kind, number })
    }

    fn with(&self, kind: Kind) -> String {
        format!("{}{}{}.log", self.prefix, kind.end(), self.number)
    }
}

/// Names of the logs of the job that a log is of, in its directory; some may not be there. None
/// where the name is no log's.
pub fn log_set(name: &str) -> Vec<String> {
    let of = Name::of(name);
    of.iter().flat_map(|of| Kind::ALL.map(|kind| of.with(kind))).collect()
}

/// A first line that is a log's.
pub(super) fn is_log(name: &str, first: &str) -> bool {
    Line::read(first, Kind::Bandwidth, false).is_ok()
        || (first.is_empty() && !log_set(name).is_empty())
}

/// Reads the logs of one run, each with its name, which tells what it holds.
///
/// # Errors
/// A sentence with file and line: a name that tells no kind, a line that is no log's.
pub fn read_logs(files: &[(String, Vec<u8>)]) -> Result<Results, String> {
    let Some((first, _)) = files.first() else { return Err("there is no log to read".into()) };
    let mut jobs: BTreeMap<(usize, u8), ByKind> = BTreeMap::new();
    for (name, bytes) in files {
        let Some(of) = Name::of(name) else {
            return Err(format!(
                "{name} looks like a log of fio, but its name does not identify the kind: name it \
                 as fio does, such as run_bw.1.log, run_iops.1.log or run_lat.1.log"
            ));
        };
        for line in line::read_all(name, super::text(name, bytes)?, of.kind)? {
            let kinds = jobs.entry((line.job, line.op)).or_default();
            match kinds.last_mut().filter(|(kind, _)| *kind == of.kind) {
                Some((_, lines)) => lines.push(line),
                None => kinds.push((of.kind, vec![line])),
            }
        }
    }
    if jobs.is_empty() {
        return Err(format!("{first} has no entries"));
    }
    let of = Name::of(first);
    let prefix = of.as_ref().map_or(first.as_str(), |of| of.prefix);
    let prefix = path_of(prefix).file_name().map_or(prefix.to_owned(), PathText::text);
    let name = format!("{prefix}{}", of.as_ref().map_or("", |of| of.number));
    let series: BTreeMap<_, _> =
        jobs.into_iter().map(|(key, kinds)| (key, Series::of(kinds))).collect();
    let epoch_ms = series.values().map(Series::begin_ms).min().filter(|ms| *ms >= EPOCH_MS_MIN);
    let phase = PhaseResults {
        name: prefix,
        start_unix_ms: epoch_ms,
        jobs: job_results(&name, &series, epoch_ms.unwrap_or(0)),
        ..PhaseResults::default()
    };
    let started = epoch_ms.and_then(moment);
    Ok(Results { name, started, phases: vec![phase], ..begin(first, "fio") })
}

fn job_results(
    name: &str,
    series: &BTreeMap<(usize, u8), Series>,
    origin_ms: u64,
) -> Vec<JobResults> {
    let (mut names, mut jobs) = (Names::default(), Vec::<(usize, JobResults)>::new());
    for ((job, op), series) in series {
        let op = operation(*op, series, origin_ms);
        let elapsed_ns =
            op.intervals.last().map_or(0, |last| last.start_ns.saturating_add(last.length_ns));
        if jobs.last().is_none_or(|(last, _)| last != job) {
            jobs.push((*job, JobResults { job: names.take(name), ..JobResults::default() }));
        }
        if let Some((_, results)) = jobs.last_mut() {
            results.elapsed_ns = results.elapsed_ns.max(elapsed_ns);
            results.operations.push(op);
        }
    }
    jobs.into_iter().map(|(_, results)| results).collect()
}

fn operation(op: u8, series: &Series, origin_ms: u64) -> OpResults {
    let direction = Direction::ALL[usize::from(op)];
    let mut results = series.results(origin_ms);
    results.operation = direction.name().to_owned();
    results.figure = direction.into();
    intervals::fill(&mut results);
    results
}
