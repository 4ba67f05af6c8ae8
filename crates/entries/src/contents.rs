//! Bytes of files: their content, and the data by which reads are checked.

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

/// Write of a block: every file is written by one pass over it.
const GENERATION: u32 = 1;

/// Contents of what a worker writes, and checks of what it reads.
pub struct Contents {
    content: Content,
    checks: Option<Checks>,
    /// Words that tell the owner and the number of each file, instead of other content.
    words: Option<Words>,
}

struct Checks {
    plan: Verify,
    form: Form,
    stamp: Stamp,
    /// Last writes to blocks, where the checks go by them.
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
    /// The file among all others.
    pub key: FileKey,
    /// The part.
    pub part: Part,
}

/// Result of the checks of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// All blocks match.
    pub is_intact: bool,
    /// The job goes on.
    pub goes_on: bool,
}

impl Contents {
    /// Contents of a worker; with data to be checked, where `verify` is given.
    pub fn new(
        content: Content,
        (verify, tracked): (Option<Verify>, Option<Tracked>),
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

    /// With words that tell the owner and the number of each file, where the plan says so.
    pub fn with_words(self, words: Option<Words>) -> Contents {
        Contents { words, ..self }
    }

    /// Makes the bytes of a write.
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
                checks.write(bytes, slot.offset, (&mut self.content, of));
            }
            (None, None) => {}
        }
    }

    /// Checks a read; `seen_by` is what it was made for.
    pub fn check(
        &mut self,
        slot: &Slot,
        (of, seen_by): (&Of, SeenBy),
        path: impl Fn() -> String,
    ) -> Checked {
        let Some(checks) = &mut self.checks else {
            return Checked { is_intact: true, goes_on: true };
        };
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        match self.words.filter(|_| checks.plan.format == Format::Words) {
            Some(words) => checks.check_words(words, bytes, slot, (&of.key, path)),
            None => checks.check(bytes, slot, (of, seen_by, path)),
        }
    }

    /// True where the blocks of a write are to be read before it.
    pub fn reads_first(&self, part: &Part) -> bool {
        let reads = |checks: &&Checks| checks.plan.read_before_write;
        let generations = self.checks.as_ref().filter(reads).and_then(Checks::generations);
        generations.is_some_and(|generations| generations.is_known(part))
    }

    /// True where an operation is left out: it has a block that did not match.
    pub fn leaves_out(&self, part: &Part) -> bool {
        let generations = self.checks.as_ref().and_then(Checks::generations);
        generations.is_some_and(|generations| generations.has_bad(part))
    }

    /// State in which a write leaves its blocks that ended so; none where nobody keeps it.
    pub fn left_by(&self, part: &Part, left: Left) -> Option<Left> {
        let is_whole = self.checks.as_ref()?.generations()?.is_whole(part);
        Some(if left == Left::Written && !is_whole { Left::Unsure } else { left })
    }

    /// Notes in what state a write has left its blocks.
    pub fn written(&self, part: &Part, left: Left) {
        let Some(checks) = &self.checks else { return };
        let Some(generations) = checks.generations() else { return };
        generations.end_write(part, left);
        if checks.plan.times && left == Left::Written {
            generations.used(part, LastUse { unix_ms: unix_ms(), is_write: true });
        }
    }

    /// Results so far, where something is checked.
    pub fn stats(&self) -> Option<&VerifyStats> {
        self.checks.as_ref().map(|checks| &checks.stats)
    }
}

/// Bytes of a word.
const WORD_BYTES: usize = 8;

/// Maker of the words of a file: its owner writes, and its number stands for the place.
fn maker(words: Words, key: &FileKey) -> WordMaker {
    WordMaker::new(words, key.owner, u64::MAX)
}

/// Fills a whole file with its words; bytes behind the last whole word are their number.
fn fill_words(words: Words, bytes: &mut [u8], key: &FileKey) {
    let whole = bytes.len() / WORD_BYTES * WORD_BYTES;
    maker(words, key).fill(&mut bytes[..whole], key.slot);
    for (byte, at) in bytes[whole..].iter_mut().zip(whole..) {
        *byte = at as u8;
    }
}

