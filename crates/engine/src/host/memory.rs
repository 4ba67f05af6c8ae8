//! I/O buffers: one mapping per worker, at a page boundary or at an offset behind one. Each is made
//! and touched before the clock starts.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::{self, NonNull};

use candor_plan::blocks::{Buffers, MemoryKind};
use candor_plan::{PathText, path_of};

/// Page size assumed for alignment; a multiple of every sector size in use.
pub const PAGE_BYTES: usize = 4096;
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Less memory is not made larger so that it fills a huge page.
const CONTIGUOUS_BYTES_MIN: usize = 512 << 10;

/// Pages that memory is to come from. The kernel may have none but ordinary ones
/// ([`Mapping::is_huge`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Ordinary ones, which lie anywhere in physical memory.
    Ordinary,
    /// Transparent huge pages, where the memory is large enough to be worth it: what is contiguous
    /// goes to a device in few pieces.
    Contiguous,
    /// Reserved huge pages, or transparent ones.
    Huge,
}

/// Memory that is unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    /// Offset of the first byte in use.
    offset: usize,
    is_segment: bool,
}

// SAFETY: a mapping is plain memory owned by this value; nothing in it is tied to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// `bytes` of private memory, rounded up to pages.
    ///
    /// # Errors
    /// The kernel's, where there is not enough memory.
    pub fn new(bytes: usize, pages: Pages) -> io::Result<Mapping> {
        let whole = bytes.max(1).next_multiple_of(HUGE_PAGE_BYTES);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        match pages {
            Pages::Huge => Mapping::map(whole, flags | libc::MAP_HUGETLB, None)
                .or_else(|_| Mapping::transparent(whole)),
            Pages::Contiguous if bytes >= CONTIGUOUS_BYTES_MIN => Mapping::transparent(whole),
            _ => Mapping::map(bytes.max(1).next_multiple_of(PAGE_BYTES), flags, None),
        }
    }

    /// Whole huge pages, as far as the kernel has some; `bytes` is a multiple of them.
    fn transparent(bytes: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let mut mapping = Mapping::map(bytes + HUGE_PAGE_BYTES, flags, None)?;
        // The kernel makes a huge page only where its address is a multiple of its size.
        let before = mapping.as_ptr().align_offset(HUGE_PAGE_BYTES);
        // SAFETY: the parts lie within the mapping just made, before and behind the rest of it. The
        // advice may be refused, where the kernel was built without such pages.
        unsafe {
            let first = mapping.start.add(before);
            libc::munmap(mapping.start.as_ptr().cast(), before);
            libc::munmap(first.add(bytes).as_ptr().cast(), HUGE_PAGE_BYTES - before);
            libc::madvise(first.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
            (mapping.start, mapping.bytes) = (first, bytes);
        }
        Ok(mapping)
    }

    /// `bytes` of the memory that a plan requests; `pages` are those of private memory without a
    /// word about them.
    ///
    /// # Errors
    /// The kernel's: no memory, no huge pages, no such file.
    pub fn of(memory: &Buffers, bytes: usize, pages: Pages) -> io::Result<Mapping> {
        let offset = memory.offset.0 as usize;
        let page = if memory.huge { HUGE_PAGE_BYTES } else { PAGE_BYTES };
        let whole = (bytes + offset).max(1).next_multiple_of(page);
        let huge = if memory.huge { libc::MAP_HUGETLB } else { 0 };
        let mut mapping = match (memory.kind, &memory.file) {
            (MemoryKind::Shm, _) => Mapping::segment(whole, memory.huge)?,
            (MemoryKind::Private, None) if !memory.huge => Mapping::new(whole, pages)?,
            (kind, None) => {
                let flags = sharing(kind) | libc::MAP_ANONYMOUS | huge;
                Mapping::map(whole, flags, None)?
            }
            (kind, Some(path)) => {
                let file = backing(path)?;
                file.set_len(whole as u64)?;
                Mapping::map(whole, sharing(kind), Some(&file))?
            }
        };
        mapping.offset = offset;
        Ok(mapping)
    }

    fn map(bytes: usize, flags: libc::c_int, file: Option<&File>) -> io::Result<Mapping> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let fd = file.map_or(-1, AsRawFd::as_raw_fd);
        // SAFETY: a new mapping at an address of the kernel's choice aliases no other memory.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            Mapping::at(start, bytes, false)
        }
    }

    /// A System V segment, removed when it is detached.
    fn segment(bytes: usize, huge: bool) -> io::Result<Mapping> {
        let flags = libc::IPC_CREAT | 0o600 | if huge { libc::SHM_HUGETLB } else { 0 };
        // SAFETY: the call creates a new segment and touches no memory.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, bytes, flags) };
        if id < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: attached at an address of the kernel's choice; marked for removal at once, so
        // that it goes with its last user.
        let start = unsafe {
            let start = libc::shmat(id, ptr::null(), 0);
            libc::shmctl(id, libc::IPC_RMID, ptr::null_mut());
            start
        };
        match start as isize {
            -1 => Err(io::Error::last_os_error()),
            _ => Mapping::at(start, bytes, true),
        }
    }

    fn at(start: *mut libc::c_void, bytes: usize, is_segment: bool) -> io::Result<Mapping> {
        NonNull::new(start.cast())
            .map(|start| Mapping { start, bytes, offset: 0, is_segment })
            .ok_or_else(|| io::Error::other("the kernel mapped memory at address 0"))
    }

    /// `bytes` of locked memory, so that less is left for everything else.
    ///
    /// # Errors
    /// The kernel's, where so much cannot be locked.
    pub fn pinned(bytes: usize) -> io::Result<Mapping> {
        let mapping = Mapping::new(bytes, Pages::Ordinary)?;
        mapping.lock()?;
        Ok(mapping)
    }

    /// Locks the memory, so that the kernel cannot swap it out.
    ///
    /// # Errors
    /// The kernel's, where so much cannot be locked.
    pub fn lock(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping.
        match unsafe { libc::mlock(self.start.as_ptr().cast(), self.bytes) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Part with that index, of consecutive parts of `bytes` each.
    pub fn part(&self, index: usize, bytes: usize) -> NonNull<u8> {
        assert!((index + 1) * bytes <= self.len(), "a mapping holds all of its parts");
        // SAFETY: the part lies within the mapping.
        unsafe { self.start.add(self.offset + index * bytes) }
    }

    /// Pointer to the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        // SAFETY: the offset is less than the length.
        unsafe { self.start.as_ptr().add(self.offset) }
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes - self.offset
    }

    /// Always false: a mapping has at least one page.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True where nearly all of this memory, which was touched, is in huge pages. The kernel says
    /// so of its areas, which may hold other memory of that kind beside it.
    pub fn is_huge(&self) -> bool {
        std::fs::read_to_string("/proc/thread-self/smaps")
            .is_ok_and(|areas| huge_share(&areas, self.as_ptr() as u64) >= HUGE_SHARE)
    }

    /// All bytes, to fill before the mapping is used.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is readable, writable, initialised (zeros, or the file's bytes) and
        // borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.as_ptr(), self.len()) }
    }
}

