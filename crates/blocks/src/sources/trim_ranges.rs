//! Trims of several ranges: consecutive trims of a stream that become one command.

use std::sync::Arc;

use candor_engine::operation::Slot;
use candor_engine::source::{Next, Source, Turn};
use candor_plan::work::BlocksOp;

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use crate::targets::passthrough::{Device, nvme};

/// A source that gathers trims of one namespace. The slot's buffer holds their list, its tag their
/// number, its length the bytes of all of them, and its offset that of the first.
pub struct TrimRanges<S> {
    inner: S,
    files: Arc<Files>,
    /// Ranges of one operation at most.
    most: u32,
    /// Trim of another file than those before it.
    held: Option<Slot>,
    /// End of the inner source that came while ranges were gathered.
    end: Option<Next>,
}

impl<S: Source> TrimRanges<S> {
    /// Wraps a source of trims. The buffer of each slot has room for [`nvme::RANGES_MAX`] ranges.
    pub fn new(inner: S, files: Arc<Files>, most: u32) -> TrimRanges<S> {
        TrimRanges { inner, files, most: most.clamp(1, nvme::RANGES_MAX), held: None, end: None }
    }

    /// The next trim of the inner source.
    fn draw(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if let Some(held) = self.held.take() {
            slot.take_over(&held);
            return Next::Ready;
        }
        self.end.take().unwrap_or_else(|| self.inner.next(slot, turn))
    }

    /// Adds a trim to the list in the slot's buffer.
    fn add(&self, slot: &mut Slot, trim: &Slot) {
        if let Some(Device::Nvme(namespace)) = &self.files.get(trim.handle).device {
            let range = namespace.range(trim.offset, trim.length);
            // SAFETY: the buffer belongs to the slot, which is not in flight, and has room for as
            // many ranges as an operation may have.
            unsafe {
                let list = slot.buffer.host().cast::<nvme::Range>();
                list.add(slot.tag as usize).write_unaligned(range);
            }
        }
        slot.tag += 1;
    }
}

impl<S: Source> Source for TrimRanges<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        match self.draw(slot, turn) {
            Next::Ready if slot.issued() == BlocksOp::Trim => {}
            other => return other,
        }
        slot.tag = 0;
        let first = *slot;
        self.add(slot, &first);
        while slot.tag < self.most {
            let mut more = first;
            match self.draw(&mut more, turn) {
                Next::Ready if more.handle == first.handle && more.op == first.op => {}
                Next::Ready => {
                    self.held = Some(more);
                    break;
                }
                other => {
                    self.end = Some(other);
                    break;
                }
            }
            self.add(slot, &more);
            slot.length += more.length;
        }
        Next::Ready
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn begin(&mut self) {
        // What the ramp drew does not bound what counts.
        self.end = None;
        self.inner.begin();
    }

    fn drain(&mut self) {
        if let Some(held) = self.held.take() {
            self.inner.give_up(&held);
        }
        self.inner.drain();
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::clock::Clock;
    use candor_engine::operation::Buffer;
    use candor_plan::work::BlocksOp;
    use candor_record::Ended;

    use super::*;
    use crate::slot::op;

    /// Trims of files, one after the other.
    struct Listed(Vec<(u32, u64, u64)>);

    impl Source for Listed {
        fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
            if self.0.is_empty() {
                return Next::End(Ended::Done);
            }
            slot.op = op(BlocksOp::Trim);
            (slot.handle, slot.offset, slot.length) = self.0.remove(0);
            Next::Ready
        }
    }

    #[test]
    fn trims_of_one_file_become_one_operation() {
        let namespace = nvme::Namespace {
            number: 1,
            block_bytes: 512,
            blocks: 1 << 20,
            format: 0,
            most_bytes: None,
            metadata: None,
        };
        let files = Arc::new(Files::of_devices(&[Device::Nvme(namespace); 2]));
        let trims =
            vec![(0, 0, 4096), (0, 8192, 512), (0, 65536, 1024), (0, 512, 512), (1, 0, 512)];
        let mut source = TrimRanges::new(Listed(trims), files, 3);
        let mut turn = Turn::new(Clock::calibrated(), BlocksOp::TABLE, |_| String::new());
        let mut buffer = vec![0_u8; 4096];
        let address = std::ptr::NonNull::new(buffer.as_mut_ptr()).expect("a buffer");
        let mut slot = Slot::empty(Buffer::Host(address));
        let mut seen = Vec::new();
        while source.next(&mut slot, &mut turn) == Next::Ready {
            seen.push((slot.handle, slot.offset, slot.length, slot.tag));
            if seen.len() == 1 {
                // SAFETY: the source wrote three ranges there.
                let list = unsafe { std::slice::from_raw_parts(address.as_ptr(), 48) };
                let number =
                    |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| list[at + i]));
                assert_eq!([number(8), number(24), number(40)], [0, 16, 128]);
                assert_eq!([list[4], list[20], list[36]], [8, 1, 2]);
            }
        }
        assert_eq!(seen, [(0, 0, 5632, 3), (0, 512, 512, 1), (1, 0, 512, 1)]);
        assert_eq!(source.next(&mut slot, &mut turn), Next::End(Ended::Done));
    }
}
