//! candor's own header format.
//!
//! A block (the verify interval) starts with a header: magic, own offset, seed of the run,
//! generation (number of writes to this block), length, time of the write in seconds since 1970
//! where it is kept (else 0), checksum over all of it. The last eight
//! bytes of each 512-byte sector hold the generation again, with a tag of offset and seed. They
//! tell a block made of several writes from one with flipped bits.

use std::ops::Range;

use candor_record::{BadSector, BlockIdentity, MismatchKind};
use crc_fast::CrcAlgorithm;

use super::map::UNKNOWN;
use super::single_bit::flipped_bit;
use super::{BlockMismatch, Expected, field};
use candor_engine::random::mix;

const MAGIC: u64 = u64::from_le_bytes(*b"candorv1");
const SECTOR_BYTES: usize = 512;
const HEADER_BYTES: usize = 40;
const CRC_AT: Range<usize> = 36..40;
/// Bits that may differ between a damaged stamp and the right one. With more, the stamp counts as
/// foreign.
const DAMAGED_BITS_MAX: u32 = 8;

/// Adds header and stamps to a block; the payload stays as it is. The time is 0 where none is kept.
pub fn seal(block: &mut [u8], as_of: &Expected, unix_s: u32) {
    for (index, sector) in block.chunks_exact_mut(SECTOR_BYTES).enumerate() {
        let offset = as_of.offset + (index * SECTOR_BYTES) as u64;
        sector[SECTOR_BYTES - 8..].copy_from_slice(&sector_stamp(offset, as_of).to_le_bytes());
    }
    let length = block.len() as u32;
    block[0..8].copy_from_slice(&MAGIC.to_le_bytes());
    block[8..16].copy_from_slice(&as_of.offset.to_le_bytes());
    block[16..24].copy_from_slice(&as_of.seed.to_le_bytes());
    block[24..28].copy_from_slice(&as_of.generation.to_le_bytes());
    block[28..32].copy_from_slice(&length.to_le_bytes());
    block[32..36].copy_from_slice(&unix_s.to_le_bytes());
    let crc = checksum(block);
    block[CRC_AT].copy_from_slice(&crc.to_le_bytes());
}

/// Stamp of a sector: generation in the low half, a tag of offset, seed and generation in the high
/// half.
fn sector_stamp(offset: u64, as_of: &Expected) -> u64 {
    let tag = mix(offset ^ as_of.seed.rotate_left(32), u64::from(as_of.generation) + 1);
    (tag & !u64::from(u32::MAX)) | u64::from(as_of.generation)
}

/// Checksum over the whole block but the checksum itself.
fn checksum(block: &[u8]) -> u32 {
    let mut digest = crc_fast::Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(&block[..CRC_AT.start]);
    digest.update(&block[HEADER_BYTES..]);
    digest.finalize() as u32
}

/// Identity that a header states.
fn identity(block: &[u8]) -> BlockIdentity {
    let unix_s = u32::from_le_bytes(field(block, 32));
    BlockIdentity {
        offset: u64::from_le_bytes(field(block, 8)),
        key: Some(u32::from_le_bytes(field(block, 24))),
        seed: u64::from_le_bytes(field(block, 16)),
        written_unix_s: (unix_s > 0).then_some(u64::from(unix_s)),
    }
}

/// Checks one block. The error describes the mismatch, with expected and found values.
pub fn check(block: &[u8], expected: &Expected) -> Result<(), BlockMismatch> {
    let magic = u64::from_le_bytes(field(block, 0));
    let crc = u32::from_le_bytes(field(block, CRC_AT.start));
    let sum = checksum(block);
    let mut wrong = if magic != MAGIC || crc != sum {
        classify(block, expected, crc ^ sum)
    } else {
        let found = identity(block);
        let Some((kind, detail)) = misplaced(&found, expected) else { return Ok(()) };
        let mut wrong = BlockMismatch::of(kind, detail);
        wrong.blocks.found = Some(found);
        wrong
    };
    wrong.blocks.expected = Some(expected.identity());
    Err(wrong)
}

/// Checks a block of which only its own header can tell what was written: none where the header
/// names another seed, offset or length, or where a later write may have replaced a part.
pub fn check_by_header(block: &[u8], expected: &Expected) -> Option<Result<(), BlockMismatch>> {
    let difference = u32::from_le_bytes(field(block, CRC_AT.start)) ^ checksum(block);
    let is_own = if names_block(block, expected, block.len()) {
        difference == 0 || !was_replaced_in_part(block, expected)
    } else {
        names_damaged_block(block, expected, difference)
    };
    is_own.then(|| check(block, expected))
}

/// True if a header names a block of the expected seed, offset and length.
fn names_block(header: &[u8], expected: &Expected, length: usize) -> bool {
    let number = |at| u64::from_le_bytes(field(header, at));
    number(0) == MAGIC
        && number(8) == expected.offset
        && number(16) == expected.seed
        && u32::from_le_bytes(field(header, 28)) == length as u32
}

