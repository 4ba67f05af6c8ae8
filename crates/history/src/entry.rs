//! Rows of the index that a kept document comes down to.

use std::path::Path;

use candor_derive::trend::Series;
use candor_plan::{PathText, path_of};
use candor_record::results::{
    Area, Condition, FigureKind, JobResults, OpResults, PhaseResults, Results,
};
use candor_record::{Report, Verdict};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::files::{Kind, Note};

/// One run as the index has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub tool: String,
    pub name: String,
    pub command: String,
    pub host: String,
    /// Start in ms since 1970.
    pub start_unix_ms: i64,
    pub verdict: Option<Verdict>,
    pub headline: String,
    pub is_whole: bool,
    pub targets: Vec<String>,
    /// Kernel names of the devices below them.
    pub devices: Vec<String>,
    pub digest: Vec<u8>,
    pub results: Vec<Row>,
}

/// Figures of one operation of one job in one phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub series: Series,
    pub repeat: u32,
    pub verdict: Option<Verdict>,
    /// Flushes belong to writes, items consist of operations.
    pub is_work: bool,
    pub figures: Figures,
}

/// Figures of an operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    pub ops_per_s: Option<f64>,
    pub bytes_per_s: Option<f64>,
    pub latency_mean_ns: Option<f64>,
    /// (percentile, ns).
    pub percentiles: Vec<(f64, u64)>,
}

impl Figures {
    fn of(op: &OpResults) -> Figures {
        let value = |kind| op.figure_value(kind).filter(|value| value.is_finite());
        Figures {
            ops_per_s: value(FigureKind::OpsPerS),
            bytes_per_s: value(FigureKind::BytesPerS),
            latency_mean_ns: value(FigureKind::LatencyMean),
            percentiles: op.latency.as_ref().map(|of| of.percentiles.clone()).unwrap_or_default(),
        }
    }

