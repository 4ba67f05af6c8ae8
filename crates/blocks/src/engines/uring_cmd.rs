//! NVMe commands by io_uring: to a namespace's generic device, past the page cache and the block
//! layer.

use std::sync::Arc;

use candor_bytes::ring::Ring;
use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};
use candor_plan::blocks::{NvmeWrite, UringCmd as Options};
use candor_plan::work::BlocksOp;
use io_uring::squeue::Entry128;
use io_uring::{cqueue, opcode, squeue, types};

use super::Context;

use crate::slot::BlocksSlot;
use crate::stream::region::Extent;
use crate::targets::files::Files;
use crate::targets::passthrough::{Device, nvme};

/// Engine of io_uring commands. The kernel accepts NVMe commands only in rings with large entries.
pub struct UringCmd {
    ring: Ring<Entry128, cqueue::Entry32>,
    files: Arc<Files>,
    /// Words of reads and writes: force unit access, protection information.
    read_extra: nvme::Extra,
    write_extra: nvme::Extra,
    /// Command that writes without data; none if writes carry data.
    write_without_bytes: Option<u8>,
    /// Ranges of trims in flight, one per slot; they must outlive their commands. Trims of several
    /// ranges have their list in the slot's buffer.
    ranges: Box<[nvme::Range]>,
    has_lists: bool,
    /// Offset of separate metadata in a slot's buffer.
    metadata_at: usize,
    /// Operations that the queue had no room for, or that have no command.
    refused: Vec<u32>,
    /// Period of commands that go to a kernel thread; 0 for none.
    async_every: u32,
    count: u32,
}

impl UringCmd {
    /// Sets up a ring in the thread that will use it, and registers files and buffers.
    ///
    /// # Errors
    /// The kernel's, with the likely cause; rings with large entries need Linux 5.19.
    pub fn new(context: &Context<'_>, options: Options) -> Result<UringCmd, EngineError> {
        let mut ring = Ring::new(context.depth, context.split(), &options.ring())?;
        let descriptors = (!context.opens).then(|| context.files.raw());
        ring.register(descriptors.as_deref(), context.buffers, &options.ring(), false)?;
        let own = [
            (options.fua_reads, "fua-reads"),
            (options.fua_writes, "fua-writes"),
            (options.trim_ranges > 1, "trim-ranges"),
            (options.protection.checks(), "protection-checks"),
            (options.protection.made_by_host, "protection-by-host"),
            (options.force_async_every > 0, "force-async"),
        ];
        let command = write_without_bytes(options.write).map(|(_, name)| (true, name));
        let own = own.into_iter().chain(command);
        ring.features.extend(own.filter(|(on, _)| *on).map(|(_, name)| name.into()));
        let mut engine = UringCmd {
            ring,
            files: context.files.clone(),
            read_extra: nvme::Extra::of_reads(options.fua_reads, options.protection),
            write_extra: nvme::Extra::of_write_command(&options),
            write_without_bytes: write_without_bytes(options.write).map(|(opcode, _)| opcode),
            ranges: vec![nvme::Range::default(); context.depth].into(),
            has_lists: options.trim_ranges > 1,
            metadata_at: context.metadata_at,
            refused: Vec::with_capacity(context.depth),
            async_every: options.force_async_every,
            count: 0,
        };
        engine.prove_fixed_buffers(context, options.fixed_buffers == Some(true))?;
        Ok(engine)
    }

    /// Reads one block into the registered buffers; kernels before 6.1 reject that.
    fn prove_fixed_buffers(
        &mut self,
        context: &Context<'_>,
        insists: bool,
    ) -> Result<(), EngineError> {
        let Some(Device::Nvme(namespace)) = self.files.get(0).device else { return Ok(()) };
        let unit = namespace.unit();
        let room = context.buffers.len() as u64;
        if !self.ring.fixed_buffers || unit > room {
            return Ok(());
        }
        let buffer = context.buffers.as_ptr();
        let extent = Extent { base: self.files.get(0).base / unit * unit, size: unit };
        let memory = nvme::Memory { address: buffer, metadata_at: self.metadata_at };
        let extra = nvme::Extra::default();
        let command = namespace.transfer(nvme::opcode::READ, extent, memory, extra);
        let entry = self.entry(0, &command, true);
        // SAFETY: the buffers outlive the command: the next call waits for it.
        let queued = unsafe { self.ring.inner.submission().push(&entry) };
        let done = queued.is_ok() && self.ring.inner.submit_and_wait(1).is_ok();
        let result = self.ring.inner.completion().next().map(|end| end.result());
        if done && result != Some(-libc::EINVAL) {
            return Ok(());
        }
        if insists {
            let cause = std::io::Error::from_raw_os_error(libc::EINVAL);
            return Err(EngineError::system("use registered buffers for NVMe commands")(cause));
        }
        self.ring.fixed_buffers = false;
        self.ring.features.retain(|feature| feature != "fixed-buffers");
        Ok(())
    }

