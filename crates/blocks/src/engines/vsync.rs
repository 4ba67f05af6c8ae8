//! `readv` and `writev`: operations of one batch that follow each other in one file become one
//! call.
//!
//! A turn makes one call. Operations that do not fit into it wait for the next turn.

use std::collections::VecDeque;
use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::sync::Seeking;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};

/// Most buffers of one call.
const VECTORS_MAX: usize = 1024;

/// Engine of `readv` and `writev`.
pub struct Vsync {
    files: Arc<Files>,
    seeking: Seeking,
    waiting: VecDeque<u32>,
    vectors: Vec<libc::iovec>,
    calls: u64,
}

// SAFETY: the vectors are only filled and read within one turn.
unsafe impl Send for Vsync {}

impl Vsync {
    /// Opens the files again, for positions of its own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(context: &Context<'_>) -> Result<Vsync, EngineError> {
        Ok(Vsync {
            files: context.files.clone(),
            seeking: Seeking::new(context.files)?,
            waiting: VecDeque::with_capacity(context.depth),
            vectors: Vec::with_capacity(context.depth.min(VECTORS_MAX)),
            calls: 0,
        })
    }

    /// Gathers the operations at the front of the queue that one call can do.
    fn gather(&mut self, slots: &[Slot]) {
        self.vectors.clear();
        let mut before: Option<&Slot> = None;
        for &index in &self.waiting {
            let slot = &slots[index as usize];
            if before.is_some_and(|before| !follows(before, slot))
                || self.vectors.len() == VECTORS_MAX
            {
                break;
            }
            let vector =
                libc::iovec { iov_base: slot.buffer.host().cast(), iov_len: slot.length as usize };
            self.vectors.push(vector);
            before = Some(slot);
        }
    }

    /// Makes one call for all gathered operations; returns the bytes moved, or the failure.
    fn call(&mut self, first: &Slot) -> Outcome {
        let fd = match self.seeking.at(first.handle, first.offset) {
            Ok(fd) => fd,
            Err(failed) => return failed,
        };
        let (vectors, count) = (self.vectors.as_ptr(), self.vectors.len() as i32);
        let outcome = Outcome::of_call(match first.issued() {
            // SAFETY: the vectors describe buffers of slots, each with room for its length.
            BlocksOp::Write => unsafe { libc::writev(fd, vectors, count) },
            // SAFETY: as above.
            _ => unsafe { libc::readv(fd, vectors, count) },
        });
        self.seeking.moved(first.handle, outcome);
        self.calls += 1;
        outcome
    }
}

/// True where an operation begins at the end of another of its kind in the same file.
fn follows(before: &Slot, slot: &Slot) -> bool {
    let end = before.offset + before.length;
    (before.handle, before.issued(), end) == (slot.handle, slot.issued(), slot.offset)
        && matches!(slot.issued(), BlocksOp::Read | BlocksOp::Write)
}

impl Io for Vsync {
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        self.waiting.extend(batch);
    }

    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> Option<Ticks> {
        let first = *self.waiting.front()?;
        let slot = &slots[first as usize];
        if !matches!(slot.issued(), BlocksOp::Read | BlocksOp::Write) {
            self.waiting.pop_front();
            done.push(first, blocking_call(&self.files, slot));
            return None;
        }
        self.gather(slots);
        let outcome = self.call(slot);
        let mut left = if let Outcome::Done(bytes) = outcome { bytes } else { 0 };
        for index in self.waiting.drain(..self.vectors.len()) {
            // The bytes moved fill the buffers in order.
            let part = left.min(slots[index as usize].length);
            left -= part;
            done.push(
                index,
                if let Outcome::Done(_) = outcome { Outcome::Done(part) } else { outcome },
            );
        }
        None
    }

    fn features(&self) -> Vec<String> {
        vec![format!("{} calls", self.calls)]
    }
}
