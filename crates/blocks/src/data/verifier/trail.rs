//! Trail of verification: the last completed writes, and the writes that reads are to repeat.

use candor_plan::blocks::Verify as Plan;
use candor_plan::blocks::Written;
use candor_record::{FinishedWrite, LastWrites};

use candor_engine::operation::Slot;

/// A worker's trail: the progress of its writes, and the end of its reads.
pub struct Trail {
    /// Ring of the offsets of the last completed writes of each file, and the index of the next
    /// entry.
    last: Box<[(Vec<u64>, usize)]>,
    /// Writes issued before the last sync of each file, and the offsets of those that finished
    /// last, the latest first.
    synced: Box<[(u64, Vec<u64>)]>,
    most: usize,
    issued: u64,
    written: Option<Written>,
    repeated: u64,
}

impl Trail {
    /// Trail over that many files.
    pub fn new(plan: &Plan, files: usize) -> Trail {
        let most = plan.last_writes as usize;
        let of_file = || (Vec::with_capacity(most), 0);
        let count = if most > 0 { files } else { 0 };
        Trail {
            last: (0..count).map(|_| of_file()).collect(),
            synced: vec![(0, Vec::new()); count].into(),
            most,
            issued: 0,
            written: plan.written.clone(),
            repeated: 0,
        }
    }

    /// Counts an issued write.
    pub fn issued(&mut self) {
        self.issued += 1;
    }

    /// Stores a completed write.
    pub fn finished(&mut self, slot: &Slot) {
        let Some((offsets, next)) = self.last.get_mut(slot.handle as usize) else { return };
        match offsets.get_mut(*next) {
            Some(oldest) => *oldest = slot.offset,
            None => offsets.push(slot.offset),
        }
        *next = (*next + 1) % self.most;
    }

    /// Notes that a file was synced, with no write under way.
    pub fn synced(&mut self, file: u32) {
        let file = file as usize;
        if file < self.last.len() {
            let offsets = self.latest_first(file).collect();
            self.synced[file] = (self.issued, offsets);
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
        let synced = files.flat_map(|file| self.synced[file].1.iter().copied().map(write(file)));
        // What was written to a file before its last sync ends where the first of all syncs was;
        // a file without writes needs none.
        let written = self.synced.iter().zip(&self.last).filter(|(_, last)| !last.0.is_empty());
        (self.most > 0).then(|| LastWrites {
            issued: self.issued,
            files: self.last.len() as u32,
            finished: finished.collect(),
            synced_issued: written.map(|((issued, _), _)| *issued).min().unwrap_or(0),
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
            trail.issued();
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
            trail.issued();
            trail.finished(&slot(file, offset));
        };
        (1..=3).for_each(|offset| write(&mut trail, 0, offset));
        trail.synced(0);
        assert_eq!(trail.last_writes().map(|last| last.synced_issued), Some(3));
        write(&mut trail, 1, 9);
        let unsynced = trail.last_writes().expect("reported");
        assert_eq!((unsynced.issued, unsynced.synced_issued), (4, 0));
        trail.synced(1);
        write(&mut trail, 0, 4);
        let last = trail.last_writes().expect("reported");
        let synced: Vec<_> = last.synced.iter().map(|write| (write.file, write.offset)).collect();
        assert_eq!((last.issued, last.synced_issued), (5, 3));
        assert_eq!(synced, [(0, 3), (0, 2), (1, 9)]);
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
