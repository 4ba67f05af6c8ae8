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
/// A slow disk, or a lock of another process, may hold up the reader of a log that goes to a file.
const READER_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval between two checks for room.
const CHECK_INTERVAL: Duration = Duration::from_micros(20);
/// Least and greatest number of entries of one worker.
const ENTRIES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;

/// Moments of an operation's life that are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// Submissions, right before they are made.
    pub submissions: bool,
    /// Ends.
    pub ends: bool,
    /// Both also in the ramp, and ends of failed operations.
    pub everything: bool,
}

impl Moments {
    /// True where anything is logged.
    pub fn any(self) -> bool {
        self.submissions || self.ends
    }
}

/// The moment of an operation that an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The submission.
    Submitted,
    /// The end: bytes moved, or the call was done.
    Done,
    /// The end without an effect.
    Failed,
}

/// A logged operation. In an entry of a submission all times are that of the submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The moment.
    pub moment: Moment,
    /// True outside of the ramp.
    pub counts: bool,
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
    moments: Moments,
    entries: Box<[[AtomicU64; WORDS]]>,
    written: AtomicU64,
    read: AtomicU64,
    lost: AtomicU64,
}

impl OperationLog {
    /// Log of these moments of one of a job's workers.
    pub fn for_one_of(workers: u32, moments: Moments) -> OperationLog {
        let count = ENTRIES_OF_JOB / workers.max(1) as usize;
        OperationLog::new(count.clamp(*ENTRIES.start(), *ENTRIES.end()), moments)
    }

    fn new(count: usize, moments: Moments) -> OperationLog {
        OperationLog {
            moments,
            entries: (0..count).map(|_| Default::default()).collect(),
            written: AtomicU64::new(0),
            read: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    /// Adds the submission of an operation. Only the worker calls this.
    #[inline]
    pub fn submitted(&self, slot: &Slot, counts: bool) {
        if self.moments.submissions && (counts || self.moments.everything) {
            self.push(slot, Moment::Submitted, counts, slot.started);
        }
    }

    /// Adds the end of an operation at that tick. Only the worker calls this.
    #[inline]
    pub fn ended(&self, slot: &Slot, is_done: bool, counts: bool, at: Ticks) {
        if self.moments.ends && (is_done && counts || self.moments.everything) {
            let moment = if is_done { Moment::Done } else { Moment::Failed };
            self.push(slot, moment, counts, at);
        }
    }

    fn push(&self, slot: &Slot, moment: Moment, counts: bool, ended: Ticks) {
        let written = self.written.load(Relaxed);
        if written - self.read.load(Acquire) >= self.entries.len() as u64
            && !self.waits_for_room(written)
        {
            self.lost.store(self.lost.load(Relaxed) + 1, Relaxed);
            return;
        }
        let rest = u64::from(slot.op.0)
            | u64::from(slot.priority) << 8
            | (moment as u64) << 24
            | u64::from(counts) << 26
            | u64::from(slot.handle) << 32;
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
            let moment = match rest >> 24 & 3 {
                0 => Moment::Submitted,
                1 => Moment::Done,
                _ => Moment::Failed,
            };
            let counts = rest >> 26 & 1 == 1;
            take(Entry {
                moment,
                counts,
                ended,
                started,
                submitted,
                offset,
                length,
                file,
                op,
                priority,
            });
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

    const ENDS: Moments = Moments { submissions: false, ends: true, everything: false };

    fn done(log: &OperationLog, offset: u64) {
        log.ended(&slot(offset), true, true, Ticks(100));
    }

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
        let log = OperationLog::new(8, ENDS);
        let mut seen = Vec::new();
        for round in 0..5u64 {
            (0..6).for_each(|at| done(&log, round * 6 + at));
            log.drain(|entry| seen.push(entry.offset));
        }
        assert_eq!(seen, (0..30).collect::<Vec<u64>>());
        assert_eq!(log.lost(), 0);
    }

    #[test]
    fn moments_that_are_not_wanted_leave_no_entry() {
        let all = Moments { submissions: true, ends: true, everything: true };
        let submissions = Moments { ends: false, everything: false, ..all };
        let entries = |moments| {
            let log = OperationLog::new(16, moments);
            for counts in [false, true] {
                log.submitted(&slot(1), counts);
                log.ended(&slot(2), true, counts, Ticks(100));
                log.ended(&slot(3), false, counts, Ticks(100));
            }
            let mut seen = Vec::new();
            log.drain(|entry| seen.push((entry.moment, entry.counts, entry.offset)));
            seen
        };
        assert_eq!(entries(ENDS), [(Moment::Done, true, 2)]);
        assert_eq!(entries(submissions), [(Moment::Submitted, true, 1)]);
        let each = |counts| {
            [(Moment::Submitted, counts, 1), (Moment::Done, counts, 2), (Moment::Failed, counts, 3)]
        };
        assert_eq!(entries(all), [each(false), each(true)].concat());
    }

    #[test]
    fn without_a_reader_what_finds_no_room_is_counted_and_the_rest_is_kept() {
        let log = OperationLog::new(8, ENDS);
        (0..8).for_each(|at| done(&log, at));
        log.lost.store(1, Relaxed);
        (8..20).for_each(|at| done(&log, at));
        let mut seen = Vec::new();
        log.drain(|entry| seen.push(entry));
        assert_eq!(seen.len(), 8);
        assert_eq!((seen[7].offset, seen[7].length, seen[7].file), (7, 4096, 3));
        assert_eq!((seen[7].op, seen[7].priority), (Op(2), 7));
        assert_eq!(log.lost(), 13);
    }

    #[test]
    fn a_slow_reader_beside_the_writer_loses_nothing() {
        let log = OperationLog::new(64, ENDS);
        let seen = std::thread::scope(|scope| {
            let writer = scope.spawn(|| (0..100_000).for_each(|at| done(&log, at)));
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
