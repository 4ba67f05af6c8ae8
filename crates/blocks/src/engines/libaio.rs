//! The kernel's aio. Completions are reaped from its ring in user space.
//!
//! Submission is a separate call, and blocks for buffered files. Submission time is reported.

use std::sync::Arc;

use super::{Context, Flushes, blocking_call};
use candor_bytes::aio::{Aio, Flush};
use candor_engine::clock::{Clock, Ticks};
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Slot};
use candor_plan::Blocks;
use candor_plan::blocks::Libaio as Options;
use candor_plan::work::BlocksOp;

use super::flags::CallFlags;

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::EngineError;

/// Engine of the kernel's aio.
pub struct Libaio {
    aio: Aio,
    files: Arc<Files>,
    clock: Clock,
    /// Vector of each operation's buffer; empty if operations hold the buffer address.
    vectors: Box<[libc::iovec]>,
    /// Trims, and flushes on kernels without them, which the calling thread does at the next turn.
    blocking: Vec<u32>,
    flushes: Flushes,
    flags: CallFlags,
    /// True if operations set priorities.
    priorities: bool,
}

impl Libaio {
    /// Sets up a context of `depth` operations.
    ///
    /// # Errors
    /// The kernel's, for instance when `/proc/sys/fs/aio-max-nr` is reached.
    pub fn new(
        from: &Context<'_>,
        blocks: &Blocks,
        options: Options,
    ) -> Result<Libaio, EngineError> {
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let vectors = if options.vectored { from.depth } else { 0 };
        let mut aio = Aio::new(from.depth)?;
        let flushes = if !blocks.flushes() {
            Flushes::None
        } else if aio.can_flush() {
            Flushes::Queued
        } else {
            Flushes::Calls
        };
        Ok(Libaio {
            aio,
            flushes,
            files: from.files.clone(),
            clock: from.clock,
            vectors: vec![vector; vectors].into(),
            blocking: Vec::with_capacity(from.depth),
            flags: CallFlags::new(options.flags),
            priorities: !blocks.priorities.is_empty(),
        })
    }

    #[inline(always)]
    fn queue_one(&mut self, index: u32, slot: &Slot) {
        let (writes, flags) = match slot.issued() {
            BlocksOp::Read => (false, self.flags.read),
            BlocksOp::Write => (true, self.flags.write),
            BlocksOp::Fsync if self.flushes == Flushes::Queued => {
                let fd = self.files.get(slot.handle).raw();
                return self.aio.queue_flush(index, Flush::All, fd);
            }
            BlocksOp::Fdatasync if self.flushes == Flushes::Queued => {
                let fd = self.files.get(slot.handle).raw();
                return self.aio.queue_flush(index, Flush::Data, fd);
            }
            _ => return self.blocking.push(index),
        };
        let fd = self.files.get(slot.handle).raw();
        let block = self.aio.queue(index, slot, fd, writes);
        block.set_call_flags(flags);
        if self.priorities {
            block.set_priority(slot.priority);
        }
        if let Some(vector) = self.vectors.get_mut(index as usize) {
            (vector.iov_base, vector.iov_len) = (slot.buffer.host().cast(), slot.length as usize);
            block.set_vector(vector);
        }
    }
}

impl Io for Libaio {
    #[inline(always)]
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            self.queue_one(index, &slots[index as usize]);
        }
    }

    #[inline(always)]
    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        let mut submitted = None;
        if self.aio.has_pending() {
            self.aio.submit(done);
            submitted = Some(self.clock.now());
        }
        while let Some(index) = self.blocking.pop() {
            done.push(index, blocking_call(&self.files, &slots[index as usize]));
        }
        self.aio.reap(min, wait_ns, done);
        submitted
    }

    fn features(&self) -> Vec<String> {
        let vectored = (!self.vectors.is_empty()).then(|| "vectored".to_owned());
        let flushes = self.flushes.feature().map(str::to_owned);
        let own = self.aio.feature().into_iter().chain(vectored).chain(flushes);
        own.chain(self.flags.names.clone()).collect()
    }
}
