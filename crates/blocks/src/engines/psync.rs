//! `pread` and `pwrite`: one operation at a time.

use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// Engine of `pread` and `pwrite`.
pub struct Psync {
    files: Arc<Files>,
}

impl Psync {
    /// Needs only the files.
    pub fn new(context: &Context<'_>) -> Psync {
        Psync { files: context.files.clone() }
    }
}

impl Call for Psync {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> Outcome {
        let fd = self.files.get(slot.handle).raw();
        let (length, offset) = (slot.length as usize, slot.offset as i64);
        match slot.issued() {
            // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
            BlocksOp::Read => Outcome::of_call(unsafe {
                libc::pread(fd, slot.buffer.host().cast(), length, offset)
            }),
            // SAFETY: as above.
            BlocksOp::Write => Outcome::of_call(unsafe {
                libc::pwrite(fd, slot.buffer.host().cast(), length, offset)
            }),
            _ => blocking_call(&self.files, slot),
        }
    }
}
