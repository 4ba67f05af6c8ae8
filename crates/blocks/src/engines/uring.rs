//! io_uring, used the way its authors recommend: one issuer, completion work deferred to the
//! waiter, registered files and buffers, and one system call that both submits and waits.

mod entry;

use super::{Context, Flushes, blocking_call};
use candor_engine::clock::Ticks;
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};
use candor_plan::work::BlocksOp;
use candor_plan::{Blocks, Engine};
use io_uring::{IoUring, cqueue, squeue, types};

use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};
use candor_bytes::ring::Ring;
use candor_engine::EngineError;
use entry::{SqeBuilder, SqeOptions, discard};

/// Engine of io_uring.
pub struct Uring {
    ring: Ring<squeue::Entry, cqueue::Entry>,
    sqe_builder: SqeBuilder,
    /// Options of entries beside the usual, where the plan has any.
    sqe_options: Option<Box<SqeOptions>>,
    /// Trims, which io_uring cannot queue on many kernels, flushes where it polls, and files that
    /// are opened or closed.
    blocking: Vec<u32>,
    /// Operations for which the queue had no room.
    refused: Vec<u32>,
    polls: bool,
    /// True where trims go through the ring.
    trims: bool,
    /// True where ranges are synced.
    syncs_ranges: bool,
}

/// True where a sync of a range fits an entry: its length has 32 bits there, and 0 means the rest
/// of the file.
fn fits_ring(slot: &Slot) -> bool {
    (1..=u64::from(u32::MAX)).contains(&slot.length)
}

/// True where trims go through the ring. NVMe commands all do. Other rings but polling ones can
/// punch holes into files; newer kernels can discard on devices.
pub fn queues_trims(files: &Files, blocks: &Blocks) -> bool {
    let Some(options) = blocks.engine.uring() else {
        let takes_many = matches!(blocks.engine, Engine::UringCmd(_)) && blocks.zones.is_none();
        return takes_many && blocks.mix.trim > 0;
    };
    let may = blocks.zones.is_none() && blocks.mix.trim > 0 && blocks.moves_bytes();
    let devices = || files.all().iter().filter(|file| file.is_device);
    may && !options.iopoll && (devices().next().is_none() || devices().all(can_discard))
}

/// Asks the device to discard zero bytes: a kernel that knows the command reports a wrong length.
fn can_discard(device: &OpenFile) -> bool {
    let Ok(mut ring) = IoUring::new(2) else { return false };
    let entry = discard(types::Fd(device.raw()), 0, 0);
    // SAFETY: the command refers to no memory, and the descriptor is open.
    let queued = unsafe { ring.submission().push(&entry) };
    queued.is_ok()
        && ring.submit_and_wait(1).is_ok()
        && ring.completion().next().is_some_and(|end| end.result() == -libc::EINVAL)
}

/// True if this kernel has io_uring and lets this process use it.
pub fn is_available() -> bool {
    IoUring::new(2).is_ok()
}

impl Uring {
    /// Sets up a ring in the thread that will use it, and registers files and buffers.
    ///
    /// # Errors
    /// The kernel's, with the likely cause: io_uring missing, forbidden, or out of memory.
    pub fn new(context: &Context<'_>, blocks: &Blocks) -> Result<Uring, EngineError> {
        let options = &blocks.engine.uring().copied().unwrap_or_default();
        let mut ring = Ring::new(context.depth, context.split(), &options.ring())?;
        let sqe_options = SqeOptions::new(context, blocks);
        let trims = queues_trims(context.files, blocks);
        let flushes = match (blocks.flushes(), options.iopoll) {
            (false, _) => Flushes::None,
            (true, false) => Flushes::Queued,
            (true, true) => Flushes::Calls,
        };
        let own = [(options.nop, "no-ops"), (trims, "queued-trims")];
        let own = own.into_iter().filter(|(on, _)| *on).map(|(_, name)| name);
        ring.features.extend(own.chain(flushes.feature()).map(str::to_owned));
        ring.features.extend(sqe_options.iter().flat_map(|options| options.features()));
        let descriptors = (!context.opens).then(|| context.files.raw());
        ring.register(descriptors.as_deref(), context.buffers, &options.ring(), options.vectored)?;
        Ok(Uring {
            sqe_builder: SqeBuilder {
                files: context.files.clone(),
                fixed_files: ring.fixed_files,
                fixed_buffers: ring.fixed_buffers,
                no_ops: options.nop,
            },
            sqe_options,
            trims,
            syncs_ranges: blocks.durability.range.is_some(),
            blocking: Vec::with_capacity(context.depth),
            refused: Vec::with_capacity(context.depth),
            polls: options.iopoll,
            ring,
        })
    }

    /// Does the operations that the ring does not queue: after it is submitted, in this thread.
    #[cold]
    fn aside(&mut self, slots: &[Slot], done: &mut Done) {
        let _ = self.ring.inner.submitter().submit();
        while let Some(index) = self.refused.pop() {
            done.push(index, Outcome::error(libc::EBUSY));
        }
        while let Some(index) = self.blocking.pop() {
            done.push(index, blocking_call(&self.sqe_builder.files, &slots[index as usize]));
        }
    }
}

impl Io for Uring {
    #[inline(always)]
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        let Uring { ring, blocking, refused, sqe_builder, sqe_options, polls, trims, .. } = self;
        let mut queue = ring.inner.submission();
        for &index in batch {
            let slot = &slots[index as usize];
            let aside = match slot.issued() {
                BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write => false,
                BlocksOp::Fsync | BlocksOp::Fdatasync => *polls,
                BlocksOp::Trim => !*trims,
                BlocksOp::SyncFileRange => *polls || !fits_ring(slot),
                BlocksOp::Open | BlocksOp::Close | BlocksOp::Commit => true,
            };
            if aside {
                blocking.push(index);
                continue;
            }
            let entry = match sqe_options {
                None => sqe_builder.entry(slot),
                Some(options) => options.entry(sqe_builder, slot, index),
            };
            let entry = entry.user_data(u64::from(index));
            // SAFETY: the slot's buffer and file live until its completion is reaped.
            if unsafe { queue.push(&entry) }.is_err() {
                refused.push(index);
            }
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
        if !self.blocking.is_empty() || !self.refused.is_empty() {
            self.aside(slots, done);
        }
        let min = min.saturating_sub(done.len());
        let submitted = self.ring.turn(min, wait_ns);
        let translated = self.sqe_builder.no_ops || self.trims || self.syncs_ranges;
        for completion in self.ring.inner.completion().take(done.wanted()) {
            let (index, result) = (completion.user_data() as u32, completion.result());
            let mut outcome = Outcome::of_kernel(i64::from(result));
            if translated && result == 0 {
                // No-ops, trims and syncs of ranges complete with 0 for the whole length.
                let slot = &slots[index as usize];
                let zero = matches!(slot.issued(), BlocksOp::Trim | BlocksOp::SyncFileRange);
                if self.sqe_builder.no_ops || zero {
                    outcome = Outcome::Done(slot.length);
                }
            }
            done.push(index, outcome);
        }
        submitted
    }

    fn features(&self) -> Vec<String> {
        self.ring.features.clone()
    }
}
