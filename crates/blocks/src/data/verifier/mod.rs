//! Verification by a worker: headers into writes, checks of reads.

mod due;
mod dump;
pub mod last_numbers;
mod trail;

use std::ops::Range;
use std::sync::Arc;

use candor_plan::Bytes;
use candor_plan::blocks::{Content as ContentPlan, Format, Verify as Plan};
use candor_plan::work::BlocksOp;
use candor_record::{Mismatch, VerifyStats};

use crate::data::content::Content;
use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::clock::{Clock, Ticks};
use candor_engine::operation::{Outcome, Slot};

use self::due::Due;
use self::last_numbers::LastNumbers;
use self::trail::Trail;
use crate::data::verify::fio_header::{self, Stamp};
use crate::data::verify::{Expected, Form, Left, Map, NOTHING, UNKNOWN, Wrong, ZEROS, check_zeros};
use crate::data::words::WordMaker;

/// One worker's verification.
pub struct Verifier {
    plan: Plan,
    content: ContentPlan,
    form: Form,
    /// One map per file.
    maps: Vec<Arc<Map>>,
    clock: Clock,
    /// Tick that the times in headers count from.
    from: Ticks,
    stamp: Stamp,
    /// Buffer for the expected bytes of a block.
    scratch: Vec<u8>,
    stats: VerifyStats,
    trail: Trail,
    due: Due,
    /// Last writes that a dry run has counted.
    last: Option<Arc<LastNumbers>>,
}

impl Verifier {
    /// Verifier with the maps of the blocks of each file.
    pub fn new(
        plan: Plan,
        content: ContentPlan,
        maps: Vec<Arc<Map>>,
        clock: Clock,
        rank: u32,
    ) -> Verifier {
        let form = Form::new(&plan, content.pattern.as_ref());
        let stamp = Stamp { elapsed_ns: 0, writer: (rank + 1) as u16, number: 0 };
        let stats = VerifyStats::default();
        let (from, scratch) = (clock.now(), Vec::new());
        let trail = Trail::new(&plan, maps.len());
        let due = plan.read_back.map_or_else(Due::nothing, |_| Due::new(&maps));
        let last = None;
        Verifier { plan, content, form, maps, clock, from, stamp, scratch, stats, trail, due, last }
    }

    /// With the numbers of the last writes, by which blocks are checked.
    pub fn with_last(self, last: Option<Arc<LastNumbers>>) -> Verifier {
        Verifier { last, ..self }
    }

    /// With the words by which operations are checked.
    pub fn with_words(self, words: WordMaker) -> Verifier {
        Verifier { form: Form::Words(words), ..self }
    }

    fn map(&self, slot: &Slot) -> &Map {
        &self.maps[slot.handle as usize]
    }

    /// Claims the blocks of an operation; false while a write to one of them is in flight.
    pub fn begin(&mut self, slot: &mut Slot) -> bool {
        match slot.issued() {
            BlocksOp::Read | BlocksOp::ReadBack => {
                match self.map(slot).begin_read(slot.offset, slot.length) {
                    None => false,
                    Some(state) => {
                        slot.tag = state;
                        if slot.reads_back() {
                            self.due.mark(&self.maps[slot.handle as usize], slot, false);
                            if self.stands_for_write(slot) {
                                self.trail.issued();
                            }
                        }
                        true
                    }
                }
            }
            BlocksOp::Write | BlocksOp::Trim => {
                let begins = self.map(slot).begin_write(slot.offset, slot.length);
                if begins {
                    self.due.mark(&self.maps[slot.handle as usize], slot, true);
                }
                if begins && slot.issued() == BlocksOp::Write {
                    self.trail.issued();
                }
                begins
            }
            _ => true,
        }
    }

    /// True if a read lies beyond all completed writes: reading ends before it.
    pub fn ends_before(&mut self, slot: &Slot) -> bool {
        slot.issued() == BlocksOp::Read
            && (self.plan.reads || slot.reads_back())
            && self.trail.ends_before(slot)
    }

    /// True for reads in place of writes: the writes count as done.
    fn stands_for_write(&self, slot: &Slot) -> bool {
        slot.reads_back() && self.plan.read_back.is_some_and(|back| back.only)
    }

    /// True if a block of the operation was written and not read back yet.
    pub fn is_due(&self, slot: &Slot) -> bool {
        self.due.is_due(self.map(slot), slot)
    }

    /// Forgets the blocks between these bytes: a zone was reset.
    pub fn forget(&self, file: u32, bytes: Range<u64>) {
        let map = &self.maps[file as usize];
        map.end_write(bytes.start, bytes.end - bytes.start, Left::Unsure);
    }

