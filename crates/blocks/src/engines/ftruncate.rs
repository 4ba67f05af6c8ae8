//! Engine of `ftruncate` calls, to the offset of each write.

use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// Engine of `ftruncate` calls.
pub struct Ftruncate {
    files: Arc<Files>,
}

impl Ftruncate {
    /// Needs only the files.
    pub fn new(context: &Context<'_>) -> Ftruncate {
        Ftruncate { files: context.files.clone() }
    }
}

impl Call for Ftruncate {
    fn call(&mut self, slot: &Slot) -> Outcome {
        if slot.issued() != BlocksOp::Write {
            return blocking_call(&self.files, slot);
        }
        // SAFETY: a plain system call on an open descriptor.
        Outcome::of_whole_call(
            unsafe { libc::ftruncate(self.files.get(slot.handle).raw(), slot.offset as i64) },
            slot.length,
        )
    }
}
