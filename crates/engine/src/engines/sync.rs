//! `lseek`, then `read` or `write`: one operation at a time, on descriptors whose position is the
//! worker's own.

use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use super::{Call, Context, answer, blocking_call};
use crate::error::EngineError;
use crate::operations::slots::{Kind, Slot};
use crate::targets::files::{Files, OpenFile};

/// A worker's own descriptors, with the position of each.
pub struct Seeking {
    files: Vec<(Option<File>, u64)>,
}

impl Seeking {
    /// Opens every file once more: a position is shared by all who share a descriptor.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(files: &Files) -> Result<Seeking, EngineError> {
        let open = |file: &OpenFile| file.reopen().map(|handle| (handle, 0));
        Ok(Seeking { files: files.all().iter().map(open).collect::<Result<_, _>>()? })
    }

    /// The descriptor of a file, its position at `offset`; or a negated error number.
    #[inline(always)]
    pub fn at(&mut self, file: u32, offset: u64) -> Result<RawFd, i32> {
        let (handle, position) = &mut self.files[file as usize];
        let fd = handle.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        if *position != offset {
            // SAFETY: a plain system call on an open descriptor.
            let moved = unsafe { libc::lseek(fd, offset as i64, libc::SEEK_SET) };
            if moved < 0 {
                *position = u64::MAX;
                return Err(answer(moved as isize));
            }
            *position = offset;
        }
        Ok(fd)
    }

    /// Notes what a call at the position answered.
    #[inline(always)]
    pub fn moved(&mut self, file: u32, answer: i32) {
        let position = &mut self.files[file as usize].1;
        // After an error the position is unknown.
        *position = u64::try_from(answer).map_or(u64::MAX, |bytes| *position + bytes);
    }
}

/// The engine.
pub struct Sync {
    files: Arc<Files>,
    seeking: Seeking,
}

impl Sync {
    /// Opens the files once more, for positions of its own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(context: &Context<'_>) -> Result<Sync, EngineError> {
        Ok(Sync { files: context.files.clone(), seeking: Seeking::new(context.files)? })
    }
}

impl Call for Sync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> i32 {
        if !matches!(slot.kind, Kind::Read | Kind::Write) {
            return blocking_call(&self.files, slot);
        }
        let fd = match self.seeking.at(slot.file, slot.offset) {
            Ok(fd) => fd,
            Err(errno) => return errno,
        };
        let (buffer, length) = (slot.buffer.cast(), slot.length as usize);
        let answer = answer(match slot.kind {
            // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
            Kind::Write => unsafe { libc::write(fd, buffer, length) },
            // SAFETY: as above.
            _ => unsafe { libc::read(fd, buffer, length) },
        });
        self.seeking.moved(slot.file, answer);
        answer
    }
}
