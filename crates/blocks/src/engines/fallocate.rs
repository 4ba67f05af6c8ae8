//! Engine of `fallocate` calls: reads reserve blocks and keep the size, writes reserve blocks and
//! extend the file, trims free them.

use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// Engine of `fallocate` calls.
pub struct Fallocate {
    files: Arc<Files>,
}

impl Fallocate {
    /// Needs only the files.
    pub fn new(context: &Context<'_>) -> Fallocate {
        Fallocate { files: context.files.clone() }
    }
}

impl Call for Fallocate {
    fn call(&mut self, slot: &Slot) -> Outcome {
        let mode = match slot.issued() {
            BlocksOp::Read => libc::FALLOC_FL_KEEP_SIZE,
            BlocksOp::Write => 0,
            BlocksOp::Trim => libc::FALLOC_FL_KEEP_SIZE | libc::FALLOC_FL_PUNCH_HOLE,
            _ => return blocking_call(&self.files, slot),
        };
        let fd = self.files.get(slot.handle).raw();
        // SAFETY: a plain system call on an open descriptor.
        Outcome::of_whole_call(
            unsafe { libc::fallocate(fd, mode, slot.offset as i64, slot.length as i64) },
            slot.length,
        )
    }
}
