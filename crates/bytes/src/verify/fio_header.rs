//! Header with the magic number 0xacca, which other tools write and read.
//!
//! All numbers are stored least significant byte first: magic (2 bytes), version and kind of sum (2
//! together), length of the block (4), seed (8), offset (8), seconds (4) and nanoseconds (4) since
//! the start. Then, by version, number of the writer (2) and sequence number (2), or sequence
//! number (8), number of the writer (2) and two unused bytes. A CRC-32C of all that (4) ends the
//! header, and the sum of the rest follows. A checked block may have either version, which its
//! header tells.

use candor_plan::blocks::{HeaderVersion, Sum};
use candor_record::MismatchKind;

use super::checksums::{SUM_BYTES_MAX, Summer, crc32c, hex};
use super::map::UNKNOWN;
use super::{BlockMismatch, Expected, field};
use candor_engine::random::mix;

const MAGIC: u16 = 0xacca;
/// Version byte of a header of [`HeaderVersion::V1`]. No kind of sum has its high bit.
const V1: u8 = 0x81;
/// Length of the part that is alike in all versions.
const COMMON_BYTES: usize = 32;
/// Kind of sum for CRC-32C computed by hardware; some versions store it.
const CRC32C_BY_HARDWARE: u16 = 6;

/// Length of a header of that version, without the sum.
const fn header_length(version: HeaderVersion) -> usize {
    version.header_bytes() as usize
}

/// Writer and checker of blocks of this format.
#[derive(Clone)]
pub struct FioHeader {
    summer: Summer,
    /// Version of the headers that are written.
    version: HeaderVersion,
    /// Offset of the header in its block.
    at: usize,
}

/// Fields of a header beside offset and seed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    /// Time since the start.
    pub elapsed_ns: u64,
    /// Number of the writer, from 1.
    pub writer: u16,
    /// Number of the write, from 0.
    pub number: u64,
    /// Time of the write in s since 1970, for candor's own headers; 0 where it is not kept.
    pub unix_s: u32,
}

/// Seed in the header of that block: it separates the writes to one offset.
#[inline(always)]
pub fn seed_of(as_of: &Expected) -> u64 {
    mix(mix(as_of.seed, as_of.offset), u64::from(as_of.generation))
}

fn kind_number(sum: Sum) -> u16 {
    match sum {
        Sum::None => 1,
        Sum::Md5 => 2,
        Sum::Crc64 => 3,
        Sum::Crc32 => 4,
        Sum::Crc32c => 5,
        Sum::Crc16 => 7,
        Sum::Crc7 => 8,
        Sum::Sha256 => 9,
        Sum::Sha512 => 10,
        Sum::Sha3_224 => 11,
        Sum::Sha3_256 => 12,
        Sum::Sha3_384 => 13,
        Sum::Sha3_512 => 14,
        Sum::Xxhash => 15,
        Sum::Sha1 => 16,
        Sum::Pattern => 17,
    }
}

/// Version of a header; none where it has none that is known.
#[inline(always)]
fn version_of(header: &[u8]) -> Option<HeaderVersion> {
    match (header[2], header[3]) {
        (V1, _) => Some(HeaderVersion::V1),
        (kind, 0) if kind < 0x80 => Some(HeaderVersion::Unversioned),
        _ => None,
    }
}

/// Sequence number in a header of that version.
#[inline(always)]
fn number_in(block: &[u8], version: HeaderVersion) -> u64 {
    match version {
        HeaderVersion::Unversioned => u16::from_le_bytes(field(block, 34)).into(),
        HeaderVersion::V1 => u64::from_le_bytes(field(block, 32)),
    }
}

/// Kind of sum in a header of that version.
fn kind_in(block: &[u8], version: HeaderVersion) -> u16 {
    match version {
        HeaderVersion::Unversioned => u16::from_le_bytes(field(block, 2)),
        HeaderVersion::V1 => block[3].into(),
    }
}

impl FioHeader {
    /// Format with headers `at` that offset in each block.
    pub fn new(sum: Sum, version: HeaderVersion, at: u64) -> FioHeader {
        FioHeader { summer: Summer::new(sum), version, at: at as usize }
    }

    /// Kind of its sum.
    pub fn sum(&self) -> Sum {
        self.summer.sum()
    }

    /// Length of a header of that version with its sum, which the sum does not cover.
    fn whole_length(&self, version: HeaderVersion) -> usize {
        header_length(version) + self.sum().room_bytes() as usize
    }

