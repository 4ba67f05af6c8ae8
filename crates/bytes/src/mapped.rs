//! A mapped file: loads, stores and `msync`.
//!
//! A page that cannot be read, or for which there is no space, raises SIGBUS at the load or store.
//! The handler maps a page of zeros there, so that the copy ends, and marks the operation as
//! failed. Afterwards the file's page is mapped back.

use std::cell::Cell;
use std::io;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{Ordering, compiler_fence};

use candor_engine::host::memory::PAGE_BYTES;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::MapAdvice;

thread_local! {
    /// Mapping that this thread copies from or to, as (address, length); length 0 for none.
    static COPYING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Address at which the copy faulted; 0 for none.
    static FAULT: Cell<usize> = const { Cell::new(0) };
}

/// One mapped file.
pub struct Mapped {
    start: *mut u8,
    bytes: usize,
    protection: libc::c_int,
    descriptor: RawFd,
}

// SAFETY: the mapping belongs to this value; threads may use it in turn.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps the first bytes of an open file, which outlives the mapping, and gives advice about
    /// them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(
        descriptor: RawFd,
        bytes: u64,
        writes: bool,
        advice: &[MapAdvice],
    ) -> io::Result<Mapped> {
        install_handler();
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?.max(1);
        let protection = libc::PROT_READ | if writes { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new shared mapping at an address of the kernel's choice.
        let start = unsafe {
            libc::mmap(ptr::null_mut(), bytes, protection, libc::MAP_SHARED, descriptor, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for piece in advice {
            let piece = match piece {
                MapAdvice::Sequential => libc::MADV_SEQUENTIAL,
                MapAdvice::Random => libc::MADV_RANDOM,
                MapAdvice::Willneed => libc::MADV_WILLNEED,
                MapAdvice::Dontneed => libc::MADV_DONTNEED,
                MapAdvice::Hugepage => libc::MADV_HUGEPAGE,
                MapAdvice::Nohugepage => libc::MADV_NOHUGEPAGE,
            };
            // SAFETY: the range is the shared mapping just made, whose content is the file's; what
            // the kernel refuses leaves it as it was.
            unsafe { libc::madvise(start, bytes, piece) };
        }
        Ok(Mapped { start: start.cast(), bytes, protection, descriptor })
    }

    /// Copies between the mapping and the slot's buffer. Bytes outside of the mapping, and pages
    /// that cannot be had, are failures.
    #[inline(always)]
    pub fn copy(&self, slot: &Slot, writes: bool) -> Outcome {
        if slot.offset.saturating_add(slot.length) > self.bytes as u64 {
            return Outcome::error(libc::EINVAL);
        }
        // SAFETY: offset and length lie within the mapping.
        let place = unsafe { self.start.add(slot.offset as usize) };
        COPYING.set((self.start as usize, self.bytes));
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges are mapped, `length` long, and do not overlap; a page that cannot be
        // had is replaced by the handler below.
        unsafe {
            if writes {
                ptr::copy_nonoverlapping(slot.buffer.host(), place, slot.length as usize);
            } else {
                ptr::copy_nonoverlapping(place, slot.buffer.host(), slot.length as usize);
            }
        }
        compiler_fence(Ordering::SeqCst);
        COPYING.set((0, 0));
        if FAULT.take() != 0 {
            self.map_back(slot);
            return Outcome::error(libc::EIO);
        }
        Outcome::Done(slot.length)
    }

    /// Writes the pages of an operation back and drops them from the mapping.
    pub fn drop_pages(&self, slot: &Slot) -> Outcome {
        let first = slot.offset as usize / PAGE_BYTES * PAGE_BYTES;
        let bytes = slot.offset as usize + slot.length as usize - first;
        // SAFETY: the pages lie within the mapping; the file keeps what they hold.
        let dropped = unsafe {
            let start = self.start.add(first).cast();
            match libc::msync(start, bytes, libc::MS_SYNC) {
                0 => libc::madvise(start, bytes, libc::MADV_DONTNEED),
                error => error,
            }
        };
        Outcome::of_whole_call(dropped, slot.length)
    }

    /// Writes all dirty pages of the mapping back.
    pub fn flush(&self) -> Outcome {
        // SAFETY: the range is the whole mapping.
        Outcome::of_call(
            unsafe { libc::msync(self.start.cast(), self.bytes, libc::MS_SYNC) } as isize
        )
    }

    /// Maps the file's pages back where the handler mapped zeros, within the operation's range.
    #[cold]
    fn map_back(&self, slot: &Slot) {
        let first = slot.offset as usize / PAGE_BYTES * PAGE_BYTES;
        let end = (slot.offset as usize + slot.length as usize).next_multiple_of(PAGE_BYTES);
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: the pages lie within this mapping, which only this value uses. If the kernel has
        // no memory for them, the zeros stay; their operations were reported as failed.
        unsafe {
            let start = self.start.add(first).cast();
            libc::mmap(start, end - first, self.protection, flags, self.descriptor, first as i64)
        };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: `new` made the mapping with this start and length.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Replaces the page that a copy faulted on. A fault anywhere else is a bug and kills the process.
extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid record to a handler installed with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let (start, bytes) = COPYING.get();
    let page = (address / PAGE_BYTES * PAGE_BYTES) as *mut libc::c_void;
    if bytes > 0 && (start..start + bytes).contains(&address) {
        FAULT.set(address);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: the page lies within the mapping that this thread alone copies from or to.
        unsafe { libc::mmap(page, PAGE_BYTES, protection, flags, -1, 0) };
    } else {
        // SAFETY: with the default action back, the faulting instruction ends the process.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }
}

fn install_handler() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: an all-zero sigaction is valid; the handler only makes async-signal-safe calls
        // and touches constant-initialised thread locals.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
        }
    });
}