/// True if the header names the expected block once the bit is flipped that the checksum locates.
fn names_damaged_block(block: &[u8], expected: &Expected, difference: u32) -> bool {
    let bit = flipped_bit(difference, block.len() - CRC_AT.len());
    let Some(bit) = bit.filter(|bit| *bit < CRC_AT.start * 8) else { return false };
    let mut header = block[..HEADER_BYTES].to_vec();
    header[bit / 8] ^= 1 << (bit % 8);
    names_block(&header, expected, block.len())
}

/// True if a sector of the block has a stamp of another seed, or the header of
/// another block.
fn was_replaced_in_part(block: &[u8], expected: &Expected) -> bool {
    let mut sectors = sectors(block, expected).zip(block.chunks_exact(SECTOR_BYTES)).enumerate();
    sectors.any(|(index, (origin, bytes))| {
        let has_header = u64::from_le_bytes(field(bytes, 0)) == MAGIC;
        origin == Sector::Other || (index > 0 && has_header)
    })
}

/// Kind of an intact block that is not the expected one, and the difference; none if it is.
fn misplaced(found: &BlockIdentity, expected: &Expected) -> Option<(MismatchKind, String)> {
    let key = found.key.unwrap_or(UNKNOWN);
    if found.offset != expected.offset {
        let what = format!("it holds the block of offset {}", found.offset);
        return Some((MismatchKind::Misdirected, what));
    }
    if found.seed != expected.seed {
        let what =
            format!("it holds data of a run with seed {}, not {}", found.seed, expected.seed);
        return Some((MismatchKind::Stale, what));
    }
    if expected.generation != UNKNOWN && key != expected.generation {
        let what = format!("it holds write {key} to this block, not {}", expected.generation);
        return Some((MismatchKind::Stale, what));
    }
    None
}

/// Origin of one sector of a damaged block.
#[derive(Clone, Copy, PartialEq)]
enum Sector {
    /// Written by this job, in that generation.
    Own(u32),
    /// Written by this job, with bits flipped in the stamp.
    Damaged,
    /// Written by another job or program.
    Other,
}

impl Sector {
    fn key(self) -> Option<u32> {
        match self {
            Sector::Own(generation) => Some(generation),
            Sector::Damaged | Sector::Other => None,
        }
    }
}

fn sector(bytes: &[u8], offset: u64, expected: &Expected, header_generation: u32) -> Sector {
    let found = u64::from_le_bytes(field(bytes, SECTOR_BYTES - 8));
    let stamp = |generation| sector_stamp(offset, &Expected { generation, ..*expected });
    if found == stamp(found as u32) {
        return Sector::Own(found as u32);
    }
    // Zeros resemble stamps of low generations by chance, and no write has generation 0.
    if found == 0 {
        return Sector::Other;
    }
    let near = |generation| {
        generation != UNKNOWN && (found ^ stamp(generation)).count_ones() <= DAMAGED_BITS_MAX
    };
    if near(header_generation) || near(expected.generation) {
        Sector::Damaged
    } else {
        Sector::Other
    }
}

/// Origins of the sectors of a block.
fn sectors(block: &[u8], expected: &Expected) -> impl Iterator<Item = Sector> {
    let header_generation = u32::from_le_bytes(field(block, 24));
    block.chunks_exact(SECTOR_BYTES).enumerate().map(move |(index, bytes)| {
        let offset = expected.offset + (index * SECTOR_BYTES) as u64;
        sector(bytes, offset, expected, header_generation)
    })
}

/// Classifies a block whose checksum failed: flipped bits, torn write or foreign data.
/// `difference` is that of the sums.
fn classify(block: &[u8], expected: &Expected, difference: u32) -> BlockMismatch {
    let sectors: Vec<Sector> = sectors(block, expected).collect();
    let own: Vec<u32> = sectors.iter().filter_map(|sector| sector.key()).collect();
    let damaged = sectors.contains(&Sector::Damaged);
    let others = sectors.iter().filter(|s| **s == Sector::Other).count();
    let mixed = own.windows(2).any(|pair| pair[0] != pair[1]);
    if mixed || (others > 0 && !own.is_empty()) {
        torn(&sectors, &own, expected)
    } else if own.is_empty() && !damaged {
        let what = "it holds no block that candor wrote with this seed";
        BlockMismatch::of(MismatchKind::Foreign, what.into())
    } else {
        flipped(block, difference)
    }
}

/// A block whose sectors are of several writes; the wrong ones are those not of the expected one.
fn torn(sectors: &[Sector], own: &[u32], expected: &Expected) -> BlockMismatch {
    let right = match expected.generation {
        UNKNOWN => own.first().copied().unwrap_or(UNKNOWN),
        generation => generation,
    };
    let numbered = (0..).zip(sectors).filter(|(_, found)| **found != Sector::Own(right));
    let wrong = numbered.map(|(sector, found)| BadSector { sector, key: found.key(), bit: None });
    let wrong: Vec<_> = wrong.collect();
    let what = format!(
        "{} of {} sectors are of one write, the rest of another",
        own.iter().filter(|g| Some(*g) == own.first()).count(),
        sectors.len()
    );
    of_sectors(MismatchKind::Torn, what, wrong)
}

