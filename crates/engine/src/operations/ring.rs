//! A ring of logged operations between one worker and the control plane, without locks.
//!
//! The worker writes, the control plane reads. Where the reader does not keep up, the worker waits
//! for it between two operations: a log with holes would say something else than what happened.

use std::sync::atomic::{AtomicU64, Ordering::*};
use std::time::{Duration, Instant};

use crate::operations::slots::{Kind, Slot};

const WORDS: usize = 6;
/// Kinds by their numbers.
const KINDS: [Kind; 5] = [Kind::Read, Kind::Write, Kind::Trim, Kind::Fsync, Kind::Fdatasync];
/// Entries of all workers of a job together.
const ENTRIES_OF_JOB: usize = 1 << 20;
/// A reader that takes nothing for so long has gone: what it left no room for is lost.
const GONE: Duration = Duration::from_secs(2);
/// Between two looks for room.
const LOOK: Duration = Duration::from_micros(20);
/// Entries of one worker at least, and at most.
const ENTRIES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;

/// An operation as it was logged; times are ticks. In a log of hand-overs all times are that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its completion.
    pub ended: u64,
    /// Its hand-over.
    pub started: u64,
    /// The return of the call that handed it over.
    pub submitted: u64,
    /// Where.
    pub offset: u64,
    /// Bytes asked for.
    pub length: u32,
    /// Index into the job's files.
    pub file: u32,
    /// What it does.
    pub kind: Kind,
    /// Its I/O priority in the kernel's form.
    pub priority: u16,
}

/// The ring.
pub struct Ring {
    entries: Box<[[AtomicU64; WORDS]]>,
    written: AtomicU64,
    read: AtomicU64,
    lost: AtomicU64,
}

impl Ring {
    /// For one of a job's workers.
    pub fn for_one_of(workers: u32) -> Ring {
        let count = ENTRIES_OF_JOB / workers.max(1) as usize;
        Ring::new(count.clamp(*ENTRIES.start(), *ENTRIES.end()))
    }

    fn new(count: usize) -> Ring {
        Ring {
            entries: (0..count).map(|_| Default::default()).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Adds an operation that completed at that tick. Only the worker calls it.
    #[inline]
    pub fn push(&self, slot: &Slot, ended: u64) {
        let written = self.written.load(Relaxed);
        if written - self.read.load(Acquire) >= self.entries.len() as u64
            && !self.waits_for_room(written)
        {
            self.lost.store(self.lost.load(Relaxed) + 1, Relaxed);
            return;
        }
        let size_and_file = u64::from(slot.length) | u64::from(slot.file) << 32;
        let kind = slot.kind as u64 | u64::from(slot.priority) << 8;
        let words = [ended, slot.started, slot.submitted, slot.offset, size_and_file, kind];
        let entry = &self.entries[(written % self.entries.len() as u64) as usize];
        entry.iter().zip(words).for_each(|(to, word)| to.store(word, Relaxed));
        self.written.store(written + 1, Release);
    }

    /// False if the reader has gone. Once it has, nobody waits for it any more.
    #[cold]
    fn waits_for_room(&self, written: u64) -> bool {
        let from = Instant::now();
        while self.lost() == 0 && from.elapsed() < GONE {
            if written - self.read.load(Acquire) < self.entries.len() as u64 {
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }

    /// Entries that wait for the reader, of those for which there is room.
    pub fn filled(&self) -> (u64, u64) {
        let waiting = self.written.load(Relaxed) - self.read.load(Relaxed);
        (waiting, self.entries.len() as u64)
    }

    /// Takes everything that is there, in order. Only the control plane calls it.
    pub fn drain(&self, mut take: impl FnMut(Entry)) {
        let written = self.written.load(Acquire);
        for at in self.read.load(Relaxed)..written {
            let words = &self.entries[(at % self.entries.len() as u64) as usize];
            let [ended, started, submitted, offset, size_and_file, kind] =
                std::array::from_fn(|word| words[word].load(Relaxed));
            let (length, file) = (size_and_file as u32, (size_and_file >> 32) as u32);
            let (kind, priority) = (KINDS[kind as u8 as usize % KINDS.len()], (kind >> 8) as u16);
            take(Entry { ended, started, submitted, offset, length, file, kind, priority });
        }
        self.read.store(written, Release);
    }

    /// Entries for which there was no room.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}

impl Entry {
    /// True for reads, writes and trims; false for flushes.
    pub fn moves(&self) -> bool {
        !self.kind.flushes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(offset: u64) -> Slot {
        Slot { offset, length: 4096, file: 3, ..Slot::empty(std::ptr::null_mut()) }
    }

    #[test]
    fn entries_come_out_in_order_and_once() {
        let ring = Ring::new(8);
        let mut seen = Vec::new();
        for round in 0..5u64 {
            (0..6).for_each(|at| ring.push(&slot(round * 6 + at), 100));
            ring.drain(|entry| seen.push(entry.offset));
        }
        assert_eq!(seen, (0..30).collect::<Vec<u64>>());
        assert_eq!(ring.lost(), 0);
    }

    #[test]
    fn kinds_keep_their_numbers() {
        let ring = Ring::new(8);
        KINDS.iter().for_each(|kind| ring.push(&Slot { kind: *kind, ..slot(0) }, 1));
        let mut seen = Vec::new();
        ring.drain(|entry| seen.push(entry.kind));
        assert_eq!(seen, KINDS);
    }

    #[test]
    fn without_a_reader_what_finds_no_room_is_counted_and_the_rest_is_kept() {
        let ring = Ring::new(8);
        (0..20).for_each(|at| ring.push(&slot(at), 100));
        let mut seen = Vec::new();
        ring.drain(|entry| seen.push(entry));
        assert_eq!(seen.len(), 8);
        assert_eq!((seen[7].offset, seen[7].length, seen[7].file), (7, 4096, 3));
        assert_eq!(ring.lost(), 12);
    }

    #[test]
    fn a_slow_reader_beside_the_writer_loses_nothing() {
        let ring = Ring::new(64);
        let seen = std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..100_000).for_each(|at| ring.push(&slot(at), 1)));
            let mut seen = Vec::new();
            while !writer.is_finished() {
                ring.drain(|entry| seen.push(entry.offset));
                std::thread::yield_now();
            }
            ring.drain(|entry| seen.push(entry.offset));
            seen
        });
        assert_eq!(seen, (0..100_000).collect::<Vec<u64>>());
        assert_eq!(ring.lost(), 0);
    }
}
