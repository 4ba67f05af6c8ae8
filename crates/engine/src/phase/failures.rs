//! I/O errors of a worker, alike ones counted together.

use std::io;
use std::path::Path;

use candor_record::IoFailure;

use crate::operations::slots::Slot;
use crate::targets::files::Files;

/// Different failures kept per worker; more are counted with the last.
const KINDS_MAX: usize = 32;

/// A list of failures.
#[derive(Clone, Debug, Default)]
pub struct Failures(Vec<IoFailure>);

impl Failures {
    /// Adds a failed operation. An `errno` of 0 means that no byte was moved and no error given.
    pub fn add(&mut self, files: &Files, slot: &Slot, errno: i32) {
        let message = match errno {
            0 => format!("0 of {} bytes moved: end of the file or device", slot.length),
            _ => io::Error::from_raw_os_error(errno).to_string(),
        };
        self.merge_one(IoFailure {
            op: slot.kind.op(),
            path: files.get(slot.file).path.display().to_string(),
            offset: slot.offset,
            errno,
            message,
            count: 1,
        });
    }

    /// Adds an operation that took longer than is allowed.
    pub fn add_slow(&mut self, files: &Files, slot: &Slot, ns: u64, limit_ns: u64) {
        self.merge_one(IoFailure {
            op: slot.kind.op(),
            path: files.get(slot.file).path.display().to_string(),
            offset: slot.offset,
            errno: libc::ETIMEDOUT,
            message: format!("latency of {ns} ns, more than the {limit_ns} ns allowed"),
            count: 1,
        });
    }

    /// Adds a final flush that failed.
    pub fn add_flush(&mut self, path: &Path, error: &io::Error) {
        self.merge_one(IoFailure {
            op: None,
            path: path.display().to_string(),
            offset: 0,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            message: format!("fsync: {error}"),
            count: 1,
        });
    }

    fn merge_one(&mut self, failure: IoFailure) {
        let same = |known: &IoFailure| {
            (known.op, known.errno, &known.path) == (failure.op, failure.errno, &failure.path)
        };
        let full = self.0.len() >= KINDS_MAX;
        let known = match self.0.iter().position(same) {
            None if full => self.0.last_mut(),
            found => found.and_then(|at| self.0.get_mut(at)),
        };
        match known {
            Some(known) => known.count += failure.count,
            None => self.0.push(failure),
        }
    }

    /// Adds all of another list.
    pub fn merge(&mut self, other: Failures) {
        other.0.into_iter().for_each(|failure| self.merge_one(failure));
    }

    /// The list.
    pub fn into_list(self) -> Vec<IoFailure> {
        self.0
    }
}
