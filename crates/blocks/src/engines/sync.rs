//! `lseek`, then `read` or `write`: one operation at a time. Each worker has descriptors with file
//! positions of its own.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};
use candor_engine::EngineError;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// A worker's own descriptors, with the file position of each.
pub struct Seeking {
    files: Vec<(Option<File>, u64)>,
}

impl Seeking {
    /// Opens every file again, because all users of a descriptor share its position.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(files: &Files) -> Result<Seeking, EngineError> {
        let open = |file: &OpenFile| file.reopen().map(|handle| (handle, 0));
        Ok(Seeking { files: files.all().iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Descriptor of a file with its position at `offset`; or the failure.
    #[inline(always)]
    pub fn at(&mut self, file: u32, offset: u64) -> Result<RawFd, Outcome> {
        let (handle, position) = &mut self.files[file as usize];
        let fd = handle.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        if *position != offset {
            // SAFETY: a plain system call on an open descriptor.
            let moved = unsafe { libc::lseek(fd, offset as i64, libc::SEEK_SET) };
            if moved < 0 {
                *position = u64::MAX;
                return Err(Outcome::of_call(moved as isize));
            }
            *position = offset;
        }
        Ok(fd)
    }

    /// Updates the position after a call.
    #[inline(always)]
    pub fn moved(&mut self, file: u32, outcome: Outcome) {
        let position = &mut self.files[file as usize].1;
        // After an error the position is unknown.
        *position = match outcome {
            Outcome::Done(bytes) => *position + bytes,
            _ => u64::MAX,
        };
    }
}

/// Engine of `lseek`, `read` and `write`.
pub struct Sync {
    files: Arc<Files>,
    seeking: Seeking,
}

impl Sync {
    /// Opens the files again, for positions of its own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(context: &Context<'_>) -> Result<Sync, EngineError> {
        Ok(Sync { files: context.files.clone(), seeking: Seeking::new(context.files)? })
    }
}

impl Call for Sync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> Outcome {
        if !matches!(slot.issued(), BlocksOp::Read | BlocksOp::Write) {
            return blocking_call(&self.files, slot);
        }
        let fd = match self.seeking.at(slot.handle, slot.offset) {
            Ok(fd) => fd,
            Err(failed) => return failed,
        };
        let (buffer, length) = (slot.buffer.host().cast(), slot.length as usize);
        let outcome = Outcome::of_call(match slot.issued() {
            // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
            BlocksOp::Write => unsafe { libc::write(fd, buffer, length) },
            // SAFETY: as above.
            _ => unsafe { libc::read(fd, buffer, length) },
        });
        self.seeking.moved(slot.handle, outcome);
        outcome
    }
}
