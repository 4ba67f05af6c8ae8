//! Copies of whole files, as one operation.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_engine::operation::Outcome;
use candor_plan::Bytes;

use crate::modes::FILE_MODE;
use crate::roots::NameAt;

/// Length of a read and a write if the plan sets none.
const BYTES: u64 = 128 << 10;

/// Makes copies, through one buffer.
pub struct Copier {
    buffer: Option<Mapping>,
    bytes: usize,
    flags: libc::c_int,
}

impl Copier {
    /// Copies with reads and writes of `size` bytes; `direct` is `O_DIRECT` or 0.
    pub fn new(size: Option<Bytes>, direct: libc::c_int) -> Copier {
        let bytes = size.map_or(BYTES, |size| size.0.clamp(512, BYTES << 10)) as usize;
        let buffer = Mapping::new(bytes.next_multiple_of(PAGE_BYTES), Pages::Ordinary).ok();
        Copier { buffer, bytes, flags: direct | libc::O_CLOEXEC | libc::O_NOFOLLOW }
    }

    /// Copies the file of a name to a whole path; truncates an existing file.
    pub fn copy(&mut self, name: NameAt, to: *const libc::c_char) -> Outcome {
        let made = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        let source = match open(name, libc::O_RDONLY | self.flags) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        let to = NameAt { directory: libc::AT_FDCWD, name: to };
        let sink = match open(to, made | self.flags) {
            Ok(file) => file,
            Err(outcome) => return outcome,
        };
        self.transfer(&source, &sink)
    }

    /// Copies all bytes of an open file.
    fn transfer(&mut self, source: &OwnedFd, sink: &OwnedFd) -> Outcome {
        let Some(buffer) = &mut self.buffer else { return Outcome::error(libc::ENOMEM) };
        let (to, mut offset) = (buffer.as_mut_slice(), 0);
        let pointer = to.as_mut_ptr().cast();
        loop {
            // SAFETY: the buffer has room for that many bytes, and is not used elsewhere.
            let read = unsafe { libc::pread(source.as_raw_fd(), pointer, self.bytes, offset) };
            let (Ok(bytes @ 0..), false) = (usize::try_from(read), read < 0) else {
                return Outcome::last_error();
            };
            if bytes == 0 {
                return Outcome::Done(0);
            }
            let mut done = 0;
            while done < bytes {
                // SAFETY: `done` is below `bytes`, the number of bytes read into the buffer.
                let wrote = unsafe {
                    let from = pointer.cast::<u8>().add(done).cast();
                    libc::pwrite(sink.as_raw_fd(), from, bytes - done, offset + done as i64)
                };
                match wrote {
                    1.. => done += wrote as usize,
                    0 => return Outcome::error(libc::ENOSPC),
                    _ => return Outcome::last_error(),
                }
            }
            offset += bytes as i64;
        }
    }
}

fn open(name: NameAt, flags: libc::c_int) -> Result<OwnedFd, Outcome> {
    // SAFETY: the name ends with a zero byte and outlives the call.
    let fd = unsafe { libc::openat(name.directory, name.name, flags, FILE_MODE) };
    if fd < 0 {
        return Err(Outcome::last_error());
    }
    // SAFETY: the descriptor was just opened, and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
