//! Header with the magic number 0xacca, which other tools write and read.
//!
//! All numbers are stored least significant byte first: magic (2 bytes), kind of sum (2), length of
//! the block (4), seed (8), offset (8), seconds (4) and nanoseconds (4) since the start, number of
//! the writer (2), sequence number (2), CRC-32C of all that (4). The sum of the rest follows.

use candor_plan::blocks::Sum;
use candor_record::MismatchKind;

use super::checksums::{SUM_BYTES_MAX, Summer, crc32c, hex};
use super::map::UNKNOWN;
use super::{Expected, Wrong, field};
use candor_engine::random::mix;

const MAGIC: u16 = 0xacca;
const HEADER_BYTES: usize = 40;
const CRC_AT: usize = 36;
/// Kind of sum for CRC-32C computed by hardware; some versions store it.
const CRC32C_BY_HARDWARE: u16 = 6;

/// Writer and checker of blocks of this format.
#[derive(Clone)]
pub struct FioHeader {
    summer: Summer,
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
    pub number: u16,
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

impl FioHeader {
    /// Format with headers `at` that offset in each block.
    pub fn new(sum: Sum, at: u64) -> FioHeader {
        FioHeader { summer: Summer::new(sum), at: at as usize }
    }

    /// Kind of its sum.
    pub fn sum(&self) -> Sum {
        self.summer.sum()
    }

    /// Length of the header, which the sum does not cover.
    pub fn header_bytes(&self) -> usize {
        HEADER_BYTES + self.sum().room_bytes() as usize
    }

    /// Swaps the header between the start of the block and its offset.
    fn swap(&self, block: &mut [u8]) {
        if self.at > 0 {
            let (start, rest) = block.split_at_mut(self.at);
            let length = self.header_bytes();
            start[..length].swap_with_slice(&mut rest[..length]);
        }
    }

    /// Writes the header of a block over its first bytes.
    #[inline(always)]
    pub fn seal(&self, block: &mut [u8], as_of: &Expected, stamp: &Stamp) {
        let length = block.len() as u32;
        let (header, rest) = block.split_at_mut(HEADER_BYTES);
        let (sum, data) = rest.split_at_mut(self.sum().room_bytes() as usize);
        self.summer.write(data, sum);
        header[0..2].copy_from_slice(&MAGIC.to_le_bytes());
        header[2..4].copy_from_slice(&kind_number(self.sum()).to_le_bytes());
        header[4..8].copy_from_slice(&length.to_le_bytes());
        header[8..16].copy_from_slice(&seed_of(as_of).to_le_bytes());
        header[16..24].copy_from_slice(&as_of.offset.to_le_bytes());
        header[24..28].copy_from_slice(&((stamp.elapsed_ns / 1_000_000_000) as u32).to_le_bytes());
        header[28..32].copy_from_slice(&((stamp.elapsed_ns % 1_000_000_000) as u32).to_le_bytes());
        header[32..34].copy_from_slice(&stamp.writer.to_le_bytes());
        header[34..36].copy_from_slice(&stamp.number.to_le_bytes());
        let crc = crc32c(&header[..CRC_AT]);
        header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
        self.swap(block);
    }

    /// Puts the header of a checked block over the first bytes of `made`; none if the rest has
    /// another sum than the header's.
    pub fn with_header_of(&self, block: &[u8], mut made: Vec<u8>) -> Option<Vec<u8>> {
        let header = self.header_bytes();
        let mut sum = [0; SUM_BYTES_MAX];
        let sum = &mut sum[..header - HEADER_BYTES];
        self.summer.write(&made[header..], sum);
        made[..header].copy_from_slice(&block[..header]);
        (sum == &block[HEADER_BYTES..header]).then_some(made)
    }

    /// Seed in the header of a checked block.
    pub fn seed_in(block: &[u8]) -> u64 {
        u64::from_le_bytes(field(block, 8))
    }

    /// Checks a block; afterwards its header is at the start.
    #[inline(always)]
    pub fn check(&self, block: &mut [u8], expected: &Expected) -> Result<(), Wrong> {
        self.swap(block);
        check_header(block, expected)?;
        let kind = u16::from_le_bytes(field(block, 2));
        let (sum, data) = block[HEADER_BYTES..].split_at(self.sum().room_bytes() as usize);
        let mut own = [0; SUM_BYTES_MAX];
        let own = &mut own[..sum.len()];
        self.summer.write(data, own);
        if own == sum { Ok(()) } else { Err(self.wrong_sum(kind, sum, own)) }
    }

    #[cold]
    fn wrong_sum(&self, kind: u16, sum: &[u8], own: &[u8]) -> Wrong {
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
        Wrong { kind: MismatchKind::Flipped, detail, in_header: false }
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

#[inline(always)]
fn check_header(block: &[u8], expected: &Expected) -> Result<(), Wrong> {
    let magic = u16::from_le_bytes(field(block, 0));
    let length = u32::from_le_bytes(field(block, 4));
    let seed = u64::from_le_bytes(field(block, 8));
    let offset = u64::from_le_bytes(field(block, 16));
    let crc = u32::from_le_bytes(field(block, CRC_AT));
    let judged = expected.generation != UNKNOWN;
    let right = magic == MAGIC
        && length == block.len() as u32
        && (!judged || seed == seed_of(expected))
        && offset == expected.offset
        && crc == crc32c(&block[..CRC_AT]);
    if right { Ok(()) } else { Err(wrong_header(block, expected, judged)) }
}

#[cold]
fn wrong_header(block: &[u8], expected: &Expected, judged: bool) -> Wrong {
    let magic = u16::from_le_bytes(field(block, 0));
    let length = u32::from_le_bytes(field(block, 4));
    let seed = u64::from_le_bytes(field(block, 8));
    let offset = u64::from_le_bytes(field(block, 16));
    let (crc, own) = (u32::from_le_bytes(field(block, CRC_AT)), crc32c(&block[..CRC_AT]));
    let (kind, detail) = if magic != MAGIC {
        (MismatchKind::Foreign, format!("bad magic header {magic:x}, wanted {MAGIC:x}"))
    } else if crc != own {
        // No field of a damaged header is reliable.
        (MismatchKind::Flipped, format!("bad header crc {crc:x}, calculated {own:x}"))
    } else if length != block.len() as u32 {
        let wanted = block.len();
        (MismatchKind::Foreign, format!("bad header length {length}, wanted {wanted}"))
    } else if offset != expected.offset {
        let wanted = expected.offset;
        (MismatchKind::Misdirected, format!("bad header offset {offset}, wanted {wanted}"))
    } else {
        let wanted = if judged { seed_of(expected) } else { seed };
        (MismatchKind::Stale, format!("bad header rand_seed {seed}, wanted {wanted}"))
    };
    Wrong { kind, detail: format!("verify: {detail}"), in_header: true }
}
