//! Trail of verification: the last completed writes, and the writes that reads are to repeat.

use std::collections::VecDeque;

use candor_plan::blocks::Verify as Plan;
use candor_plan::blocks::Written;
use candor_record::{FinishedWrite, LastWrites};

use candor_engine::operation::Slot;

/// Writes that a flush covers.
#[derive(Clone, Debug, Default)]
struct Covered {
    /// All of the first writes up to a number, except the last ones of these.
    issued: u64,
    /// Offsets of those that finished last, the latest first.
    offsets: Vec<u64>,
}

/// A write in flight.
struct Unfinished {
    file: u32,
    offset: u64,
    number: u64,
}

/// A worker's trail: the progress of its writes, and the end of its reads.
pub struct Trail {
    /// Ring of the offsets of the last completed writes of each file, and the index of the next
    /// entry.
    last: Box<[(Vec<u64>, usize)]>,
    /// Writes that the last flush of each file covers.
    synced: Box<[Covered]>,
    /// The same of each flush of a file that is in flight, in the order in which they began.
    flushing: Box<[VecDeque<Covered>]>,
    /// Writes in flight.
    unfinished: Vec<Unfinished>,
    /// Number of the first write to each file that failed.
    failed: Box<[u64]>,
    most: usize,
    issued: u64,
    written: Option<Written>,
    repeated: u64,
}

impl Trail {
    /// Trail over that many files.
    pub fn new(plan: &Plan, files: usize) -> Trail {
        let most = plan.last_writes as usize;
        let count = if most > 0 { files } else { 0 };
        Trail {
            last: (0..count).map(|_| (Vec::with_capacity(most), 0)).collect(),
            synced: vec![Covered::default(); count].into(),
            flushing: vec![VecDeque::new(); count].into(),
            unfinished: Vec::with_capacity(most),
            failed: vec![u64::MAX; count].into(),
            most,
            issued: 0,
            written: plan.written.clone(),
            repeated: 0,
        }
    }

    /// Counts an issued write.
    pub fn issued(&mut self, slot: &Slot) {
        if self.most > 0 {
            let (file, offset) = (slot.handle, slot.offset);
            self.unfinished.push(Unfinished { file, offset, number: self.issued });
        }
        self.issued += 1;
    }

    /// Ends an issued write; returns its number.
    fn end(&mut self, slot: &Slot) -> Option<u64> {
        let mut writes = self.unfinished.iter();
        let at =
            writes.position(|write| (write.file, write.offset) == (slot.handle, slot.offset))?;
        Some(self.unfinished.swap_remove(at).number)
    }

    /// Notes a write that failed: no flush covers it.
    pub fn failed(&mut self, slot: &Slot) {
        let number = self.end(slot);
        if let Some((first, number)) = self.failed.get_mut(slot.handle as usize).zip(number) {
            *first = number.min(*first);
        }
    }

    /// Stores a completed write.
    pub fn finished(&mut self, slot: &Slot) {
        self.end(slot);
        let Some((offsets, next)) = self.last.get_mut(slot.handle as usize) else { return };
        match offsets.get_mut(*next) {
            Some(oldest) => *oldest = slot.offset,
            None => offsets.push(slot.offset),
        }
        *next = (*next + 1) % self.most;
    }

    /// A flush of a file begins.
    pub fn flush_begins(&mut self, file: u32) {
        let index = file as usize;
        // More than are in flight are left only by flushes that failed.
        if self.flushing.get(index).is_none_or(|begun| begun.len() > self.most) {
            return;
        }
        let of_file = self.unfinished.iter().filter(|write| write.file == file);
        let first = of_file.map(|write| write.number).fold(self.failed[index], u64::min);
        // Readers of a state take all writes but the last `most` as finished.
        let issued = self.issued.min(first.saturating_add(self.most as u64));
        let offsets = self.latest_first(index).collect();
        self.flushing[index].push_back(Covered { issued, offsets });
    }

    /// A flush of a file ended well. Of several in flight, one that began no earlier than the first
    /// has ended, whichever it is.
    pub fn flush_ended(&mut self, file: u32) {
        let index = file as usize;
        if let Some(covered) = self.flushing.get_mut(index).and_then(VecDeque::pop_front) {
            self.synced[index] = covered;
        }
    }

