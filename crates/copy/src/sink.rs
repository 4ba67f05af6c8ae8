//! The output of a copy.

use std::io;
use std::os::fd::BorrowedFd;

use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use rustix::fs::{FileType, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::cache::{self, PassedPages};
use crate::plan::{CopyPlan, Counts, Flush, Notice, Observer, WriteFailed};

/// An open file that blocks are written to, and the counts of the copy.
pub struct Sink<'a, O> {
    fd: BorrowedFd<'a>,
    plan: &'a CopyPlan,
    pub observer: &'a mut O,
    pub counts: Counts,
    buffer: Option<Mapping>,
    /// Bytes in the buffer.
    gathered: usize,
    makes_holes: bool,
    /// The last block is a hole, so the file may be too short.
    ends_with_hole: bool,
    is_direct: bool,
    flush: Option<Flush>,
    pages: Option<PassedPages>,
}

impl<'a, O: Observer> Sink<'a, O> {
    pub fn new(fd: BorrowedFd<'a>, plan: &'a CopyPlan, observer: &'a mut O) -> Sink<'a, O> {
        Sink {
            fd,
            plan,
            observer,
            counts: Counts::default(),
            buffer: None,
            gathered: 0,
            makes_holes: plan.sparse,
            ends_with_hole: false,
            is_direct: plan.output_direct,
            flush: plan.flush,
            pages: None,
        }
    }

    /// Passes over the first part of the output.
    pub fn seek(&mut self) -> Result<(), WriteFailed> {
        if !self.plan.seek.is_zero() {
            let bytes = self.plan.seek.total(self.plan.output_block);
            let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok()).ok_or(Errno::OVERFLOW);
            let moved = bytes.and_then(|bytes| rustix::fs::seek(self.fd, SeekFrom::Current(bytes)));
            if let Err(error) = moved {
                self.tell(Notice::CannotSeek(error.into()));
                return Err(WriteFailed);
            }
        }
        self.pages = self.plan.drops_output_pages.then(|| PassedPages::of(self.fd)).flatten();
        Ok(())
    }

    /// Makes the buffer in which output blocks are gathered.
    pub fn prepare(&mut self) -> io::Result<()> {
        if !self.plan.one_to_one {
            let pages = if self.is_direct { Pages::Contiguous } else { Pages::Ordinary };
            self.buffer = Some(Mapping::new(self.plan.output_block, pages)?);
        }
        Ok(())
    }

    pub fn tell(&mut self, notice: Notice) {
        self.observer.notice(notice, &self.counts);
    }

    /// Writes a block as it is.
    pub fn put_block(&mut self, block: &[u8]) -> Result<(), WriteFailed> {
        if let Err(error) = self.write(block) {
            self.tell(Notice::WriteFailed(error));
            return Err(WriteFailed);
        }
        self.count_block(block.len());
        Ok(())
    }

    /// Gathers bytes and writes them in output blocks.
    pub fn put(&mut self, mut bytes: &[u8]) -> Result<(), WriteFailed> {
        let size = self.plan.output_block;
        while !bytes.is_empty() {
            // Direct I/O needs a place in memory that suits the device.
            let suits = !self.is_direct || (bytes.as_ptr() as usize).is_multiple_of(PAGE_BYTES);
            if self.gathered == 0 && bytes.len() >= size && suits {
                let (block, rest) = bytes.split_at(size);
                self.put_gathered(block)?;
                bytes = rest;
                continue;
            }
            let (now, rest) = bytes.split_at(bytes.len().min(size - self.gathered));
            if let Some(buffer) = &mut self.buffer {
                buffer.as_mut_slice()[self.gathered..][..now.len()].copy_from_slice(now);
            }
            self.gathered += now.len();
            bytes = rest;
            if self.gathered == size {
                self.put_buffer(Self::put_gathered)?;
            }
        }
        Ok(())
    }

    /// Writes the gathered bytes, and gives the buffer back.
    fn put_buffer(
        &mut self,
        put: fn(&mut Self, &[u8]) -> Result<(), WriteFailed>,
    ) -> Result<(), WriteFailed> {
        let Some(mut buffer) = self.buffer.take() else { return Ok(()) };
        let bytes = std::mem::take(&mut self.gathered);
        let done = put(self, &buffer.as_mut_slice()[..bytes]);
        self.buffer = Some(buffer);
        done
    }

    fn put_gathered(&mut self, block: &[u8]) -> Result<(), WriteFailed> {
        let before = self.counts.bytes_written;
        if let Err(error) = self.write(block) {
            self.counts.written_partial += u64::from(self.counts.bytes_written > before);
            self.tell(Notice::GatheredWriteFailed(error));
            return Err(WriteFailed);
        }
        self.count_block(block.len());
        Ok(())
    }

