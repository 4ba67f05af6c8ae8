//! The part of a run that belongs to the tool: its lines, its files, its exit code.
//!
//! A [`Session`] opens nothing and writes nothing. The caller runs the plan, passes each event, and
//! does the I/O that the session returns as data.

use std::path::PathBuf;

use candor_plan::{Problem, path_of};
use candor_record::{Event, Report};

/// One run of a tool's command line.
pub trait Session: Send {
    /// Returns the lines before the run, and the files of results.
    ///
    /// # Errors
    /// A sentence that keeps the plan from running.
    fn begin(&mut self) -> Result<Start, String>;

    /// Returns the text that an event adds. [`Event::Interim`] has the results so far.
    fn on(&mut self, event: &Event) -> Output;

    /// Directories to remove, if they are empty. The caller asks before the run and after it.
    fn leftovers(&self) -> Leftovers {
        Leftovers::default()
    }

    /// Adds notes to the report and returns the tool's results.
    fn finish(&mut self, report: &mut Report, ending: &Ending) -> Finish;

    /// Problems of the plan in the user's words, a sentence each.
    fn sentences(&self, problems: &[Problem]) -> Vec<String>;
}

/// The beginning of a run.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Text before the run.
    pub output: Output,
    /// Files that the session will replace: checked before the run.
    pub files: Vec<PathBuf>,
}

/// Text of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Text for stdout, or for the file of the results.
    pub results: String,
    /// Text for stdout, even if results go to a file.
    pub stdout: String,
    /// Text for stderr.
    pub stderr: String,
    /// Text for files.
    pub files: Vec<FileText>,
}

impl From<String> for Output {
    fn from(results: String) -> Output {
        Output { results, ..Output::default() }
    }
}

/// Text for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The file.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    /// Treatment of earlier content.
    pub write: Write,
}

impl FileText {
    /// A file that this text replaces.
    pub fn whole(file: &str, text: String) -> FileText {
        FileText { path: path_of(file), text, write: Write::Replace }
    }
}

/// Treatment of a file's earlier content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Replace it.
    Replace,
    /// Append to it.
    Append,
}

/// Directories that a run leaves behind. Only empty ones are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Directories to remove in any case, in this order.
    pub always: Vec<PathBuf>,
    /// Directories to remove after them, unless they existed before the run.
    pub if_made: Vec<PathBuf>,
}

/// Result of the removal of [`Leftovers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// All directories are removed.
    All,
    /// Some directories did not exist; the others are removed.
    Missing,
    /// A directory could not be removed: the reason, as a sentence.
    Failed(String),
}

/// State at the end of a run.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Results that contain the verdict.
    pub verdict_in: VerdictIn,
    /// Result of the removal of [`Leftovers`].
    pub removed: Removed,
    /// A person reads stderr: stderr is a terminal, and no launcher made it.
    pub is_stderr_read: bool,
}

/// Results that contain the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictIn {
    /// None.
    Nothing,
    /// Documents such as JSON, in a separate key that readers of lines do not see.
    Documents,
    /// Documents, and text on stdout: stdout is a terminal, and no launcher made it.
    Terminal,
}

/// Results of a session.
pub struct Finish {
    /// Text for stdout, or for the file of the results.
    pub results: String,
    /// The verdict as text, for stderr or a separate file.
    pub verdict: String,
    /// Lines on stderr about failures.
    pub failures: String,
    /// Files of results.
    pub files: Vec<FileText>,
    /// Logs of operations that become files.
    pub logs: Vec<LogToFiles>,
    /// Outcome of files that the session's caller has written itself: a sentence if one failed.
    pub written: Result<(), String>,
    /// Exit code.
    pub exit_code: u8,
}

/// A log of operations, and its conversion to the tool's files. The log is removed afterwards.
pub struct LogToFiles {
    /// The log.
    pub log: PathBuf,
    /// The conversion.
    pub rows: Box<dyn LogRows>,
}

/// Conversion of a log of operations to rows of files.
pub trait LogRows {
    /// Rows before the first line of the log.
    fn begin(&mut self) -> Vec<Row> {
        Vec::new()
    }

    /// The row that a line completes, if any.
    fn line(&mut self, line: LogLine) -> Option<Row>;

    /// Rows after the last line.
    fn end(&mut self) -> Vec<Row> {
        Vec::new()
    }
}

/// A row of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The file, which begins with its first row.
    pub file: String,
    /// The row, with its newline.
    pub text: String,
}

/// A line of a log: begin or end of an operation.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct LogLine {
    /// Time since the begin of the phase, in ns.
    pub elapsed_ns: u64,
    /// Number of the worker.
    pub worker_rank: u64,
    /// Name of the operation.
    pub op_name: String,
    /// Name of the file.
    pub entry_name: String,
    /// True for an end.
    pub is_finished: bool,
}
