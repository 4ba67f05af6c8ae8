//! Operations on names: makes, looks at or removes one file or directory per operation.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;

use candor_plan::entries::Step;

use super::{Call, answer};
use crate::error::EngineError;
use crate::operations::slots::Slot;
use crate::targets::files::{Files, OpenFile};

/// Mode of what is made, less the process's mask.
const FILE_MODE: libc::c_uint = 0o644;
const DIRECTORY_MODE: libc::mode_t = 0o755;

/// The engine.
pub struct Names {
    names: Box<[CString]>,
    step: Step,
}

impl Names {
    /// One step over these files' paths.
    ///
    /// # Errors
    /// A path with a zero byte in it.
    pub fn new(files: &Files, step: Step) -> Result<Names, EngineError> {
        let name = |file: &OpenFile| {
            let bytes = file.path.as_os_str().as_bytes();
            let name = CString::new(bytes).map_err(std::io::Error::from);
            name.map_err(EngineError::file("use the name of", &file.path))
        };
        Ok(Names { names: files.all().iter().map(name).collect::<Result<_, _>>()?, step })
    }
}

/// Makes a file, or opens one that is there, and closes it.
fn create(name: *const libc::c_char) -> libc::c_int {
    let flags = libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the caller passes a string that ends with a zero byte.
    let fd = unsafe { libc::open(name, flags, FILE_MODE) };
    // SAFETY: the descriptor was just opened, and nobody else has it.
    if fd < 0 { fd } else { unsafe { libc::close(fd) } }
}

impl Call for Names {
    fn call(&mut self, slot: &Slot) -> i32 {
        let name = self.names[slot.file as usize].as_ptr();
        let mut found: MaybeUninit<libc::stat> = MaybeUninit::uninit();
        let mut told: MaybeUninit<libc::statx> = MaybeUninit::uninit();
        let mask = libc::STATX_BASIC_STATS;
        // SAFETY: the name ends with a zero byte and outlives the calls; what they fill is not
        // read.
        let result = unsafe {
            match self.step {
                Step::Create => create(name),
                Step::Unlink => libc::unlink(name),
                Step::Mkdir => libc::mkdir(name, DIRECTORY_MODE),
                Step::Rmdir => libc::rmdir(name),
                Step::Stat => libc::stat(name, found.as_mut_ptr()),
                Step::Lstat => libc::lstat(name, found.as_mut_ptr()),
                Step::Statx => libc::statx(libc::AT_FDCWD, name, 0, mask, told.as_mut_ptr()),
                // The plan was checked: no other step comes here.
                _ => return -libc::ENOSYS,
            }
        };
        match result {
            0 => slot.length as i32,
            error => answer(error as isize),
        }
    }
}
