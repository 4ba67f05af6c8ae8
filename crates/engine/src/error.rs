//! Why a phase could not be made ready.

use std::io;
use std::path::{Path, PathBuf};

/// What kept a phase from starting. Errors of I/O during a phase are not errors of this type:
/// they are counted in its measurement.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A system call on a file failed.
    #[error("cannot {what} `{}`: {cause}{}", path.display(), remedy(cause))]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// A system call without a file failed.
    #[error("cannot {what}: {cause}")]
    System {
        /// What was tried.
        what: String,
        /// The kernel's answer.
        cause: io::Error,
    },
    /// The plan does not fit what is there.
    #[error("job `{job}`: {message}; {remedy}")]
    Unfit {
        /// The job.
        job: String,
        /// What does not fit, with the values.
        message: String,
        /// What to do.
        remedy: String,
    },
}

/// What to do where something is not permitted, as the end of a sentence; empty for the rest.
pub fn remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::PermissionDenied => "; run as root, or as a user or group that may",
        _ => "",
    }
}

impl EngineError {
    /// For `map_err` at a call on a file.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EngineError {
        let path = path.to_owned();
        move |cause| EngineError::File { what, path, cause }
    }

    /// For `map_err` at a call without a file.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> EngineError {
        let what = what.into();
        move |cause| EngineError::System { what, cause }
    }
}
