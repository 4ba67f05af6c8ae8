//! Errors that keep a phase from starting.

use std::io;
use std::path::{Path, PathBuf};

use candor_plan::PathText;

/// Reason why a phase cannot start. I/O errors during a phase are not errors of this type: its
/// measurement counts them.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A system call on a file failed.
    #[error("cannot {what} `{}`: {cause}{}", path.text(), remedy(cause))]
    File {
        /// Action that failed.
        what: &'static str,
        /// File that the call was on.
        path: PathBuf,
        /// The kernel's error.
        cause: io::Error,
    },
    /// A system call without a file failed.
    #[error("cannot {what}: {cause}")]
    System {
        /// Action that failed.
        what: String,
        /// The kernel's error.
        cause: io::Error,
    },
    /// The plan does not fit the target or the host.
    #[error("job `{job}`: {message}; {remedy}")]
    Unfit {
        /// Name of the job.
        job: String,
        /// Mismatch, with the values.
        message: String,
        /// Remedy for the user.
        remedy: String,
    },
}

/// Remedy for a missing permission, as the end of a sentence; empty for other errors.
pub fn remedy(cause: &io::Error) -> &'static str {
    match cause.kind() {
        // Root lacks no rights of a user.
        io::ErrorKind::PermissionDenied if rustix::process::geteuid().is_root() => {
            "; root may not either: an attribute of the file (lsattr: i, a), a container's device \
             rules, its capabilities or a security policy forbid it"
        }
        io::ErrorKind::PermissionDenied => "; run as root, or as a user or group that may",
        io::ErrorKind::ReadOnlyFilesystem => {
            "; mount it for writing (mount -o remount,rw), or name a place that can be written"
        }
        _ => "",
    }
}

impl EngineError {
    /// Builds an error for `map_err` at a call on a file.
    pub fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EngineError {
        let path = path.to_owned();
        move |cause| EngineError::File { what, path, cause }
    }

    /// Builds an error for `map_err` at a call without a file.
    pub fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> EngineError {
        let what = what.into();
        move |cause| EngineError::System { what, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filesystem_that_is_mounted_read_only_has_a_remedy() {
        let cause = io::Error::from_raw_os_error(libc::EROFS);
        assert!(remedy(&cause).contains("remount,rw"));
        assert_eq!(remedy(&io::Error::from_raw_os_error(libc::EIO)), "");
    }
}
