//! `splice` and `vmsplice` through a pipe: one operation at a time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;

use candor_plan::work::BlocksOp;

use super::{Context, blocking_call};
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::EngineError;
use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// Largest pipe of a process without privileges.
const PIPE_BYTES_MAX: usize = 1 << 20;

/// A pipe, with room for that many bytes.
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
    bytes: usize,
}

impl Pipe {
    fn new(wanted: usize) -> io::Result<Pipe> {
        let mut ends = [0; 2];
        // SAFETY: the call writes two descriptors to an array of two.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both descriptors are new and belong to nobody else.
        let [read, write] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
        let wanted = wanted.min(PIPE_BYTES_MAX) as libc::c_int;
        // SAFETY: plain system calls on an open descriptor. A pipe that stays small only takes
        // more calls.
        let bytes = unsafe {
            libc::fcntl(write.as_raw_fd(), libc::F_SETPIPE_SZ, wanted);
            libc::fcntl(write.as_raw_fd(), libc::F_GETPIPE_SZ)
        };
        Ok(Pipe { read, write, bytes: usize::try_from(bytes).unwrap_or(4096).max(4096) })
    }
}

/// Engine of `splice` and `vmsplice`.
pub struct Splice {
    files: Arc<Files>,
    pipe: Pipe,
}

impl Splice {
    /// Makes a pipe that holds a whole operation, if the kernel allows.
    ///
    /// # Errors
    /// The kernel's, where there are no more descriptors.
    pub fn new(context: &Context<'_>) -> Result<Splice, EngineError> {
        let pipe = Pipe::new(context.buffer_bytes).map_err(EngineError::system("make a pipe"))?;
        Ok(Splice { files: context.files.clone(), pipe })
    }

    /// Moves the bytes of an operation in parts that fit into the pipe.
    fn parts(&mut self, slot: &Slot) -> Outcome {
        let (mut moved, length) = (0, slot.length as usize);
        while moved < length {
            let part = (length - moved).min(self.pipe.bytes);
            let got = match slot.issued() {
                BlocksOp::Write => self.write(slot, moved, part),
                _ => self.read(slot, moved, part),
            };
            match got {
                Ok(0) => break,
                Ok(bytes) => moved += bytes,
                // Bytes moved earlier count, as with a short write.
                Err(_) if moved > 0 => break,
                Err(failed) => return failed,
            }
        }
        Outcome::Done(moved as u64)
    }

    fn read(&mut self, slot: &Slot, from: usize, bytes: usize) -> Result<usize, Outcome> {
        let mut offset = slot.offset as i64 + from as i64;
        let fd = self.files.get(slot.handle).raw();
        let pipe = self.pipe.write.as_raw_fd();
        // SAFETY: both descriptors are open and the offset outlives the call.
        let got = unsafe { libc::splice(fd, &raw mut offset, pipe, ptr::null_mut(), bytes, 0) };
        let got = whole(Outcome::of_call(got))?;
        let mut taken = 0;
        while taken < got {
            // SAFETY: the slot's buffer has room for its length, of which this part is within.
            let place = unsafe { slot.buffer.host().add(from + taken) };
            // SAFETY: as above.
            let read = unsafe { libc::read(self.pipe.read.as_raw_fd(), place.cast(), got - taken) };
            match whole(Outcome::of_call(read)) {
                Ok(bytes @ 1..) => taken += bytes,
                other => return self.renew(other.err().unwrap_or(Outcome::error(libc::EIO))),
            }
        }
        Ok(got)
    }

    fn write(&mut self, slot: &Slot, from: usize, bytes: usize) -> Result<usize, Outcome> {
        // SAFETY: the slot's buffer has room for its length, of which this part is within.
        let place = unsafe { slot.buffer.host().add(from) };
        let vector = libc::iovec { iov_base: place.cast(), iov_len: bytes };
        // SAFETY: the vector describes bytes that stay as they are until they have left the pipe.
        let put = unsafe { libc::vmsplice(self.pipe.write.as_raw_fd(), &raw const vector, 1, 0) };
        let put = whole(Outcome::of_call(put))?;
        let (fd, mut left) = (self.files.get(slot.handle).raw(), put);
        let mut offset = slot.offset as i64 + from as i64;
        while left > 0 {
            let pipe = self.pipe.read.as_raw_fd();
            // SAFETY: both descriptors are open and the offset outlives the call, which moves it.
            let got = unsafe { libc::splice(pipe, ptr::null_mut(), fd, &raw mut offset, left, 0) };
            match whole(Outcome::of_call(got)) {
                Ok(bytes @ 1..) => left -= bytes,
                Ok(_) => return self.renew(Outcome::error(libc::EIO)),
                Err(failed) => return self.renew(failed),
            }
        }
        Ok(put)
    }

    /// Replaces the pipe: the old one holds bytes that could not be moved on.
    #[cold]
    fn renew(&mut self, failed: Outcome) -> Result<usize, Outcome> {
        match Pipe::new(self.pipe.bytes) {
            Ok(pipe) => self.pipe = pipe,
            Err(cause) => return Err(Outcome::error(cause.raw_os_error().unwrap_or(libc::EMFILE))),
        }
        Err(failed)
    }
}

/// Bytes of a completed call, or the failure.
fn whole(outcome: Outcome) -> Result<usize, Outcome> {
    match outcome {
        Outcome::Done(bytes) => Ok(bytes as usize),
        failed => Err(failed),
    }
}

impl Call for Splice {
    fn call(&mut self, slot: &Slot) -> Outcome {
        match slot.issued() {
            BlocksOp::Read | BlocksOp::Write => self.parts(slot),
            _ => blocking_call(&self.files, slot),
        }
    }
}
