//! Bytes of files: contents of writes, and checks of reads.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use candor_bytes::content::Content;
use candor_bytes::mismatch::BlockMismatch;
use candor_bytes::verify::fio_header::{self, Stamp};
use candor_bytes::verify::last_uses::unix_ms;
use candor_bytes::verify::{Expected, Form, Left, PendingWrite, UNKNOWN, check_pending};
use candor_bytes::words::WordMaker;
use candor_engine::operation::Slot;
use candor_engine::random::mix;
use candor_plan::Bytes;
use candor_plan::blocks::{Format, UnknownBlocks, Verify, Words};
use candor_record::{LastUse, Mismatch, MismatchKind, SeenBy, VerifyStats};

use crate::catalog::Catalog;
use crate::generations::{Generations, Part};
use crate::places::FileKey;

/// Generation of all blocks if writes are not tracked: one pass writes each file.
const GENERATION: u32 = 1;

/// Contents of a worker's writes, and checks of its reads.
pub struct Contents {
    content: Content,
    checks: Option<Checks>,
    /// Words with the owner and the number of each file, instead of other content.
    words: Option<Words>,
}

struct Checks {
    plan: Verify,
    form: Form,
    stamp: Stamp,
    /// Last writes to blocks, if checks use them.
    tracked: Option<Tracked>,
    /// Buffer for the expected bytes of a block.
    scratch: Vec<u8>,
    stats: VerifyStats,
}

/// Last writes to the blocks of a tree.
#[derive(Clone)]
pub struct Tracked {
    /// The table of the tree.
    pub catalog: Arc<Catalog>,
    /// Blocks that did not match, over all jobs that count them.
    pub mismatches: Arc<AtomicU64>,
}

impl Tracked {
    fn generations(&self) -> Option<&Generations> {
        self.catalog.generations()
    }
}

/// A file, and the part of it that an operation reads or writes.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    /// Identity of the file.
    pub key: FileKey,
    /// The part.
    pub part: Part,
}

/// A read to be checked.
#[derive(Clone, Copy)]
pub struct Read<'a> {
    /// The slot of the read.
    pub slot: &'a Slot,
    /// The file and part.
    pub of: &'a Of,
    /// Purpose of the read.
    pub seen_by: SeenBy,
}

/// Result of the checks of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// True if all blocks match.
    pub is_intact: bool,
    /// True if the job continues.
    pub continues: bool,
}

impl Checked {
    const INTACT: Checked = Checked { is_intact: true, continues: true };
}

impl Contents {
    /// Contents of a worker; data can be checked if `verify` is set.
    pub fn new(
        content: Content,
        verify: Option<Verify>,
        tracked: Option<Tracked>,
        rank: u32,
    ) -> Contents {
        let checks = verify.map(|plan| Checks {
            form: Form::new(&plan, content.pattern()),
            plan,
            stamp: Stamp { elapsed_ns: 0, writer: (rank + 1) as u16, ..Stamp::default() },
            tracked,
            scratch: Vec::new(),
            stats: VerifyStats::default(),
        });
        Contents { content, checks, words: None }
    }

    /// Adds words with the owner and the number of each file, if the plan requests them.
    pub fn with_words(self, words: Option<Words>) -> Contents {
        Contents { words, ..self }
    }

    /// Fills the buffer of a write.
    #[inline(always)]
    pub fn write(&mut self, slot: &mut Slot, of: &Of) {
        if self.checks.is_none() && self.words.is_none() {
            return self.content.write(slot);
        }
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        match (&self.words, &mut self.checks) {
            (Some(words), _) => fill_words(*words, bytes, &of.key),
            (None, Some(checks)) => {
                checks.write(bytes, slot.offset, &mut self.content, of);
            }
            (None, None) => {}
        }
    }

    /// Checks a read.
    pub fn check(&mut self, read: &Read<'_>, path: impl Fn() -> String) -> Checked {
        let (Some(checks), slot) = (&mut self.checks, read.slot) else {
            return Checked::INTACT;
        };
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        match self.words.filter(|_| checks.plan.format == Format::Words) {
            Some(words) => {
                let checked = checks.check_words(words, bytes, &read.of.key);
                checks.count_words(slot, checked, path)
            }
            None => checks.check(bytes, read, path),
        }
    }

    /// True if the blocks of a write must be read before it.
    pub fn reads_first(&self, part: &Part) -> bool {
        let checks = self.checks.as_ref().filter(|checks| checks.plan.read_before_write);
        let generations = checks.and_then(Checks::generations);
        generations.is_some_and(|generations| generations.is_known(part))
    }