impl Checks {
    /// Checks a whole file, or its beginning, of words.
    fn check_words(
        &mut self,
        words: Words,
        bytes: &[u8],
        slot: &Slot,
        (key, path): (&FileKey, impl Fn() -> String),
    ) -> Checked {
        let whole = bytes.len() / WORD_BYTES * WORD_BYTES;
        let maker = maker(words, key);
        let checked = maker.check(&bytes[..whole], key.slot, &mut self.scratch);
        let wrong = checked.map_err(|wrong| (wrong.kind, wrong.detail)).and_then(|()| {
            // Where a longer file was written, the rest is the beginning of its next word.
            self.scratch.resize(whole + WORD_BYTES, 0);
            maker.fill(&mut self.scratch, key.slot);
            let rest = &bytes[whole..];
            let numbers = rest.iter().zip(whole..).all(|(byte, at)| *byte == at as u8);
            let detail = "the bytes after the last whole word differ".to_owned();
            let is_right = numbers || self.scratch[whole..].starts_with(rest);
            if is_right { Ok(()) } else { Err((MismatchKind::Flipped, detail)) }
        });
        self.stats.blocks += 1;
        let Err((kind, detail)) = wrong else {
            return Checked { is_intact: true, goes_on: true };
        };
        self.stats.add(Mismatch {
            path: path(),
            offset: slot.offset,
            length: Bytes(bytes.len() as u64),
            kind,
            detail,
            read_offset: slot.offset,
            read_length: Bytes(slot.length),
            ..Mismatch::default()
        });
        Checked { is_intact: false, goes_on: self.plan.continue_on_mismatch }
    }

    fn generations(&self) -> Option<&Generations> {
        self.tracked.as_ref().and_then(Tracked::generations)
    }

    /// Offset and bytes of each verified block. The end of a file that has no room for a header is
    /// not verified.
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

    fn write(&mut self, bytes: &mut [u8], offset: u64, (content, of): (&mut Content, &Of)) {
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

    /// Generation that a block must have; none where it cannot be checked.
    fn generation(&self, part: &Part) -> Option<u32> {
        match self.generations() {
            None => Some(UNKNOWN),
            // Of a part of a block nothing is known.
            Some(generations) if !generations.is_whole(part) => None,
            Some(generations) => generations.finished(part),
        }
    }

    fn check(
        &mut self,
        bytes: &mut [u8],
        slot: &Slot,
        (of, seen_by, path): (&Of, SeenBy, impl Fn() -> String),
    ) -> Checked {
        let mut checked = Checked { is_intact: true, goes_on: true };
        self.form.expect(slot.offset, bytes.len(), &mut self.scratch);
        for (at, block) in self.blocks(bytes) {
            let offset = slot.offset + at as u64;
            let part = Part { offset, length: block.len() as u64, ..of.part };
            let found = self.generation(&part).and_then(|generation| {
                let found = self.check_block(block, (of.key.number, &part), generation, at)?;
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
                kind: wrong.kind,
                detail: wrong.detail,
                read_offset: slot.offset,
                read_length: Bytes(slot.length),
                seen_by,
                expected: wrong.blocks.expected,
                found: wrong.blocks.found,
                sectors: wrong.blocks.sectors,
                wrong_byte: wrong.blocks.byte,
                last_use: self.generations().and_then(|of| of.last_use(&part)),
            });
            checked.goes_on &= self.goes_on_after(&part, generation);
            if !checked.goes_on {
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

    /// Checks a block, `at` bytes behind the offset of its read; none where nothing is claimed of
    /// it.
    fn check_block(
        &mut self,
        block: &mut [u8],
        (key, part): (u64, &Part),
        generation: u32,
        at: usize,
    ) -> Option<Result<(), BlockMismatch>> {
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
            generations.settle(part, [generation, now]);
        }
        result
    }

    /// Leaves a block alone that did not match; false if that is to end the job.
    #[cold]
    fn goes_on_after(&self, part: &Part, generation: u32) -> bool {
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
