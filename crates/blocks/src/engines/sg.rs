//! SCSI commands by `SG_IO`, one at a time: to a disk or its generic device, past the page cache
//! and the block layer.

use std::os::fd::RawFd;
use std::sync::Arc;

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::{ScsiWrite, Sg as Options};
use candor_plan::work::BlocksOp;

use super::Context;
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use crate::targets::passthrough::Device;
use crate::targets::passthrough::scsi::{self, Command, Data, Disk, opcode};

/// Engine of `SG_IO`.
pub struct Sg {
    files: Arc<Files>,
    options: Options,
    /// Opcodes of writes.
    writes: [u8; 2],
}

impl Sg {
    /// Needs only the files.
    pub fn new(context: &Context<'_>, options: Options) -> Sg {
        let writes = match options.write {
            ScsiWrite::Write => opcode::WRITE,
            ScsiWrite::WriteAndVerify => opcode::WRITE_AND_VERIFY,
        };
        Sg { files: context.files.clone(), options, writes }
    }

    /// A command that moves the slot's bytes.
    fn transfer(&self, disk: &Disk, fd: RawFd, slot: &Slot) -> Outcome {
        let (address, length) = (slot.buffer.host(), slot.length as u32);
        let fua = |on: bool| if on { scsi::FUA } else { 0 };
        let (opcodes, more, data) = match slot.issued() {
            BlocksOp::Write => {
                let plain = self.options.write == ScsiWrite::Write;
                // The bit means something else in the command that verifies.
                let more = fua(self.options.fua_writes && plain);
                (self.writes, more, Data::Out(address, length))
            }
            _ => (opcode::READ, fua(self.options.fua_reads), Data::In(address, length)),
        };
        let command = disk.command(opcodes, slot.offset, slot.length, more);
        // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
        outcome(unsafe { scsi::call(fd, &command, data) })
    }

    /// A command that moves none of the slot's bytes, done for all of them.
    fn whole(fd: RawFd, command: &Command, data: Data, slot: &Slot) -> Outcome {
        // SAFETY: the data is the list of the caller, or none.
        match unsafe { scsi::call(fd, command, data) } {
            Ok(_) => Outcome::Done(slot.length),
            Err(errno) => Outcome::error(errno),
        }
    }
}

fn outcome(result: Result<u32, i32>) -> Outcome {
    result.map_or_else(Outcome::error, |bytes| Outcome::Done(u64::from(bytes)))
}

impl Call for Sg {
    #[inline(always)]
    fn call(&mut self, slot: &Slot) -> Outcome {
        let file = self.files.get(slot.handle);
        let (Some(Device::Scsi(disk)), fd) = (&file.device, file.raw()) else {
            return Outcome::error(libc::EINVAL);
        };
        if !disk.is_whole(slot.offset, slot.length) {
            return Outcome::error(libc::EINVAL);
        }
        match slot.issued() {
            BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write => self.transfer(disk, fd, slot),
            BlocksOp::Fsync | BlocksOp::Fdatasync => {
                Sg::whole(fd, &disk.flushing(), Data::None, slot)
            }
            BlocksOp::Trim => {
                let (command, mut list) = disk.unmapping(slot.offset, slot.length);
                let data = Data::Out(list.as_mut_ptr(), list.len() as u32);
                Sg::whole(fd, &command, data, slot)
            }
            BlocksOp::SyncFileRange => Outcome::error(libc::EINVAL),
        }
    }

    fn features(&self) -> Vec<String> {
        let own = [
            (self.options.fua_reads, "fua-reads"),
            (self.options.fua_writes, "fua-writes"),
            (self.options.write == ScsiWrite::WriteAndVerify, "write-and-verify"),
        ];
        own.into_iter().filter(|(on, _)| *on).map(|(_, name)| name.to_owned()).collect()
    }
}
