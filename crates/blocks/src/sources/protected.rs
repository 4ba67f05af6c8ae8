//! Protection information that the host makes and checks.

use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Outcome, Slot};
use candor_engine::source::{Next, Source, Turn};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::blocks::Protection;
use candor_plan::work::BlocksOp;
use candor_plan::{Bytes, PathText};
use candor_record::{Ended, MISMATCHES_KEPT, Mismatch, MismatchKind, VerifyStats};

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use crate::targets::passthrough::{Device, nvme};

/// A source that puts tags into the metadata of its writes, and checks those of its reads.
pub struct Protected<S> {
    inner: S,
    files: Arc<Files>,
    plan: Protection,
    /// Place of metadata of its own, behind the start of a slot's buffer.
    metadata_at: usize,
    /// True where reading goes on after a wrong tag.
    continues: bool,
    stats: VerifyStats,
    checking: Ticks,
}

impl<S> Protected<S> {
    /// Wraps a source whose writes are filled.
    pub fn new(
        inner: S,
        files: Arc<Files>,
        plan: Protection,
        metadata_at: usize,
        continues: bool,
    ) -> Protected<S> {
        let stats = VerifyStats::default();
        Protected { inner, files, plan, metadata_at, continues, stats, checking: Ticks(0) }
    }

    /// The namespace of an operation.
    fn namespace(&self, slot: &Slot) -> Option<nvme::Namespace> {
        match &self.files.get(slot.handle).device {
            Some(Device::Nvme(namespace)) => Some(*namespace),
            _ => None,
        }
    }

    fn make(&self, slot: &Slot) {
        let Some(namespace) = self.namespace(slot) else { return };
        // SAFETY: the slot is not in flight yet, and its buffer has room for its blocks and theirs.
        let blocks = unsafe { namespace.blocks_in(slot, self.metadata_at) };
        for (block, data, metadata, tags) in blocks {
            tags.make(data, metadata, block, self.plan.tag);
        }
    }

    /// Checks a read; false if a wrong tag is to end the work.
    fn check(&mut self, slot: &Slot) -> bool {
        let Some(namespace) = self.namespace(slot) else { return true };
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let blocks = unsafe { namespace.blocks_in(slot, self.metadata_at) };
        for (block, data, metadata, tags) in blocks {
            match tags.check(data, metadata, block, &self.plan) {
                Ok(is_checked) => self.stats.blocks += u64::from(is_checked),
                Err(wrong) => {
                    self.stats.blocks += 1;
                    let unit = namespace.unit();
                    self.mismatch(slot, block * unit, unit, wrong);
                    if !self.continues {
                        return false;
                    }
                }
            }
        }
        true
    }

    #[cold]
    fn mismatch(&mut self, slot: &Slot, offset: u64, length: u64, wrong: nvme::WrongTag) {
        *match wrong.kind {
            MismatchKind::Foreign => &mut self.stats.foreign,
            MismatchKind::Misdirected => &mut self.stats.misdirected,
            _ => &mut self.stats.flipped,
        } += 1;
        if self.stats.first.len() < MISMATCHES_KEPT {
            self.stats.first.push(Mismatch {
                path: self.files.get(slot.handle).path.text(),
                offset,
                length: Bytes(length),
                kind: wrong.kind,
                detail: wrong.detail,
                read_offset: slot.offset,
                read_length: Bytes(slot.length),
                ..Mismatch::default()
            });
        }
    }
}

impl<S: Source> Source for Protected<S> {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        let next = self.inner.next(slot, turn);
        if next == Next::Ready && slot.issued() == BlocksOp::Write {
            self.make(slot);
        }
        next
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut self.inner)
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let before = turn.clock.now();
        let reads = slot.issued() == BlocksOp::Read && outcome == Outcome::Done(slot.length);
        let intact = !reads || self.check(slot);
        self.checking += turn.clock.now() - before;
        self.inner.completed(slot, outcome, turn);
        if !intact {
            turn.end(Ended::Failed);
        }
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.inner.begin();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        self.inner.tell(end, turn);
        end.stats.verify_ns += turn.clock.ns(self.checking);
        // Blocks that are verified as well are counted there.
        let blocks = if end.verify.is_some() { 0 } else { self.stats.blocks };
        end.verify.get_or_insert_default().merge(VerifyStats { blocks, ..self.stats.clone() });
    }
}

#[cfg(test)]
mod tests {
    use candor_engine::clock::Clock;
    use candor_engine::operation::Buffer;
    use candor_record::Ended;

    use super::*;
    use crate::slot::op;
    use crate::targets::passthrough::nvme::Namespace;

    /// One operation, over and over.
    struct One(BlocksOp);

    impl Source for One {
        fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
            (slot.op, slot.offset, slot.length) = (op(self.0), 3 * 520, 2 * 520);
            Next::Ready
        }
    }

    #[test]
    fn tags_are_made_on_writes_and_checked_on_reads() {
        let files = Arc::new(Files::of_devices(&[Device::Nvme(Namespace::extended(512, 8))]));
        let plan = Protection {
            made_by_host: true,
            check_guard: true,
            check_tag: true,
            check_reference: true,
            ..Protection::DEFAULT
        };
        let source = |kind| Protected::new(One(kind), files.clone(), plan, 4096, false);
        let mut turn = Turn::new(Clock::calibrated(), BlocksOp::TABLE, |_| String::new());
        let mut buffer: Vec<u8> = (0..4096).map(|at| at as u8).collect();
        let address = std::ptr::NonNull::new(buffer.as_mut_ptr()).expect("a buffer");
        let mut slot = Slot::empty(Buffer::Host(address));
        let mut writing = source(BlocksOp::Write);
        assert_eq!(writing.next(&mut slot, &mut turn), Next::Ready);
        writing.completed(&slot, Outcome::Done(slot.length), &mut turn);
        // Behind the second block stand the application tag and the block's number.
        assert_eq!(buffer[520 + 514..520 + 520], [0x12, 0x34, 0, 0, 0, 4]);
        let mut reading = source(BlocksOp::Read);
        let read = |reading: &mut Protected<One>, turn: &mut Turn, slot: &mut Slot| {
            assert_eq!(reading.next(slot, turn), Next::Ready);
            reading.completed(slot, Outcome::Done(slot.length), turn);
        };
        read(&mut reading, &mut turn, &mut slot);
        assert_eq!((reading.stats.blocks, reading.stats.mismatches()), (2, 0));
        assert_eq!(turn.take_end(), None);
        buffer[600] ^= 1;
        read(&mut reading, &mut turn, &mut slot);
        assert_eq!(turn.take_end(), Some(Ended::Failed));
        let mut end = WorkerEnd::default();
        reading.tell(&mut end, &turn);
        let found = end.verify.expect("results");
        assert_eq!((found.blocks, found.flipped), (4, 1));
        let first = &found.first[0];
        assert_eq!((first.offset, first.length), (4 * 520, Bytes(520)));
        assert!(first.detail.starts_with("the guard of LBA 4 is 0x"), "{}", first.detail);
        // What failed holds no block that could be checked.
        reading.completed(&slot, Outcome::error(libc::EIO), &mut turn);
        assert_eq!(turn.take_end(), None);
    }
}
