//! Verification by a worker: headers in writes, checks of reads.

mod due;
mod dump;
pub mod last_numbers;
mod mismatches;
mod trail;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use candor_plan::blocks::{Content as ContentPlan, Format, UnknownBlocks, Verify as Plan};
use candor_plan::work::BlocksOp;
use candor_record::{LastUse, VerifyStats};

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_bytes::content::Content;
use candor_engine::clock::{Clock, Ticks};
use candor_engine::operation::{Outcome, Slot};

use self::due::Due;
use self::last_numbers::LastNumbers;
use self::trail::Trail;
use candor_bytes::mismatch::BlockMismatch;
use candor_bytes::verify::fio_header::{self, Stamp};
use candor_bytes::verify::last_uses::unix_ms;
use candor_bytes::verify::{
    BAD, BlockChange, Expected, Form, Left, Map, NOTHING, PendingWrite, UNKNOWN, ZEROS,
    check_pending, check_zeros,
};
use candor_bytes::words::WordMaker;

/// Tag of a read before a write, which holds the write's claim. States of reads never have this
/// bit.
const BEFORE_WRITE: u32 = 1 << 31;

/// A block whose generation a check has determined.
struct Settled {
    offset: u64,
    /// Generation in the map.
    from: u32,
    /// Generation that the check found.
    to: u32,
}

/// State of the blocks of a read, with which it is compared; none while a write is in flight.
fn state(map: &Map, slot: &Slot) -> Option<u32> {
    map.begin_read(slot.offset, slot.length).map(|state| state & !BEFORE_WRITE)
}

/// Begin of an operation on verified blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The operation has claimed its blocks and may start.
    Ready,
    /// The operation has claimed its blocks, but must read them before it writes.
    ReadFirst,
    /// A write to one of its blocks is in flight; no block is claimed.
    Busy,
}

/// State of the verified blocks, shared by all workers of a job.
#[derive(Clone, Default)]
pub struct SharedBlocks {
    /// One map per file.
    pub maps: Vec<Arc<Map>>,
    /// Seed in the headers of each file.
    pub seeds: Arc<[u64]>,
    /// Blocks that did not match, over all jobs that count them.
    pub mismatches: Arc<AtomicU64>,
}

