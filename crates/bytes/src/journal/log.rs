//! A worker's log: records before and after its writes, made durable together.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candor_record::JournalStats;

use super::format::{Kind, LOG_HEADER_BYTES, RECORD_BYTES, Record, log_header, put_record};
use crate::verify::BlockChange;

/// Bytes of zeros that are allocated ahead of the records: a durable write within allocated bytes
/// changes no metadata.
const AHEAD_BYTES: u64 = 1 << 20;

/// A log that one worker writes.
pub struct WorkerLog {
    file: File,
    path: PathBuf,
    epoch: u64,
    sequence: Arc<AtomicU64>,
    /// Records in the file.
    records: u32,
    /// Records to be written.
    waiting: Vec<u8>,
    /// Allocated bytes of the file; none if records are written to the page cache.
    allocated: Option<u64>,
    stats: JournalStats,
}

impl WorkerLog {
    /// Creates a log with a buffer for `room` records.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create(
        path: &Path,
        epoch: u64,
        sequence: Arc<AtomicU64>,
        is_flushed: bool,
        room: usize,
    ) -> io::Result<WorkerLog> {
        let flags = if is_flushed { libc::O_DSYNC } else { 0 };
        let mut options = File::options();
        let file = options.write(true).create_new(true).custom_flags(flags).open(path)?;
        let mut log = WorkerLog {
            file,
            path: path.to_owned(),
            epoch,
            sequence,
            records: 0,
            waiting: Vec::with_capacity(room * RECORD_BYTES),
            allocated: is_flushed.then_some(0),
            stats: JournalStats::default(),
        };
        log.allocate(LOG_HEADER_BYTES as u64)?;
        log.file.write_all_at(&log_header(epoch), 0)?;
        if is_flushed {
            log.file.sync_all()?;
        }
        Ok(log)
    }

    /// Path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a record; it is in the file after the next [`WorkerLog::commit`].
    #[inline]
    pub fn add(&mut self, kind: Kind, file: u32, change: BlockChange) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let BlockChange { block, old, new } = change;
        let record = Record { sequence, file, block: block as u64, kind, old, new };
        put_record(&mut self.waiting, self.epoch, self.records, &record);
    }

    /// Writes all buffered records.
    ///
    /// # Errors
    /// The kernel's; the caller must then write no more blocks.
    pub fn commit(&mut self) -> io::Result<()> {
        let at = LOG_HEADER_BYTES as u64 + u64::from(self.records) * RECORD_BYTES as u64;
        self.allocate(at + self.waiting.len() as u64)?;
        self.file.write_all_at(&self.waiting, at)?;
        let count = (self.waiting.len() / RECORD_BYTES) as u32;
        self.waiting.clear();
        self.records = self
            .records
            .checked_add(count)
            .ok_or_else(|| io::Error::other("the log is full: 4 billion records"))?;
        self.stats.records += u64::from(count);
        self.stats.writes += 1;
        Ok(())
    }

    /// Allocates the file up to that length, if not allocated yet.
    fn allocate(&mut self, end: u64) -> io::Result<()> {
        let Some(allocated) = self.allocated else { return Ok(()) };
        if end <= allocated {
            return Ok(());
        }
        self.allocated = Some(self.extend(allocated, end)?);
        Ok(())
    }

    #[cold]
    fn extend(&self, from: u64, end: u64) -> io::Result<u64> {
        let to = end.next_multiple_of(AHEAD_BYTES);
        self.file.write_all_at(&vec![0; (to - from) as usize], from)?;
        self.file.sync_all()?;
        Ok(to)
    }

    /// Counts so far; `elapsed_ns` is the total time of commits.
    pub fn stats(&self, elapsed_ns: u64) -> JournalStats {
        JournalStats { elapsed_ns, ..self.stats }
    }
}