    /// Length of the header at the start of a checked block, with its sum.
    pub fn header_bytes(&self, block: &[u8]) -> usize {
        self.whole_length(version_of(block).unwrap_or(self.version))
    }

    /// Swaps a header of that version between the start of the block and its offset.
    fn swap(&self, block: &mut [u8], version: HeaderVersion) {
        if self.at > 0 {
            let (start, rest) = block.split_at_mut(self.at);
            let length = self.whole_length(version);
            start[..length].swap_with_slice(&mut rest[..length]);
        }
    }

    /// Writes the header of a block over its first bytes.
    #[inline(always)]
    pub fn seal(&self, block: &mut [u8], as_of: &Expected, stamp: &Stamp) {
        let length = block.len() as u32;
        let (header, rest) = block.split_at_mut(header_length(self.version));
        let (sum, data) = rest.split_at_mut(self.sum().room_bytes() as usize);
        self.summer.write(data, sum);
        let kind = kind_number(self.sum());
        header[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        header[4..8].copy_from_slice(&length.to_le_bytes());
        header[8..16].copy_from_slice(&seed_of(as_of).to_le_bytes());
        header[16..24].copy_from_slice(&as_of.offset.to_le_bytes());
        header[24..28].copy_from_slice(&((stamp.elapsed_ns / 1_000_000_000) as u32).to_le_bytes());
        header[28..32].copy_from_slice(&((stamp.elapsed_ns % 1_000_000_000) as u32).to_le_bytes());
        let versioned = &mut header[COMMON_BYTES..];
        match self.version {
            HeaderVersion::Unversioned => {
                versioned[0..2].copy_from_slice(&stamp.writer.to_le_bytes());
                versioned[2..4].copy_from_slice(&(stamp.number as u16).to_le_bytes());
                header[2..4].copy_from_slice(&kind.to_le_bytes());
            }
            HeaderVersion::V1 => {
                versioned[0..8].copy_from_slice(&stamp.number.to_le_bytes());
                versioned[8..10].copy_from_slice(&stamp.writer.to_le_bytes());
                versioned[10..12].fill(0);
                (header[2], header[3]) = (V1, kind as u8);
            }
        }
        let (covered, crc) = header.split_at_mut(header.len() - 4);
        crc.copy_from_slice(&crc32c(covered).to_le_bytes());
        self.swap(block, self.version);
    }

    /// Puts the header of a checked block over the first bytes of `made`; none if the rest has
    /// another sum than the header's.
    pub fn with_header_of(&self, block: &[u8], mut made: Vec<u8>) -> Option<Vec<u8>> {
        let header = self.header_bytes(block);
        let mut sum = [0; SUM_BYTES_MAX];
        let sum = &mut sum[..self.sum().room_bytes() as usize];
        self.summer.write(&made[header..], sum);
        made[..header].copy_from_slice(&block[..header]);
        (sum == &block[header - sum.len()..header]).then_some(made)
    }

    /// Seed in the header of a checked block.
    pub fn seed_in(block: &[u8]) -> u64 {
        u64::from_le_bytes(field(block, 8))
    }

    /// Version of the header in a block, if it has one for which the block has room.
    #[inline(always)]
    fn version_in(&self, block: &[u8]) -> Option<HeaderVersion> {
        version_of(&block[self.at..]).filter(|version| {
            let length = self.whole_length(*version);
            self.at + length <= block.len() && (self.at == 0 || length <= self.at)
        })
    }

    /// Checks a block; afterwards its header is at the start.
    #[inline(always)]
    pub fn check(&self, block: &mut [u8], expected: &Expected) -> Result<(), BlockMismatch> {
        let found = self.version_in(block);
        let version = found.unwrap_or(self.version);
        self.swap(block, version);
        if !is_right(block, expected, found) {
            return Err(wrong_header(block, expected, found));
        }
        let room = self.sum().room_bytes() as usize;
        let (sum, data) = block[header_length(version)..].split_at(room);
        let mut own = [0; SUM_BYTES_MAX];
        let own = &mut own[..sum.len()];
        self.summer.write(data, own);
        if own == sum { Ok(()) } else { Err(self.wrong_sum(kind_in(block, version), sum, own)) }
    }

    #[cold]
    fn wrong_sum(&self, kind: u16, sum: &[u8], own: &[u8]) -> BlockMismatch {
        let (stored, found) = (hex(sum), hex(own));
        let mut detail = format!(
            "{}: verify failed; Expected CRC: {stored}; Received CRC: {found}",
            name(self.sum())
        );
        let wanted = kind_number(self.sum());
        let as_good = self.sum() == Sum::Crc32c && kind == CRC32C_BY_HARDWARE;
        if kind != wanted && !as_good {
            detail += &format!("; verify type mismatch ({kind} media, {wanted} given)");
        }
        BlockMismatch::of(MismatchKind::Flipped, detail)
    }
}

/// Name of the sum.
fn name(sum: Sum) -> &'static str {
    match sum {
        Sum::None | Sum::Pattern => "pattern",
        Sum::Md5 => "md5",
        Sum::Crc7 => "crc7",
        Sum::Crc16 => "crc16",
        Sum::Crc32 => "crc32",
        Sum::Crc32c => "crc32c",
        Sum::Crc64 => "crc64",
        Sum::Xxhash => "xxhash",
        Sum::Sha1 => "sha1",
        Sum::Sha256 => "sha256",
        Sum::Sha512 => "sha512",
        Sum::Sha3_224 => "sha3-224",
        Sum::Sha3_256 => "sha3-256",
        Sum::Sha3_384 => "sha3-384",
        Sum::Sha3_512 => "sha3-512",
    }
}

