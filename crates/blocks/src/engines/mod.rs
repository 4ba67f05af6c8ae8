//! Engines that issue reads, writes and trims, one file each.
//!
//! The loop uses them with static dispatch; [`crate::ready`] chooses the engine once. A new engine
//! is a file here and a row there. Its capabilities are in [`candor_plan::Engine`].
//!
//! | engine | calls | in flight | moves bytes |
//! | --- | --- | --- | --- |
//! | [`psync`] | `pread`, `pwrite` | one | yes |
//! | [`sync`] | `lseek`, `read`, `write` | one | yes |
//! | [`vsync`] | `readv`, `writev` over neighbours | one call | yes |
//! | [`pvsync`] | `preadv2`, `pwritev2` with flags | one | yes |
//! | [`libaio`] | `io_submit`, `io_getevents` | depth | yes |
//! | [`threads`] | `pread`, `pwrite` in threads | depth | yes |
//! | [`uring`] | `io_uring_enter` | depth | yes |
//! | [`mmap`] | loads and stores, `msync` | one | yes |
//! | [`splice`] | `splice`, `vmsplice` | one | yes |
//! | [`fallocate`] | `fallocate` | one | no |
//! | [`ftruncate`] | `ftruncate` | one | no |
//! | [`page_fault`] | loads and stores on memory of its own | one | no |
//! | [`uring_cmd`] | NVMe commands by `io_uring_enter` | depth | yes |
//! | [`sg`] | SCSI commands by `SG_IO` | one | yes |
//! | [`http`] | GET, PUT, DELETE of objects | depth | yes |
//! | [`null`] | none | depth | no |

pub mod fallocate;
pub mod flags;
pub mod ftruncate;
pub mod http;
pub mod libaio;
pub mod locked;
pub mod mmap;
pub mod null;
pub mod page_fault;
pub mod psync;
pub mod pvsync;
pub mod sg;
pub mod splice;
pub mod sync;
pub mod threads;
pub mod uring;
pub mod uring_cmd;
pub mod vsync;

use std::os::fd::RawFd;
use std::sync::Arc;

use candor_engine::clock::Clock;
use candor_engine::host::memory::Mapping;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::Engine;
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use crate::targets::zones::backend;

/// The engine that keeps many operations in flight with the fewest calls, of those that this kernel
/// has and lets this process use.
pub fn best_of_many() -> Engine {
    if uring::is_available() {
        Engine::IO_URING
    } else if candor_bytes::aio::is_available() {
        Engine::LIBAIO
    } else {
        Engine::Threads
    }
}

/// Parts that engines are made from.
pub struct Context<'a> {
    /// Files of the worker.
    pub files: &'a Arc<Files>,
    /// True where they are not open yet: opening and closing are operations.
    pub opens: bool,
    /// Operations in flight at most.
    pub depth: usize,
    /// Buffers of the worker: one mapping, parts of `buffer_bytes`, at least `depth` of them.
    pub buffers: &'a Mapping,
    /// Bytes per buffer.
    pub buffer_bytes: usize,
    /// Place of the metadata of blocks in each buffer, where that is apart from them.
    pub metadata_at: usize,
    /// Clock of the session.
    pub clock: Clock,
    /// True where submitting is to be a call of its own; [`Io::turn`] then returns the tick of its
    /// return.
    pub split: bool,
    /// Seed of the engine's own choices.
    pub seed: u64,
}

impl Context<'_> {
    /// Clock for the end of submission, where that is a call of its own.
    fn split(&self) -> Option<Clock> {
        self.split.then_some(self.clock)
    }
}

/// How an engine of many operations flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flushes {
    /// None: the job has no flushes.
    None,
    /// By operations in flight, like any other.
    Queued,
    /// By calls in the worker's thread, while other operations are in flight.
    Calls,
}

impl Flushes {
    /// Name for the report.
    pub fn feature(self) -> Option<&'static str> {
        match self {
            Flushes::None => None,
            Flushes::Queued => Some("queued-flushes"),
            Flushes::Calls => Some("flushes-by-call"),
        }
    }
}

/// Does a trim, a flush, an open or a close in the calling thread: most kernels offer no faster
/// way.
#[cold]
pub(crate) fn blocking_call(files: &Files, slot: &Slot) -> Outcome {
    let file = files.get(slot.handle);
    let fd = file.raw();
    match slot.issued() {
        // SAFETY: plain system calls on an open descriptor.
        BlocksOp::Fsync => Outcome::of_call(unsafe { libc::fsync(fd) } as isize),
        // SAFETY: as above.
        BlocksOp::Fdatasync => Outcome::of_call(unsafe { libc::fdatasync(fd) } as isize),
        BlocksOp::SyncFileRange => sync_range(fd, slot),
        BlocksOp::Trim if file.in_zones => backend::trim(file, slot.offset, slot.length),
        BlocksOp::Trim if file.is_device => discard(fd, slot),
        BlocksOp::Trim => punch_hole(fd, slot),
        BlocksOp::Open => file.open_in_phase(),
        BlocksOp::Close => file.close_in_phase(),
        BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write | BlocksOp::Commit => {
            Outcome::error(libc::EINVAL)
        }
    }
}

/// Discards a range of a device. The run has claimed the device by another descriptor, so the
/// kernel keeps the range's pages in its cache. While some of them are dirty, it refuses with
/// EBUSY: then they are written back first.
fn discard(fd: RawFd, slot: &Slot) -> Outcome {
    match discard_clean(fd, slot) {
        busy if busy == Outcome::error(libc::EBUSY) => match write_back(fd, slot) {
            Outcome::Done(_) => discard_clean(fd, slot),
            failed => failed,
        },
        done => done,
    }
}

fn discard_clean(fd: RawFd, slot: &Slot) -> Outcome {
    const BLKDISCARD: libc::Ioctl = 0x1277;
    let range = [slot.offset, slot.length];
    // SAFETY: the ioctl reads two 64-bit numbers, which outlive the call.
    Outcome::of_whole_call(unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) }, slot.length)
}

fn write_back(fd: RawFd, slot: &Slot) -> Outcome {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    sync_range(fd, &Slot { tag: all, ..*slot })
}

/// Syncs a range of a file. A range without bytes completes at once: for the kernel it would mean
/// the rest of the file.
fn sync_range(fd: RawFd, slot: &Slot) -> Outcome {
    if slot.length == 0 {
        return Outcome::Done(0);
    }
    let (offset, length) = (slot.offset as i64, slot.length as i64);
    // SAFETY: a plain system call on an open descriptor.
    Outcome::of_whole_call(
        unsafe { libc::sync_file_range(fd, offset, length, slot.tag) },
        slot.length,
    )
}

fn punch_hole(fd: RawFd, slot: &Slot) -> Outcome {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a plain system call on an open descriptor.
    let punched = unsafe { libc::fallocate(fd, mode, slot.offset as i64, slot.length as i64) };
    Outcome::of_whole_call(punched, slot.length)
}
