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

    /// True if a read lies beyond all completed writes; otherwise counts the read.
    pub fn ends_before(&mut self, slot: &Slot) -> bool {
        let Some(written) = &self.written else { return false };
        let ends = !written.holds(self.repeated, slot.handle, slot.offset);
        self.repeated += 1;
        ends
    }

    /// Last completed writes, where they are to be reported.
    pub fn last_writes(&self) -> Option<LastWrites> {
        let mut finished = Vec::new();
        for (file, (offsets, next)) in self.last.iter().enumerate() {
            let latest_first = offsets[..*next].iter().rev().chain(offsets[*next..].iter().rev());
            let write = |offset: &u64| FinishedWrite { file: file as u32, offset: *offset };
            finished.extend(latest_first.map(write));
        }
        let files = self.last.len() as u32;
        (self.most > 0).then_some(LastWrites { issued: self.issued, files, finished })
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
    fn reads_end_where_writing_ended() {
        let finished = [Finished { file: 0, offset: Bytes(70) }].to_vec();
        let written = Some(Written { ops: 9, window: 2, finished });
        let mut trail = Trail::new(&Plan { written, ..Plan::default() }, 1);
        let ends: Vec<bool> = (0..9).map(|nth| trail.ends_before(&slot(0, nth * 10))).collect();
        assert_eq!(ends, [false, false, false, false, false, false, false, false, true]);
        let mut trail = Trail::new(&Plan::default(), 1);
        assert!(!trail.ends_before(&slot(0, 0)));
    }
}
