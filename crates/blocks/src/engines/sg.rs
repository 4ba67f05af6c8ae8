//! SCSI commands by `SG_IO`, one at a time: to a disk or its generic device, past the page cache
//! and the block layer.

use std::os::fd::RawFd;
use std::sync::Arc;

use candor_engine::EngineError;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};
use candor_plan::blocks::{Carries, ScsiWrite, Sg as Options};
use candor_plan::work::BlocksOp;

use super::Context;
use crate::slot::BlocksSlot;
use crate::stream::region::Extent;
use crate::targets::files::Files;
use crate::targets::passthrough::Device;
use crate::targets::passthrough::scsi::{self, Command, Data, Disk, opcode};

/// Engine of `SG_IO`.
pub struct Sg {
    files: Arc<Files>,
    options: Options,
    /// Stream of each file that writes go to.
    streams: Vec<u16>,
}

impl Sg {
    /// Needs only the files; opens a stream for each file if each file has a separate stream.
    ///
    /// # Errors
    /// The disk's, for instance because it knows no streams.
    pub fn new(context: &Context<'_>, options: Options) -> Result<Sg, EngineError> {
        let files = context.files.clone();
        let mut engine = Sg { files: files.clone(), options, streams: Vec::new() };
        if options.write != ScsiWrite::Stream || options.stream > 0 {
            return Ok(engine);
        }
        for (file, handle) in files.all().iter().filter_map(|file| Some((file, file.handle()?))) {
            let opened = scsi::open_stream(handle);
            // Streams that are already open are closed with the engine.
            engine
                .streams
                .push(opened.map_err(EngineError::file("open a stream of writes", &file.path))?);
        }
        Ok(engine)
    }

    /// A command that reads the slot's bytes.
    fn read(&self, disk: &Disk, fd: RawFd, slot: &Slot) -> Outcome {
        let more = if self.options.fua_reads { scsi::FUA } else { 0 };
        let command = disk.command(opcode::READ, slot.offset, slot.length, more);
        self.transfer(fd, &command, Data::In(slot.buffer.host(), slot.length as u32))
    }

    /// The command that writes the slot's blocks.
    fn write(&self, disk: &Disk, fd: RawFd, slot: &Slot) -> Outcome {
        let Options { write, fua_writes, stream, .. } = self.options;
        let stream = self.streams.get(slot.handle as usize).copied().unwrap_or(stream);
        let extent = Extent { base: slot.offset, size: slot.length };
        let command = disk.writing(write, extent, fua_writes, stream);
        let address = slot.buffer.host();
        match write.carries() {
            Carries::All => self.transfer(fd, &command, Data::Out(address, slot.length as u32)),
            Carries::OneBlock => {
                Sg::whole(fd, &command, Data::Out(address, disk.block_bytes), slot)
            }
            Carries::Nothing => Sg::whole(fd, &command, Data::None, slot),
        }
    }

    /// A command that moves all of a slot's bytes.
    fn transfer(&self, fd: RawFd, command: &Command, data: Data) -> Outcome {
        let flags = if self.options.hipri { scsi::POLLED } else { 0 };
        // SAFETY: the slot's buffer has room for its length and is not used elsewhere.
        outcome(unsafe { scsi::call_with(fd, command, data, flags) })
    }

    /// A command that moves none of the slot's bytes, done for all of them.
    fn whole(fd: RawFd, command: &Command, data: Data, slot: &Slot) -> Outcome {
        // SAFETY: the data is the list of the caller, a block of the slot's buffer, or none.
        match unsafe { scsi::call(fd, command, data) } {
            Ok(_) => Outcome::Done(slot.length),
            Err(errno) => Outcome::error(errno),
        }
    }
}

impl Drop for Sg {
    fn drop(&mut self) {
        for (file, stream) in self.files.all().iter().zip(&self.streams) {
            // A disk that cannot close a stream closes it when it is reset.
            let _ = file.handle().map(|handle| scsi::close_stream(handle, *stream));
        }
    }
}

/// Name of a command that writes, among the features.
fn name_of(write: ScsiWrite) -> &'static str {
    match write {
        ScsiWrite::Write => "write",
        ScsiWrite::WriteAndVerify => "write-and-verify",
        ScsiWrite::WriteSame => "write-same",
        ScsiWrite::WriteSameWithoutData => "write-same-without-data",
        ScsiWrite::Stream => "write-stream",
        ScsiWrite::Verify => "verify-command",
        ScsiWrite::VerifyData => "verify-against-data",
        ScsiWrite::VerifySame => "verify-against-one-block",
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
            BlocksOp::Read | BlocksOp::ReadBack => self.read(disk, fd, slot),
            BlocksOp::Write => self.write(disk, fd, slot),
            BlocksOp::Fsync | BlocksOp::Fdatasync => {
                Sg::whole(fd, &disk.flushing(), Data::None, slot)
            }
            BlocksOp::Trim => {
                let (command, mut list) = disk.unmapping(slot.offset, slot.length);
                let data = Data::Out(list.as_mut_ptr(), list.len() as u32);
                Sg::whole(fd, &command, data, slot)
            }
            BlocksOp::SyncFileRange | BlocksOp::Open | BlocksOp::Close | BlocksOp::Commit => {
                Outcome::error(libc::EINVAL)
            }
        }
    }

    fn features(&self) -> Vec<String> {
        let own = [
            (self.options.fua_reads, "fua-reads"),
            (self.options.fua_writes, "fua-writes"),
            (self.options.write != ScsiWrite::Write, name_of(self.options.write)),
        ];
        own.into_iter().filter(|(on, _)| *on).map(|(_, name)| name.to_owned()).collect()
    }
}
