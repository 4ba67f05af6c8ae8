//! Logs of operations: lines of JSON before and after each operation of a job, in a file.
//!
//! A thread of its own writes, so that neither a slow disk nor a lock of another process holds up
//! the control plane. Workers wait where it falls far behind.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

use candor_engine::{LoggedOperation, LoggedOperations};
use candor_plan::blocks::Engine;
use candor_plan::entries::EntriesEngine;
use candor_plan::{Job, OperationsLog, PathText, Phase, Plan, Target};
use candor_record::{IoFailure, Note};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::FlockOperation;
use serde::Serialize;

use crate::error::RunError;

/// Bytes that are collected before they are written.
const CHUNK_BYTES: usize = 1 << 20;

/// One line. Keys are those that readers of elbencho's log of operations look for, and more.
#[derive(Serialize)]
struct Line<'a> {
    date: &'a str,
    #[serde(flatten)]
    of_run: Option<OfRun<'a>>,
    worker_rank: u64,
    op_name: &'a str,
    entry_name: &'a str,
    offset: u64,
    length: u64,
    is_finished: bool,
    is_error: bool,
}

/// Keys that elbencho's log does not have.
#[derive(Serialize)]
struct OfRun<'a> {
    elapsed_ns: u64,
    phase: &'a str,
    job: &'a str,
}

/// Words for the operations of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    /// Names of operations of plans.
    Steps,
    /// Names of system calls.
    Calls,
    /// Names of system calls, with asynchronous reads and writes.
    AioCalls,
}

impl Words {
    fn of(job: &Job, log: &OperationsLog) -> Words {
        let is_aio = job.blocks().is_some_and(|blocks| matches!(blocks.engine, Engine::Libaio(_)))
            || job.entries().is_some_and(|entries| entries.engine == Some(EntriesEngine::Libaio));
        match (log.calls, is_aio) {
            (false, _) => Words::Steps,
            (true, false) => Words::Calls,
            (true, true) => Words::AioCalls,
        }
    }
}

/// System call by which an operation is issued.
fn call_of(operation: &str, words: Words) -> &str {
    match operation {
        _ if words == Words::Steps => operation,
        "read" | "read_back" if words == Words::AioCalls => "aioread",
        "write" if words == Words::AioCalls => "aiowrite",
        "create" | "open" => "openat",
        "read" | "read_back" => "pread",
        "write" => "pwrite",
        "mkdir" | "make_root" => "mkdirat",
        "unlink" | "rmdir" | "remove_root" => "unlinkat",
        "stat" => "fstatat",
        other => other,
    }
}

/// The notes about jobs whose operations are logged.
pub fn notes(plan: &Plan) -> Vec<Note> {
    let mut files: Vec<&Path> = Vec::new();
    for log in plan.phases.iter().flat_map(|phase| phase.jobs.iter().filter_map(log_of)) {
        if !files.contains(&log.file.as_path()) {
            files.push(&log.file);
        }
    }
    let note = |file: &Path| Note {
        asked: format!("a log of operations in {}", file.text()),
        did: "a line was written before and after each operation while the clock ran".into(),
        why: "rates and latencies include the cost of this log".into(),
        place: None,
    };
    files.into_iter().map(note).collect()
}

fn log_of(job: &Job) -> Option<&OperationsLog> {
    job.operations_log.as_ref()
}

/// Writes the operations of a phase.
pub struct OperationsWriter {
    sender: Option<SyncSender<LoggedOperations>>,
    /// A batch for which there is no room yet.
    waiting: Option<LoggedOperations>,
    thread: Option<JoinHandle<Vec<(String, io::Error)>>>,
}

impl OperationsWriter {
    /// Opens the files of a phase; none where nothing is logged.
    ///
    /// # Errors
    /// A file cannot be opened, or is refused.
    pub fn open(plan: &Plan, phase: &Phase) -> Result<Option<OperationsWriter>, RunError> {
        let mut writing = Writing {
            phase: phase.name.clone(),
            files: Vec::new(),
            of_jobs: HashMap::new(),
            lost: HashMap::new(),
            date: Date::default(),
        };
        for job in &phase.jobs {
            let Some(log) = log_of(job) else { continue };
            let known = writing.files.iter().position(|file| file.path == log.file);
            let at = match known {
                Some(at) => at,
                None => {
                    writing.files.push(LogFile::open(log)?);
                    writing.files.len() - 1
                }
            };
            writing.files[at].lock |= log.lock;
            let of_job =
                OfJob { file: at, words: Words::of(job, log), first_rank: first_rank(plan, job) };
            writing.of_jobs.insert(job.name.clone(), of_job);
        }
        if writing.files.is_empty() {
            return Ok(None);
        }
        let (sender, batches) = mpsc::sync_channel(1);
        let thread = thread::Builder::new().name("candor/log".into());
        let thread = thread.spawn(move || writing.all(&batches));
        let thread = Some(thread.map_err(|cause| RunError::Thread { cause })?);
        Ok(Some(OperationsWriter { sender: Some(sender), waiting: None, thread }))
    }

