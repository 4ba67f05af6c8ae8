//! System calls on names: one operation, one step.
//!
//! An opened file stays open for the steps that read, write, sync or close it, up to a step that
//! closes it (`plan` checks that one exists). Without any later step, the same operation closes it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use candor_bytes::advice::advise;
use candor_bytes::mapped::Mapped;
use candor_bytes::posix_lock::{self, Holding, Span};
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::{Advice, Lock, MapAdvice, OpenSync};
use candor_plan::entries::{Entries, EntriesEngine, Step};

use crate::copying::Copier;
use crate::items::{SharedPaths, step_of};
use crate::modes::{DIRECTORY_MODE, FILE_MODE};
use crate::roots::NameAt;

/// Name and length of the extended attribute.
pub const ATTRIBUTE: &std::ffi::CStr = c"user.candor";
pub const ATTRIBUTE_BYTES: usize = 64;

/// Room for the entries of a directory that one call lists.
const LIST_BYTES: usize = 64 << 10;

/// Engine of single calls on names.
pub struct Calls {
    /// The names of the items in progress, which their source writes.
    pub paths: SharedPaths,
    /// Flags for opening files.
    pub flags: libc::c_int,
    /// The files of the items in progress.
    files: Box<[ItemFile]>,
    /// True if files stay open for later steps.
    keeps: bool,
    /// Buffer of listed entries; empty if no step lists.
    listed: Box<[u8]>,
    /// Advice about each file that is opened.
    advice: Box<[Advice]>,
    /// Mappings of the files, if bytes are loaded and stored.
    maps: Option<Maps>,
    lock: Lock,
    /// Copier of whole files, if a step copies.
    copier: Option<Copier>,
    /// True if the other name is a whole path in another tree.
    moves_over: bool,
    /// True if an existing directory is no error of `mkdir`, and a missing name is no error of a
    /// removal.
    idempotent: bool,
}

/// How files are mapped.
struct Maps {
    writes: bool,
    advice: Box<[MapAdvice]>,
}

impl Maps {
    /// Maps an open file; extends a file to be written to `bytes` first.
    fn map(&self, file: &OwnedFd, bytes: u64) -> io::Result<Mapped> {
        if self.writes && rustix::fs::fstat(file)?.st_size < bytes as i64 {
            rustix::fs::ftruncate(file, bytes)?;
        }
        Mapped::new(file.as_raw_fd(), bytes, self.writes, &self.advice)
    }
}

/// The file of an item in progress.
struct ItemFile {
    /// Handle of the item.
    handle: Option<u32>,
    /// Mapping of the open file, if any.
    mapped: Option<Mapped>,
    /// Open file, or the error number of the failed open.
    open: Result<OwnedFd, i32>,
}

impl ItemFile {
    const CLOSED: ItemFile = ItemFile { handle: None, mapped: None, open: Err(libc::EBADF) };
}

impl Calls {
    /// Engine for the names of items in progress.
    pub fn new(entries: &Entries, paths: SharedPaths) -> Calls {
        let writes = entries.has(Step::Write);
        let changes = entries.all_steps().any(|step| step.needs_open() && step.changes_names());
        let is_writable = writes || changes || entries.truncate_at_open;
        let access = if is_writable { libc::O_RDWR } else { libc::O_RDONLY };
        let direct = if entries.direct { libc::O_DIRECT } else { 0 };
        let sync = match entries.open_sync {
            OpenSync::None => 0,
            OpenSync::Dsync => libc::O_DSYNC,
            OpenSync::Sync => libc::O_SYNC,
        };
        let truncate = if entries.truncate_at_open { libc::O_TRUNC } else { 0 };
        let of_maps = match &entries.map_advice {
            Some(pieces) => pieces.0.clone(),
            None => entries.advice.of_maps(),
        };
        let lists = entries.has(Step::List);
        let files = paths.borrow().iter().map(|_| ItemFile::CLOSED).collect();
        Calls {
            files,
            paths,
            keeps: entries.all_steps().any(Step::needs_open),
            flags: access | direct | sync | truncate | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            listed: vec![0; if lists { LIST_BYTES } else { 0 }].into(),
            advice: entries.advice.0.clone().into(),
            maps: (entries.engine == Some(EntriesEngine::Mmap))
                .then(|| Maps { writes, advice: of_maps.into() }),
            lock: entries.lock,
            copier: entries.has(Step::Copy).then(|| Copier::new(entries.size_max(), direct)),
            idempotent: entries.idempotent,
            moves_over: entries.take.as_ref().is_some_and(|take| take.to.is_some()),
        }
    }

