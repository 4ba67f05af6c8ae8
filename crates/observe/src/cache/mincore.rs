//! `mincore(2)`: the older question, for kernels without `cachestat`.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use candor_record::CacheState;
use rustix::fs::Access;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Mapped at once: 64 Ki pages of 4 KiB, so the answer takes 64 KiB.
const WINDOW_BYTES: u64 = 256 << 20;

/// Pages of a range in memory, as bytes. Only for files that are this user's to write: for others
/// the kernel answers that all pages are there, to give nothing away.
pub(super) fn ask(file: &File, offset: u64, length: u64) -> Option<CacheState> {
    if !is_own(file) {
        return None;
    }
    let end = offset.checked_add(length)?;
    let mut resident_bytes = 0u64;
    let mut at = offset;
    while at < end {
        let window = (end - at).min(WINDOW_BYTES);
        resident_bytes += resident(file, at, window)?;
        at += window;
    }
    let size_bytes = length;
    Some(CacheState { size_bytes, resident_bytes, dirty_bytes: None, writeback_bytes: None })
}

/// Whether the file is this user's to write, which both calls ask for.
pub(super) fn is_own(file: &File) -> bool {
    let Ok(about) = file.metadata() else { return false };
    let user = rustix::process::geteuid().as_raw();
    // The descriptor's own entry, so that the right file is asked even after a rename.
    let entry = format!("/proc/self/fd/{}", file.as_raw_fd());
    about.uid() == user || rustix::fs::access(entry, Access::WRITE_OK).is_ok()
}

fn resident(file: &File, offset: u64, length: u64) -> Option<u64> {
    let map = Map::new(file, offset, usize::try_from(length).ok()?)?;
    let page_bytes = rustix::param::page_size();
    let mut pages = vec![0u8; map.length.div_ceil(page_bytes)];
    // SAFETY: the range is mapped until `map` drops, and the vector has a byte for each page.
    let result = unsafe { libc::mincore(map.start, map.length, pages.as_mut_ptr()) };
    let count = pages.iter().filter(|&&page| page & 1 != 0).count();
    (result == 0).then(|| ((count * page_bytes) as u64).min(length))
}

/// A part of a file, mapped without access: nothing is ever read through it.
struct Map {
    start: *mut libc::c_void,
    length: usize,
}

impl Map {
    fn new(file: &File, offset: u64, length: usize) -> Option<Map> {
        let (protection, flags) = (ProtFlags::empty(), MapFlags::SHARED);
        // SAFETY: the kernel chooses the place, so no memory in use is replaced.
        let start =
            unsafe { mmap(std::ptr::null_mut(), length, protection, flags, file, offset) }.ok()?;
        Some(Map { start, length })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this start and length, and nothing refers into it.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}