    /// True where another batch can be taken.
    pub fn has_room(&mut self) -> bool {
        if let Some(batch) = self.waiting.take() {
            self.try_send(batch);
        }
        self.waiting.is_none()
    }

    /// Takes a batch.
    pub fn take(&mut self, batch: LoggedOperations) {
        if let (Some(earlier), Some(sender)) = (self.waiting.take(), &self.sender) {
            // Only the last batches come without a question for room: they wait for it.
            let _ = sender.send(earlier);
        }
        self.try_send(batch);
    }

    fn try_send(&mut self, batch: LoggedOperations) {
        let sent = self.sender.as_ref().map(|sender| sender.try_send(batch));
        if let Some(Err(TrySendError::Full(batch))) = sent {
            self.waiting = Some(batch);
        }
    }

    /// Writes the rest. The failures, each with the name of a job whose log is not whole.
    pub fn end(mut self) -> Vec<(String, IoFailure)> {
        if let (Some(last), Some(sender)) = (self.waiting.take(), self.sender.take()) {
            let _ = sender.send(last);
        }
        self.sender = None;
        let failed = self.thread.take().map(JoinHandle::join);
        let failed = failed.and_then(Result::ok).unwrap_or_default();
        let failure = |(job, error): (String, io::Error)| {
            let failure = IoFailure {
                op: None,
                path: String::new(),
                offset: 0,
                errno: error.raw_os_error().unwrap_or(libc::EIO),
                message: error.to_string(),
                count: 1,
            };
            (job, failure)
        };
        failed.into_iter().map(failure).collect()
    }
}

/// Number that names give to the first rank of a job.
fn first_rank(plan: &Plan, job: &Job) -> u64 {
    let of_job = |target: &&Target| job.targets.contains(&target.name);
    let tree = plan.targets.iter().find(of_job).and_then(|target| target.tree.as_ref());
    tree.map_or(0, |tree| tree.first_rank)
}

/// Form of a job's lines.
#[derive(Clone, Copy, Debug)]
struct OfJob {
    /// Index of the file.
    file: usize,
    words: Words,
    first_rank: u64,
}

/// State of the thread.
struct Writing {
    phase: String,
    files: Vec<LogFile>,
    of_jobs: HashMap<String, OfJob>,
    /// Operations of each job that found no room.
    lost: HashMap<String, u64>,
    date: Date,
}

impl Writing {
    /// Writes all batches; the jobs whose log is not whole, and why.
    fn all(mut self, batches: &Receiver<LoggedOperations>) -> Vec<(String, io::Error)> {
        for batch in batches {
            self.add(batch);
        }
        let mut failed = Vec::new();
        for (job, of_job) in &self.of_jobs {
            let LogFile { path, failed: error, .. } = &mut self.files[of_job.file];
            let lost = self.lost.get(job).copied().unwrap_or(0);
            let said = |what: String| format!("the log of operations {}: {what}", path.text());
            if let Some(error) = error {
                failed.push((job.clone(), io::Error::other(said(error.to_string()))));
            } else if lost > 0 {
                let what = format!("{lost} lines are missing, because it was too slow");
                failed.push((job.clone(), io::Error::other(said(what))));
            }
        }
        failed
    }

    fn add(&mut self, batch: LoggedOperations) {
        let job = batch.job().to_owned();
        let Some(of_job) = self.of_jobs.get(&job).copied() else { return };
        self.lost.insert(job.clone(), batch.lost());
        let Writing { phase, files, date, .. } = self;
        let file = &mut files[of_job.file];
        batch.for_each(|operation| {
            file.add(&line(operation, phase, &job, date, of_job));
        });
        file.write();
    }
}

fn line<'a>(
    operation: &LoggedOperation<'a>,
    phase: &'a str,
    job: &'a str,
    date: &'a mut Date,
    OfJob { words, first_rank, .. }: OfJob,
) -> Line<'a> {
    let of_run = OfRun { elapsed_ns: operation.elapsed_ns, phase, job };
    Line {
        date: date.of(operation.unix_ns),
        of_run: (words == Words::Steps).then_some(of_run),
        worker_rank: first_rank + operation.rank,
        op_name: call_of(operation.op, words),
        entry_name: operation.path,
        offset: operation.offset,
        length: operation.length,
        is_finished: operation.has_ended,
        is_error: operation.has_failed,
    }
}

/// A date in ms, as text; most lines have the date of the line before.
#[derive(Default)]
struct Date {
    unix_ms: u64,
    text: String,
    zone: Option<TimeZone>,
}

