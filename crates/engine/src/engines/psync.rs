//! `pread` and `pwrite`: one operation at a time.

use std::sync::Arc;

use super::{Call, Context, answer, blocking_call};
use crate::operations::slots::{Kind, Slot};
use crate::targets::files::Files;

/// The engine.
pub struct Psync {
    files: Arc<Files>,
}

impl Psync {
    /// Needs nothing beyond the files.
    pub fn new(context: &Context<'_>) -> Psync {
        Psync { files: context.files.clone() }
    }
}

impl Call for Psync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> i32 {
        let fd = self.files.get(slot.file).raw();
        let (length, offset) = (slot.length as usize, slot.offset as i64);
        match slot.kind {
            // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
            Kind::Read => answer(unsafe { libc::pread(fd, slot.buffer.cast(), length, offset) }),
            // SAFETY: as above.
            Kind::Write => answer(unsafe { libc::pwrite(fd, slot.buffer.cast(), length, offset) }),
            _ => blocking_call(&self.files, slot),
        }
    }
}
