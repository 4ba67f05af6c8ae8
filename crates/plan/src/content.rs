//! Content of written blocks.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::text_serde::text_serde;
use crate::units::{Bytes, UnitError};

/// Content of written blocks.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Content {
    /// Source of the bytes.
    pub fill: Fill,
    /// Bytes that repeat, for `fill = "pattern"`; otherwise the content of the compressible section
    /// instead of zeros.
    pub pattern: Option<Pattern>,
    /// Share of each piece that is zero, in percent: what a compressor saves.
    pub compressible_percent: u8,
    /// Length of such a piece; absent means 512 bytes, 0 the whole operation.
    pub compressible_piece: Option<Bytes>,
    /// Share of blocks that repeat an earlier one, in percent: what deduplication saves.
    pub duplicate_percent: u8,
    /// Selection of repeated blocks.
    pub duplicates: Duplicates,
    /// Blocks at the start of each file that have the bytes of the set which they belong to.
    pub hot_sets: Option<HotSets>,
    /// Kind and seed of 64-bit integers, for `fill = "words"`.
    pub words: Option<Words>,
}

/// Sets of blocks whose bytes are equal in every write of any worker. The first blocks of the file
/// are the first set, the next blocks the second set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct HotSets {
    /// Bytes of a block.
    pub unit: Bytes,
    /// Numbers of sets, and of blocks in each: `[[10, 2], [20, 3]]`.
    pub sets: Vec<[u32; 2]>,
}

impl HotSets {
    /// Number of the set of each block.
    pub fn of_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let each = self
            .sets
            .iter()
            .flat_map(|[sets, blocks]| std::iter::repeat_n(*blocks as usize, *sets as usize));
        (0..).zip(each).flat_map(|(number, blocks)| std::iter::repeat_n(number, blocks))
    }

    /// Number of their blocks.
    pub fn blocks(&self) -> u64 {
        let each = self.sets.iter().map(|[sets, blocks]| u64::from(*sets) * u64::from(*blocks));
        each.fold(0, u64::saturating_add)
    }
}

/// Source of the bytes of written blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// From a pool of random bytes made before the clock starts; every 512 bytes are stamped so
    /// that no two blocks are alike.
    #[default]
    Pool,
    /// New random bytes for every write, made outside the timed interval.
    Fresh,
    /// Zeros.
    Zero,
    /// The same random bytes for each write, with a new stamp every 512 bytes.
    Stamp,
    /// The same random bytes for each write.
    Once,
    /// A pattern, from the start of each operation.
    Pattern,
    /// 64-bit integers with their writer and their offset.
    Words,
}

/// Words of 64 bits, computed from a seed, the rank of the writer and the place of an operation.
///
/// The writer is the rank on whose data a worker works. Bits 32 to 63 of most words are its number.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Words {
    /// Kind of 64-bit integers.
    pub kind: WordKind,
    /// Seed, also called signature.
    pub seed: i32,
    /// Contiguous bytes of each rank in turn in a shared file with reads of any rank's data: the
    /// writer of a byte is the rank of its block. Absent means the rank whose data the worker uses.
    pub rank_block: Option<Bytes>,
}

/// Words that an operation writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum WordKind {
    /// The rank, and the seed (often a time stamp) plus the index of the integer: equal in every
    /// operation of a rank, so exchanged blocks of one rank are not detected.
    #[default]
    Timestamp,
    /// The same, but every 512th integer has the rank and the offset, times its index in this
    /// sequence.
    Offset,
    /// One random integer repeated, but every 512th one like with `offset`.
    Incompressible,
    /// Random integers, keyed by the sum of seed, rank and offset.
    Random,
}

/// Blocks that duplicates repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Duplicates {
    /// One of sixteen that every worker of the job knows.
    #[default]
    Few,
    /// The last block that was no duplicate.
    Last,
    /// One of a working set: as many blocks as make up that share of the range, each written once
    /// before it is repeated.
    WorkingSet {
        /// Share of the range, in percent.
        percent: u8,
        /// All jobs of the plan with this switch repeat the same blocks.
        #[serde(default)]
        shared: bool,
    },
}

/// A sequence of bytes that repeats and may contain the offset of the operation.
///
/// Text form: hexadecimal digits in pairs, and `%o` for the offset as eight bytes, least
/// significant first: `"deadbeef%o00"`. `+N` adds N to each offset: `"%o+7"`. `@N` begins the
/// pattern again after N bytes of the operation, with the offset of that position: `"%o@512"`. `/N`
/// begins it again at each multiple of N bytes of the file: `"%o/8"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    bytes: Vec<u8>,
    /// Positions of offsets in `bytes`.
    offsets: Vec<usize>,
    /// Number that is added to each offset.
    salt: u64,
    again: Again,
}

