//! `pread` and `pwrite`: one operation at a time.

use std::sync::Arc;

use super::{Context, Io, answer, blocking_call};
use crate::files::Files;
use crate::slots::{Done, Kind, Slot};

/// The engine.
pub struct Psync {
    files: Arc<Files>,
    pending: Option<u32>,
}

impl Psync {
    /// Needs nothing beyond the files.
    pub fn new(context: &Context<'_>) -> Psync {
        Psync { files: context.files.clone(), pending: None }
    }
}

impl Io for Psync {
    #[inline(always)]
    fn push(&mut self, index: u32, _: &Slot) {
        debug_assert!(self.pending.is_none(), "one operation at a time");
        self.pending = Some(index);
    }

    #[inline(always)]
    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> u64 {
        if let Some(index) = self.pending.take() {
            let slot = &slots[index as usize];
            done.push(index, call(&self.files, slot));
        }
        0
    }

    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}

#[inline(always)]
fn call(files: &Files, slot: &Slot) -> i32 {
    let fd = files.get(slot.file).raw();
    let (length, offset) = (slot.length as usize, slot.offset as i64);
    match slot.kind {
        // SAFETY: the slot's buffer has room for its length and is not used elsewhere meanwhile.
        Kind::Read => answer(unsafe { libc::pread(fd, slot.buffer.cast(), length, offset) }),
        // SAFETY: as above.
        Kind::Write => answer(unsafe { libc::pwrite(fd, slot.buffer.cast(), length, offset) }),
        _ => blocking_call(files, slot),
    }
}
