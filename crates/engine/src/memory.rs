//! I/O buffers: one mapping per worker, page-aligned, made and touched before the clock starts.

use std::io;
use std::ptr::{self, NonNull};

/// Page size assumed for alignment; a multiple of every sector size in use.
pub const PAGE_BYTES: usize = 4096;
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// An anonymous mapping that is unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping is plain memory owned by this value; nothing in it is tied to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// `bytes` of zeros, rounded up to pages; from huge pages if asked for and available.
    ///
    /// # Errors
    /// The kernel's, when there is no memory for it.
    pub fn new(bytes: usize, huge_pages: bool) -> io::Result<Mapping> {
        let bytes = bytes.max(1).next_multiple_of(PAGE_BYTES);
        if huge_pages {
            let rounded = bytes.next_multiple_of(HUGE_PAGE_BYTES);
            if let Ok(mapping) = Mapping::map(rounded, libc::MAP_HUGETLB) {
                return Ok(mapping);
            }
        }
        let mapping = Mapping::map(bytes, 0)?;
        if huge_pages {
            // Transparent huge pages are the next best; the kernel may decline.
            // SAFETY: the range is the mapping just made.
            unsafe { libc::madvise(mapping.start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        }
        Ok(mapping)
    }

    fn map(bytes: usize, flags: libc::c_int) -> io::Result<Mapping> {
        let flags = flags | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice aliases nothing.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast())
            .map(|start| Mapping { start, bytes })
            .ok_or_else(|| io::Error::other("the kernel mapped memory at address 0"))
    }

    /// Its first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its length.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Never true: a mapping has at least one page.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// All of it, to fill before it is handed out.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, initialised (zeros) and borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: start and length are those of the mapping made in `map`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