    /// Offsets of the last completed writes of a file.
    fn latest_first(&self, file: usize) -> impl Iterator<Item = u64> + '_ {
        let (offsets, next) = &self.last[file];
        offsets[..*next].iter().rev().chain(offsets[*next..].iter().rev()).copied()
    }

    /// True if a read lies beyond all completed writes; otherwise counts the read.
    pub fn ends_before(&mut self, slot: &Slot) -> bool {
        let Some(written) = &self.written else { return false };
        let ends = !written.holds(self.repeated, slot.handle, slot.offset);
        self.repeated += 1;
        ends
    }

    /// Last completed writes, where they are to be reported.
    pub fn last_writes(&self) -> Option<LastWrites> {
        let write = |file: usize| move |offset| FinishedWrite { file: file as u32, offset };
        let files = 0..self.last.len();
        let finished = files.clone().flat_map(|file| self.latest_first(file).map(write(file)));
        let synced =
            files.flat_map(|file| self.synced[file].offsets.iter().copied().map(write(file)));
        // What was written to a file before its last sync ends where the first of all syncs was;
        // a file without writes needs none.
        let written = self.synced.iter().zip(&self.last).filter(|(_, last)| !last.0.is_empty());
        (self.most > 0).then(|| LastWrites {
            issued: self.issued,
            files: self.last.len() as u32,
            finished: finished.collect(),
            synced_issued: written.map(|(covered, _)| covered.issued).min().unwrap_or(0),
            synced: synced.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;
    use candor_plan::Bytes;
    use candor_plan::blocks::Finished;

    use super::*;

    fn slot(file: u32, offset: u64) -> Slot {
        Slot { handle: file, offset, ..Slot::empty(Buffer::None) }
    }

    #[test]
    fn the_last_writes_of_each_file_are_known() {
        let mut trail = Trail::new(&Plan { last_writes: 3, ..Plan::default() }, 2);
        for (file, offset) in [(0, 1), (0, 2), (1, 9), (0, 3), (0, 4), (0, 5)] {
            trail.issued(&slot(file, offset));
            trail.finished(&slot(file, offset));
        }
        let sum = trail.last_writes().expect("reported");
        let found: Vec<_> = sum.finished.iter().map(|write| (write.file, write.offset)).collect();
        assert_eq!((sum.issued, sum.files), (6, 2));
        assert_eq!(found, [(0, 5), (0, 4), (0, 3), (1, 9)]);
    }

    #[test]
    fn writes_before_the_last_sync_of_each_file_are_known() {
        let mut trail = Trail::new(&Plan { last_writes: 2, ..Plan::default() }, 3);
        let write = |trail: &mut Trail, file, offset| {
            trail.issued(&slot(file, offset));
            trail.finished(&slot(file, offset));
        };
        let flush = |trail: &mut Trail, file| {
            trail.flush_begins(file);
            trail.flush_ended(file);
        };
        (1..=3).for_each(|offset| write(&mut trail, 0, offset));
        flush(&mut trail, 0);
        assert_eq!(trail.last_writes().map(|last| last.synced_issued), Some(3));
        write(&mut trail, 1, 9);
        let unsynced = trail.last_writes().expect("reported");
        assert_eq!((unsynced.issued, unsynced.synced_issued), (4, 0));
        flush(&mut trail, 1);
        write(&mut trail, 0, 4);
        let last = trail.last_writes().expect("reported");
        let synced: Vec<_> = last.synced.iter().map(|write| (write.file, write.offset)).collect();
        assert_eq!((last.issued, last.synced_issued), (5, 3));
        assert_eq!(synced, [(0, 3), (0, 2), (1, 9)]);
    }

    #[test]
    fn a_flush_covers_the_writes_that_had_finished_when_it_began() {
        let mut trail = Trail::new(&Plan { last_writes: 2, ..Plan::default() }, 1);
        let found = |trail: &Trail| {
            let last = trail.last_writes().expect("reported");
            (last.synced_issued, last.synced.iter().map(|w| w.offset).collect::<Vec<_>>())
        };
        (0..6).for_each(|offset| trail.issued(&slot(0, offset)));
        // The third write is late.
        [0, 1, 4, 3].iter().for_each(|offset| trail.finished(&slot(0, *offset)));
        trail.flush_begins(0);
        [2, 5].iter().for_each(|offset| trail.finished(&slot(0, *offset)));
        trail.flush_begins(0);
        assert_eq!(found(&trail), (0, vec![]), "no flush has ended");
        trail.flush_ended(0);
        assert_eq!(found(&trail), (4, vec![3, 4]), "the first two, and the fourth");
        trail.flush_ended(0);
        assert_eq!(found(&trail), (6, vec![5, 2]), "both flushes have ended");
        trail.flush_ended(0);
        assert_eq!(found(&trail).0, 6, "no flush was in flight");
        (6..20).for_each(|offset| trail.issued(&slot(0, offset)));
        (6..20).for_each(|offset| match offset {
            9 => trail.failed(&slot(0, offset)),
            _ => trail.finished(&slot(0, offset)),
        });
        trail.flush_begins(0);
        trail.flush_ended(0);
        assert_eq!(found(&trail).0, 11, "the tenth write failed");
    }

    #[test]
    fn reads_end_where_writing_ended() {
        let finished = [Finished { file: 0, offset: Bytes(70) }].to_vec();
        let written = Some(Written { ops: 9, window: 2, finished });
        let mut trail = Trail::new(&Plan { written, ..Plan::default() }, 1);
        let ends: Vec<bool> = (0..9).map(|nth| trail.ends_before(&slot(0, nth * 10))).collect();
        assert_eq!(ends, [false, false, false, false, false, false, false, false, true]);
        assert!(trail.ends_before(&slot(0, 70)), "the tenth write of nine, though to that block");
        let mut trail = Trail::new(&Plan::default(), 1);
        assert!(!trail.ends_before(&slot(0, 0)));
    }
}
