//! Why a run was refused or could not go on.

use std::io;
use std::path::{Path, PathBuf};

use candor_engine::{EngineError, remedy};
use candor_objects::Refused;
use candor_plan::{PathText, Problem};
use candor_record::IoFailure;
use candor_record::facts::Missing;

use crate::signals;

/// The reason why a run or a phase could not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan makes no sense.
    #[error("{}", sentences(.0))]
    BadPlan(Vec<Problem>),
    /// The plan would do harm.
    #[error("{}", sentences(.0))]
    Unsafe(Vec<Problem>),
    /// The engine could not make a phase ready.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A file could not be used.
    #[error("cannot {what} `{}`: {cause}{}", path.text(), remedy(cause))]
    File {
        /// The action that failed.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A path that was named is of no use.
    #[error("`{}` {why}; name a file, a directory or a block device", path.text())]
    BadPath {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// No block device to observe.
    #[error("there is no block device below {}; name a file, a directory or a device that has one",
        .0.join(", "))]
    NoDevice(Vec<String>),
    /// Single requests cannot be traced by the requested method.
    #[error("cannot trace requests: {}; it takes {}", .0.why, .0.enable)]
    Untraced(Missing),
    /// The control plane of a phase has no thread.
    #[error("cannot start a thread: {cause}{}", remedy(cause))]
    Thread {
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// A command that was to run before a job failed.
    #[error("{0}")]
    Hook(String),
    /// A host of several failed.
    #[error("{sentence}")]
    Host {
        /// Which one, and why.
        sentence: String,
        /// Exit code that belongs to it.
        exit_code: u8,
    },
    /// The user stopped it before it had begun.
    #[error("interrupted")]
    Interrupted,
}

fn sentences(problems: &[Problem]) -> String {
    let list: Vec<String> =
        problems.iter().map(|problem| format!("{}; {}", problem.message, problem.remedy)).collect();
    list.join("\n")
}

impl From<Refused> for RunError {
    fn from(refused: Refused) -> RunError {
        match refused {
            Refused::Unusable(problems) => RunError::BadPlan(problems),
            Refused::Unsafe(problems) => RunError::Unsafe(problems),
        }
    }
}

impl RunError {
    /// For `map_err` at a call on a file.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_owned();
        move |cause| RunError::File { what, path, cause }
    }

    /// For `map_err` where a path that was named is looked for.
    pub fn find(path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_owned();
        move |cause| match cause.kind() {
            io::ErrorKind::NotFound => RunError::BadPath { path, why: "does not exist" },
            _ => RunError::File { what: "find", path, cause },
        }
    }

    /// The error as a failure of set-up, for jobs that fail alone; none for what concerns all.
    pub fn failure(&self) -> Option<IoFailure> {
        match self {
            RunError::Engine(error) => Some(error.failure()),
            RunError::File { what, path, cause } => Some(IoFailure {
                op: None,
                path: path.text(),
                offset: 0,
                errno: cause.raw_os_error().unwrap_or(libc::EIO),
                message: format!("cannot {what}: {cause}"),
                count: 1,
            }),
            _ => None,
        }
    }

    /// The exit code that belongs to it: 2 for a bad plan or path, 3 for refused harm, 128 and the
    /// signal's number for an interrupt, 1 for the rest.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunError::BadPlan(_) | RunError::BadPath { .. } | RunError::NoDevice(_) => 2,
            RunError::Unsafe(_) => 3,
            RunError::Interrupted => signals::interrupt_exit_code().unwrap_or(130),
            RunError::Host { exit_code, .. } => *exit_code,
            RunError::Engine(_)
            | RunError::File { .. }
            | RunError::Untraced(_)
            | RunError::Thread { .. }
            | RunError::Hook(_) => 1,
        }
    }

    /// The problems in the plan, for a rendering that points at them.
    pub fn problems(&self) -> &[Problem] {
        match self {
            RunError::BadPlan(problems) | RunError::Unsafe(problems) => problems,
            _ => &[],
        }
    }
}