    /// Flags for creating a file.
    pub fn creating(flags: libc::c_int) -> libc::c_int {
        flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_CREAT
    }

    /// Outcome of a step on a name; a step that is already done succeeds if `idempotent` is set.
    pub fn settled(&self, step: Step, outcome: Outcome) -> Outcome {
        let Outcome::Failed(failure) = outcome else { return outcome };
        let is_done = match step {
            Step::Mkdir => failure.errno() == libc::EEXIST,
            Step::Unlink | Step::Rmdir => failure.errno() == libc::ENOENT,
            _ => false,
        };
        if self.idempotent && is_done { Outcome::Done(0) } else { outcome }
    }

    /// Closes the open file of the slot's previous item.
    #[inline(always)]
    pub fn enter(&mut self, slot: &Slot) {
        let file = &mut self.files[slot.tag as usize];
        if file.handle != Some(slot.handle) {
            *file = ItemFile { handle: Some(slot.handle), ..ItemFile::CLOSED };
        }
    }

    /// The open file of an operation's item.
    pub fn file(&self, slot: &Slot) -> Option<&OwnedFd> {
        self.files[slot.tag as usize].open.as_ref().ok()
    }

    /// Takes the open file of an operation's item, to close it.
    pub fn take_file(&mut self, slot: &Slot) -> Option<OwnedFd> {
        self.file(slot)?;
        std::mem::replace(&mut self.files[slot.tag as usize].open, Err(libc::EBADF)).ok()
    }

    /// Keeps an opened file for later steps, or the error number of the failure; closes the file if
    /// no step needs it.
    pub fn opened(&mut self, slot: &Slot, opened: Result<OwnedFd, i32>) -> Outcome {
        let outcome = match &opened {
            Ok(_) => Outcome::Done(0),
            Err(errno) => Outcome::error(*errno),
        };
        if self.keeps {
            self.files[slot.tag as usize].open = opened;
        }
        outcome
    }

    /// Opens a file.
    fn open(&mut self, slot: &Slot, name: NameAt, flags: libc::c_int) -> Outcome {
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::openat(name.directory, name.name, flags, FILE_MODE) };
        match Outcome::of_call(fd as isize) {
            Outcome::Done(_) => {
                // SAFETY: the descriptor was just opened, and has no other owner.
                let file = unsafe { OwnedFd::from_raw_fd(fd) };
                let opened = self.make_ready(slot, file);
                self.opened(slot, opened)
            }
            Outcome::Failed(failure) => self.opened(slot, Err(failure.errno())),
            Outcome::Over => Outcome::Over,
        }
    }

    /// Applies the plan's advice to an opened file, and maps it; the error number if mapping fails.
    #[inline(always)]
    fn make_ready(&mut self, slot: &Slot, file: OwnedFd) -> Result<OwnedFd, i32> {
        advise(&file, &self.advice);
        let bytes = self.paths.borrow()[slot.tag as usize].size;
        if let Some(maps) = self.maps.as_ref().filter(|_| bytes > 0) {
            let mapped = maps.map(&file, bytes);
            let mapped = mapped.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
            self.files[slot.tag as usize].mapped = Some(mapped);
        }
        Ok(file)
    }

    /// Executes a step on the open file.
    fn on_open(&mut self, step: Step, slot: &Slot) -> Outcome {
        let ItemFile { open, mapped, .. } = &mut self.files[slot.tag as usize];
        let fd: RawFd = match open {
            Ok(file) => file.as_raw_fd(),
            Err(errno) => return Outcome::error(*errno),
        };
        let length = || self.paths.borrow()[slot.tag as usize].size as i64;
        match step {
            Step::Read | Step::Write => moved(step, slot, fd, mapped.as_ref(), self.lock),
            // SAFETY: a plain system call on an open descriptor.
            Step::Fsync => Outcome::of_call(unsafe { libc::fsync(fd) } as isize),
            // SAFETY: as above.
            Step::Ftruncate => Outcome::of_call(unsafe { libc::ftruncate(fd, length()) } as isize),
            // An empty file has no blocks that the kernel could allocate.
            Step::Fallocate if length() == 0 => Outcome::Done(0),
            Step::Fallocate => {
                // SAFETY: as above.
                Outcome::of_call(unsafe { libc::fallocate(fd, 0, 0, length()) } as isize)
            }
            _ => {
                *mapped = None;
                *open = Err(libc::EBADF);
                Outcome::Done(0)
            }
        }
    }
}

