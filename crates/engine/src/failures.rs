//! I/O errors of a worker, with equal errors counted together, and the tolerance of errors.

use std::io;
use std::path::Path;

use candor_plan::work::Figure;
use candor_plan::{PathText, Stop};
use candor_record::IoFailure;

use crate::operation::{Failure, Slot};

/// Maximum number of different failures per worker; further failures count as the last one.
const KINDS_MAX: usize = 32;

/// A list of failures.
#[derive(Clone, Debug, Default)]
pub struct Failures(Vec<IoFailure>);

impl Failures {
    /// Adds a failed operation on that path.
    pub fn add(&mut self, op: &str, path: String, slot: &Slot, failure: Failure) {
        let message = match failure {
            Failure::AT_END => {
                format!("0 of {} bytes moved: end of the file or device", slot.length)
            }
            failure => io::Error::from_raw_os_error(failure.errno()).to_string(),
        };
        let (op, errno) = (Some(op.to_owned()), failure.errno());
        self.merge_one(IoFailure { op, path, offset: slot.offset, errno, message, count: 1 });
    }

    /// Adds an operation that exceeded the maximum latency.
    pub fn add_slow(&mut self, op: &str, path: String, slot: &Slot, ns: u64, limit_ns: u64) {
        let message = format!("latency of {ns} ns, more than the {limit_ns} ns allowed");
        let (op, errno) = (Some(op.to_owned()), libc::ETIMEDOUT);
        self.merge_one(IoFailure { op, path, offset: slot.offset, errno, message, count: 1 });
    }

    /// Adds a final flush that failed.
    pub fn add_flush(&mut self, path: &Path, error: &io::Error) {
        self.merge_one(IoFailure {
            op: None,
            path: path.text(),
            offset: 0,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            message: format!("fsync: {error}"),
            count: 1,
        });
    }

    /// Adds a failed write of the log; the work ends, because no write may be unlogged.
    pub fn add_unlogged(&mut self, path: &Path, error: &io::Error) {
        self.merge_one(IoFailure {
            op: None,
            path: path.text(),
            offset: 0,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            message: format!("write of the log: {error}"),
            count: 1,
        });
    }

    fn merge_one(&mut self, failure: IoFailure) {
        let full = self.0.len() >= KINDS_MAX;
        let known = match self.0.iter().position(|known| {
            (&known.op, known.errno, &known.path) == (&failure.op, failure.errno, &failure.path)
        }) {
            None if full => self.0.last_mut(),
            found => found.and_then(|at| self.0.get_mut(at)),
        };
        match known {
            Some(known) => known.count += failure.count,
            None => self.0.push(failure),
        }
    }

    /// Adds all failures of another list.
    pub fn merge(&mut self, other: Failures) {
        other.0.into_iter().for_each(|failure| self.merge_one(failure));
    }

    /// Failures as a plain list.
    pub fn into_list(self) -> Vec<IoFailure> {
        self.0
    }
}

/// Tolerance of errors: which ones end the work.
#[derive(Clone, Debug)]
pub struct Tolerance {
    all: bool,
    until_full: bool,
    some: Box<[(Figure, i32)]>,
}

impl Tolerance {
    /// Tolerance that a job's stop sets.
    pub fn of(stop: &Stop) -> Tolerance {
        Tolerance {
            all: stop.continue_on_error,
            until_full: stop.until_full,
            some: stop.tolerate.iter().map(|t| (t.op.into(), t.errno)).collect(),
        }
    }

    /// True if the work continues after that error.
    pub fn takes(&self, figure: Figure, errno: i32) -> bool {
        let figure = if figure == Figure::ReadBack { Figure::Read } else { figure };
        self.all || self.some.contains(&(figure, errno))
    }

    /// True if that error ends the work as planned: the file system is full.
    pub fn ends_work(&self, errno: i32) -> bool {
        self.until_full && matches!(errno, libc::ENOSPC | libc::EDQUOT)
    }
}
