//! Words of 64 bits that tell their writer and their place: made, and checked.
//!
//! | kind | word i of an operation at an offset | every 512th word |
//! | --- | --- | --- |
//! | timestamp | rank · 2^32, or'd with seed + i | the same |
//! | offset | the same | rank · 2^32, or'd with the offset's low half · (i ÷ 512 + 1) |
//! | incompressible | two draws of `rand_r` from seed + rank, always the same | as `offset` |
//! | random | the word before · 0x9e37fffffffc0001 ÷ 8 | the same |
//!
//! The first random word follows from a draw of seed + rank + offset.
//!
//! Files with such words are exchanged with other programs, so nothing of this can change.

use candor_plan::blocks::{WordKind, Words};
use candor_record::MismatchKind;

use super::mismatch::BlockMismatch;

/// Bytes of a word.
const WORD_BYTES: usize = 8;
/// Words from one that tells the offset to the next.
const MARK_EVERY: usize = 512;
/// Words of a sector, which devices write as a whole.
const SECTOR_WORDS: usize = 64;
/// Factor of the sequence of random words.
const FACTOR: u64 = 0x9e37_ffff_fffc_0001;

/// The C library's `rand_r`, as glibc has it: three steps of a linear congruential generator, of
/// which 11, 10 and 10 bits are taken.
pub fn rand_r(seed: &mut u32) -> u32 {
    let mut bits = |mask: u32| {
        *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
        (*seed >> 16) & mask
    };
    let high = bits(0x7ff);
    let middle = bits(0x3ff);
    (((high << 10) ^ middle) << 10) ^ bits(0x3ff)
}

/// Numbers from which the words of an operation are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    kind: WordKind,
    seed: i32,
    rank: u64,
    offset: u64,
}

impl Key {
    /// True for words that are the same at every offset, but for marks.
    fn base(&self) -> impl Fn(usize) -> u64 + use<> {
        let (rank, seed) = (self.rank << 32, i64::from(self.seed) as u64);
        let constant = match self.kind {
            WordKind::Incompressible => Some(self.constant()),
            _ => None,
        };
        move |index| constant.unwrap_or_else(|| rank | seed.wrapping_add(index as u64))
    }

    /// The word of incompressible data.
    fn constant(&self) -> u64 {
        let mut seed = (self.seed as u32).wrapping_add(self.rank as u32);
        let high = u64::from(rand_r(&mut seed)) << 32;
        high | u64::from(rand_r(&mut seed))
    }

    /// The word that tells the offset, at an index that is a multiple of 512.
    fn mark(&self, index: usize) -> u64 {
        let number = (index / MARK_EVERY) as u32 + 1;
        u64::from((self.offset as u32).wrapping_mul(number)) | self.rank << 32
    }

    fn has_marks(&self) -> bool {
        matches!(self.kind, WordKind::Offset | WordKind::Incompressible)
    }

    /// First random word.
    fn first(&self) -> u64 {
        let sum = (self.seed as u32).wrapping_add(self.rank as u32);
        let mut seed = sum.wrapping_add(self.offset as u32);
        after(u64::from(rand_r(&mut seed)))
    }

    /// All words of an operation.
    fn fill(&self, bytes: &mut [u8]) {
        let words = bytes.chunks_exact_mut(WORD_BYTES);
        if self.kind == WordKind::Random {
            let mut next = self.first();
            for word in words {
                word.copy_from_slice(&next.to_ne_bytes());
                next = after(next);
            }
            return;
        }
        let base = self.base();
        for (index, word) in words.enumerate() {
            word.copy_from_slice(&base(index).to_ne_bytes());
        }
        self.fill_marks(bytes);
    }

    fn fill_marks(&self, bytes: &mut [u8]) {
        if !self.has_marks() {
            return;
        }
        for (nth, row) in bytes.chunks_mut(MARK_EVERY * WORD_BYTES).enumerate() {
            if let Some(word) = row.first_chunk_mut() {
                *word = self.mark(nth * MARK_EVERY).to_ne_bytes();
            }
        }
    }

    /// True if these are all the words of an operation.
    fn is_of(&self, words: &[u64]) -> bool {
        if self.kind == WordKind::Random {
            let first = words.first().is_none_or(|word| *word == self.first());
            return first && follow(words);
        }
        let base = self.base();
        words.iter().enumerate().all(|(index, word)| match index % MARK_EVERY {
            0 if self.has_marks() => *word == self.mark(index),
            _ => *word == base(index),
        })
    }
}

/// The random word after another.
#[inline(always)]
fn after(word: u64) -> u64 {
    word.wrapping_mul(FACTOR) >> 3
}

/// True if each random word follows from the one before.
fn follow(words: &[u64]) -> bool {
    words.windows(2).all(|pair| pair[1] == after(pair[0]))
}

/// Maker of one worker's words, and their check.
#[derive(Clone, Copy, Debug)]
pub struct WordMaker {
    plan: Words,
    /// Rank on whose data the worker works.
    writer: u64,
    ranks: u64,
}

impl WordMaker {
    /// Maker of the words of a rank.
    pub fn new(plan: Words, writer: u64, ranks: u64) -> WordMaker {
        WordMaker { plan, writer, ranks: ranks.max(1) }
    }

