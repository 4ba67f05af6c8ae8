//! `ftruncate` to the offset of each write.

use std::sync::Arc;

use super::{Call, Context, answer, blocking_call};
use crate::operations::slots::{Kind, Slot};
use crate::targets::files::Files;

/// The engine.
pub struct Ftruncate {
    files: Arc<Files>,
}

impl Ftruncate {
    /// Needs nothing beyond the files.
    pub fn new(context: &Context<'_>) -> Ftruncate {
        Ftruncate { files: context.files.clone() }
    }
}

impl Call for Ftruncate {
    fn call(&mut self, slot: &Slot) -> i32 {
        if slot.kind != Kind::Write {
            return blocking_call(&self.files, slot);
        }
        // SAFETY: a plain system call on an open descriptor.
        match unsafe { libc::ftruncate(self.files.get(slot.file).raw(), slot.offset as i64) } {
            0 => slot.length as i32,
            error => answer(error as isize),
        }
    }
}