/// True if the numbers of a header, of a known version, are those expected.
#[inline(always)]
fn is_right(block: &[u8], expected: &Expected, version: Option<HeaderVersion>) -> bool {
    let Some(version) = version else { return false };
    let covered = header_length(version) - 4;
    u16::from_le_bytes(field(block, 0)) == MAGIC
        && u32::from_le_bytes(field(block, 4)) == block.len() as u32
        && (expected.generation == UNKNOWN
            || u64::from_le_bytes(field(block, 8)) == seed_of(expected))
        && u64::from_le_bytes(field(block, 16)) == expected.offset
        && has_number(block, expected, version)
        && u32::from_le_bytes(field(block, covered)) == crc32c(&block[..covered])
}

/// True if a header has the sequence number that is expected, as far as its version can hold it.
#[inline(always)]
fn has_number(block: &[u8], expected: &Expected, version: HeaderVersion) -> bool {
    let Some(wanted) = expected.number else { return true };
    number_in(block, version) == version.number(wanted)
}

/// The mismatch of a header: told in the order in which other tools look, and of the kind that its
/// CRC allows to say.
#[cold]
fn wrong_header(block: &[u8], expected: &Expected, found: Option<HeaderVersion>) -> BlockMismatch {
    let wrong = |kind, detail: String| BlockMismatch {
        in_header: true,
        ..BlockMismatch::of(kind, format!("verify: {detail}"))
    };
    let magic = u16::from_le_bytes(field(block, 0));
    if magic != MAGIC {
        let detail = format!("bad magic header {magic:x}, wanted {MAGIC:x}");
        return wrong(MismatchKind::Foreign, detail);
    }
    let Some(version) = found else {
        let detail = format!("unsupported header version {:x}, wanted {V1:x}", block[2]);
        return wrong(MismatchKind::Foreign, detail);
    };
    let covered = header_length(version) - 4;
    let (crc, own) = (u32::from_le_bytes(field(block, covered)), crc32c(&block[..covered]));
    let (kind, detail) = wrong_number(block, expected, version).unwrap_or_else(|| {
        let detail = format!("bad header crc {crc:x}, calculated {own:x}");
        (MismatchKind::Flipped, detail)
    });
    // No field of a damaged header is reliable.
    wrong(if crc == own { kind } else { MismatchKind::Flipped }, detail)
}

/// The first number of a header that is not the one expected.
fn wrong_number(
    block: &[u8],
    expected: &Expected,
    version: HeaderVersion,
) -> Option<(MismatchKind, String)> {
    let length = u32::from_le_bytes(field(block, 4));
    let seed = u64::from_le_bytes(field(block, 8));
    let offset = u64::from_le_bytes(field(block, 16));
    if length != block.len() as u32 {
        let wanted = block.len();
        Some((MismatchKind::Foreign, format!("bad header length {length}, wanted {wanted}")))
    } else if offset != expected.offset {
        let wanted = expected.offset;
        Some((MismatchKind::Misdirected, format!("bad header offset {offset}, wanted {wanted}")))
    } else if expected.generation != UNKNOWN && seed != seed_of(expected) {
        let wanted = seed_of(expected);
        Some((MismatchKind::Stale, format!("bad header rand_seed {seed}, wanted {wanted}")))
    } else if !has_number(block, expected, version) {
        let wanted = version.number(expected.number.unwrap_or_default());
        let number = number_in(block, version);
        Some((MismatchKind::Stale, format!("bad header numberio {number}, wanted {wanted}")))
    } else {
        None
    }
}