    /// Command of an operation, if it has one.
    #[inline(always)]
    fn command(&mut self, slot: &Slot, index: u32) -> Option<nvme::Command> {
        let Some(Device::Nvme(namespace)) = &self.files.get(slot.handle).device else {
            return None;
        };
        let extent = Extent { base: slot.offset, size: slot.length };
        let memory = nvme::Memory { address: slot.buffer.host(), metadata_at: self.metadata_at };
        if !namespace.is_whole(extent) {
            return None;
        }
        Some(match slot.issued() {
            BlocksOp::Read | BlocksOp::ReadBack => {
                namespace.transfer(nvme::opcode::READ, extent, memory, self.read_extra)
            }
            BlocksOp::Write => match self.write_without_bytes {
                None => namespace.transfer(nvme::opcode::WRITE, extent, memory, self.write_extra),
                Some(opcode) => namespace.without_bytes(opcode, extent, self.write_extra),
            },
            BlocksOp::Trim if self.files.get(slot.handle).in_zones => {
                namespace.zone_change(slot.offset, nvme::ZoneAction::Reset)
            }
            BlocksOp::Trim if self.has_lists => {
                namespace.deallocation(slot.buffer.host().cast(), slot.tag)
            }
            BlocksOp::Trim => {
                let range = &mut self.ranges[index as usize];
                *range = namespace.range(slot.offset, slot.length);
                namespace.deallocation(range, 1)
            }
            BlocksOp::Fsync | BlocksOp::Fdatasync => namespace.flushing(),
            BlocksOp::SyncFileRange | BlocksOp::Open | BlocksOp::Close | BlocksOp::Commit => {
                return None;
            }
        })
    }

    /// Entry of a command.
    #[inline(always)]
    fn entry(&self, handle: u32, command: &nvme::Command, has_buffer: bool) -> Entry128 {
        let (file, flags) = if self.ring.fixed_files {
            (types::Fd(handle as i32), squeue::Flags::FIXED_FILE)
        } else {
            (types::Fd(self.files.get(handle).raw()), squeue::Flags::empty())
        };
        let mut bytes = [0; 80];
        bytes[..nvme::Command::BYTES].copy_from_slice(&command.bytes());
        let fixed = (has_buffer && self.ring.fixed_buffers).then_some(0);
        let entry = opcode::UringCmd80::new(file, nvme::URING_CMD_IO).cmd(bytes).buf_index(fixed);
        entry.build().flags(flags)
    }

    /// True for each command that is sent directly to a kernel thread.
    fn is_async(&mut self) -> bool {
        self.count += 1;
        let is_due = self.count == self.async_every;
        if is_due {
            self.count = 0;
        }
        is_due
    }
}

/// Opcode of a command that writes without bytes, and its name among the features.
fn write_without_bytes(write: NvmeWrite) -> Option<(u8, &'static str)> {
    match write {
        NvmeWrite::Write => None,
        NvmeWrite::Uncorrectable => {
            Some((nvme::opcode::WRITE_UNCORRECTABLE, "write-uncorrectable"))
        }
        NvmeWrite::Zeroes => Some((nvme::opcode::WRITE_ZEROES, "write-zeroes")),
        NvmeWrite::Verify => Some((nvme::opcode::VERIFY, "verify-command")),
    }
}

impl Io for UringCmd {
    #[inline(always)]
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            let slot = &slots[index as usize];
            let Some(command) = self.command(slot, index) else {
                self.refused.push(index);
                continue;
            };
            let moves = match slot.issued() {
                BlocksOp::Write => self.write_without_bytes.is_none(),
                kind => matches!(kind, BlocksOp::Read | BlocksOp::ReadBack),
            };
            let mut entry = self.entry(slot.handle, &command, moves).user_data(u64::from(index));
            if self.async_every > 0 && self.is_async() {
                entry = entry.flags(squeue::Flags::ASYNC);
            }
            // SAFETY: the slot's buffer, range and file live until its completion is reaped.
            if unsafe { self.ring.inner.submission().push(&entry) }.is_err() {
                self.refused.push(index);
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
        while let Some(index) = self.refused.pop() {
            done.push(index, Outcome::error(libc::EINVAL));
        }
        let submitted = self.ring.turn(min.saturating_sub(done.len()), wait_ns);
        for completion in self.ring.inner.completion().take(done.wanted()) {
            let index = completion.user_data() as u32;
            let outcome = match completion.result() {
                0 => Outcome::Done(slots[index as usize].length),
                status @ 1.. => Outcome::error(nvme::errno(status as u32)),
                error => Outcome::of_kernel(i64::from(error)),
            };
            done.push(index, outcome);
        }
        submitted
    }

    fn features(&self) -> Vec<String> {
        self.ring.features.clone()
    }
}