/// Memory counts as huge pages from this share on: its ends may not fill one.
const HUGE_SHARE: f64 = 0.7;

/// Addresses of an area, from its first line in `/proc/PID/smaps`.
fn area(line: &str) -> Option<std::ops::Range<u64>> {
    let (first, end) = line.split_once(' ')?.0.split_once('-')?;
    Some(u64::from_str_radix(first, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

/// Share of huge pages in the resident memory of the area that holds an address, from
/// `/proc/PID/smaps`.
fn huge_share(areas: &str, address: u64) -> f64 {
    let mut lines = areas.lines();
    lines.by_ref().find(|line| area(line).is_some_and(|area| area.contains(&address)));
    let (mut resident, mut huge) = (0.0, 0.0);
    for line in lines.take_while(|line| area(line).is_none()) {
        let mut words = line.split_whitespace();
        let (name, kib) = (words.next(), words.next().and_then(|kib| kib.parse::<f64>().ok()));
        match (name, kib) {
            (Some("Rss:"), Some(kib)) => resident += kib,
            (Some("AnonHugePages:"), Some(kib)) => huge += kib,
            // Reserved pages are not part of what is resident.
            (Some("Private_Hugetlb:" | "Shared_Hugetlb:"), Some(kib)) => {
                (resident, huge) = (resident + kib, huge + kib);
            }
            _ => {}
        }
    }
    if resident > 0.0 { huge / resident } else { 0.0 }
}

/// A new file that is removed with its last user. A name that is taken, for instance by another
/// worker, gets a number.
fn backing(path: &Path) -> io::Result<File> {
    const NAMES_MAX: u32 = 4096;
    let mut number = 0;
    loop {
        let name = match number {
            0 => path.to_owned(),
            _ => path_of(&format!("{}.{number}", path.text())),
        };
        match File::options().read(true).write(true).create_new(true).open(&name) {
            Ok(file) => return std::fs::remove_file(name).map(|()| file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < NAMES_MAX => {
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn sharing(kind: MemoryKind) -> libc::c_int {
    if kind == MemoryKind::Private { libc::MAP_PRIVATE } else { libc::MAP_SHARED }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.start.as_ptr().cast();
        // SAFETY: start and length are those that the kernel gave.
        unsafe {
            if self.is_segment { libc::shmdt(start) } else { libc::munmap(start, self.bytes) }
        };
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Bytes;

    use super::*;

    #[test]
    fn memory_of_every_kind_holds_what_is_written() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let kinds = [MemoryKind::Private, MemoryKind::Shared, MemoryKind::Shm];
        for (kind, file) in kinds.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let file = (file && kind != MemoryKind::Shm).then(|| dir.path().join("back"));
            let memory = Buffers { kind, file, offset: Bytes(512), ..Buffers::default() };
            let mut mapping = Mapping::of(&memory, 10_000, Pages::Ordinary).expect("mapped");
            assert_eq!(mapping.as_ptr() as usize % PAGE_BYTES, 512);
            assert!(mapping.len() >= 10_000);
            mapping.as_mut_slice().fill(7);
            assert!(mapping.as_mut_slice().iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn pages_that_are_not_there_are_an_error() {
        let huge = Buffers { huge: true, ..Buffers::default() };
        let wanted = 1 << 50;
        assert!(Mapping::of(&huge, wanted, Pages::Ordinary).is_err());
        assert!(Mapping::pinned(wanted).is_err());
        assert_eq!(Mapping::pinned(4096).expect("pinned").len(), 4096);
    }

    #[test]
    fn the_share_of_huge_pages_is_that_of_the_area_with_the_address() {
        let areas = "1000-3000 rw-p 00000000 00:00 0\nRss: 8 kB\nAnonHugePages: 0 kB\n\
                     200000-600000 rw-p 00000000 00:00 0 \nRss: 4096 kB\nAnonHugePages: 4096 kB\n\
                     VmFlags: rd wr hg\n600000-a00000 rw-s 00000000 00:0f 1 /anon_hugepage\n\
                     Rss: 0 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb: 4096 kB\n";
        let share = |address| huge_share(areas, address);
        assert_eq!([share(0x1000), share(0x200000), share(0x5fffff)], [0.0, 1.0, 1.0]);
        assert_eq!([share(0x600000), share(0xa00000)], [1.0, 0.0]);
    }

    #[test]
    fn contiguous_memory_begins_a_huge_page() {
        for (pages, bytes) in [(Pages::Contiguous, CONTIGUOUS_BYTES_MIN), (Pages::Huge, 1)] {
            let mut mapping = Mapping::new(bytes, pages).expect("mapped");
            assert_eq!(mapping.as_ptr() as usize % HUGE_PAGE_BYTES, 0, "{pages:?}");
            mapping.as_mut_slice()[..bytes].fill(7);
            let switch = "/sys/kernel/mm/transparent_hugepage/enabled";
            match std::fs::read_to_string(switch) {
                Ok(words) if !words.contains("[never]") => assert!(mapping.is_huge(), "{pages:?}"),
                _ => println!("skipped: {switch} is never, or not there"),
            }
        }
        let small = Mapping::new(4096, Pages::Contiguous).expect("mapped");
        assert!(!small.is_huge() && small.len() == 4096);
    }
}
