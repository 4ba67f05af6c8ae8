//! Submission queue entries: one operation each.

use std::sync::Arc;

use candor_engine::operation::Slot;
use candor_plan::Blocks;
use candor_plan::work::BlocksOp;
use io_uring::{opcode, squeue, types};

use crate::engines::Context;
use crate::engines::flags::CallFlags;
use crate::slot::BlocksSlot;
use crate::targets::files::Files;

/// Builder of entries from operations.
pub struct SqeBuilder {
    /// The worker's files.
    pub files: Arc<Files>,
    /// True where they are registered.
    pub fixed_files: bool,
    /// True where the buffers are registered.
    pub fixed_buffers: bool,
    /// True where no-ops replace the operations.
    pub no_ops: bool,
}

impl SqeBuilder {
    /// File of an operation. A registered file is named by its index, with a flag.
    #[inline(always)]
    fn file(&self, slot: &Slot) -> (types::Fd, squeue::Flags) {
        if self.fixed_files {
            (types::Fd(slot.handle as i32), squeue::Flags::FIXED_FILE)
        } else {
            (types::Fd(self.files.get(slot.handle).raw()), squeue::Flags::empty())
        }
    }

    /// Entry of an operation.
    #[inline(always)]
    pub fn entry(&self, slot: &Slot) -> squeue::Entry {
        if self.no_ops {
            return opcode::Nop::new().build();
        }
        let (buffer, length, offset) = (slot.buffer.host(), slot.length as u32, slot.offset);
        let (file, flags) = self.file(slot);
        let entry = match (slot.issued(), self.fixed_buffers) {
            (BlocksOp::Read | BlocksOp::ReadBack, true) => {
                opcode::ReadFixed::new(file, buffer, length, 0).offset(offset).build()
            }
            (BlocksOp::Read | BlocksOp::ReadBack, false) => {
                opcode::Read::new(file, buffer, length).offset(offset).build()
            }
            (BlocksOp::Write, true) => {
                opcode::WriteFixed::new(file, buffer, length, 0).offset(offset).build()
            }
            (BlocksOp::Write, false) => {
                opcode::Write::new(file, buffer, length).offset(offset).build()
            }
            (BlocksOp::Fdatasync, _) => {
                opcode::Fsync::new(file).flags(types::FsyncFlags::DATASYNC).build()
            }
            (BlocksOp::Fsync, _) => opcode::Fsync::new(file).build(),
            (BlocksOp::SyncFileRange, _) => {
                opcode::SyncFileRange::new(file, length).offset(offset).flags(slot.tag).build()
            }
            // The engine does all others aside.
            (BlocksOp::Trim | BlocksOp::Open | BlocksOp::Close | BlocksOp::Commit, _) => {
                self.trim(slot, file)
            }
        };
        entry.flags(flags)
    }

    /// Entry of a trim: a discard command to a device, or a hole in a file.
    #[cold]
    fn trim(&self, slot: &Slot, file: types::Fd) -> squeue::Entry {
        if self.files.get(slot.handle).is_device {
            discard(file, slot.offset, slot.length)
        } else {
            opcode::Fallocate::new(file, slot.length)
                .offset(slot.offset)
                .mode(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE)
                .build()
        }
    }
}

/// Command that discards a range of a device. The length is in the first eight bytes of the
/// command's own part.
pub fn discard(file: types::Fd, offset: u64, length: u64) -> squeue::Entry {
    const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;
    let mut command = [0; 16];
    command[..8].copy_from_slice(&length.to_ne_bytes());
    opcode::UringCmd16::new(file, BLOCK_URING_CMD_DISCARD).cmd(command).addr(Some(offset)).build()
}

/// Options of reads and writes: call flags, priorities, vectors, kernel threads.
pub struct SqeOptions {
    flags: CallFlags,
    /// True where operations have priorities of their own.
    priorities: bool,
    /// One vector per slot, where operations pass their buffers as vectors.
    vectors: Option<Box<[libc::iovec]>>,
    /// Period of operations that go to a kernel thread; 0 for none.
    async_every: u32,
    count: u32,
}

impl SqeOptions {
    /// Options that the plan requests; none where all entries are plain.
    pub fn new(context: &Context<'_>, blocks: &Blocks) -> Option<Box<SqeOptions>> {
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let options = blocks.engine.uring().copied().unwrap_or_default();
        let sqe_options = SqeOptions {
            flags: CallFlags::new(options.flags),
            priorities: !blocks.priorities.is_empty(),
            vectors: options.vectored.then(|| vec![vector; context.depth].into()),
            async_every: options.force_async_every,
            count: 0,
        };
        let usual = sqe_options.flags.is_empty() && !sqe_options.priorities;
        let plain = usual && sqe_options.vectors.is_none() && sqe_options.async_every == 0;
        (!plain).then(|| Box::new(sqe_options))
    }

    /// Names of the options in use, for the report.
    pub fn features(&self) -> Vec<String> {
        let own = [
            (self.priorities, "priorities"),
            (self.vectors.is_some(), "vectored"),
            (self.async_every > 0, "force-async"),
        ];
        let own = own.into_iter().filter(|(on, _)| *on).map(|(_, name)| name.to_owned());
        self.flags.names.iter().cloned().chain(own).collect()
    }

    /// Entry of an operation, with the options.
    pub fn entry(&mut self, builder: &SqeBuilder, slot: &Slot, index: u32) -> squeue::Entry {
        let mut entry = match slot.issued() {
            BlocksOp::Read | BlocksOp::Write if !builder.no_ops => {
                self.transfer(builder, slot, index)
            }
            _ => builder.entry(slot),
        };
        if self.async_every > 0 {
            self.count += 1;
            if self.count == self.async_every {
                self.count = 0;
                entry = entry.flags(squeue::Flags::ASYNC);
            }
        }
        entry
    }

    fn transfer(&mut self, builder: &SqeBuilder, slot: &Slot, index: u32) -> squeue::Entry {
        let (file, flags) = builder.file(slot);
        let (buffer, length, offset) = (slot.buffer.host(), slot.length as u32, slot.offset);
        let priority = if self.priorities { slot.priority } else { 0 };
        let of_call =
            if slot.issued() == BlocksOp::Read { self.flags.read } else { self.flags.write };
        // The calls differ in type, so that only a macro can build all of them.
        macro_rules! build {
            ($call:expr) => {
                $call.offset(offset).ioprio(priority).rw_flags(of_call).build().flags(flags)
            };
        }
        if let Some(vectors) = &mut self.vectors {
            let vector = &mut vectors[index as usize];
            *vector = libc::iovec { iov_base: buffer.cast(), iov_len: length as usize };
            return match slot.issued() {
                BlocksOp::Read => build!(opcode::Readv::new(file, vector, 1)),
                _ => build!(opcode::Writev::new(file, vector, 1)),
            };
        }
        match (slot.issued(), builder.fixed_buffers) {
            (BlocksOp::Read | BlocksOp::ReadBack, true) => {
                build!(opcode::ReadFixed::new(file, buffer, length, 0))
            }
            (BlocksOp::Read | BlocksOp::ReadBack, false) => {
                build!(opcode::Read::new(file, buffer, length))
            }
            (_, true) => build!(opcode::WriteFixed::new(file, buffer, length, 0)),
            (_, false) => build!(opcode::Write::new(file, buffer, length)),
        }
    }
}