    /// The figure of that kind, where there is one.
    pub fn value(&self, kind: FigureKind) -> Option<f64> {
        match kind {
            FigureKind::OpsPerS => self.ops_per_s,
            FigureKind::BytesPerS => self.bytes_per_s,
            FigureKind::LatencyMean => self.latency_mean_ns,
            FigureKind::LatencyPercentile(p) => {
                let found = self.percentiles.iter().find(|(of, _)| *of == p);
                found.map(|(_, ns)| *ns as f64)
            }
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<(FigureKind, f64)> {
        let percentiles = self.percentiles.iter().map(|(p, _)| FigureKind::LatencyPercentile(*p));
        [FigureKind::OpsPerS, FigureKind::BytesPerS, FigureKind::LatencyMean]
            .into_iter()
            .chain(percentiles)
            .filter_map(|kind| Some((kind, self.value(kind)?)))
            .collect()
    }
}

/// A kept document as results, and whether the run came to its end.
pub(crate) struct Read {
    pub results: Results,
    host: String,
    devices: Vec<String>,
    is_whole: bool,
}

impl Read {
    /// The results of a report.
    pub fn report(report: &Report) -> Read {
        let facts = report.facts();
        let of_targets = facts.targets.iter().filter_map(|target| target.device.as_ref());
        let of_host = facts.devices.iter().map(|device| device.name.clone());
        let devices = of_targets.map(|device| device.value.clone()).chain(of_host);
        Read {
            results: candor_derive::results(report),
            host: report.phases.last().map(|phase| phase.host().host.clone()).unwrap_or_default(),
            devices: sorted(devices.collect()),
            is_whole: report.cut_short.is_none() && !report.interrupted,
        }
    }

    /// Results of another tool.
    pub fn results(results: Results) -> Read {
        let seen = || results.phases.iter().flat_map(|phase| &phase.devices);
        let host = seen().map(|device| device.host.clone()).find(|host| !host.is_empty());
        let devices = sorted(seen().map(|device| device.device.clone()).collect());
        Read { host: host.unwrap_or_default(), devices, is_whole: true, results }
    }

    /// A document of that kind. A report whose judgement is of another version is judged again.
    pub fn document(kind: Kind, text: &str) -> Result<Read, String> {
        match kind {
            Kind::Report => candor_record::read(text)
                .or_else(|_| {
                    let mut report = candor_record::read_unjudged(text)?;
                    report.judgement = candor_judge::judge_again(&report);
                    Ok(report)
                })
                .map(|report| Read::report(&report)),
            Kind::Results => candor_plan::values::from_json(text.as_bytes()).map(Read::results),
        }
    }

    /// The rows of the index.
    pub fn entry(&self, text: &str, note: &Note) -> Entry {
        let results = &self.results;
        let absolute = |paths: &[String]| -> Vec<String> {
            paths.iter().map(|path| lasting(absolute(path, note.directory.as_deref()))).collect()
        };
        let jobs = results.phases.iter().flat_map(|phase| &phase.jobs);
        let targets = sorted(jobs.flat_map(|job| absolute(&job.targets)).collect());
        let rows = results.phases.iter().flat_map(|phase| {
            phase.jobs.iter().flat_map(|job| self.rows(phase, job, &absolute(&job.targets)))
        });
        Entry {
            tool: results.tool.clone(),
            name: results.name.clone(),
            command: results.command.join(" "),
            host: self.host.clone(),
            start_unix_ms: self.start_unix_ms(note),
            verdict: results.verdict,
            headline: results.headline.clone(),
            is_whole: self.is_whole,
            targets,
            devices: self.devices.clone(),
            digest: digest(text),
            results: rows.collect(),
        }
    }

    fn rows(&self, phase: &PhaseResults, job: &JobResults, targets: &[String]) -> Vec<Row> {
        let conditions = series_conditions(&self.results, job, targets);
        let row = |op: &OpResults| Row {
            series: Series {
                tool: without_version(&self.results.tool),
                host: self.host.clone(),
                targets: targets.to_vec(),
                phase: phase.name.clone(),
                job: job.job.clone(),
                load: job.load.clone(),
                operation: op.operation.clone(),
                conditions: conditions.clone(),
            },
            repeat: phase.repeat,
            verdict: phase.verdict,
            is_work: op.figure.is_work(),
            figures: Figures::of(op),
        };
        job.operations.iter().map(row).collect()
    }

    /// The start; that of the first phase or the time of the file where there is none.
    fn start_unix_ms(&self, note: &Note) -> i64 {
        let started = self.results.started.as_deref().and_then(|text| text.parse().ok());
        let of_run = started.map(|at: Timestamp| at.as_millisecond());
        let of_phase = || {
            let starts = self.results.phases.iter().filter_map(|phase| phase.start_unix_ms);
            starts.min().and_then(|ms| i64::try_from(ms).ok())
        };
        of_run.or_else(of_phase).or(note.file_unix_ms).unwrap_or_default()
    }
}

/// Conditions of the environment under which work has a series of its own, by the beginnings of
/// their names. A change of another one, such as the kernel, is named where a trend changed.
const OF_SERIES: [&str; 10] = [
    "filesystem",
    "server",
    "device",
    "endpoints",
    "versioning",
    "encryption",
    "storage class",
    "I/O limits of the control group",
    "CPUs of the control group",
    "memory of the control group",
];

/// Keys of a plan that a series of candor chooses in each run by the time and the room that it has.
const CHOSEN: [&str; 3] = ["size", "tree.items", "tree.width"];

/// The conditions under which the work of a job is the same from run to run.
fn series_conditions(results: &Results, job: &JobResults, targets: &[String]) -> Vec<Condition> {
    let begins = |name: &str, with: &str| {
        name.strip_prefix(with).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.']))
    };
    let is_own = targets.iter().any(|path| own_file(path).is_some());
    let is_kept = |of: &&Condition| match of.area {
        Area::Plan => !(is_own && CHOSEN.iter().any(|key| begins(&of.name, key))),
        Area::Host | Area::Storage => OF_SERIES.iter().any(|name| begins(&of.name, name)),
        Area::Tool => false,
    };
    let all = results.conditions.iter().chain(&job.conditions).filter(|of| of.matters);
    let mut kept: Vec<Condition> = all.filter(is_kept).cloned().collect();
    for of in kept.iter_mut().filter(|of| begins(&of.name, "device")) {
        // A disk has another kernel name after a restart: `sda (disk, MODEL, 1 TB)`.
        if let Some((_, rest)) = of.value.split_once(" (").filter(|(name, _)| !name.contains(' ')) {
            of.value = rest.trim_end_matches(')').to_owned();
        }
    }
    kept
}

/// A number that tells documents apart.
pub(crate) fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Start of a run as people and machines read it.
pub(crate) fn started(unix_ms: i64) -> String {
    let at = Timestamp::from_millisecond(unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn absolute(path: &str, directory: Option<&Path>) -> String {
    match directory {
        Some(directory) if !path.is_empty() => directory.join(path_of(path)).text(),
        _ => path.to_owned(),
    }
}

/// Beginnings of the names of files of a series' own, which the number of its process follows.
const OWN_FILES: [&str; 2] = ["candor-check", "candor-io500"];

/// The path without the number of the process by which a series names its own files: without that
/// they are the same from run to run, and have a trend.
fn lasting(path: String) -> String {
    own_file(&path).unwrap_or(path)
}

/// The path of a series' own file; none for the path of another one.
fn own_file(path: &str) -> Option<String> {
    let (before, name, own) = OWN_FILES.into_iter().find_map(|name| {
        let (before, own) = path.rsplit_once(name)?;
        Some((before, name, own))
    })?;
    if !(before.is_empty() || before.ends_with('/')) {
        return None;
    }
    let number =
        own.strip_prefix('.').map(|own| own.trim_start_matches(|c: char| c.is_ascii_digit()));
    // Without a number it is lasting already.
    let end = number.filter(|end| end.len() + 1 < own.len()).unwrap_or(own);
    let is_own = (end.is_empty() || end.starts_with('.')) && !end.contains('/');
    is_own.then(|| format!("{before}{name}{end}"))
}

/// `fio` of `fio-3.33`, `candor` of `candor 0.1.0`.
fn without_version(tool: &str) -> String {
    tool.split([' ', '-']).next().unwrap_or_default().to_owned()
}

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let op = OpResults {
            operation: "read".into(),
            ops_per_s: Some(10.0),
            bytes_per_s: Some(f64::NAN),
            ..OpResults::default()
        };
        let job = JobResults {
            job: "j".into(),
            targets: vec!["/abs".into(), "rel".into()],
            operations: vec![op],
            ..JobResults::default()
        };
        let phase = PhaseResults { name: "p".into(), jobs: vec![job], ..PhaseResults::default() };
        Results { tool: "fio-3.33".into(), phases: vec![phase], ..Results::default() }
    }

    #[test]
    fn targets_are_absolute_and_figures_are_numbers() {
        let note = Note { directory: Some("/home".into()), ..Note::default() };
        let entry = Read::results(results()).entry("{}", &note);
        assert_eq!(entry.targets, ["/abs", "/home/rel"]);
        let [row] = &entry.results[..] else { panic!("one row") };
        assert_eq!((row.series.tool.as_str(), row.is_work), ("fio", true));
        assert_eq!(row.figures.all(), [(FigureKind::OpsPerS, 10.0)]);
    }

    #[test]
    fn files_of_a_check_are_the_same_in_every_run() {
        let cases = [
            ("/data/candor-check.6325", "/data/candor-check"),
            ("candor-check.6325.own", "candor-check.own"),
            ("/data/candor-io500.7.ior-hard", "/data/candor-io500.ior-hard"),
            ("/data/candor-check.6325/file", "/data/candor-check.6325/file"),
            ("/data/my-candor-check.7", "/data/my-candor-check.7"),
            ("/data/candor-check.7x", "/data/candor-check.7x"),
            ("/data/candor-check.own", "/data/candor-check.own"),
        ];
        for (path, expected) in cases {
            assert_eq!(lasting(path.to_owned()), expected);
        }
    }

    #[test]
    fn unlike_conditions_are_series_of_their_own() {
        let condition = |area, name: &str, value: &str| Condition {
            area,
            name: name.into(),
            value: value.into(),
            matters: true,
        };
        let series = |of: &[(Area, &str, &str)], target: &str| {
            let mut results = results();
            let all = of.iter().map(|(area, name, value)| condition(*area, name, value));
            results.conditions = all.collect();
            let job = &mut results.phases[0].jobs[0];
            (job.conditions, job.targets) =
                (vec![condition(Area::Plan, "direct", "yes")], vec![target.into()]);
            let entry = Read::results(results).entry("{}", &Note::default());
            entry.results[0].series.conditions.clone()
        };
        let of = |area, name, value| series(&[(area, name, value)], "/data/f");
        let differ = |area, name: &'static str| of(area, name, "1") != of(area, name, "2");
        assert!(differ(Area::Plan, "size of target"));
        assert!(differ(Area::Storage, "filesystem") && differ(Area::Storage, "device of target a"));
        assert!(differ(Area::Host, "I/O limits of the control group"));
        assert!(!differ(Area::Host, "kernel") && !differ(Area::Storage, "scheduler"));
        let disk = |name: &str| {
            let value = format!("{name} (disk, M 1, 1 TB)");
            series(&[(Area::Storage, "device", &value)], "/data/f")
        };
        assert_eq!(disk("sda"), disk("sdb"), "a restart renames disks");
        // A check takes as much as it can write in its time.
        let size =
            |size: &str| series(&[(Area::Plan, "size of target", size)], "/d/candor-check.7");
        assert_eq!(size("1 GiB"), size("2 GiB"));
        assert_eq!(size("1 GiB"), [condition(Area::Plan, "direct", "yes")]);
    }

    #[test]
    fn a_start_is_that_of_the_run_of_a_phase_or_of_the_file() {
        let note = Note { file_unix_ms: Some(3000), ..Note::default() };
        let mut results = results();
        let start = |results: &Results| {
            started(Read::results(results.clone()).entry("", &note).start_unix_ms)
        };
        assert_eq!(start(&results), "1970-01-01T00:00:03Z");
        results.phases[0].start_unix_ms = Some(2000);
        assert_eq!(start(&results), "1970-01-01T00:00:02Z");
        results.started = Some("2026-11-23T17:00:01Z".into());
        assert_eq!(start(&results), "2026-11-23T17:00:01Z");
    }

    #[test]
    fn every_recorded_report_has_its_rows() {
        let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/tests/recorded");
        let mut count = 0;
        for entry in std::fs::read_dir(recorded).expect("reports").flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a report");
            let read = Read::document(Kind::Report, &text).expect("it can be read");
            let entry = read.entry(&text, &Note::default());
            assert!(entry.verdict.is_some(), "{text:.200}");
            count += usize::from(entry.results.iter().any(|row| !row.figures.all().is_empty()));
        }
        assert!(count > 20, "{count}");
    }
}