    /// True if an operation is skipped because one of its blocks did not match.
    pub fn leaves_out(&self, part: &Part) -> bool {
        let generations = self.checks.as_ref().and_then(Checks::generations);
        generations.is_some_and(|generations| generations.has_bad(part))
    }

    /// State of the blocks after a write; none if writes are not tracked.
    pub fn left_by(&self, part: &Part, left: Left) -> Option<Left> {
        let is_whole = self.checks.as_ref()?.generations()?.is_whole(part);
        Some(if left == Left::Written && !is_whole { Left::Unsure } else { left })
    }

    /// Records the state of the blocks after a write.
    pub fn written(&self, part: &Part, left: Left) {
        let Some(checks) = &self.checks else { return };
        let Some(generations) = checks.generations() else { return };
        generations.end_write(part, left);
        if checks.plan.times && left == Left::Written {
            generations.used(part, LastUse { unix_ms: unix_ms(), is_write: true });
        }
    }

    /// Results so far, if reads are checked.
    pub fn stats(&self) -> Option<&VerifyStats> {
        self.checks.as_ref().map(|checks| &checks.stats)
    }
}

/// Length of a word.
const WORD_BYTES: usize = 8;

/// Maker of the words of a file: the writer is its owner, the position is its number.
fn maker(words: Words, key: &FileKey) -> WordMaker {
    WordMaker::new(words, key.owner, u64::MAX)
}

/// Fills a whole file with its words; each byte after the last whole word holds its own offset.
fn fill_words(words: Words, bytes: &mut [u8], key: &FileKey) {
    let whole = bytes.len() / WORD_BYTES * WORD_BYTES;
    maker(words, key).fill(&mut bytes[..whole], key.slot);
    for (byte, at) in bytes[whole..].iter_mut().zip(whole..) {
        *byte = at as u8;
    }
}

impl Checks {
    /// Checks a whole file of words, or its start.
    fn check_words(
        &mut self,
        words: Words,
        bytes: &[u8],
        key: &FileKey,
    ) -> Result<(), BlockMismatch> {
        let whole = bytes.len() / WORD_BYTES * WORD_BYTES;
        let maker = maker(words, key);
        maker.check(&bytes[..whole], key.slot, &mut self.scratch)?;
        // If a longer file was written, the rest is the start of its next word.
        self.scratch.resize(whole + WORD_BYTES, 0);
        maker.fill(&mut self.scratch, key.slot);
        let rest = &bytes[whole..];
        let numbers = rest.iter().zip(whole..).all(|(byte, at)| *byte == at as u8);
        if numbers || self.scratch[whole..].starts_with(rest) {
            return Ok(());
        }
        let detail = "the bytes after the last whole word differ".to_owned();
        Err(BlockMismatch::of(MismatchKind::Flipped, detail))
    }

    /// Counts a checked file of words.
    fn count_words(
        &mut self,
        slot: &Slot,
        checked: Result<(), BlockMismatch>,
        path: impl Fn() -> String,
    ) -> Checked {
        self.stats.blocks += 1;
        let Err(wrong) = checked else { return Checked::INTACT };
        let (offset, length) = (slot.offset, Bytes(slot.length));
        self.stats.add(Mismatch { path: path(), offset, length, ..wrong.of_read(slot) });
        Checked { is_intact: false, continues: self.plan.continue_on_mismatch }
    }

    fn generations(&self) -> Option<&Generations> {
        self.tracked.as_ref().and_then(Tracked::generations)
    }

