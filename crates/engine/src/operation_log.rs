//! Log of single operations: a ring between one worker and the control plane, without locks.
//!
//! The worker writes, the control plane reads. Where the reader falls behind, the worker waits for
//! it between two operations, so that the log has no gaps.

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

use crate::clock::Ticks;
use crate::operation::{Op, Slot};

const WORDS: usize = 6;
/// Ring entries of all workers of a job together.
const ENTRIES_OF_JOB: usize = 1 << 20;
/// Time after which a reader that takes nothing counts as gone. Entries without room are then lost.
const READER_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between two checks for room.
const CHECK_INTERVAL: Duration = Duration::from_micros(20);
/// Least and greatest number of entries of one worker.
const ENTRIES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;

/// A logged operation. In a log of submissions all times are that of the submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Tick of completion.
    pub ended: Ticks,
    /// Tick of submission.
    pub started: Ticks,
    /// Tick at which the submitting call returned.
    pub submitted: Ticks,
    /// Byte offset.
    pub offset: u64,
    /// Bytes requested.
    pub length: u64,
    /// Number of the file.
    pub file: u32,
    /// Index in the work's table.
    pub op: Op,
    /// I/O priority in the kernel's form.
    pub priority: u16,
}

/// The log of one worker.
pub struct OperationLog {
    entries: Box<[[AtomicU64; WORDS]]>,
    written: AtomicU64,
    read: AtomicU64,
    lost: AtomicU64,
}

impl OperationLog {
    /// Log of one of a job's workers.
    pub fn for_one_of(workers: u32) -> OperationLog {
        let count = ENTRIES_OF_JOB / workers.max(1) as usize;
        OperationLog::new(count.clamp(*ENTRIES.start(), *ENTRIES.end()))
    }

    fn new(count: usize) -> OperationLog {
        OperationLog {
            entries: (0..count).map(|_| Default::default()).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Adds an operation that completed at that tick. Only the worker calls this.
    #[inline]
    pub fn push(&self, slot: &Slot, ended: Ticks) {
        let written = self.written.load(Relaxed);
        if written - self.read.load(Acquire) >= self.entries.len() as u64
            && !self.waits_for_room(written)
        {
            self.lost.store(self.lost.load(Relaxed) + 1, Relaxed);
            return;
        }
        let rest =
            u64::from(slot.op.0) | u64::from(slot.priority) << 8 | u64::from(slot.handle) << 32;
        let (started, submitted) = (slot.started.0, slot.submitted.0);
        let words = [ended.0, started, submitted, slot.offset, slot.length, rest];
        let entry = &self.entries[(written % self.entries.len() as u64) as usize];
        entry.iter().zip(words).for_each(|(to, word)| to.store(word, Relaxed));
        self.written.store(written + 1, Release);
    }

    /// False if the reader has gone. From then on the worker never waits for it.
    #[cold]
    fn waits_for_room(&self, written: u64) -> bool {
        let from = Instant::now();
        while self.lost() == 0 && from.elapsed() < READER_TIMEOUT {
            if written - self.read.load(Acquire) < self.entries.len() as u64 {
                return true;
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
        false
    }

    /// Entries that wait for the reader, and the number that the ring holds.
    pub fn filled(&self) -> (u64, u64) {
        let waiting = self.written.load(Relaxed) - self.read.load(Relaxed);
        (waiting, self.entries.len() as u64)
    }

    /// Takes all entries, in order. Only the control plane calls this.
    pub fn drain(&self, mut take: impl FnMut(Entry)) {
        let written = self.written.load(Acquire);
        for at in self.read.load(Relaxed)..written {
            let words = &self.entries[(at % self.entries.len() as u64) as usize];
            let [ended, started, submitted, offset, length, rest] =
                std::array::from_fn(|word| words[word].load(Relaxed));
            let [ended, started, submitted] = [ended, started, submitted].map(Ticks);
            let (op, priority) = (Op(rest as u8), (rest >> 8) as u16);
            let file = (rest >> 32) as u32;
            take(Entry { ended, started, submitted, offset, length, file, op, priority });
        }
        self.read.store(written, Release);
    }

    /// Entries lost for want of room.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Buffer;

    fn slot(offset: u64) -> Slot {
        Slot {
            offset,
            length: 4096,
            handle: 3,
            op: Op(2),
            priority: 7,
            ..Slot::empty(Buffer::None)
        }
    }

    #[test]
    fn entries_come_out_in_order_and_once() {
        let log = OperationLog::new(8);
        let mut seen = Vec::new();
        for round in 0..5u64 {
            (0..6).for_each(|at| log.push(&slot(round * 6 + at), Ticks(100)));
            log.drain(|entry| seen.push(entry.offset));
        }
        assert_eq!(seen, (0..30).collect::<Vec<u64>>());
        assert_eq!(log.lost(), 0);
    }

    #[test]
    fn without_a_reader_what_finds_no_room_is_counted_and_the_rest_is_kept() {
        let log = OperationLog::new(8);
        (0..20).for_each(|at| log.push(&slot(at), Ticks(100)));
        let mut seen = Vec::new();
        log.drain(|entry| seen.push(entry));
        assert_eq!(seen.len(), 8);
        assert_eq!((seen[7].offset, seen[7].length, seen[7].file), (7, 4096, 3));
        assert_eq!((seen[7].op, seen[7].priority), (Op(2), 7));
        assert_eq!(log.lost(), 12);
    }

    #[test]
    fn a_slow_reader_beside_the_writer_loses_nothing() {
        let log = OperationLog::new(64);
        let seen = std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..100_000).for_each(|at| log.push(&slot(at), Ticks(1))));
            let mut seen = Vec::new();
            while !writer.is_finished() {
                log.drain(|entry| seen.push(entry.offset));
                std::thread::yield_now();
            }
            log.drain(|entry| seen.push(entry.offset));
            seen
        });
        assert_eq!(seen, (0..100_000).collect::<Vec<u64>>());
        assert_eq!(log.lost(), 0);
    }
}
