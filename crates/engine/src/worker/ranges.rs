//! `sync_file_range` over what a worker wrote since the last one.

use candor_plan::blocks::RangeSync;

use super::Worker;
use crate::slots::{Kind, Slot};

/// What was written of each file, from the first byte to the last.
pub struct Ranges {
    flags: libc::c_uint,
    /// Of files that were written to: their index, the first byte and the one after the last.
    written: Vec<(u32, u64, u64)>,
}

impl Ranges {
    /// Nothing was written yet to any of so many files.
    pub fn new(range: RangeSync, files: usize) -> Ranges {
        let flag = |on: bool, flag: libc::c_uint| if on { flag } else { 0 };
        let flags = flag(range.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
            | flag(range.write, libc::SYNC_FILE_RANGE_WRITE)
            | flag(range.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER);
        Ranges { flags, written: Vec::with_capacity(files) }
    }

    /// A write is about to be handed over.
    pub fn wrote(&mut self, slot: &Slot) {
        let (from, to) = (slot.offset, slot.offset + u64::from(slot.length));
        match self.written.iter_mut().find(|(file, ..)| *file == slot.file) {
            Some((_, first, end)) => (*first, *end) = ((*first).min(from), (*end).max(to)),
            None => self.written.push((slot.file, from, to)),
        }
    }
}

impl Worker {
    /// Makes the call for each file that was written to, once everything before has completed.
    /// It blocks whatever the engine: none of them queues it.
    #[cold]
    pub(super) fn sync_ranges(&mut self) {
        if self.in_flight > 0 {
            return;
        }
        self.sync_next = None;
        let Some(ranges) = &mut self.parts.ranges else { return };
        let (clock, flags) = (self.parts.clock, ranges.flags);
        let live = &self.parts.live[self.parts.rank as usize];
        let counters = live.bank(self.counting).of(Kind::Fsync);
        for (file, first, end) in ranges.written.drain(..) {
            let descriptor = self.parts.files.get(file).raw();
            let (from, length) = (first as libc::off64_t, (end - first) as libc::off64_t);
            let began = clock.now();
            // SAFETY: plain numbers and a descriptor that the worker's files keep open.
            let result = unsafe { libc::sync_file_range(descriptor, from, length, flags) };
            let now = clock.now();
            if result == 0 {
                counters.completed(1, 0, clock.ns(now - began));
                continue;
            }
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            let slot = Slot { file, offset: first, kind: Kind::Fsync, ..self.slots[0] };
            counters.did_fail();
            self.failures.add(&self.parts.files, &slot, errno);
            self.draining = true;
            self.ended = candor_record::Ended::Failed;
            self.parts.shared.wish.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_covers_all_writes_to_its_file() {
        let range = RangeSync { every: 3, write: true, wait_after: true, ..RangeSync::default() };
        let mut ranges = Ranges::new(range, 2);
        let mut wrote = |file, offset| {
            let slot = Slot { file, offset, length: 4096, ..Slot::empty(std::ptr::null_mut()) };
            ranges.wrote(&slot);
        };
        wrote(1, 8192);
        wrote(0, 0);
        wrote(1, 0);
        assert_eq!(ranges.written, [(1, 0, 12288), (0, 0, 4096)]);
        assert_eq!(ranges.flags, libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER);
    }
}