/// Reads or writes bytes of an open file, by calls or by its mapping, under its lock.
#[inline(always)]
fn moved(step: Step, slot: &Slot, fd: RawFd, mapped: Option<&Mapped>, lock: Lock) -> Outcome {
    if lock == Lock::None || slot.length == 0 {
        return moved_unlocked(step, slot, fd, mapped);
    }
    let holding = if step == Step::Read { Holding::Shared } else { Holding::Exclusive };
    let span = match lock {
        Lock::PosixRange => Span::of(slot.offset, slot.length),
        _ => Span::WHOLE,
    };
    posix_lock::during(fd, holding, span, || moved_unlocked(step, slot, fd, mapped))
}

#[inline(always)]
fn moved_unlocked(step: Step, slot: &Slot, fd: RawFd, mapped: Option<&Mapped>) -> Outcome {
    let writes = step == Step::Write;
    if let Some(mapped) = mapped {
        return mapped.copy(slot, writes);
    }
    let (bytes, offset) = (slot.length as usize, slot.offset as i64);
    let buffer = slot.buffer.host().cast();
    // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
    Outcome::of_call(unsafe {
        if writes {
            libc::pwrite(fd, buffer, bytes, offset)
        } else {
            libc::pread(fd, buffer, bytes, offset)
        }
    })
}

impl Calls {
    /// Opens a directory, reads all of its entries and closes it.
    fn list(&mut self, name: NameAt) -> Outcome {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::openat(name.directory, name.name, flags) };
        if fd < 0 {
            return Outcome::last_error();
        }
        // SAFETY: the descriptor was just opened, and has no other owner.
        let directory = unsafe { OwnedFd::from_raw_fd(fd) };
        let (entries, bytes) = (self.listed.as_mut_ptr(), self.listed.len());
        loop {
            // SAFETY: the kernel fills at most `bytes` bytes of the buffer.
            let read = unsafe {
                libc::syscall(libc::SYS_getdents64, directory.as_raw_fd(), entries, bytes)
            };
            match read {
                0 => return Outcome::Done(0),
                1.. => {}
                _ => return Outcome::last_error(),
            }
        }
    }

    /// Syncs the filesystem of a name.
    fn sync_filesystem(name: *const libc::c_char) -> Outcome {
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::open(name, libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Outcome::last_error();
        }
        // SAFETY: the descriptor was just opened, and has no other owner.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a plain system call on an open descriptor.
        Outcome::of_call(unsafe { libc::syncfs(file.as_raw_fd()) } as isize)
    }
}

/// Executes a stat call on a name.
#[inline(always)]
fn look(step: Step, name: NameAt) -> Outcome {
    let NameAt { directory: at, name } = name;
    let mut stat: MaybeUninit<libc::stat> = MaybeUninit::uninit();
    let mut statx: MaybeUninit<libc::statx> = MaybeUninit::uninit();
    let mask = libc::STATX_BASIC_STATS;
    // SAFETY: the name ends with a zero byte and outlives the calls; what they fill is not read.
    Outcome::of_call(unsafe {
        match step {
            Step::Stat => libc::fstatat(at, name, stat.as_mut_ptr(), 0),
            Step::Lstat => libc::fstatat(at, name, stat.as_mut_ptr(), libc::AT_SYMLINK_NOFOLLOW),
            _ => libc::statx(at, name, 0, mask, statx.as_mut_ptr()),
        }
    } as isize)
}

