//! Dropping pages of a file as a copy passes over them.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;

use rustix::fs::{Advice, fadvise};

/// Pages are dropped in pieces of at least this: the kernel looks at whole pages only.
const PIECE_BYTES: u64 = 128 << 10;

/// The part of a file that was passed over and whose pages are still there.
#[derive(Debug)]
pub struct PassedPages {
    start: u64,
    bytes: u64,
}

impl PassedPages {
    /// Of a file at its offset; none where it has no offsets.
    pub fn of(fd: BorrowedFd<'_>) -> Option<PassedPages> {
        let start = rustix::fs::tell(fd).ok()?;
        Some(PassedPages { start, bytes: 0 })
    }

    /// Notes that so many bytes were passed, and drops them piece by piece. A failure leaves pages
    /// in memory and harms nothing.
    pub fn passed(&mut self, fd: BorrowedFd<'_>, bytes: usize) {
        self.bytes += bytes as u64;
        if self.bytes >= PIECE_BYTES {
            let _ = fadvise(fd, self.start, NonZeroU64::new(self.bytes), Advice::DontNeed);
            (self.start, self.bytes) = (self.start + self.bytes, 0);
        }
    }

    /// Drops what is left, and what the kernel read ahead.
    pub fn end(self, fd: BorrowedFd<'_>) {
        let _ = fadvise(fd, self.start, None, Advice::DontNeed);
    }
}

/// Drops all pages behind the file's offset.
///
/// # Errors
/// The kernel's: a pipe has no pages.
pub fn drop_all(fd: BorrowedFd<'_>) -> io::Result<()> {
    let start = rustix::fs::tell(fd).unwrap_or(0);
    Ok(fadvise(fd, start, None, Advice::DontNeed)?)
}
