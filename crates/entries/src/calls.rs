//! System calls on names: one operation, one step.
//!
//! An opened file stays open for the steps that read, write, sync or close it, up to a step that
//! closes it (`plan` checks that there is one). Without such steps, the same operation closes it.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::entries::{Entries, OPERATIONS, Step};

use crate::walk::{Paths, SharedPaths};

/// Mode of new files, less the process's mask.
const FILE_MODE: libc::c_uint = 0o644;
const DIRECTORY_MODE: libc::mode_t = 0o755;

/// Name and length of the extended attribute.
const ATTRIBUTE: &std::ffi::CStr = c"user.candor";
const ATTRIBUTE_BYTES: usize = 64;

/// Room for the entries of a directory that one call lists.
const LIST_BYTES: usize = 64 << 10;

/// Engine of single calls on names.
pub struct Calls {
    /// The present names, which the walk writes.
    paths: SharedPaths,
    /// Number of the name whose file is open.
    number: Option<u32>,
    /// Open file, or the error number of the failed open.
    open: Result<OwnedFd, i32>,
    /// True where files stay open for later steps.
    keeps: bool,
    flags: libc::c_int,
    /// Entries that were listed last; empty where no step lists.
    listed: Box<[u8]>,
}

impl Calls {
    /// Engine over the names of a walk.
    pub fn new(entries: &Entries, paths: SharedPaths) -> Calls {
        let writes = entries.steps.contains(&Step::Write);
        let access = if writes { libc::O_RDWR } else { libc::O_RDONLY };
        let direct = if entries.direct { libc::O_DIRECT } else { 0 };
        let lists = entries.steps.contains(&Step::List);
        Calls {
            paths,
            number: None,
            open: Err(libc::EBADF),
            keeps: entries.steps.iter().any(|step| step.needs_open()),
            flags: access | direct | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            listed: vec![0; if lists { LIST_BYTES } else { 0 }].into(),
        }
    }

    /// Opens a file, and closes it again where no later step needs it.
    fn open(&mut self, name: *const libc::c_char, flags: libc::c_int) -> Outcome {
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::open(name, flags, FILE_MODE) };
        if fd < 0 {
            let failed = Outcome::last_error();
            if let Outcome::Failed(failure) = failed {
                self.open = Err(failure.errno());
            }
            return failed;
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        if self.keeps {
            self.open = Ok(file);
        }
        Outcome::Done(0)
    }

    /// Executes a step on the open file.
    fn on_open(&mut self, step: Step, slot: &Slot) -> Outcome {
        let fd: RawFd = match &self.open {
            Ok(file) => file.as_raw_fd(),
            Err(errno) => return Outcome::error(*errno),
        };
        let (bytes, offset) = (slot.length as usize, slot.offset as i64);
        let buffer = slot.buffer.host().cast();
        match step {
            // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
            Step::Read => Outcome::of_call(unsafe { libc::pread(fd, buffer, bytes, offset) }),
            // SAFETY: as above.
            Step::Write => Outcome::of_call(unsafe { libc::pwrite(fd, buffer, bytes, offset) }),
            // SAFETY: a plain system call on an open descriptor.
            Step::Fsync => Outcome::of_call(unsafe { libc::fsync(fd) } as isize),
            _ => {
                self.open = Err(libc::EBADF);
                Outcome::Done(0)
            }
        }
    }
}

/// Step of an operation.
fn step_of(slot: &Slot) -> Option<Step> {
    debug_assert_eq!(Step::ALL.len(), OPERATIONS.len());
    Step::ALL.get(slot.op.index()).copied()
}

