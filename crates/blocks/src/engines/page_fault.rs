//! Engine of page faults: copies to and from memory of its own, one operation at a time. The first
//! use of each page makes the kernel provide it.

use std::ptr;

use candor_engine::EngineError;
use candor_engine::host::memory::{Mapping, Pages};
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::work::BlocksOp;

use super::Context;
use crate::slot::BlocksSlot;

/// Engine of page faults.
pub struct PageFault {
    memory: Mapping,
}

impl PageFault {
    /// Maps as much memory as the job's file has, without touching it.
    ///
    /// # Errors
    /// The kernel's, where there is not so much address space.
    pub fn new(context: &Context<'_>) -> Result<PageFault, EngineError> {
        let bytes = context.files.all().first().map_or(0, |file| file.size);
        let what = format!("map {bytes} bytes of memory");
        let memory = usize::try_from(bytes)
            .map_err(std::io::Error::other)
            .and_then(|bytes| Mapping::new(bytes, Pages::Ordinary))
            .map_err(EngineError::system(what))?;
        Ok(PageFault { memory })
    }

    fn copy(&self, slot: &Slot) -> Outcome {
        let (offset, length) = (slot.offset as usize, slot.length as usize);
        if slot.handle != 0 || offset.saturating_add(length) > self.memory.len() {
            return Outcome::error(libc::EINVAL);
        }
        // SAFETY: the range lies within the mapping, and the slot's buffer has room for `length`;
        // the two are different mappings.
        unsafe {
            let place = self.memory.as_ptr().add(offset);
            match slot.issued() {
                BlocksOp::Write => ptr::copy_nonoverlapping(slot.buffer.host(), place, length),
                _ => ptr::copy_nonoverlapping(place, slot.buffer.host(), length),
            }
        }
        Outcome::Done(slot.length)
    }
}

impl Call for PageFault {
    fn call(&mut self, slot: &Slot) -> Outcome {
        match slot.issued() {
            BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write => self.copy(slot),
            // Memory has nothing below it to be flushed to.
            BlocksOp::Fsync | BlocksOp::Fdatasync | BlocksOp::SyncFileRange => Outcome::Done(0),
            BlocksOp::Trim | BlocksOp::Open | BlocksOp::Close | BlocksOp::Commit => {
                Outcome::error(libc::EINVAL)
            }
        }
    }

    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}
