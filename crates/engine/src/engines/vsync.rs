//! `readv` and `writev`: operations handed over together that follow each other in one file become
//! one call.
//!
//! A turn makes one call; what does not fit into it waits for the next.

use std::collections::VecDeque;
use std::sync::Arc;

use super::sync::Seeking;
use super::{Context, Io, answer, blocking_call};
use crate::error::EngineError;
use crate::operations::slots::{Done, Kind, Slot};
use crate::targets::files::Files;

/// Most buffers that one call takes.
const VECTORS_MAX: usize = 1024;

/// The engine.
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
    /// Opens the files once more, for positions of its own.
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
                libc::iovec { iov_base: slot.buffer.cast(), iov_len: slot.length as usize };
            self.vectors.push(vector);
            before = Some(slot);
        }
    }

    /// One call for all that was gathered: bytes moved, or a negated error number.
    fn call(&mut self, first: &Slot) -> i32 {
        let fd = match self.seeking.at(first.file, first.offset) {
            Ok(fd) => fd,
            Err(errno) => return errno,
        };
        let (vectors, count) = (self.vectors.as_ptr(), self.vectors.len() as i32);
        let answer = answer(match first.kind {
            // SAFETY: the vectors describe buffers of slots, each with room for its length.
            Kind::Write => unsafe { libc::writev(fd, vectors, count) },
            // SAFETY: as above.
            _ => unsafe { libc::readv(fd, vectors, count) },
        });
        self.seeking.moved(first.file, answer);
        self.calls += 1;
        answer
    }
}

/// True where an operation begins at the end of another of its kind in the same file.
fn follows(before: &Slot, slot: &Slot) -> bool {
    let end = before.offset + u64::from(before.length);
    (before.file, before.kind, end) == (slot.file, slot.kind, slot.offset)
        && matches!(slot.kind, Kind::Read | Kind::Write)
}

impl Io for Vsync {
    fn queue(&mut self, _: &[Slot], batch: &[u32]) {
        self.waiting.extend(batch);
    }

    fn turn(&mut self, slots: &[Slot], _: usize, _: Option<u64>, done: &mut Done) -> u64 {
        let Some(&first) = self.waiting.front() else { return 0 };
        let slot = &slots[first as usize];
        if !matches!(slot.kind, Kind::Read | Kind::Write) {
            self.waiting.pop_front();
            done.push(first, blocking_call(&self.files, slot));
            return 0;
        }
        self.gather(slots);
        let answer = self.call(slot);
        let mut left = answer;
        for index in self.waiting.drain(..self.vectors.len()) {
            // What was moved fills the buffers in order.
            let part = left.min(slots[index as usize].length as i32);
            left -= part.max(0);
            done.push(index, part);
        }
        0
    }

    fn features(&self) -> Vec<String> {
        vec![format!("{} calls", self.calls)]
    }
}
