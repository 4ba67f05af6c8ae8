//! Runs of plans on objects, as the servers' user.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Server;
use super::server::unique;
use crate::support::{Ran, Report, Running, Scratch};

/// A `[[bucket]]` section named `data`: the bucket `data` of a server, which the run makes and
/// removes. `lines` are added.
pub fn bucket(endpoint: &str, lines: &str) -> String {
    let begin = "[[bucket]]\nname = \"data\"\nbucket = \"data\"\ncreate = true";
    let endpoints = format!("endpoints = [\"{endpoint}\"]");
    format!("{begin}\n{endpoints}\nconnections.connect_timeout = \"2s\"\n{lines}\n")
}

/// A plan of a bucket, a further line of the bucket, and phases.
pub fn plan(bucket: &str, line: &str, phases: &str) -> String {
    format!("{bucket}{line}\n{phases}")
}

/// Keys `f0`, `f1` and further ones, each with an object of this size.
pub fn keys(count: u64, size: &str) -> String {
    format!("keys.tree = {{ items = {count}, file_size = \"{size}\" }}")
}

/// A phase of one job on the bucket `data`; `work` has fields of objects. Lines of the job may
/// follow.
pub fn phase(name: &str, work: &str) -> String {
    phase_until(name, "", work)
}

/// The same, with a line of the phase.
pub fn phase_until(name: &str, stop: &str, work: &str) -> String {
    let work = format!("work.objects = {{ buckets = [\"data\"], {work} }}");
    format!("[[phase]]\nname = \"{name}\"\n{stop}\n[[phase.job]]\n{work}\n")
}

/// A command of candor with the credentials of a server's owner, and no history.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(words);
    command.env("AWS_ACCESS_KEY_ID", Server::ACCESS_KEY);
    command.env("AWS_SECRET_ACCESS_KEY", Server::SECRET_KEY);
    // Settings of the user do not reach the client.
    command.env("AWS_CONFIG_FILE", "/dev/null").env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    command.env("CANDOR_HISTORY", "off");
    command
}

/// A run under way.
pub struct Started {
    /// The process.
    pub running: Running,
    json: String,
}

/// A run that has ended.
pub struct Outcome {
    /// The process.
    pub ran: Ran,
    /// The report, if there is one.
    pub report: Option<Report>,
}

impl Started {
    /// Waits for the end.
    pub fn wait(self) -> Outcome {
        let ran = self.running.wait();
        Outcome { ran, report: Report::read(&self.json) }
    }
}

/// Starts a plan.
pub fn start(scratch: &Scratch, plan: &str) -> Started {
    let file = scratch.file(&format!("{}.toml", unique("plan")), plan);
    let json = scratch.outside(&format!("{}.json", unique("report")));
    let words = ["run", &file, "--no-live", "--json", &json, "--verbose"];
    Started { running: Running::start(&mut command(&words), Stdio::null()), json }
}

/// Runs a plan.
pub fn run(scratch: &Scratch, plan: &str) -> Outcome {
    start(scratch, plan).wait()
}

/// Runs a plan that must succeed.
pub fn done(scratch: &Scratch, plan: &str) -> Report {
    run(scratch, plan).done()
}

impl Outcome {
    /// The report of a run that succeeded.
    pub fn done(self) -> Report {
        assert_eq!(self.ran.code, Some(0), "{}\n{}", self.ran.err, self.ran.out);
        self.report.expect("a report")
    }

    /// The report of a run that may have failed.
    pub fn report(&self) -> &Report {
        self.report.as_ref().unwrap_or_else(|| panic!("no report:\n{}", self.ran.err))
    }

    /// Checks that the run failed, with these words in its message.
    pub fn failed(&self, words: &str) {
        assert_ne!(self.ran.code, Some(0), "no failure:\n{}\n{}", self.ran.err, self.ran.out);
        assert!(self.ran.err.contains(words), "no `{words}` in:\n{}", self.ran.err);
        assert!(!self.ran.err.contains("panicked"), "{}", self.ran.err);
    }
}

/// HTTP requests of the first job of a phase.
pub fn http(report: &Report, phase: usize) -> &Value {
    report.at(&format!("/phases/{phase}/measurements/0/http"))
}

/// Operations of a row of the first job of a phase.
pub fn ops(report: &Report, phase: usize, row: &str) -> u64 {
    let row = format!("/phases/{phase}/measurements/0/operations/{row}");
    let row = report.0.pointer(&row);
    row.map_or(0, |row| row["ops"].as_u64().expect("a number"))
}

/// Failed operations of a row.
pub fn failed_ops(report: &Report, phase: usize, row: &str) -> u64 {
    let row = format!("/phases/{phase}/measurements/0/operations/{row}/failed");
    report.number(&row) as u64
}

/// Blocks that differ from the plan's content, in the first job of a phase.
pub fn mismatches(report: &Report, phase: usize) -> u64 {
    let verify = report.at(&format!("/phases/{phase}/measurements/0/verify"));
    assert!(verify["blocks"].as_u64() > Some(0), "nothing was verified: {verify}");
    let kinds = ["flipped", "torn", "misdirected", "stale", "foreign"];
    kinds.iter().map(|kind| verify[kind].as_u64().expect("a number")).sum()
}

/// Attempts that failed in a class, in the first job of a phase.
pub fn failures(report: &Report, phase: usize, class: &str) -> Failed {
    let all = http(report, phase)["failures"].as_array().expect("failures").iter();
    let of_class = all.filter(|failure| failure["class"] == class);
    of_class.fold(Failed::default(), |sum, failure| Failed {
        attempts: sum.attempts + failure["attempts"].as_u64().expect("a number"),
        finals: sum.finals + failure["final_attempts"].as_u64().expect("a number"),
        permitted: sum.permitted + failure["permitted"].as_u64().expect("a number"),
    })
}

/// Failed attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failed {
    /// Attempts.
    pub attempts: u64,
    /// Of these, the last ones of their operations.
    pub finals: u64,
    /// Of these, the ones that the plan permits.
    pub permitted: u64,
}

/// Regular files below a folder, relative to it, without the server's own.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    add_files(folder, folder, &mut files);
    files.sort();
    files
}

fn add_files(top: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_own = entry.file_name().to_string_lossy().starts_with('.');
        if path.is_dir() && !is_own {
            add_files(top, &path, files);
        } else if path.is_file() && !is_own {
            files.push(path.strip_prefix(top).expect("a path below the folder").to_path_buf());
        }
    }
}