/// Sets, reads or removes the extended attribute of a name.
fn attribute(step: Step, name: *const libc::c_char) -> Outcome {
    let (key, mut value) = (ATTRIBUTE.as_ptr(), [0x5a_u8; ATTRIBUTE_BYTES]);
    let bytes = value.as_mut_ptr().cast();
    // SAFETY: both names end with a zero byte and outlive the calls; the length passed is the
    // value's length.
    let returned = unsafe {
        match step {
            Step::Setxattr => libc::setxattr(name, key, bytes, value.len(), 0) as isize,
            Step::Getxattr => libc::getxattr(name, key, bytes, value.len()),
            _ => libc::removexattr(name, key) as isize,
        }
    };
    nothing_moved(Outcome::of_call(returned))
}

/// Sets both times of a name to the current time.
fn set_times(name: NameAt) -> libc::c_int {
    // SAFETY: the name ends with a zero byte and outlives the call; null means the current time.
    unsafe { libc::utimensat(name.directory, name.name, std::ptr::null(), 0) }
}

/// Reads the target of a symbolic link.
fn read_link(name: NameAt) -> Outcome {
    let NameAt { directory: at, name } = name;
    let mut target = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the name ends with a zero byte, and the kernel fills at most the buffer.
    let read = unsafe { libc::readlinkat(at, name, target.as_mut_ptr().cast(), target.len()) };
    nothing_moved(Outcome::of_call(read))
}

/// Discards the count of a success: no bytes of the target moved.
fn nothing_moved(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done(_) => Outcome::Done(0),
        failed => failed,
    }
}

impl Call for Calls {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let Some(step) = step_of(slot) else { return Outcome::error(libc::ENOSYS) };
        self.enter(slot);
        // The next names are written only once this operation has ended.
        let paths = self.paths.clone();
        let paths = &paths.borrow()[slot.tag as usize];
        let (seen, other) = (paths.name(), paths.other_name().name);
        let NameAt { directory: at, name } = seen;
        // Links hold whole paths, and some calls take no directory.
        let whole = paths.path.as_ptr().cast();
        // SAFETY: the names end with a zero byte and outlive the calls.
        let returned = unsafe {
            match step {
                Step::Create => return self.open(slot, seen, Calls::creating(self.flags)),
                Step::Open => return self.open(slot, seen, self.flags),
                Step::Read
                | Step::Write
                | Step::Fsync
                | Step::Ftruncate
                | Step::Fallocate
                | Step::Close => return self.on_open(step, slot),
                Step::Stat | Step::Lstat | Step::Statx => return look(step, seen),
                Step::List => return self.list(seen),
                Step::Setxattr | Step::Getxattr | Step::Removexattr => {
                    return attribute(step, whole);
                }
                Step::Readlink => return read_link(seen),
                Step::Syncfs => return Calls::sync_filesystem(whole),
                Step::Unlink => libc::unlinkat(at, name, 0),
                Step::Mknod => libc::mknodat(at, name, libc::S_IFREG | FILE_MODE, 0),
                Step::Mkdir => libc::mkdirat(at, name, DIRECTORY_MODE),
                Step::Rmdir => libc::unlinkat(at, name, libc::AT_REMOVEDIR),
                Step::Truncate => libc::truncate(whole, 0),
                Step::Rename if self.moves_over => {
                    libc::renameat(at, name, libc::AT_FDCWD, paths.other.as_ptr().cast())
                }
                Step::Rename => libc::renameat(at, name, at, other),
                Step::Access => libc::faccessat(at, name, libc::R_OK, 0),
                Step::Utimens => set_times(seen),
                Step::Copy => {
                    let to = paths.other.as_ptr().cast();
                    return match &mut self.copier {
                        Some(copier) => copier.copy(seen, to),
                        None => Outcome::error(libc::ENOSYS),
                    };
                }
                Step::Link => libc::linkat(at, name, at, other, 0),
                Step::Symlink => libc::symlinkat(whole, at, other),
            }
        };
        self.settled(step, Outcome::of_call(returned as isize))
    }
}