impl Calls {
    /// Opens a directory, reads all of its entries and closes it.
    fn list(&mut self, name: *const libc::c_char) -> Outcome {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::open(name, flags) };
        if fd < 0 {
            return Outcome::last_error();
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
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

    /// Makes all of a filesystem durable.
    fn sync_filesystem(name: *const libc::c_char) -> Outcome {
        // SAFETY: the name ends with a zero byte and outlives the call.
        let fd = unsafe { libc::open(name, libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Outcome::last_error();
        }
        // SAFETY: the descriptor was just opened, and nobody else has it.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a plain system call on an open descriptor.
        Outcome::of_call(unsafe { libc::syncfs(file.as_raw_fd()) } as isize)
    }
}

/// Looks a name up.
fn look(step: Step, name: *const libc::c_char) -> Outcome {
    let mut stat: MaybeUninit<libc::stat> = MaybeUninit::uninit();
    let mut statx: MaybeUninit<libc::statx> = MaybeUninit::uninit();
    let mask = libc::STATX_BASIC_STATS;
    // SAFETY: the name ends with a zero byte and outlives the calls; what they fill is not read.
    Outcome::of_call(unsafe {
        match step {
            Step::Stat => libc::stat(name, stat.as_mut_ptr()),
            Step::Lstat => libc::lstat(name, stat.as_mut_ptr()),
            _ => libc::statx(libc::AT_FDCWD, name, 0, mask, statx.as_mut_ptr()),
        }
    } as isize)
}

/// Sets, reads or removes the extended attribute of a name.
fn attribute(step: Step, name: *const libc::c_char) -> Outcome {
    let (key, mut value) = (ATTRIBUTE.as_ptr(), [0x5a_u8; ATTRIBUTE_BYTES]);
    let bytes = value.as_mut_ptr().cast();
    // SAFETY: both names end with a zero byte and outlive the calls; the value has as many bytes as
    // they are told.
    let returned = unsafe {
        match step {
            Step::Setxattr => libc::setxattr(name, key, bytes, value.len(), 0) as isize,
            Step::Getxattr => libc::getxattr(name, key, bytes, value.len()),
            _ => libc::removexattr(name, key) as isize,
        }
    };
    nothing_moved(Outcome::of_call(returned))
}

/// Reads where a link points.
fn read_link(name: *const libc::c_char) -> Outcome {
    let mut target = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the name ends with a zero byte, and the kernel fills at most the buffer.
    let read = unsafe { libc::readlink(name, target.as_mut_ptr().cast(), target.len()) };
    nothing_moved(Outcome::of_call(read))
}

/// A success whose count is of no bytes of the target.
fn nothing_moved(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done(_) => Outcome::Done(0),
        failed => failed,
    }
}

impl Call for Calls {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let Some(step) = step_of(slot) else { return Outcome::error(libc::ENOSYS) };
        if self.number != Some(slot.handle) {
            (self.number, self.open) = (Some(slot.handle), Err(libc::EBADF));
        }
        // The walk writes the next names only once this operation has ended.
        let paths = self.paths.clone();
        let Paths { path, other } = &*paths.borrow();
        let (name, other) = (path.as_ptr().cast(), other.as_ptr().cast());
        // SAFETY: the names end with a zero byte and outlive the calls.
        let returned = unsafe {
            match step {
                Step::Create => {
                    let flags = self.flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_CREAT;
                    return self.open(name, flags);
                }
                Step::Open => return self.open(name, self.flags),
                Step::Read | Step::Write | Step::Fsync | Step::Close => {
                    return self.on_open(step, slot);
                }
                Step::Stat | Step::Lstat | Step::Statx => return look(step, name),
                Step::List => return self.list(name),
                Step::Setxattr | Step::Getxattr | Step::Removexattr => {
                    return attribute(step, name);
                }
                Step::Readlink => return read_link(name),
                Step::Syncfs => return Calls::sync_filesystem(name),
                Step::Unlink => libc::unlink(name),
                Step::Mkdir => libc::mkdir(name, DIRECTORY_MODE),
                Step::Rmdir => libc::rmdir(name),
                Step::Truncate => libc::truncate(name, 0),
                Step::Rename => libc::rename(name, other),
                Step::Link => libc::link(name, other),
                Step::Symlink => libc::symlink(name, other),
            }
        };
        Outcome::of_call(returned as isize)
    }
}
