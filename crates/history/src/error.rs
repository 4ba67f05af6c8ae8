//! Reasons for which the history cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Number of a run in the history.
pub type RunId = u64;

/// Reason for which the history cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory.
    #[error("{} cannot be {verb}: {why}", path.display())]
    File {
        /// Path of it.
        path: PathBuf,
        /// Past participle of the action that failed.
        verb: &'static str,
        /// Reason of the system.
        why: io::Error,
    },
    /// The index holds bytes that are none of its own.
    #[error("the index {} is damaged: {why}", path.display())]
    Damaged {
        /// Path of it.
        path: PathBuf,
        /// Reason of SQLite.
        why: String,
    },
    /// The index is of a later version.
    #[error("the index {} was made by a newer candor; use that one", path.display())]
    Newer {
        /// Path of it.
        path: PathBuf,
    },
    /// The index cannot be used now.
    #[error("the index {} cannot be used: {why}", path.display())]
    Index {
        /// Path of it.
        path: PathBuf,
        /// Reason of SQLite.
        why: rusqlite::Error,
    },
    /// No run has that number.
    #[error("the history has no run {0}; candor history lists its runs")]
    NoRun(RunId),
    /// A kept document cannot be understood.
    #[error("run {run} of the history cannot be used: {why}")]
    Unreadable {
        /// Number of the run.
        run: RunId,
        /// Reason.
        why: String,
    },
    /// A document to import cannot be understood.
    #[error("{0}")]
    Document(String),
    /// The table cannot be written.
    #[error("the table cannot be written: {0}")]
    Export(String),
}

impl Error {
    /// An error of a file; the verb is the past participle of the action.
    pub(crate) fn file(path: &Path, verb: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |why| Error::File { path, verb, why }
    }

    /// An error of SQLite on the index at that path.
    pub(crate) fn index(path: &Path, why: rusqlite::Error) -> Error {
        let path = path.to_owned();
        let code = why.sqlite_error_code();
        match code {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Error::Damaged { path, why: why.to_string() }
            }
            _ => Error::Index { path, why },
        }
    }

    /// The index has to be made again from the kept documents.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::Damaged { .. })
    }
}
