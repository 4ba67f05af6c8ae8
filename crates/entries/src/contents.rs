//! Bytes of files: their content, and the data by which reads are checked.

use candor_blocks::data::content::Content;
use candor_blocks::data::verify::fio_header::{self, Stamp};
use candor_blocks::data::verify::{Expected, Form, UNKNOWN};
use candor_blocks::data::words::WordMaker;
use candor_engine::operation::Slot;
use candor_engine::random::mix;
use candor_plan::Bytes;
use candor_plan::blocks::{Format, Verify, Words};
use candor_record::{Mismatch, MismatchKind, VerifyStats};

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
    /// Buffer for the expected bytes of a block.
    scratch: Vec<u8>,
    stats: VerifyStats,
}

impl Contents {
    /// Contents of a worker; with data to be checked, where `verify` is given.
    pub fn new(content: Content, verify: Option<Verify>, rank: u32) -> Contents {
        let checks = verify.map(|plan| Checks {
            form: Form::new(&plan, content.pattern()),
            plan,
            stamp: Stamp { elapsed_ns: 0, writer: (rank + 1) as u16, number: 0 },
            scratch: Vec::new(),
            stats: VerifyStats::default(),
        });
        Contents { content, checks, words: None }
    }

    /// With words that tell the owner and the number of each file, where the plan says so.
    pub fn with_words(self, words: Option<Words>) -> Contents {
        Contents { words, ..self }
    }

    /// Makes the bytes of a write to the file with that key.
    #[inline(always)]
    pub fn write(&mut self, slot: &mut Slot, key: &FileKey) {
        if self.checks.is_none() && self.words.is_none() {
            return self.content.write(slot);
        }
        // SAFETY: the slot's buffer has room for its length and is not in flight.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        match (&self.words, &mut self.checks) {
            (Some(words), _) => fill_words(*words, bytes, key),
            (None, Some(checks)) => {
                checks.write(bytes, slot.offset, (&mut self.content, key.number));
            }
            (None, None) => {}
        }
    }

    /// Checks a read of the file with that key; false if a mismatch is to end the job.
    pub fn check(&mut self, slot: &Slot, key: &FileKey, path: impl Fn() -> String) -> bool {
        let Some(checks) = &mut self.checks else { return true };
        // SAFETY: the operation has completed, so the buffer belongs to the worker again.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(slot.buffer.host(), slot.length as usize) };
        match self.words.filter(|_| checks.plan.format == Format::Words) {
            Some(words) => checks.check_words(words, bytes, slot, (key, path)),
            None => checks.check(bytes, slot, (key.number, path)),
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
    ) -> bool {
        let whole = bytes.len() / WORD_BYTES * WORD_BYTES;
        let maker = maker(words, key);
        let checked = maker.check(&bytes[..whole], key.slot, &mut self.scratch);
        let wrong = checked.map_err(|wrong| (wrong.kind, wrong.detail)).and_then(|()| {
            // Where a longer file was written, the rest is the beginning of its next word.
            self.scratch.resize(whole + WORD_BYTES, 0);
            maker.fill(&mut self.scratch, key.slot);
            let rest = &bytes[whole..];
            let numbers = rest.iter().zip(whole..).all(|(byte, at)| *byte == at as u8);
            let detail = "the bytes behind the last whole word differ".to_owned();
            let is_right = numbers || self.scratch[whole..].starts_with(rest);
            if is_right { Ok(()) } else { Err((MismatchKind::Flipped, detail)) }
        });
        self.stats.blocks += 1;
        let Err((kind, detail)) = wrong else { return true };
        self.stats.add(Mismatch {
            path: path(),
            offset: slot.offset,
            length: Bytes(bytes.len() as u64),
            kind,
            detail,
            read_offset: slot.offset,
            read_length: Bytes(slot.length),
        });
        self.plan.continue_on_mismatch
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

    fn write(&mut self, bytes: &mut [u8], offset: u64, (content, key): (&mut Content, u64)) {
        let keyed = matches!(self.plan.format, Format::Acca(_)) && !content.is_pattern();
        if !keyed {
            content.bytes(bytes, offset);
        }
        if matches!(self.form, Form::Pattern(_) | Form::Nothing) {
            return;
        }
        for (at, block) in self.blocks(bytes) {
            let as_of = self.expected(offset + at as u64, key, GENERATION);
            if keyed {
                content.keyed(block, fio_header::seed_of(&as_of), offset);
            }
            self.form.seal(block, &as_of, &self.stamp);
        }
        self.stamp.number = self.stamp.number.wrapping_add(1);
    }

    fn check(
        &mut self,
        bytes: &mut [u8],
        slot: &Slot,
        (key, path): (u64, impl Fn() -> String),
    ) -> bool {
        let mut is_intact = true;
        for (at, block) in self.blocks(bytes) {
            let offset = slot.offset + at as u64;
            let expected = self.expected(offset, key, UNKNOWN);
            let checked = self.form.check(block, &expected, (slot.offset, at), &mut self.scratch);
            self.stats.blocks += 1;
            let Err(wrong) = checked else { continue };
            is_intact = false;
            self.stats.add(Mismatch {
                path: path(),
                offset,
                length: Bytes(block.len() as u64),
                kind: wrong.kind,
                detail: wrong.detail,
                read_offset: slot.offset,
                read_length: Bytes(slot.length),
            });
            if !self.plan.continue_on_mismatch {
                break;
            }
        }
        is_intact || self.plan.continue_on_mismatch
    }
}
