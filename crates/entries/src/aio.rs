//! Reads and writes by the kernel's aio, up to the depth in flight; all other steps by calls.

use std::os::fd::AsRawFd;

use candor_bytes::aio::Aio;
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::issue::{Call, Io};
use candor_engine::operation::{Done, Slot};
use candor_plan::entries::Step;

use crate::calls::Calls;
use crate::items::step_of;

/// Engine of the kernel's aio on bytes of files.
pub struct AioCalls {
    // Declared first: operations in flight end before the files are closed.
    aio: Aio,
    calls: Calls,
    /// Operations for the worker's thread at the next turn.
    aside: Vec<u32>,
}

impl AioCalls {
    /// Sets up a context of `depth` operations.
    ///
    /// # Errors
    /// The kernel's.
    pub fn new(depth: usize, calls: Calls) -> Result<AioCalls, EngineError> {
        Ok(AioCalls { aio: Aio::new(depth)?, calls, aside: Vec::with_capacity(depth) })
    }
}

impl Io for AioCalls {
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            let slot = &slots[index as usize];
            self.calls.enter(slot);
            let writes = match step_of(slot) {
                Some(Step::Read) => Some(false),
                Some(Step::Write) => Some(true),
                _ => None,
            };
            match (writes, self.calls.file(slot)) {
                (Some(writes), Some(file)) => {
                    self.aio.queue(index, slot, file.as_raw_fd(), writes);
                }
                _ => self.aside.push(index),
            }
        }
    }

    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        if self.aio.has_pending() {
            self.aio.submit(done);
        }
        while let Some(index) = self.aside.pop() {
            done.push(index, self.calls.call(&slots[index as usize]));
        }
        self.aio.reap(min, wait_ns, done);
        None
    }

    fn features(&self) -> Vec<String> {
        self.aio.feature().into_iter().collect()
    }
}
