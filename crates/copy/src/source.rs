//! The input of a copy.

use std::io;
use std::os::fd::BorrowedFd;

use candor_engine::host::memory::{Mapping, Pages};
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use crate::cache::PassedPages;
use crate::plan::{CopyPlan, Counts, Notice, Observer};

/// Why no further block can be had.
#[derive(Debug)]
pub enum Stop {
    /// There was an error that ends the copy; it was told.
    Failed,
    /// There is no memory for the block.
    NoMemory,
}

/// An open file that blocks are read from.
pub struct Source<'a> {
    fd: BorrowedFd<'a>,
    plan: &'a CopyPlan,
    buffer: Option<Mapping>,
    /// Offset of the next read, where the file has offsets.
    offset: Option<u64>,
    pages: Option<PassedPages>,
    /// Bytes of the last read.
    last: usize,
    tells_short_read: bool,
}

impl<'a> Source<'a> {
    pub fn new(fd: BorrowedFd<'a>, plan: &'a CopyPlan) -> Source<'a> {
        Source {
            fd,
            plan,
            buffer: None,
            offset: None,
            pages: None,
            last: 0,
            tells_short_read: plan.tells_short_read,
        }
    }

    /// Passes over the first part of the input.
    pub fn skip(&mut self, observer: &mut impl Observer, counts: &Counts) -> Result<(), Stop> {
        let skip = self.plan.skip;
        if !skip.is_zero() {
            let Some(bytes) = skip.total(self.plan.input_block) else {
                observer.notice(Notice::CannotSkip(Errno::OVERFLOW.into()), counts);
                return Err(Stop::Failed);
            };
            match self.seek_over(bytes) {
                Ok(is_whole) if is_whole => {}
                Ok(_) => observer.notice(Notice::SkippedLess, counts),
                Err(Errno::SPIPE) => self.read_over(bytes, observer, counts)?,
                Err(error) => {
                    observer.notice(Notice::CannotSkip(error.into()), counts);
                    return Err(Stop::Failed);
                }
            }
        }
        self.offset = rustix::fs::tell(self.fd).ok();
        self.pages = self.plan.drops_input_pages.then(|| PassedPages::of(self.fd)).flatten();
        Ok(())
    }

    /// Moves the file's offset; false where a regular file is shorter.
    fn seek_over(&self, bytes: u64) -> Result<bool, Errno> {
        let before = rustix::fs::tell(self.fd)?;
        let end = before.checked_add(bytes).ok_or(Errno::OVERFLOW)?;
        let file = rustix::fs::fstat(self.fd)?;
        let length = u64::try_from(file.st_size).unwrap_or(0);
        let is_regular = FileType::from_raw_mode(file.st_mode) == FileType::RegularFile;
        rustix::fs::seek(self.fd, SeekFrom::Start(end))?;
        Ok(!is_regular || end <= length)
    }

    /// Reads blocks that nobody needs.
    fn read_over(
        &mut self,
        bytes: u64,
        observer: &mut impl Observer,
        counts: &Counts,
    ) -> Result<(), Stop> {
        let (mut passed, skip) = (0, self.plan.skip);
        let rest = (skip.bytes > 0).then_some(skip.bytes);
        let sizes = (0..skip.blocks).map(|_| self.plan.input_block).chain(rest);
        for size in sizes {
            observer.turn(counts);
            match self.read(size, observer, counts)? {
                Ok(0) => break,
                Ok(read) => passed += read as u64,
                Err(error) => {
                    observer.notice(Notice::ReadFailed(error), counts);
                    if !self.plan.survives_read_errors {
                        return Err(Stop::Failed);
                    }
                }
            }
        }
        if passed < bytes {
            observer.notice(Notice::SkippedLess, counts);
        }
        Ok(())
    }

    /// Reads a block of that size at most into the buffer; 0 bytes are the end of the input.
    pub fn read(
        &mut self,
        size: usize,
        observer: &mut impl Observer,
        counts: &Counts,
    ) -> Result<io::Result<usize>, Stop> {
        let (fd, whole) = (self.fd, self.plan.whole_blocks);
        let buffer = &mut self.buffer()?[..size];
        let mut done = 0;
        while done < size {
            match rustix::io::read(fd, &mut buffer[done..]) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(Errno::INTR) => {
                    observer.turn(counts);
                    continue;
                }
                // The next read meets the error again; the bytes before it are not lost.
                Err(_) if done > 0 => break,
                Err(error) => return Ok(Err(error.into())),
            }
            if !whole {
                break;
            }
        }
        let is_short = (1..self.plan.input_block).contains(&self.last);
        if done > 0 && is_short && self.tells_short_read {
            observer.notice(Notice::ShortRead(self.last), counts);
            self.tells_short_read = false;
        }
        self.last = done;
        if let Some(offset) = &mut self.offset {
            *offset += done as u64;
        }
        if let Some(pages) = &mut self.pages {
            pages.passed(self.fd, done);
        }
        Ok(Ok(done))
    }

    /// The buffer of a block, made at its first use.
    pub fn buffer(&mut self) -> Result<&mut [u8], Stop> {
        let bytes = self.plan.input_block;
        if self.buffer.is_none() {
            let pages = if self.plan.input_direct { Pages::Contiguous } else { Pages::Ordinary };
            self.buffer = Some(Mapping::new(bytes, pages).map_err(|_| Stop::NoMemory)?);
        }
        let buffer = self.buffer.as_mut().ok_or(Stop::NoMemory)?;
        Ok(&mut buffer.as_mut_slice()[..bytes])
    }

    /// Moves on behind bytes that cannot be read.
    pub fn pass_bad(&mut self, bytes: usize) -> io::Result<()> {
        let Some(offset) = &mut self.offset else { return Ok(()) };
        *offset += bytes as u64;
        rustix::fs::seek(self.fd, SeekFrom::Start(*offset))?;
        Ok(())
    }

    /// Drops the pages that are still there.
    pub fn end(&mut self) {
        if let Some(pages) = self.pages.take() {
            pages.end(self.fd);
        }
    }
}
