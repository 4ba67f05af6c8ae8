//! Ranges for `sync_file_range`: the bytes that a worker wrote since the last call.

use candor_plan::blocks::RangeSync;

use candor_engine::operation::Slot;

/// Written range of each file, from the first byte to the last.
pub struct Ranges {
    flags: libc::c_uint,
    /// Ranges of files that were written to.
    written: Vec<Range>,
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Index of the file.
    pub file: u32,
    /// The first byte.
    pub first: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Ranges {
    /// Empty ranges for that many files.
    pub fn new(range: RangeSync, files: usize) -> Ranges {
        let flag = |on: bool, flag: libc::c_uint| if on { flag } else { 0 };
        let flags = flag(range.wait_before, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
            | flag(range.write, libc::SYNC_FILE_RANGE_WRITE)
            | flag(range.wait_after, libc::SYNC_FILE_RANGE_WAIT_AFTER);
        Ranges { flags, written: Vec::with_capacity(files) }
    }

    /// Flags of the call.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Adds a write that is about to be submitted.
    pub fn wrote(&mut self, slot: &Slot) {
        let (file, first) = (slot.handle, slot.offset);
        let end = first + slot.length;
        match self.written.iter_mut().find(|range| range.file == file) {
            Some(range) => (range.first, range.end) = (range.first.min(first), range.end.max(end)),
            None => self.written.push(Range { file, first, end }),
        }
    }

    /// Takes the range of a file, or of any file; none where nothing was written.
    pub fn take(&mut self, only: Option<u32>) -> Option<Range> {
        let at =
            self.written.iter().position(|range| only.is_none_or(|file| file == range.file))?;
        Some(self.written.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::operation::Buffer;

    use super::*;

    #[test]
    fn a_range_covers_all_writes_to_its_file() {
        let range = RangeSync { every: 3, write: true, wait_after: true, ..RangeSync::default() };
        let mut ranges = Ranges::new(range, 2);
        let mut wrote = |file, offset| {
            let slot = Slot { handle: file, offset, length: 4096, ..Slot::empty(Buffer::None) };
            ranges.wrote(&slot);
        };
        wrote(1, 8192);
        wrote(0, 0);
        wrote(1, 0);
        assert_eq!(ranges.flags, libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER);
        assert_eq!(ranges.take(Some(1)), Some(Range { file: 1, first: 0, end: 12288 }));
        assert_eq!(ranges.take(Some(1)), None);
        assert_eq!(ranges.take(None), Some(Range { file: 0, first: 0, end: 4096 }));
        assert_eq!(ranges.take(None), None);
    }
}