/// One worker's verification.
pub struct Verifier {
    plan: Plan,
    content: ContentPlan,
    form: Form,
    /// One map per file.
    maps: Vec<Arc<Map>>,
    seeds: Arc<[u64]>,
    mismatches: Arc<AtomicU64>,
    clock: Clock,
    /// Tick that the times in headers count from.
    from: Ticks,
    /// Time of that tick, in ms since 1970, if times are recorded; otherwise 0.
    from_unix_ms: u64,
    /// True if operations on some blocks are skipped.
    avoids: bool,
    stamp: Stamp,
    /// Buffer for the expected bytes of a block.
    scratch: Vec<u8>,
    /// Blocks whose generation the checks of the current read have determined.
    settled: Vec<Settled>,
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
        shared: SharedBlocks,
        clock: Clock,
        rank: u32,
    ) -> Verifier {
        let SharedBlocks { maps, seeds, mismatches } = shared;
        let form = Form::new(&plan, content.pattern.as_ref());
        let stamp = Stamp { writer: (rank + 1) as u16, ..Stamp::default() };
        let from_unix_ms = if plan.times { unix_ms() } else { 0 };
        let avoids = plan.mismatches_max.is_some() || plan.unknown == UnknownBlocks::Skip;
        let from = clock.now();
        let trail = Trail::new(&plan, maps.len());
        let due = plan.read_back.map_or_else(Due::nothing, |_| Due::new(&maps));
        Verifier {
            plan,
            content,
            form,
            maps,
            seeds,
            mismatches,
            clock,
            from,
            from_unix_ms,
            avoids,
            stamp,
            scratch: Vec::new(),
            settled: Vec::new(),
            stats: VerifyStats::default(),
            trail,
            due,
            last: None,
        }
    }

    /// Sets the numbers of the last writes, with which blocks are checked.
    pub fn with_last(self, last: Option<Arc<LastNumbers>>) -> Verifier {
        Verifier { last, ..self }
    }

    /// Sets the words with which operations are checked.
    pub fn with_words(self, words: WordMaker) -> Verifier {
        Verifier { form: Form::Words(words), ..self }
    }

    fn map(&self, slot: &Slot) -> &Map {
        &self.maps[slot.handle as usize]
    }

    /// Claims the blocks of an operation, unless a write to one of them is in flight.
    pub fn begin(&mut self, slot: &mut Slot) -> Begun {
        match slot.issued() {
            BlocksOp::Read | BlocksOp::ReadBack => {
                let Some(state) = state(self.map(slot), slot) else {
                    return Begun::Busy;
                };
                slot.tag = state;
                if slot.reads_back() {
                    self.due.mark(&self.maps[slot.handle as usize], slot, false);
                    if self.stands_for_write(slot) {
                        self.trail.issued(slot);
                    }
                }
            }
            BlocksOp::Write | BlocksOp::Trim => {
                if !self.map(slot).begin_write(slot.offset, slot.length) {
                    return Begun::Busy;
                }
                let is_first_read = self.plan.read_before_write
                    && slot.issued() == BlocksOp::Write
                    && self.map(slot).is_known(slot.offset, slot.length);
                if is_first_read {
                    slot.tag = BEFORE_WRITE;
                    return Begun::ReadFirst;
                }
                self.issue(slot);
            }
            _ => {}
        }
        Begun::Ready
    }

    /// Counts a write or trim, whose blocks are claimed, as issued.
    pub fn issue(&mut self, slot: &Slot) {
        self.due.mark(&self.maps[slot.handle as usize], slot, true);
        if slot.issued() == BlocksOp::Write {
            self.trail.issued(slot);
        }
    }

    /// True if an operation is skipped: one of its blocks did not match, or it is a read of blocks
    /// without a known write.
    #[inline(always)]
    pub fn leaves_out(&self, slot: &Slot) -> bool {
        self.avoids && self.leaves_out_blocks(slot)
    }

    fn leaves_out_blocks(&self, slot: &Slot) -> bool {
        if slot.flushes() {
            return false;
        }
        let map = self.map(slot);
        let skips = self.plan.unknown == UnknownBlocks::Skip && slot.issued() == BlocksOp::Read;
        (skips && map.is_nothing(slot.offset, slot.length))
            || (self.plan.mismatches_max.is_some() && map.has_bad(slot.offset, slot.length))
    }

    /// True for the read before a write.
    #[inline(always)]
    pub fn is_before_write(&self, slot: &Slot) -> bool {
        slot.tag == BEFORE_WRITE && slot.reads_back()
    }

    /// Releases the claim of a write that does not happen.
    pub fn release(&self, slot: &Slot) {
        self.map(slot).end_write(slot.offset, slot.length, Left::Untouched);
    }

    /// Changes of the blocks of a claimed write.
    pub fn changes(&self, slot: &Slot) -> impl Iterator<Item = BlockChange> + '_ {
        self.map(slot).writes(slot.offset, slot.length)
    }

    /// True if a read is beyond all completed writes: reading ends before it.
    pub fn ends_before(&mut self, slot: &Slot) -> bool {
        slot.issued() == BlocksOp::Read
            && (self.plan.reads || slot.reads_back())
            && self.trail.ends_before(slot)
    }

    /// True for reads instead of writes: the writes count as done.
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

    /// Fills the buffer of a write, headers included.
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
        if self.plan.times {
            self.stamp.unix_s = (self.now_unix_ms() / 1000) as u32;
        }
        let interval = self.plan.interval.0 as usize;
        for (index, block) in buffer.chunks_exact_mut(interval).enumerate() {
            let offset = slot.offset + (index * interval) as u64;
            let generation = self.maps[slot.handle as usize].under_way(offset);
            let as_of = self.expected(slot.handle, offset, generation);
            if keyed {
                content.keyed(block, fio_header::seed_of(&as_of), slot.offset);
            }
            self.form.seal(block, &as_of, &self.stamp);
        }
        self.stamp.number = self.stamp.number.wrapping_add(1);
    }

    #[inline(always)]
    fn expected(&self, file: u32, offset: u64, generation: u32) -> Expected {
        Expected { offset, seed: self.seeds[file as usize], generation, number: None }
    }

    /// Current time, in ms since 1970, if times are recorded.
    fn now_unix_ms(&self) -> u64 {
        self.from_unix_ms + self.clock.ns(self.clock.now() - self.from) / 1_000_000
    }

    /// Records the use of an operation's blocks, if times are recorded.
    fn used(&self, slot: &Slot, is_write: bool) {
        if self.plan.times {
            let last = LastUse { unix_ms: self.now_unix_ms(), is_write };
            self.map(slot).used(slot.offset, slot.length, last);
        }
    }

    /// Ends the read before a write: true if the write follows, none if a mismatch ends the job. If
    /// the write does not follow, its claim is released.
    pub fn end_before_write(
        &mut self,
        slot: &Slot,
        outcome: Outcome,
        files: &Files,
    ) -> Option<bool> {
        if outcome != Outcome::Done(slot.length) {
            self.release(slot);
            return Some(false);
        }
        let found = self.stats.mismatches();
        let continues = self.check(slot, files);
        self.used(slot, false);
        let is_intact = self.stats.mismatches() == found;
        if !is_intact {
            self.release(slot);
        }
        continues.then_some(is_intact)
    }

    /// A flush of a file begins.
    pub fn flush_begins(&mut self, file: u32) {
        self.trail.flush_begins(file);
    }

    /// A flush of a file succeeded.
    pub fn flush_ended(&mut self, file: u32) {
        self.trail.flush_ended(file);
    }

    /// Ends an operation; false if a mismatch ends the job.
    pub fn end(&mut self, slot: &Slot, outcome: Outcome, files: &Files) -> bool {
        let whole = outcome == Outcome::Done(slot.length);
        if whole && (slot.issued() == BlocksOp::Write || self.stands_for_write(slot)) {
            self.trail.finished(slot);
        } else if slot.issued() == BlocksOp::Write {
            self.trail.failed(slot);
        }
        let left = match slot.issued() {
            BlocksOp::Write if whole => Left::Written,
            BlocksOp::Trim if whole && self.plan.zeros_after_trim => Left::Zeroed,
            BlocksOp::Write | BlocksOp::Trim => Left::Unsure,
            BlocksOp::Fsync | BlocksOp::Fdatasync if matches!(outcome, Outcome::Done(_)) => {
                self.trail.flush_begins(slot.handle);
                self.trail.flush_ended(slot.handle);
                return true;
            }
            BlocksOp::Read if whole && (self.plan.reads || slot.reads_back()) => {
                let continues = self.check(slot, files);
                self.used(slot, false);
                return continues;
            }
            _ => return true,
        };
        if left == Left::Written {
            self.used(slot, true);
        }
        self.map(slot).end_write(slot.offset, slot.length, left);
        if left == Left::Unsure {
            self.due.mark(&self.maps[slot.handle as usize], slot, false);
        }
        true
    }

    /// Checks the blocks of a read; false if a mismatch ends the job.
    fn check(&mut self, slot: &Slot, files: &Files) -> bool {
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        let map = self.maps[slot.handle as usize].clone();
        let is_claimed = self.is_before_write(slot);
        let mut continues = true;
        self.form.expect(slot.offset, buffer.len(), &mut self.scratch);
        for (at, block) in self.blocks(&map, slot, buffer) {
            let offset = slot.offset + at as u64;
            let wrong = match self.check_block(&map, slot, block, at) {
                Some(Ok(())) => {
                    self.stats.blocks += 1;
                    continue;
                }
                Some(Err(wrong)) => wrong,
                None => {
                    self.stats.unknown += 1;
                    continue;
                }
            };
            let overlaps_write = !is_claimed && state(&map, slot) != Some(slot.tag);
            if overlaps_write || map.is_contested(offset, block.len() as u64) {
                // A write to these blocks began after the read, or other jobs write them without
                // this map: the bytes may be older or newer than expected.
                self.stats.unknown += 1;
                continue;
            }
            self.stats.blocks += 1;
            if self.plan.mismatches_max.is_some() {
                self.settled.push(Settled { offset, from: map.finished(offset), to: BAD });
            }
            continues = self.mismatch(slot, block, offset, wrong, files);
            if !continues {
                break;
            }
        }
        // Only now, because the checks above compare the state at the start of the read.
        for Settled { offset, from, to } in self.settled.drain(..) {
            map.settle(offset, from, to, is_claimed);
        }
        continues
    }

    /// Verified blocks of an operation, each with its distance from the start. The first and the
    /// last block may be partial, if the format checks partial blocks.
    fn blocks<'b>(
        &self,
        map: &Map,
        slot: &Slot,
        bytes: &'b mut [u8],
    ) -> impl Iterator<Item = (usize, &'b mut [u8])> + use<'b> {
        let (interval, parts) = (self.plan.interval.0 as usize, self.form.checks_parts());
        let (_, origin) = map.geometry();
        let begun = (slot.offset.saturating_sub(origin) % interval as u64) as usize;
        let lead = if parts && begun > 0 { (interval - begun).min(bytes.len()) } else { 0 };
        let (head, rest) = bytes.split_at_mut(lead);
        let rest = rest.chunks_mut(interval).enumerate();
        let rest = rest.map(move |(index, block)| (lead + index * interval, block));
        let all = std::iter::once((0, head)).chain(rest);
        all.filter(move |(_, block)| block.len() == interval || (parts && !block.is_empty()))
    }

    /// Checks a block, `at` bytes after the start of its read; none if the block is unknown.
    fn check_block(
        &mut self,
        map: &Map,
        slot: &Slot,
        block: &mut [u8],
        at: usize,
    ) -> Option<Result<(), BlockMismatch>> {
        let offset = slot.offset + at as u64;
        let mut generation = map.finished(offset);
        if map.is_pending(offset) {
            return self.check_pending(map, slot, block, at);
        }
        match generation {
            NOTHING | BAD => return None,
            ZEROS => return Some(check_zeros(block)),
            UNKNOWN if self.plan.unknown == UnknownBlocks::ByHeader && !self.plan.vouches() => {
                let expected = self.expected(slot.handle, offset, UNKNOWN);
                return self.form.check_by_header(block, &expected, at, &mut self.scratch);
            }
            _ => {}
        }
        let last = self.last.as_ref();
        let number = last.and_then(|last| last.number(map, slot.handle, offset, generation));
        if !self.knows_seeds(map) {
            generation = UNKNOWN;
        }
        let expected = Expected { number, ..self.expected(slot.handle, offset, generation) };
        Some(self.form.check(block, &expected, at, &mut self.scratch))
    }

    /// Checks a block with a pending write: its content must be from before or after that write.
    /// The result settles its generation.
    #[cold]
    fn check_pending(
        &mut self,
        map: &Map,
        slot: &Slot,
        block: &mut [u8],
        at: usize,
    ) -> Option<Result<(), BlockMismatch>> {
        let offset = slot.offset + at as u64;
        let (new, old) = (map.finished(offset), map.older(offset));
        let (result, is_now) = check_pending(PendingWrite { new, old }, |generation| {
            let expected = self.expected(slot.handle, offset, generation);
            self.form.check(block, &expected, at, &mut self.scratch)
        });
        self.settled.extend(is_now.map(|now| Settled { offset, from: new, to: now }));
        result
    }

    /// True if the seed of a block depends on its generation. Writes that a dry run has counted may
    /// have other seeds.
    #[inline(always)]
    fn knows_seeds(&self, map: &Map) -> bool {
        match self.plan.dry_run {
            Some(by) if !map.is_written() => by.by_seed(),
            _ => self.plan.generations,
        }
    }

    /// Results so far.
    pub fn stats(&self) -> VerifyStats {
        VerifyStats { last_writes: self.trail.last_writes(), ..self.stats.clone() }
    }
}