/// A block in which bits differ from what was written. A single one is found by the sums.
fn flipped(block: &[u8], difference: u32) -> BlockMismatch {
    // The checksum does not cover itself.
    let in_sum = (difference.count_ones() == 1)
        .then(|| CRC_AT.start * 8 + difference.trailing_zeros() as usize);
    let Some(bit) = in_sum.or_else(|| {
        flipped_bit(difference, block.len() - CRC_AT.len())
            .map(|bit| if bit < CRC_AT.start * 8 { bit } else { bit + CRC_AT.len() * 8 })
    }) else {
        let what = "the checksum does not match; bits were changed";
        return BlockMismatch::of(MismatchKind::Flipped, what.into());
    };
    let what = format!(
        "the checksum does not match; one bit was changed, bit {} of byte {} of the block",
        bit % 8,
        bit / 8
    );
    let in_sector = SECTOR_BYTES * 8;
    let (sector, bit) = ((bit / in_sector) as u32, Some((bit % in_sector) as u32));
    of_sectors(MismatchKind::Flipped, what, vec![BadSector { sector, key: None, bit }])
}

fn of_sectors(kind: MismatchKind, what: String, sectors: Vec<BadSector>) -> BlockMismatch {
    let mut wrong = BlockMismatch::of(kind, what);
    wrong.blocks.sectors = sectors;
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_engine::random::Random;

    fn written(offset: u64, generation: u32, random: &mut Random) -> Vec<u8> {
        let mut block = vec![0; 4096];
        random.fill(&mut block);
        seal(&mut block, &Expected { offset, seed: 9, generation, number: None }, 0);
        block
    }

    fn kind(block: &[u8], generation: u32) -> Option<MismatchKind> {
        check(block, &Expected { offset: 8192, seed: 9, generation, number: None })
            .err()
            .map(|w| w.kind)
    }

    #[test]
    fn intact_blocks_pass() {
        let block = written(8192, 3, &mut Random::new(1, 0));
        assert_eq!(kind(&block, 3), None);
        assert_eq!(kind(&block, UNKNOWN), None);
    }

    #[test]
    fn a_thousand_of_each_corruption_are_found_and_named() {
        let mut random = Random::new(2, 0);
        for _ in 0..1000 {
            let good = written(8192, 3, &mut random);
            let older = written(8192, 2, &mut random);
            let mut flipped = good.clone();
            let bit = random.below(4096 * 8);
            flipped[(bit / 8) as usize] ^= 1 << (bit % 8);
            assert_eq!(kind(&flipped, 3), Some(MismatchKind::Flipped), "bit {bit}");
            let cut = (1 + random.below(7)) as usize * 512;
            let torn = [&good[..cut], &older[cut..]].concat();
            assert_eq!(kind(&torn, 3), Some(MismatchKind::Torn));
            let elsewhere = written(4096 * (100 + random.below(1000)), 3, &mut random);
            assert_eq!(kind(&elsewhere, 3), Some(MismatchKind::Misdirected));
            assert_eq!(kind(&older, 3), Some(MismatchKind::Stale));
        }
        for place in 0..1000 {
            let expected = Expected { offset: place * 4096, seed: 9, generation: 1, number: None };
            let zeros = check(&[0; 4096], &expected).expect_err("found");
            assert_eq!(zeros.kind, MismatchKind::Foreign, "block {place}");
        }
    }

    #[test]
    fn a_mismatch_says_where_and_what() {
        let mut random = Random::new(3, 0);
        let expected = Expected { offset: 8192, seed: 9, generation: 3, number: None };
        let wrong = |block: &[u8]| check(block, &expected).expect_err("found");
        let good = written(8192, 3, &mut random);
        for bit in [0, 35 * 8 + 7, 38 * 8 + 2, 40 * 8, 512 * 8 + 3, 4096 * 8 - 1] {
            let mut flipped = good.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let (sector, at) = ((bit / 4096) as u32, (bit % 4096) as u32);
            let named = BadSector { sector, key: None, bit: Some(at) };
            assert_eq!(wrong(&flipped).blocks.sectors, [named], "bit {bit}");
            flipped[2000] ^= 0x10;
            assert_eq!(wrong(&flipped).blocks.sectors, [], "two bits");
        }
        let mut older = good.clone();
        let as_of = Expected { generation: 2, ..expected };
        seal(&mut older, &as_of, 77);
        let torn = wrong(&[&good[..2048], &older[2048..]].concat());
        let of_older = |sector| BadSector { sector, key: Some(2), bit: None };
        assert_eq!(torn.blocks.sectors, [4, 5, 6, 7].map(of_older));
        let stale = wrong(&older);
        assert_eq!(stale.blocks.expected, Some(expected.identity()));
        let found = BlockIdentity { written_unix_s: Some(77), ..as_of.identity() };
        assert_eq!((stale.blocks.found, stale.blocks.sectors), (Some(found), Vec::new()));
    }
}
