//! A job file, and what each tool makes of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::offsets::{self, Direction};
use crate::support::Scratch;

/// No job file asks for so long.
const LIMIT: Duration = Duration::from_secs(40);

/// Logs of latencies, which have every operation with its offset.
const OFFSETS: &str = "offsets";
const RESULT: &str = "result.json";
const JOB: &str = "job.fio";
/// There before either tool starts, with one file of 64 KiB in it.
const READY: &str = "ready";
/// There as well, with the traces of `fio_peer/traces`.
const TRACES: &str = "traces";
/// File of `write_iolog`, where it is compared.
const TRACE: &str = "trace";

/// Who runs the job file.
#[derive(Clone, Copy)]
pub enum Tool {
    /// `/usr/bin/fio`.
    Fio,
    /// `candor fio`.
    Candor,
}

/// A job file and what is compared.
pub struct Case {
    /// Name.
    pub name: String,
    text: String,
    compared: Vec<String>,
}

/// Outcome of a tool's run.
pub struct Outcome {
    /// Exit status; none if it was killed because it took too long.
    pub code: Option<i32>,
    /// Text on stderr.
    pub err: String,
    /// JSON, where there is one.
    pub json: Option<Value>,
    /// Operations that it issued, where those are compared.
    pub ops: Vec<Direction>,
    /// Operations by its own trace, without times: reads, writes, trims and flushes.
    pub trace: Vec<String>,
    /// Files left, with their sizes; of logs only the names.
    pub files: BTreeMap<String, Option<u64>>,
}

/// All job files, by name.
pub fn all() -> Vec<Case> {
    folder_of("jobs").iter().map(|path| Case::read(path)).collect()
}

/// The files of a folder of `fio_peer`, by name.
fn folder_of(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fio_peer").join(name);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// Lines of a trace that move bytes, without their times.
fn moves(trace: &str) -> Vec<String> {
    let lines = trace.lines().filter_map(|line| line.split_once(' ')).map(|(_, rest)| rest);
    let moves = |line: &&str| ["read", "write", "trim"].iter().any(|op| line.contains(op));
    lines.filter(moves).map(str::to_owned).collect()
}

impl Case {
    fn read(path: &Path) -> Case {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("a readable job file");
        let first = text.lines().next().unwrap_or_default();
        let words =
            first.strip_prefix("; compared: ").expect("the first line says what to compare");
        let compared = words.split_whitespace().map(str::to_owned).collect();
        Case { name, text, compared }
    }

    /// True if that is to be compared.
    pub fn compares(&self, what: &str) -> bool {
        self.compared.iter().any(|word| word == what)
    }

    fn wants_ops(&self) -> bool {
        ["order", "set", "spread"].iter().any(|what| self.compares(what))
    }

    /// Runs it in a directory of its own.
    pub fn run(&self, tool: Tool, scratch: &Scratch) -> Outcome {
        let (folder, mut command) = match tool {
            Tool::Fio => ("fio", Command::new("/usr/bin/fio")),
            Tool::Candor => ("candor", Command::new(env!("CARGO_BIN_EXE_candor"))),
        };
        if matches!(tool, Tool::Candor) {
            command.arg("fio");
        }
        let folder = PathBuf::from(scratch.path(folder));
        fs::create_dir_all(folder.join(READY)).expect("a directory");
        fs::write(folder.join(READY).join("file"), vec![1; 64 << 10]).expect("a file");
        fs::create_dir_all(folder.join(TRACES)).expect("a directory");
        for path in folder_of(TRACES) {
            let name = path.file_name().expect("a name");
            fs::copy(&path, folder.join(TRACES).join(name)).expect("a trace");
        }
        let mut text = self.text.clone();
        if self.wants_ops() {
            text.push_str(&format!("write_lat_log={OFFSETS}\nlog_offset=1\n"));
        }
        fs::write(folder.join(JOB), text).expect("a job file");
        command.args([JOB, "--output-format=json", &format!("--output={RESULT}")]);
        let err = fs::File::create(folder.join("stderr")).expect("a file");
        command.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(err);
        let code = finish(&mut command, &folder);
        self.gather(&folder, code)
    }

    fn gather(&self, folder: &Path, code: Option<i32>) -> Outcome {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let mut files = BTreeMap::new();
        list(folder, "", &mut files);
        for own in [JOB, RESULT, "stderr"] {
            files.remove(own);
        }
        let is_log = |name: &String| name.starts_with(OFFSETS);
        let is_total = |name: &&String| name.starts_with(&format!("{OFFSETS}_lat."));
        let logs: String = files.keys().filter(is_total).map(|name| text(name)).collect();
        files.retain(|name, _| !is_log(name));
        Outcome {
            code,
            err: text("stderr"),
            json: document(&text(RESULT)),
            ops: offsets::read(&logs),
            trace: moves(&text(TRACE)),
            files,
        }
    }
}

/// The text between the line `{` and the line `}`.
fn document(text: &str) -> Option<Value> {
    let begin = if text.starts_with("{\n") { 0 } else { text.find("\n{\n")? };
    let end = text.rfind("\n}")? + 2;
    serde_json::from_str(&text[begin..end]).ok()
}

/// Waits for a tool, and ends what it left in its directory: fio's jobs have sessions of their own
/// and outlive it where it is killed.
fn finish(command: &mut Command, folder: &Path) -> Option<i32> {
    let mut child = command.spawn().expect("the tool starts");
    let began = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status.code();
        }
        if began.elapsed() > LIMIT {
            child.kill().expect("it can be killed");
            child.wait().expect("it ends");
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    for process in fs::read_dir("/proc").expect("processes").flatten() {
        let is_left = fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = pid.filter(|_| is_left).and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
    code
}

/// Files below a directory; sizes of those that hold data, not of those that hold times.
fn list(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Option<u64>>) {
    for entry in fs::read_dir(folder).expect("a readable directory").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let about = entry.metadata().expect("it is still there");
        if about.is_dir() {
            list(&entry.path(), &format!("{name}/"), files);
            continue;
        }
        let timed = name.ends_with(".log") || name.ends_with(".txt") || name == "trace";
        files.insert(name, (!timed).then_some(about.len()));
    }
}
