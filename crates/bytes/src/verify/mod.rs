//! Verification: formats of written blocks that can be checked when they are read.
//!
//! A [`Map`] keeps, per block, the generation of the last completed write and whether a write is in
//! flight. No block is written while a write to it is in flight, and a read that overlaps a write
//! is not checked. So there is no false alarm, at any depth and with any number of workers.

pub mod candor_header;
pub mod checksums;
pub mod fio_header;
pub mod last_uses;
pub mod map;
mod single_bit;
#[cfg(test)]
mod tests;

use candor_plan::blocks::{Format, Pattern, Sum, Verify as Plan};
use candor_record::{BlockIdentity, MismatchKind, WrongByte};

use self::fio_header::{FioHeader, Stamp};
pub use self::map::{BAD, BlockChange, BlockGrid, BlockKey, Left, Map, NOTHING, UNKNOWN, ZEROS};
use super::mismatch::{BlockMismatch, MismatchedBlocks};
use super::words::WordMaker;

/// Expected origin of a block: its offset, and the write that made it.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Offset in the file.
    pub offset: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Generation, or [`UNKNOWN`].
    pub generation: u32,
    /// Sequence number of the write, if known before the block is read.
    pub number: Option<u64>,
}

impl Expected {
    /// The same as reports have it.
    pub fn identity(&self) -> BlockIdentity {
        let key = Some(self.generation).filter(|generation| *generation != UNKNOWN);
        BlockIdentity { offset: self.offset, key, seed: self.seed, written_unix_s: None }
    }
}

/// Generations of a block that may be there after an interrupted run.
#[derive(Clone, Copy, Debug)]
pub struct PendingWrite {
    /// Generation of the last write, which may not have happened.
    pub new: u32,
    /// Generation of the write before it.
    pub old: u32,
}

/// Checks a block against both generations. Returns the result, none if any content is right, and
/// the generation of the block, if the check determined it.
pub fn check_pending(
    PendingWrite { new, old }: PendingWrite,
    mut check: impl FnMut(u32) -> Result<(), BlockMismatch>,
) -> (Option<Result<(), BlockMismatch>>, Option<u32>) {
    let wrong = match check(new) {
        Ok(()) => return (Some(Ok(())), Some(new)),
        Err(wrong) => wrong,
    };
    if !map::is_written(old) {
        // The content before the first write is unknown.
        return (None, Some(NOTHING));
    }
    if check(old).is_ok() {
        return (Some(Ok(())), Some(old));
    }
    let detail = format!(
        "{}; a run was interrupted while it made write {new}, so write {old} or {new} would be \
         right",
        wrong.detail
    );
    (Some(Err(BlockMismatch { detail, ..wrong })), None)
}

fn field<const N: usize>(block: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&block[at..at + N]);
    bytes
}

/// Format in which the blocks of a plan are made and checked.
#[derive(Clone)]
pub enum Form {
    /// candor's own headers.
    Own,
    /// Headers of other tools, and the pattern after them, if known.
    Acca(Box<FioHeader>, Option<Pattern>),
    /// No header; all bytes are known.
    Pattern(Pattern),
    /// No header; all words are known.
    Words(WordMaker),
    /// No verification.
    Nothing,
}

impl Form {
    /// Format that the plan requests; `pattern` is the pattern of the plan's content.
    pub fn new(plan: &Plan, pattern: Option<&Pattern>) -> Form {
        match (plan.format, pattern) {
            (Format::Own, _) => Form::Own,
            (Format::Acca(sum), pattern) => {
                let known = pattern.filter(|_| matches!(sum, Sum::None | Sum::Pattern));
                let header = FioHeader::new(sum, plan.header_version, plan.header_at.0);
                Form::Acca(Box::new(header), known.cloned())
            }
            (Format::Pattern, Some(pattern)) => Form::Pattern(pattern.clone()),
            // Words go by the writer, whom only the verifier of a worker knows.
            (Format::Pattern | Format::Words | Format::Nothing, _) => Form::Nothing,
        }
    }

