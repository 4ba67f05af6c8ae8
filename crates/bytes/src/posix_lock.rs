//! POSIX locks of the kernel (`fcntl`), around one operation each.
//!
//! A lock belongs to a table of open files, and each worker has a separate table: workers exclude
//! each other like processes.

use std::os::fd::RawFd;

use candor_engine::operation::Outcome;

/// Access that a lock permits to other holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Other holders may share the lock.
    Shared,
    /// No other holder.
    Exclusive,
}

/// Bytes that are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    offset: libc::off_t,
    /// 0 for all bytes from the offset.
    length: libc::off_t,
}

impl Span {
    /// The whole file, including bytes added later.
    pub const WHOLE: Span = Span { offset: 0, length: 0 };

    /// Bytes of one operation.
    pub fn of(offset: u64, length: u64) -> Span {
        Span { offset: offset as libc::off_t, length: length as libc::off_t }
    }
}

/// Waits for a lock, executes an operation on an open file, and unlocks.
pub fn during(
    fd: RawFd,
    holding: Holding,
    span: Span,
    operation: impl FnOnce() -> Outcome,
) -> Outcome {
    let kind = match holding {
        Holding::Shared => libc::F_RDLCK,
        Holding::Exclusive => libc::F_WRLCK,
    };
    if let failed @ Outcome::Failed(_) = set(fd, kind, span) {
        return failed;
    }
    let outcome = operation();
    match (outcome, set(fd, libc::F_UNLCK, span)) {
        (Outcome::Done(_), failed @ Outcome::Failed(_)) => failed,
        (outcome, _) => outcome,
    }
}

fn set(fd: RawFd, kind: libc::c_int, span: Span) -> Outcome {
    // SAFETY: an all-zero flock is valid (it is a struct of integers).
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    (lock.l_start, lock.l_len) = (span.offset, span.length);
    loop {
        // SAFETY: the kernel reads the lock, which outlives the call.
        let outcome =
            Outcome::of_call(unsafe { libc::fcntl(fd, libc::F_SETLKW, &raw const lock) } as isize);
        // A signal that another thread handles does not end the wait.
        if outcome != Outcome::error(libc::EINTR) {
            return outcome;
        }
    }
}