    fn put_last(&mut self, block: &[u8]) -> Result<(), WriteFailed> {
        let before = self.counts.bytes_written;
        let written = self.write(block);
        self.counts.written_partial += u64::from(self.counts.bytes_written > before);
        written.map_err(|error| {
            self.tell(Notice::WriteFailed(error));
            WriteFailed
        })
    }

    fn count_block(&mut self, bytes: usize) {
        if bytes == self.plan.output_block {
            self.counts.written_full += 1;
        } else {
            self.counts.written_partial += 1;
        }
    }

    /// Writes bytes, or makes a hole of them, and counts those that were written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.makes_holes && is_zero(bytes) {
            let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            if rustix::fs::seek(self.fd, SeekFrom::Current(length)).is_ok() {
                self.ends_with_hole = true;
                self.counts.bytes_written += bytes.len() as u64;
                self.counts.bytes_of_holes += bytes.len() as u64;
                return Ok(());
            }
            self.makes_holes = false;
        }
        self.ends_with_hole = false;
        if self.is_direct && bytes.len() < self.plan.output_block {
            self.leave_direct();
        }
        let mut done = 0;
        while done < bytes.len() {
            match rustix::io::write(self.fd, &bytes[done..]) {
                Ok(0) => return Err(Errno::NOSPC.into()),
                Ok(written) => {
                    done += written;
                    self.counts.bytes_written += written as u64;
                }
                Err(Errno::INTR) => self.observer.turn(&self.counts),
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(pages) = &mut self.pages {
            pages.passed(self.fd, bytes.len());
        }
        Ok(())
    }

    /// A block that is not whole goes through the page cache, for no device takes its length; the
    /// flush at the end keeps the meaning of direct I/O.
    fn leave_direct(&mut self) {
        if let Ok(flags) = rustix::fs::fcntl_getfl(self.fd) {
            // A failure shows in the write.
            let _ = rustix::fs::fcntl_setfl(self.fd, flags - OFlags::DIRECT);
        }
        self.is_direct = false;
        self.flush = self.flush.or(Some(Flush::All));
    }

    /// Writes what is gathered, and gives a file that ends with a hole its length.
    pub fn finish(&mut self) -> Result<(), WriteFailed> {
        if self.gathered > 0 {
            self.put_buffer(Self::put_last)?;
        }
        if self.ends_with_hole {
            let length = self.lengthen();
            if let Err((error, length)) = length {
                self.tell(Notice::TruncateFailed(error, length));
                return Err(WriteFailed);
            }
        }
        Ok(())
    }

    fn lengthen(&self) -> Result<(), (io::Error, u64)> {
        let of = |error: Errno| (error.into(), 0);
        let file = rustix::fs::fstat(self.fd).map_err(of)?;
        if FileType::from_raw_mode(file.st_mode) != FileType::RegularFile {
            return Ok(());
        }
        let end = rustix::fs::tell(self.fd).map_err(of)?;
        if u64::try_from(file.st_size).unwrap_or(0) < end {
            rustix::fs::ftruncate(self.fd, end).map_err(|error| (error.into(), end))
        } else {
            Ok(())
        }
    }

    /// Makes the output durable where the plan says so, and drops its pages; false if that failed.
    pub fn flush(&mut self) -> bool {
        let mut is_good = true;
        let flushed = match self.flush {
            None => Ok(()),
            Some(Flush::Data) => {
                let data = self.uninterrupted(|fd| rustix::fs::fdatasync(fd));
                data.or_else(|error| match error {
                    Errno::INVAL | Errno::NOSYS => self.flush_all(),
                    _ => Err((error, Flush::Data)),
                })
            }
            Some(Flush::All) => self.flush_all(),
        };
        if let Err((error, by)) = flushed {
            self.tell(Notice::FlushFailed(error.into(), by));
            is_good = false;
        }
        if let Some(pages) = self.pages.take() {
            pages.end(self.fd);
        }
        is_good
    }

    fn flush_all(&mut self) -> Result<(), (Errno, Flush)> {
        self.uninterrupted(|fd| rustix::fs::fsync(fd)).map_err(|error| (error, Flush::All))
    }

    /// Calls again after a signal that does not end the copy.
    fn uninterrupted(
        &mut self,
        call: fn(BorrowedFd<'_>) -> rustix::io::Result<()>,
    ) -> rustix::io::Result<()> {
        loop {
            match call(self.fd) {
                Err(Errno::INTR) => self.observer.turn(&self.counts),
                done => return done,
            }
        }
    }

    /// Drops all pages of an output that nothing was written to; false if that failed.
    pub fn drop_all_pages(&mut self) -> bool {
        match cache::drop_all(self.fd) {
            Ok(()) => true,
            Err(error) => {
                self.tell(Notice::OutputPagesStay(error));
                false
            }
        }
    }
}

/// True for zeros alone. Long runs are compared in pieces, which the processor does at once.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(256).all(|piece| piece.iter().fold(0, |all, byte| all | byte) == 0)
}