    /// Offset and bytes of each verified block. The end of a file without room for a header is not
    /// verified.
    fn blocks<'b>(
        &self,
        bytes: &'b mut [u8],
    ) -> impl Iterator<Item = (usize, &'b mut [u8])> + use<'b> {
        let (interval, header) = (self.plan.interval.0 as usize, self.plan.header_bytes() as usize);
        let blocks = bytes.chunks_mut(interval).enumerate();
        let blocks = blocks.map(move |(index, block)| (index * interval, block));
        blocks.filter(move |(_, block)| block.len() >= header)
    }

    fn expected(&self, offset: u64, key: u64, generation: u32) -> Expected {
        let seed = mix(self.plan.seed.unwrap_or_default(), key);
        Expected { offset, seed, generation, number: None }
    }

    fn write(&mut self, bytes: &mut [u8], offset: u64, content: &mut Content, of: &Of) {
        let key = of.key.number;
        let keyed = matches!(self.plan.format, Format::Acca(_)) && !content.is_pattern();
        if !keyed {
            content.bytes(bytes, offset);
        }
        if let Some(generations) = self.generations() {
            generations.begin_write(&of.part);
            self.stamp.unix_s = if self.plan.times { (unix_ms() / 1000) as u32 } else { 0 };
        }
        if matches!(self.form, Form::Pattern(_) | Form::Nothing) {
            return;
        }
        for (at, block) in self.blocks(bytes) {
            let part = Part { offset: offset + at as u64, length: 1, ..of.part };
            let generation =
                self.generations().map_or(GENERATION, |generations| generations.under_way(&part));
            let as_of = self.expected(part.offset, key, generation);
            if keyed {
                content.keyed(block, fio_header::seed_of(&as_of), offset);
            }
            self.form.seal(block, &as_of, &self.stamp);
        }
        self.stamp.number = self.stamp.number.wrapping_add(1);
    }

    /// Generation that a block must have; none if it cannot be checked.
    fn generation(&self, part: &Part) -> Option<u32> {
        match self.generations() {
            None => Some(UNKNOWN),
            // Partial blocks are unknown.
            Some(generations) if !generations.is_whole(part) => None,
            Some(generations) => generations.finished(part),
        }
    }

    fn check(&mut self, bytes: &mut [u8], read: &Read<'_>, path: impl Fn() -> String) -> Checked {
        let Read { slot, of, seen_by } = *read;
        let mut checked = Checked::INTACT;
        self.form.expect(slot.offset, bytes.len(), &mut self.scratch);
        for (at, block) in self.blocks(bytes) {
            let offset = slot.offset + at as u64;
            let part = Part { offset, length: block.len() as u64, ..of.part };
            let found = self.generation(&part).and_then(|generation| {
                let found = self.check_block(block, &Of { part, ..*of }, generation, at)?;
                Some((generation, found))
            });
            let Some((generation, found)) = found else {
                self.stats.unknown += 1;
                continue;
            };
            self.stats.blocks += 1;
            let Err(wrong) = found else { continue };
            checked.is_intact = false;
            self.stats.add(Mismatch {
                path: path(),
                offset,
                length: Bytes(block.len() as u64),
                seen_by,
                last_use: self.generations().and_then(|of| of.last_use(&part)),
                ..wrong.of_read(slot)
            });
            checked.continues &= self.continues_after(&part, generation);
            if !checked.continues {
                break;
            }
        }
        if self.plan.times
            && checked.is_intact
            && let Some(generations) = self.generations()
        {
            generations.used(&of.part, LastUse { unix_ms: unix_ms(), is_write: false });
        }
        checked
    }

    /// Checks a block, `at` bytes after the offset of its read; none if the block is unknown.
    fn check_block(
        &mut self,
        block: &mut [u8],
        of: &Of,
        generation: u32,
        at: usize,
    ) -> Option<Result<(), BlockMismatch>> {
        let (key, part) = (of.key.number, &of.part);
        if generation == UNKNOWN
            && self.plan.unknown == UnknownBlocks::ByHeader
            && !self.plan.vouches()
        {
            let expected = self.expected(part.offset, key, UNKNOWN);
            return self.form.check_by_header(block, &expected, at, &mut self.scratch);
        }
        let older = self.generations().and_then(|generations| generations.older(part));
        let mut check = |generation| {
            let expected = self.expected(part.offset, key, generation);
            self.form.check(block, &expected, at, &mut self.scratch)
        };
        let Some(older) = older else { return Some(check(generation)) };
        let (result, is_now) = check_pending(PendingWrite { new: generation, old: older }, check);
        if let Some((generations, now)) = self.generations().zip(is_now) {
            generations.settle(part, generation, now);
        }
        result
    }

    /// Skips a block that did not match from now on; false if the mismatch ends the job.
    #[cold]
    fn continues_after(&self, part: &Part, generation: u32) -> bool {
        let Some(tracked) = &self.tracked else { return self.plan.continue_on_mismatch };
        if let Some(generations) = tracked.generations() {
            generations.leave_alone(part, generation);
        }
        match self.plan.mismatches_max {
            Some(most) => tracked.mismatches.fetch_add(1, Relaxed) + 1 < most,
            None => self.plan.continue_on_mismatch,
        }
    }
}