    fn key(&self, offset: u64) -> Key {
        let rank = match self.plan.rank_block {
            None => self.writer,
            Some(block) => offset / block.0.max(1) % self.ranks,
        };
        Key { kind: self.plan.kind, seed: self.plan.seed, rank, offset }
    }

    /// Fills the bytes of an operation.
    pub fn fill(&self, bytes: &mut [u8], offset: u64) {
        self.key(offset).fill(bytes);
    }

    /// Fills buffers of that many bytes before the clock starts.
    pub fn prepare(&self, buffers: &mut [u8], bytes: usize) {
        buffers.chunks_mut(bytes.max(1)).for_each(|buffer| self.fill(buffer, 0));
    }

    /// Makes the bytes of an operation in a buffer that holds those of another one.
    #[inline(always)]
    pub fn renew(&self, bytes: &mut [u8], offset: u64) {
        match self.plan.kind {
            WordKind::Timestamp => {}
            WordKind::Random => self.fill(bytes, offset),
            WordKind::Offset | WordKind::Incompressible => self.key(offset).fill_marks(bytes),
        }
    }

    /// Checks the bytes of an operation; `scratch` receives the expected ones.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(
        &self,
        bytes: &[u8],
        offset: u64,
        scratch: &mut Vec<u8>,
    ) -> Result<(), BlockMismatch> {
        scratch.resize(bytes.len(), 0);
        let key = self.key(offset);
        key.fill(scratch);
        if scratch == bytes { Ok(()) } else { Err(wrong(&key, bytes, scratch)) }
    }
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks_exact(WORD_BYTES);
    words.map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default())).collect()
}

#[cold]
fn wrong(key: &Key, found: &[u8], expected: &[u8]) -> BlockMismatch {
    let byte = found.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
    let (found, expected) = (words_of(found), words_of(expected));
    let word = (byte / WORD_BYTES).min(found.len().saturating_sub(1));
    let at = |words: &[u64]| words.get(word).copied().unwrap_or_default();
    let (kind, origin) = match origin(key, &found) {
        Some((kind, origin)) => (kind, format!("; {origin}")),
        None => (damage(key, &found, &expected), String::new()),
    };
    let detail = format!(
        "word {word} is {:#018x}, expected {:#018x}; the first wrong byte is {byte}{origin}",
        at(&found),
        at(&expected),
    );
    BlockMismatch::of(kind, detail)
}

/// Where the words come from, if they are those of another rank, place or seed as a whole.
fn origin(key: &Key, found: &[u64]) -> Option<(MismatchKind, String)> {
    let [first, second] = *found.first_chunk()?;
    let seed = second.wrapping_sub(1) as u32 as i32;
    let other = match key.kind {
        WordKind::Random => {
            let whose = "words of another rank, place or seed".to_owned();
            return follow(found).then_some((MismatchKind::Misdirected, whose));
        }
        WordKind::Timestamp => Key { rank: first >> 32, seed, ..*key },
        WordKind::Offset => Key { rank: first >> 32, offset: first & 0xffff_ffff, seed, ..*key },
        WordKind::Incompressible => {
            let place = Key { rank: first >> 32, offset: first & 0xffff_ffff, ..*key };
            if place.is_of(found) {
                return Some((MismatchKind::Misdirected, place.told()));
            }
            let is_stale = found.iter().enumerate().all(|(index, word)| match index % MARK_EVERY {
                0 => *word == place.mark(index),
                _ => *word == second,
            });
            return is_stale
                .then(|| (MismatchKind::Stale, format!("{}, of another seed", place.told())));
        }
    };
    let kind = if other.seed == key.seed { MismatchKind::Misdirected } else { MismatchKind::Stale };
    other.is_of(found).then(|| (kind, format!("{}, seed {}", other.told(), other.seed)))
}

impl Key {
    fn told(&self) -> String {
        let place = if self.has_marks() {
            format!(" for an offset that ends in {:#x}", self.offset as u32)
        } else {
            String::new()
        };
        format!("words of rank {}{place}", self.rank)
    }
}

/// Kind of damage of words that are partly right.
fn damage(key: &Key, found: &[u64], expected: &[u64]) -> MismatchKind {
    let differs = |index: &usize| found[*index] != expected[*index];
    let wrong: Vec<usize> = (0..found.len()).filter(differs).collect();
    if wrong.len() == found.len() {
        return MismatchKind::Foreign;
    }
    let is_whole = |sector: usize| {
        let (from, to) = (sector * SECTOR_WORDS, ((sector + 1) * SECTOR_WORDS).min(found.len()));
        (from..to).all(|index| differs(&index))
    };
    // Sectors of another operation differ in all their words, or in the one that tells the offset.
    let is_other = |index: &usize| {
        let one_byte = (found[*index] ^ expected[*index]).to_ne_bytes();
        let one_byte = one_byte.iter().filter(|byte| **byte != 0).count() == 1;
        let is_mark = key.has_marks() && index.is_multiple_of(MARK_EVERY);
        (is_mark && !one_byte) || is_whole(index / SECTOR_WORDS)
    };
    if wrong.iter().all(is_other) { MismatchKind::Torn } else { MismatchKind::Flipped }
}

#[cfg(test)]
mod tests;
