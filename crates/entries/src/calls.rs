//! System calls on names: one operation, one step.
//!
//! An opened file stays open for the steps that read, write, sync or close it, up to a step that
//! closes it (`plan` checks that there is one). Without such steps, the same operation closes it.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::entries::{Entries, OPERATIONS, Step};

use crate::walk::SharedPath;

/// Mode of new files, less the process's mask.
const FILE_MODE: libc::c_uint = 0o644;
const DIRECTORY_MODE: libc::mode_t = 0o755;

/// Engine of single calls on names.
pub struct Calls {
    /// Path of the present name, which the walk writes.
    path: SharedPath,
    /// Number of the name whose file is open.
    number: Option<u32>,
    /// Open file, or the error number of the failed open.
    open: Result<OwnedFd, i32>,
    /// True where files stay open for later steps.
    keeps: bool,
    flags: libc::c_int,
}

impl Calls {
    /// Engine over the names of a walk.
    pub fn new(entries: &Entries, path: SharedPath) -> Calls {
        let writes = entries.steps.contains(&Step::Write);
        let access = if writes { libc::O_RDWR } else { libc::O_RDONLY };
        let direct = if entries.direct { libc::O_DIRECT } else { 0 };
        Calls {
            path,
            number: None,
            open: Err(libc::EBADF),
            keeps: entries.steps.iter().any(|step| step.needs_open()),
            flags: access | direct | libc::O_CLOEXEC | libc::O_NOFOLLOW,
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

impl Call for Calls {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let Some(step) = step_of(slot) else { return Outcome::error(libc::ENOSYS) };
        if self.number != Some(slot.handle) {
            (self.number, self.open) = (Some(slot.handle), Err(libc::EBADF));
        }
        // The walk writes the next path only once this operation has ended.
        let path = self.path.clone();
        let path = path.borrow();
        let name = path.as_ptr().cast();
        let mut stat: MaybeUninit<libc::stat> = MaybeUninit::uninit();
        let mut statx: MaybeUninit<libc::statx> = MaybeUninit::uninit();
        let mask = libc::STATX_BASIC_STATS;
        // SAFETY: the name ends with a zero byte and outlives the calls; what they fill is not
        // read.
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
                Step::Unlink => libc::unlink(name),
                Step::Mkdir => libc::mkdir(name, DIRECTORY_MODE),
                Step::Rmdir => libc::rmdir(name),
                Step::Truncate => libc::truncate(name, 0),
                Step::Stat => libc::stat(name, stat.as_mut_ptr()),
                Step::Lstat => libc::lstat(name, stat.as_mut_ptr()),
                Step::Statx => libc::statx(libc::AT_FDCWD, name, 0, mask, statx.as_mut_ptr()),
                // The plan was checked: no other step can occur here.
                _ => return Outcome::error(libc::ENOSYS),
            }
        };
        Outcome::of_call(returned as isize)
    }
}