/// Where a pattern begins again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Again {
    /// After its last byte, with the same bytes.
    #[default]
    Repeated,
    /// After N bytes of the operation.
    InOperation(NonZeroUsize),
    /// At each multiple of N bytes of the file.
    InFile(NonZeroUsize),
}

text_serde!(Pattern, "a pattern such as \"deadbeef%o\"", |_| None);

impl Pattern {
    /// Longest pattern: its digits fit into the text of a plan.
    pub const BYTES_MAX: usize = 256 << 10;
    /// Bytes of an offset.
    const OFFSET_BYTES: usize = 8;

    /// With nothing in it yet, to be built.
    pub fn empty() -> Pattern {
        Pattern { bytes: Vec::new(), offsets: Vec::new(), salt: 0, again: Again::Repeated }
    }

    /// With bytes added.
    #[must_use]
    pub fn then(mut self, bytes: &[u8]) -> Pattern {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// With the offset added.
    #[must_use]
    pub fn then_offset(mut self) -> Pattern {
        self.offsets.push(self.bytes.len());
        self.then(&[0; Pattern::OFFSET_BYTES])
    }

    /// With a number that is added to each offset, modulo 64 bits.
    #[must_use]
    pub fn salted(self, salt: u64) -> Pattern {
        Pattern { salt, ..self }
    }

    /// Beginning again after N bytes of an operation.
    #[must_use]
    pub fn anew_every(self, bytes: NonZeroUsize) -> Pattern {
        Pattern { again: Again::InOperation(bytes), ..self }
    }

    /// Beginning again at each multiple of N bytes of the file.
    #[must_use]
    pub fn at_each(self, bytes: NonZeroUsize) -> Pattern {
        Pattern { again: Again::InFile(bytes), ..self }
    }

    /// With the same distances in the file as in an operation.
    #[must_use]
    pub fn in_file(self) -> Pattern {
        let distance = match self.again {
            Again::Repeated => NonZeroUsize::new(self.bytes.len()),
            Again::InOperation(bytes) | Again::InFile(bytes) => Some(bytes),
        };
        distance.into_iter().fold(self, Pattern::at_each)
    }

    /// True if a byte depends on its offset in the file only, not on the operation.
    pub fn is_of_file(&self) -> bool {
        matches!(self.again, Again::InFile(_))
    }

    /// Itself, unless it is empty or longer than [`Pattern::BYTES_MAX`].
    pub fn finish(self) -> Option<Pattern> {
        (1..=Pattern::BYTES_MAX).contains(&self.bytes.len()).then_some(self)
    }

    /// The length in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a finished pattern is never empty")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Fills the bytes of an operation at `offset`.
    pub fn fill(&self, bytes: &mut [u8], offset: u64) {
        match self.again {
            Again::Repeated => self.fill_piece(bytes, offset),
            Again::InOperation(every) => self.fill_pieces(bytes, offset, every.get()),
            Again::InFile(every) => {
                let every = every.get();
                let skipped = (offset % every as u64) as usize;
                if skipped == 0 {
                    return self.fill_pieces(bytes, offset, every);
                }
                let (head, rest) = bytes.split_at_mut((every - skipped).min(bytes.len()));
                let mut piece = vec![0; skipped + head.len()];
                self.fill_piece(&mut piece, offset - skipped as u64);
                head.copy_from_slice(&piece[skipped..]);
                self.fill_pieces(rest, offset + head.len() as u64, every);
            }
        }
    }

    fn fill_pieces(&self, bytes: &mut [u8], offset: u64, every: usize) {
        for (index, piece) in bytes.chunks_mut(every).enumerate() {
            self.fill_piece(piece, offset + (index * every) as u64);
        }
    }

    fn fill_piece(&self, bytes: &mut [u8], offset: u64) {
        let one = self.bytes.len().min(bytes.len());
        bytes[..one].copy_from_slice(&self.bytes[..one]);
        for at in self.offsets.iter().copied().filter(|at| *at < one) {
            let end = (at + Pattern::OFFSET_BYTES).min(one);
            bytes[at..end]
                .copy_from_slice(&offset.wrapping_add(self.salt).to_le_bytes()[..end - at]);
        }
        // Doubled until the buffer is full.
        let mut filled = one;
        while filled < bytes.len() {
            let more = filled.min(bytes.len() - filled);
            bytes.copy_within(..more, filled);
            filled += more;
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut at = 0;
        while at < self.bytes.len() {
            if self.offsets.contains(&at) {
                f.write_str("%o")?;
                at += Pattern::OFFSET_BYTES;
            } else {
                write!(f, "{:02x}", self.bytes[at])?;
                at += 1;
            }
        }
        if self.salt > 0 {
            write!(f, "+{}", self.salt)?;
        }
        match self.again {
            Again::Repeated => Ok(()),
            Again::InOperation(every) => write!(f, "@{every}"),
            Again::InFile(every) => write!(f, "/{every}"),
        }
    }
}

impl FromStr for Pattern {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (bytes, again) = match text.find(['@', '/']) {
            Some(at) => (&text[..at], Some((&text[at..=at], &text[at + 1..]))),
            None => (text, None),
        };
        let (bytes, salt) = match bytes.split_once('+') {
            Some((bytes, salt)) => (bytes, Some(salt)),
            None => (bytes, None),
        };
        let mut pattern = Pattern::empty();
        for (index, piece) in bytes.split("%o").enumerate() {
            if index > 0 {
                pattern = pattern.then_offset();
            }
            pattern = pattern.then(&hex(piece).ok_or_else(|| wrong(text, "is no pattern"))?);
        }
        if let Some(salt) = salt {
            let salt = salt.parse().ok().filter(|salt| *salt > 0);
            let message = "has no number of at least 1 after the +";
            pattern = pattern.salted(salt.ok_or_else(|| wrong(text, message))?);
        }
        if let Some((sign, bytes)) = again {
            let message = format!("has no number of bytes after the {sign}");
            let bytes = bytes.parse().map_err(|_| wrong(text, &message))?;
            pattern = if sign == "@" { pattern.anew_every(bytes) } else { pattern.at_each(bytes) };
        }
        pattern.finish().ok_or_else(|| wrong(text, "is empty or longer than 256 KiB"))
    }
}

fn wrong(text: &str, what: &str) -> UnitError {
    UnitError::new(
        text,
        what,
        "write pairs of hexadecimal digits, and %o for the offset: deadbeef%o",
    )
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(pair[0])? << 4) | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_back() {
        for text in
            ["00", "deadbeef", "%o", "ff%o0102", "%o%oab", "%o@512", "%o+7", "%o+7@8", "%o+7/8"]
        {
            let pattern: Pattern = text.parse().expect(text);
            assert_eq!(pattern.to_string(), text);
        }
        let long = "0".repeat(2 * Pattern::BYTES_MAX + 2);
        for text in [
            "",
            "0",
            "xyz",
            "0g",
            "%",
            "%o0",
            "%o@",
            "%o@0",
            "@8",
            "/8",
            "%o/0",
            "%o@8/8",
            "%o+",
            "%o+0",
            long.as_str(),
        ] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_repeat_with_the_offset_in_them() {
        let pattern: Pattern = "ff%o0a".parse().expect("a pattern");
        let mut bytes = [9; 23];
        pattern.fill(&mut bytes, 0x0102);
        let once = [0xff, 2, 1, 0, 0, 0, 0, 0, 0, 0x0a];
        assert_eq!(bytes, *[&once[..], &once, &once[..3]].concat());
        let mut short = [9; 3];
        pattern.fill(&mut short, 0x0102);
        assert_eq!(short, [0xff, 2, 1]);
    }

    #[test]
    fn numbers_are_added_to_offsets() {
        let pattern: Pattern = "%o+3@8".parse().expect("a pattern");
        let mut bytes = [9; 20];
        pattern.fill(&mut bytes, 0x01fe);
        let words = [0x0201_u64, 0x0209, 0x0211].map(u64::to_le_bytes).concat();
        assert_eq!(bytes, words[..20]);
        let mut wraps = [9; 8];
        "%o+18446744073709551615".parse::<Pattern>().expect("one").fill(&mut wraps, 1);
        assert_eq!(wraps, [0; 8]);
    }

    #[test]
    fn patterns_begin_anew_with_the_offset_of_the_place() {
        let pattern: Pattern = "ff%o@3".parse().expect("a pattern");
        let mut bytes = [9; 8];
        pattern.fill(&mut bytes, 0x01fe);
        assert_eq!(bytes, [0xff, 0xfe, 1, 0xff, 1, 2, 0xff, 4]);
    }

    /// A byte is the same in each operation that touches it.
    #[test]
    fn patterns_of_a_file_begin_again_at_offsets() {
        let pattern: Pattern = "%o+7/8".parse().expect("a pattern");
        let mut file = [9; 64];
        pattern.fill(&mut file, 0x1f8);
        for (from, to) in [(0, 64), (1, 64), (3, 7), (7, 9), (13, 40), (20, 24)] {
            let mut bytes = vec![9; to - from];
            pattern.fill(&mut bytes, 0x1f8 + from as u64);
            assert_eq!(bytes, file[from..to], "{from}..{to}");
        }
    }
}