    /// Makes the bytes of a write, headers included.
    #[inline(always)]
    pub fn write(&mut self, slot: &Slot, content: &mut Content) {
        // SAFETY: the slot's buffer has room for its length and is not in flight yet.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        let keyed = matches!(self.plan.format, Format::Acca(_)) && !content.is_pattern();
        if !keyed {
            content.bytes(buffer, slot.offset);
        }
        if matches!(self.form, Form::Pattern(_) | Form::Words(_) | Form::Nothing) {
            return;
        }
        self.stamp.elapsed_ns = self.clock.ns(self.clock.now() - self.from);
        let interval = self.plan.interval.0 as usize;
        for (index, block) in buffer.chunks_exact_mut(interval).enumerate() {
            let offset = slot.offset + (index * interval) as u64;
            let generation = self.maps[slot.handle as usize].under_way(offset);
            let as_of = self.expected(offset, generation);
            if keyed {
                content.keyed(block, fio_header::seed_of(&as_of), slot.offset);
            }
            self.form.seal(block, &as_of, &self.stamp);
        }
        self.stamp.number = self.stamp.number.wrapping_add(1);
    }

    #[inline(always)]
    fn expected(&self, offset: u64, generation: u32) -> Expected {
        Expected { offset, seed: self.plan.seed.unwrap_or_default(), generation, number: None }
    }

    /// Ends an operation; false if a mismatch is to end the job.
    pub fn end(&mut self, slot: &Slot, outcome: Outcome, files: &Files) -> bool {
        let whole = outcome == Outcome::Done(slot.length);
        if whole && (slot.issued() == BlocksOp::Write || self.stands_for_write(slot)) {
            self.trail.finished(slot);
        }
        let left = match slot.issued() {
            BlocksOp::Write if whole => Left::Written,
            BlocksOp::Trim if whole && self.plan.zeros_after_trim => Left::Zeroed,
            BlocksOp::Write | BlocksOp::Trim => Left::Unsure,
            BlocksOp::Fsync | BlocksOp::Fdatasync if matches!(outcome, Outcome::Done(_)) => {
                self.trail.synced(slot.handle);
                return true;
            }
            BlocksOp::Read if whole && (self.plan.reads || slot.reads_back()) => {
                return self.check(slot, files);
            }
            _ => return true,
        };
        self.map(slot).end_write(slot.offset, slot.length, left);
        if left == Left::Unsure {
            self.due.mark(&self.maps[slot.handle as usize], slot, false);
        }
        true
    }

    fn check(&mut self, slot: &Slot, files: &Files) -> bool {
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        let interval = self.plan.interval.0 as usize;
        let map = self.maps[slot.handle as usize].clone();
        let mut intact = true;
        for (index, block) in buffer.chunks_exact_mut(interval).enumerate() {
            let at = index * interval;
            let offset = slot.offset + at as u64;
            let mut generation = map.finished(offset);
            let checked = match generation {
                NOTHING => continue,
                ZEROS => check_zeros(block),
                _ => {
                    let last = self.last.as_ref();
                    let number =
                        last.and_then(|last| last.number(&map, slot.handle, offset, generation));
                    if !self.knows_seeds(&map) {
                        generation = UNKNOWN;
                    }
                    let expected = Expected { number, ..self.expected(offset, generation) };
                    self.form.check(block, &expected, (slot.offset, at), &mut self.scratch)
                }
            };
            self.stats.blocks += 1;
            let Err(wrong) = checked else { continue };
            if map.begin_read(slot.offset, slot.length) != Some(slot.tag) {
                // A write to these blocks began after the read: the bytes may be older or newer
                // than expected.
                return true;
            }
            intact = false;
            self.mismatch(slot, block, offset, wrong, files);
            if !self.plan.continue_on_mismatch {
                break;
            }
        }
        intact || self.plan.continue_on_mismatch
    }

    /// True where the seed of a block is that of its generation: what a dry run has counted may
    /// have been written with other seeds.
    #[inline(always)]
    fn knows_seeds(&self, map: &Map) -> bool {
        match self.plan.dry_run {
            Some(by) if !map.is_written() => by.by_seed(),
            _ => self.plan.generations,
        }
    }

    #[cold]
    fn mismatch(&mut self, slot: &Slot, block: &[u8], offset: u64, wrong: Wrong, files: &Files) {
        let path = &files.get(slot.handle).path;
        let mut detail = wrong.detail;
        if let Some(directory) = &self.plan.dump {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = directory.join(format!("{name}.{offset}"));
            let expected = match wrong.in_header {
                true => None,
                false => Some(self.expected_bytes(slot, block, offset)),
            };
            detail += &dump::dump(&stem, block, expected);
        }
        self.stats.add(Mismatch {
            path: path.display().to_string(),
            offset,
            length: Bytes(block.len() as u64),
            kind: wrong.kind,
            detail,
            read_offset: slot.offset,
            read_length: Bytes(slot.length),
        });
    }

    /// Expected bytes of a block, as far as its header is right; none where they cannot be known.
    fn expected_bytes(&self, slot: &Slot, block: &[u8], offset: u64) -> Option<Vec<u8>> {
        let at = (offset - slot.offset) as usize;
        dump::expected(&self.form, &self.content, self.plan.seed.unwrap_or_default(), block, {
            (slot.offset, at)
        })
    }

    /// Results so far.
    pub fn stats(&self) -> VerifyStats {
        VerifyStats { last_writes: self.trail.last_writes(), ..self.stats.clone() }
    }
}