impl Date {
    /// Date and time with the zone: `2026-11-23T11:18:30.170-0500`.
    fn of(&mut self, unix_ns: u64) -> &str {
        let unix_ms = unix_ns / 1_000_000;
        if self.unix_ms != unix_ms {
            let zone = self.zone.get_or_insert_with(TimeZone::system).clone();
            let at = i64::try_from(unix_ms).ok();
            let at = at.and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or_default();
            self.text = at.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S%.3f%z").to_string();
            self.unix_ms = unix_ms;
        }
        &self.text
    }
}

/// A file that lines are added to.
struct LogFile {
    path: PathBuf,
    file: File,
    lock: bool,
    /// Lines that are not written yet.
    lines: Vec<u8>,
    /// Why lines could not be written; the log ends before them.
    failed: Option<io::Error>,
}

impl LogFile {
    fn open(log: &OperationsLog) -> Result<LogFile, RunError> {
        let path = &log.file;
        let opened = candor_files::append(path);
        let file = opened.map_err(RunError::file("open the log of operations", path))?;
        let (lines, failed) = (Vec::with_capacity(CHUNK_BYTES + 4096), None);
        Ok(LogFile { path: path.clone(), file, lock: log.lock, lines, failed })
    }

    fn add(&mut self, line: &Line<'_>) {
        // Memory takes all lines, and texts and numbers are JSON.
        let _ = serde_json::to_writer(&mut self.lines, line);
        self.lines.push(b'\n');
        if self.lines.len() >= CHUNK_BYTES {
            self.write();
        }
    }

    /// Writes whole lines, under the lock where one is asked for.
    fn write(&mut self) {
        let lines = take(&mut self.lines);
        if self.failed.is_none() {
            self.failed = self.written(&lines).err();
        }
        self.lines = lines;
        self.lines.clear();
    }

    fn written(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.lock {
            rustix::fs::flock(&self.file, FlockOperation::LockExclusive)?;
        }
        let written = self.file.write_all(lines);
        if self.lock {
            rustix::fs::flock(&self.file, FlockOperation::Unlock)?;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::{Blocks, Tree};

    use super::*;

    #[test]
    fn a_date_has_ms_and_a_zone() {
        let mut date = Date { zone: Some(TimeZone::UTC), ..Date::default() };
        assert_eq!(date.of(1_795_433_910_170_999_999), "2026-11-23T11:38:30.170+0000");
        assert_eq!(date.of(1_795_433_910_171_000_000), "2026-11-23T11:38:30.171+0000");
    }

    #[test]
    fn operations_have_the_words_of_their_log() {
        let log = OperationsLog { calls: true, ..OperationsLog::default() };
        let job = |blocks: Blocks| Job { work: blocks.into(), ..Job::default() };
        let aio = job(Blocks { engine: Engine::LIBAIO, ..Blocks::default() });
        let of = |job: &Job, log: &OperationsLog| {
            let words = Words::of(job, log);
            ["create", "write", "read_back", "remove_root", "syncfs"].map(|op| call_of(op, words))
        };
        let plain = job(Blocks { engine: Engine::Psync, ..Blocks::default() });
        assert_eq!(of(&plain, &log), ["openat", "pwrite", "pread", "unlinkat", "syncfs"]);
        assert_eq!(of(&aio, &log)[1..3], ["aiowrite", "aioread"]);
        let steps = OperationsLog::default();
        assert_eq!(of(&aio, &steps), ["create", "write", "read_back", "remove_root", "syncfs"]);
    }

    #[test]
    fn workers_have_the_ranks_of_their_names() {
        let tree = Some(Tree { first_rank: 3, ..Tree::default() });
        let target = Target { name: "t".into(), tree, ..Target::default() };
        let plan = Plan { targets: vec![target], ..Plan::default() };
        let job = |target: &str| Job { targets: vec![target.into()], ..Job::default() };
        assert_eq!(["t", "other"].map(|target| first_rank(&plan, &job(target))), [3, 0]);
    }

    #[test]
    fn one_file_of_several_jobs_is_opened_once_and_a_device_is_none() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let log = |name: &str, lock| {
            let file = dir.path().join(name);
            let operations_log = Some(OperationsLog { file, lock, calls: lock });
            Job { name: format!("{name} {lock}"), operations_log, ..Job::default() }
        };
        let phase = |jobs| Phase { jobs, ..Phase::default() };
        let jobs = vec![log("a", false), log("a", true), log("b", false), Job::default()];
        let plan = Plan { phases: vec![phase(jobs)], ..Plan::default() };
        assert_eq!(notes(&plan).len(), 2);
        let writer = OperationsWriter::open(&plan, &plan.phases[0]).expect("open").expect("logs");
        assert!(writer.end().is_empty());
        assert!(
            OperationsWriter::open(&plan, &phase(vec![Job::default()])).is_ok_and(|w| w.is_none())
        );
        let missing = OperationsWriter::open(&plan, &phase(vec![log("no/file", false)])).err();
        assert!(missing.is_some_and(|error| error.to_string().contains("no/file")));
    }
}
