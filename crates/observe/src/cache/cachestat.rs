//! `cachestat(2)`, since Linux 6.5: exact, cheap, maps nothing.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};

use candor_record::CacheState;

/// Number, the same on all architectures whose tables were unified before it came.
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` of `linux/mman.h`.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of `linux/mman.h`, in pages.
#[repr(C)]
#[derive(Default)]
struct Pages {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of a range (length 0: to the end), as bytes of at most `size`: the last page of a file
/// is cached whole, but a file is not cached by more than its length.
pub(super) fn ask(file: &File, offset: u64, length: u64, size: u64) -> Option<CacheState> {
    let pages = call(file.as_raw_fd(), offset, length).ok()?;
    let page_bytes = rustix::param::page_size() as u64;
    let bytes = |pages: u64| pages.saturating_mul(page_bytes).min(size);
    Some(CacheState {
        size_bytes: size,
        resident_bytes: bytes(pages.cached),
        dirty_bytes: Some(bytes(pages.dirty)),
        writeback_bytes: Some(bytes(pages.writeback)),
    })
}

/// Whether the kernel has the call and lets it through: of a descriptor that is not open it says
/// just that.
pub(crate) fn is_there() -> bool {
    matches!(call(-1, 0, 0), Err(libc::EBADF))
}

fn call(fd: RawFd, offset: u64, length: u64) -> Result<Pages, i32> {
    let range = Range { offset, length };
    let mut pages = Pages::default();
    // SAFETY: both pointers are to structs of the layout that the call is defined with, and live
    // longer than the call; it takes no flags yet.
    let result = unsafe {
        libc::syscall(SYS_CACHESTAT, fd, &raw const range, &raw mut pages, 0 as libc::c_uint)
    };
    if result == 0 { Ok(pages) } else { Err(errno()) }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
