//! The ways to issue I/O, one file each, behind two small traits.
//!
//! Inside the loop the traits are used with static dispatch; which engine it is, is decided once,
//! in [`crate::phase::prepare`]. A new engine is a file here and a row there; its capabilities
//! stand in [`candor_plan::engine::Engine`].
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
//! | [`cpu`] | none: burns CPU | one | no |
//! | [`program`] | none: runs a program | one | no |
//! | [`named`] | `open`, `unlink`, `stat`, … of entries | one | no |
//! | [`null`] | none | depth | no |

pub mod cpu;
pub mod fallocate;
pub mod flags;
pub mod ftruncate;
pub mod libaio;
pub mod locked;
pub mod mmap;
pub mod named;
pub mod null;
pub mod program;
pub mod psync;
pub mod pvsync;
pub mod splice;
pub mod sync;
pub mod threads;
pub mod uring;
pub mod vsync;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::clock::Clock;
use crate::operations::slots::{Done, Kind, Slot};
use crate::targets::files::Files;

/// A way to issue I/O, as the loop sees it.
///
/// Every slot that is queued comes back exactly once as a completion, also when handing it over
/// failed: then with a negated error number. The buffer of a queued slot is the engine's until
/// then.
pub trait Io {
    /// Takes operations to be handed over with the next turn. Makes no system call.
    fn queue(&mut self, slots: &[Slot], batch: &[u32]);

    /// Hands over what was queued, waits until at least `min` operations have completed or
    /// `wait_ns` has passed, and adds what completed to `done`.
    ///
    /// Returns the tick at which the submitting system call returned, where submitting is a call
    /// of its own; else 0.
    fn turn(&mut self, slots: &[Slot], min: usize, wait_ns: Option<u64>, done: &mut Done) -> u64;

    /// What is in use, for the report.
    fn features(&self) -> Vec<String>;
}

/// A way to issue I/O one operation at a time: a call that returns when it is done.
pub trait Call {
    /// Does an operation: bytes moved, or a negated error number.
    fn call(&mut self, slot: &Slot) -> i32;

    /// What is in use, for the report.
    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}

/// An engine of single calls, for the loop that knows batches.
pub struct OneAtATime<C> {
    engine: C,
    pending: Option<u32>,
}

impl<C: Call> OneAtATime<C> {
    /// Around an engine.
    pub fn new(engine: C) -> Self {
        OneAtATime { engine, pending: None }
    }
}

impl<C: Call> Io for OneAtATime<C> {
    #[inline(always)]
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        debug_assert!(batch.len() <= 1, "one operation at a time");
        self.pending = batch.first().copied();
    }

    #[inline(always)]
    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> u64 {
        if let Some(index) = self.pending.take() {
            done.push(index, self.engine.call(&slots[index as usize]));
        }
        0
    }

    fn features(&self) -> Vec<String> {
        self.engine.features()
    }
}

/// What every engine is made from.
pub struct Context<'a> {
    /// The worker's files.
    pub files: &'a Arc<Files>,
    /// Operations in flight at most.
    pub depth: usize,
    /// The worker's buffers: one mapping, `depth` parts of `buffer_bytes`.
    pub buffers: &'a crate::host::memory::Mapping,
    /// Bytes per buffer.
    pub buffer_bytes: usize,
    /// The clock.
    pub clock: Clock,
    /// Submitting is to be a call of its own, with the tick of its return told by [`Io::turn`].
    pub split: bool,
    /// For choices of the engine's own.
    pub seed: u64,
}

/// The error number with which an engine says that its work is over, which is no failure. No I/O
/// has it: there is no child to wait for.
pub(crate) const OVER: i32 = libc::ECHILD;

/// The answer of a system call as the kernel gives it: bytes, or a negated error number.
#[inline(always)]
pub(crate) fn answer(returned: isize) -> i32 {
    if returned >= 0 { returned.min(i32::MAX as isize) as i32 } else { last_errno() }
}

#[cold]
fn last_errno() -> i32 {
    -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Does a trim or a flush in the calling thread: there is no faster way for these on most kernels.
#[cold]
pub(crate) fn blocking_call(files: &Files, slot: &Slot) -> i32 {
    let file = files.get(slot.file);
    let fd = file.raw();
    match slot.kind {
        // SAFETY: plain system calls on an open descriptor.
        Kind::Fsync => answer(unsafe { libc::fsync(fd) } as isize),
        // SAFETY: as above.
        Kind::Fdatasync => answer(unsafe { libc::fdatasync(fd) } as isize),
        Kind::Trim if file.in_zones => {
            crate::targets::zones::backend::trim(file, slot.offset, slot.length)
        }
        Kind::Trim if file.is_device => discard(fd, slot),
        Kind::Trim => punch_hole(fd, slot),
        Kind::Read | Kind::Write => -libc::EINVAL,
    }
}

/// Discards a range of a device. The run has claimed the device with another descriptor, so the
/// kernel does not drop what the page cache holds of it, and says busy while some of that is yet
/// to be written: then it is written first.
fn discard(fd: RawFd, slot: &Slot) -> i32 {
    match discard_clean(fd, slot) {
        busy if busy == -libc::EBUSY => match write_back(fd, slot) {
            0 => discard_clean(fd, slot),
            failed => failed,
        },
        done => done,
    }
}

fn discard_clean(fd: RawFd, slot: &Slot) -> i32 {
    const BLKDISCARD: libc::Ioctl = 0x1277;
    let range = [slot.offset, u64::from(slot.length)];
    // SAFETY: the ioctl reads two 64-bit numbers, which outlive the call.
    match unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) } {
        0 => slot.length as i32,
        _ => last_errno(),
    }
}

fn write_back(fd: RawFd, slot: &Slot) -> i32 {
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: a plain system call on an open descriptor.
    match unsafe { libc::sync_file_range(fd, slot.offset as i64, i64::from(slot.length), all) } {
        0 => 0,
        _ => last_errno(),
    }
}

fn punch_hole(fd: RawFd, slot: &Slot) -> i32 {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a plain system call on an open descriptor.
    match unsafe { libc::fallocate(fd, mode, slot.offset as i64, i64::from(slot.length)) } {
        0 => slot.length as i32,
        _ => last_errno(),
    }
}