    /// Adds the format's header to a block.
    #[inline(always)]
    pub fn seal(&self, block: &mut [u8], as_of: &Expected, stamp: &Stamp) {
        match self {
            Form::Own => candor_header::seal(block, as_of, stamp.unix_s),
            Form::Acca(acca, _) => acca.seal(block, as_of, stamp),
            Form::Pattern(_) | Form::Words(_) | Form::Nothing => {}
        }
    }

    /// True if parts of a block can be checked.
    pub fn checks_parts(&self) -> bool {
        match self {
            Form::Pattern(pattern) => Format::Pattern.checks_parts(Some(pattern)),
            Form::Nothing => true,
            Form::Own | Form::Acca(..) | Form::Words(_) => false,
        }
    }

    /// Makes the expected bytes of an operation, for checks of its blocks.
    #[inline(always)]
    pub fn expect(&self, offset: u64, length: usize, scratch: &mut Vec<u8>) {
        if let Form::Pattern(pattern) | Form::Acca(_, Some(pattern)) = self {
            scratch.resize(length, 0);
            pattern.fill(scratch, offset);
        }
    }

    /// Checks the block that begins at `at` in the operation for which [`Form::expect`] has filled
    /// `scratch`. A header that lay elsewhere is at the start of the block afterwards.
    #[inline(always)]
    pub fn check(
        &self,
        block: &mut [u8],
        expected: &Expected,
        at: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<(), BlockMismatch> {
        let skipped = match self {
            Form::Nothing => return Ok(()),
            Form::Own => return candor_header::check(block, expected),
            Form::Words(words) => return words.check(block, expected.offset, scratch),
            Form::Acca(acca, pattern) => {
                acca.check(block, expected)?;
                if pattern.is_none() {
                    return Ok(());
                }
                acca.header_bytes(block)
            }
            Form::Pattern(_) => 0,
        };
        compare(&block[skipped..], &scratch[at + skipped..at + block.len()], skipped)
    }

    /// Checks a block without a known write in this run or in a journal; none if its header does
    /// not identify the write either.
    #[cold]
    pub fn check_by_header(
        &self,
        block: &mut [u8],
        expected: &Expected,
        at: usize,
        scratch: &mut Vec<u8>,
    ) -> Option<Result<(), BlockMismatch>> {
        match self {
            Form::Own => candor_header::check_by_header(block, expected),
            // No other format identifies the block.
            _ => self.check(block, expected, at, scratch).ok().map(Ok),
        }
    }
}

fn compare(found: &[u8], wanted: &[u8], skipped: usize) -> Result<(), BlockMismatch> {
    if found == wanted {
        return Ok(());
    }
    let place = found.iter().zip(wanted).position(|(a, b)| a != b).unwrap_or(0);
    let (a, b) = (found[place], wanted[place]);
    let detail = format!(
        "pattern: verify failed; got pattern '{a:02x}', wanted '{b:02x}', {} bad bits at byte {} \
         of the block",
        (a ^ b).count_ones(),
        place + skipped
    );
    let byte = Some(WrongByte { at: (place + skipped) as u64, expected: b, found: a });
    let blocks = MismatchedBlocks { byte, ..MismatchedBlocks::default() };
    let wrong = BlockMismatch::of(MismatchKind::Flipped, detail);
    Err(BlockMismatch { blocks: blocks.into(), ..wrong })
}

/// Checks that a trimmed block reads as zeros.
pub fn check_zeros(block: &[u8]) -> Result<(), BlockMismatch> {
    match block.iter().position(|byte| *byte != 0) {
        None => Ok(()),
        Some(place) => {
            let byte = block[place];
            let detail =
                format!("trim: verify failed; got {byte:02x} at byte {place} of a trimmed block");
            Err(BlockMismatch::of(MismatchKind::Stale, detail))
        }
    }
}
