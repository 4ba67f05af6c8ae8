//! Metadata of a namespace's blocks, and the protection information in it: a guard (a checksum), an
//! application tag and a reference tag (the block's number).

use std::io;

use candor_plan::blocks::Protection;
use candor_record::MismatchKind;
use crc_fast::{CrcAlgorithm, Digest};

use super::format_at;

/// Metadata of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Bytes per block.
    pub bytes: u32,
    /// True if metadata follows each block in its buffer (extended blocks), false if it has a
    /// separate buffer.
    pub is_extended: bool,
    /// True if commands carry metadata. The controller strips its own tags if metadata holds
    /// nothing else.
    pub is_moved: bool,
    /// True if the host makes the tags, false if the controller does.
    pub is_by_host: bool,
    /// Protection information, if any.
    pub tags: Option<Tags>,
}

/// Protection information of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    guard: Guard,
    /// Offset in the metadata; the guard also covers the metadata before it.
    at: usize,
    /// True if the reference tag is the block's number, false if it is not checked (type 3).
    pub is_placed: bool,
}

/// Kind of checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guard {
    /// 16 bits, with a reference tag of 32.
    Crc16,
    /// 64 bits, with a reference tag of 48.
    Crc64,
}

/// Wrong protection information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongTag {
    /// Kind of the mismatch.
    pub kind: MismatchKind,
    /// The tag, the block, expected and found.
    pub detail: String,
}

impl WrongTag {
    fn new(kind: MismatchKind, name: &str, block: u64, found: u64, expected: u64) -> WrongTag {
        let detail =
            format!("the {name} of LBA {block} is {found:#x}, and {expected:#x} was expected");
        WrongTag { kind, detail }
    }
}

/// Values of a block's protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Values {
    guard: u64,
    tag: u16,
    reference: u64,
}

impl Metadata {
    /// Metadata from a namespace's Identify page and, if the controller has several kinds of
    /// protection information, the page of its command set. `format` is the index of the LBA
    /// format.
    ///
    /// # Errors
    /// A format that candor does not support.
    pub fn of(
        namespace: &[u8],
        extensions: Option<&[u8]>,
        format: usize,
        by_host: bool,
    ) -> io::Result<Option<Metadata>> {
        let at = format_at(format);
        let bytes = u32::from(u16::from_le_bytes([namespace[at], namespace[at + 1]]));
        if bytes == 0 {
            return Ok(None);
        }
        let is_extended = namespace[26] & 0x10 != 0;
        let (kind, is_first) = (namespace[29] & 7, namespace[29] & 8 != 0);
        let plain =
            Metadata { bytes, is_extended, is_moved: true, is_by_host: by_host, tags: None };
        if kind == 0 {
            return Ok(Some(plain));
        }
        let word = extensions.map_or(0, |page| {
            let at = 12 + 4 * format;
            u32::from_le_bytes([0, 1, 2, 3].map(|byte| page[at + byte]))
        });
        let guard = match (word & 0x7f, word >> 7 & 3) {
            (0, 0) => Guard::Crc16,
            (0, 2) => Guard::Crc64,
            (0, _) => {
                return Err(unusable("its blocks have guards that are not of 16 or 64 bits"));
            }
            _ => return Err(unusable("its blocks have storage tags")),
        };
        let Some(room) = (bytes as usize).checked_sub(guard.bytes()) else {
            return Err(unusable("its metadata has no room for its protection information"));
        };
        let at = if is_first { 0 } else { room };
        let tags = Tags { guard, at, is_placed: kind < 3 };
        Ok(Some(Metadata { is_moved: by_host || room > 0, tags: Some(tags), ..plain }))
    }
}

fn unusable(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

impl Guard {
    /// Bytes of protection information with this guard.
    fn bytes(self) -> usize {
        match self {
            Guard::Crc16 => 8,
            Guard::Crc64 => 16,
        }
    }

    fn of(self, data: &[u8], before: &[u8]) -> u64 {
        let mut digest = Digest::new(match self {
            Guard::Crc16 => CrcAlgorithm::Crc16T10Dif,
            Guard::Crc64 => CrcAlgorithm::Crc64Nvme,
        });
        digest.update(data);
        digest.update(before);
        digest.finalize()
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

impl Tags {
    /// Reference tag of a block in a command: word 14, and word 3 for the higher bits.
    pub fn reference_words(&self, block: u64) -> [u32; 2] {
        let reference = self.reference(block);
        [reference as u32, (reference >> 32) as u32]
    }

    fn reference(&self, block: u64) -> u64 {
        if self.is_placed { block & self.reference_max() } else { 0 }
    }

    fn reference_max(&self) -> u64 {
        match self.guard {
            Guard::Crc16 => u64::from(u32::MAX),
            Guard::Crc64 => (1 << 48) - 1,
        }
    }

    /// Writes the tags of a block into its metadata.
    pub fn make(&self, data: &[u8], metadata: &mut [u8], block: u64, tag: u16) {
        let guard = self.guard.of(data, &metadata[..self.at]);
        let reference = self.reference(block);
        let out = &mut metadata[self.at..self.at + self.guard.bytes()];
        match self.guard {
            Guard::Crc16 => {
                out[..2].copy_from_slice(&(guard as u16).to_be_bytes());
                out[2..4].copy_from_slice(&tag.to_be_bytes());
                out[4..].copy_from_slice(&(reference as u32).to_be_bytes());
            }
            Guard::Crc64 => {
                out[..8].copy_from_slice(&guard.to_be_bytes());
                out[8..10].copy_from_slice(&tag.to_be_bytes());
                out[10..].copy_from_slice(&reference.to_be_bytes()[2..]);
            }
        }
    }

    fn read(&self, metadata: &[u8]) -> Values {
        let bytes = &metadata[self.at..self.at + self.guard.bytes()];
        let wide = if self.guard == Guard::Crc16 { 2 } else { 8 };
        let (guard, rest) = bytes.split_at(wide);
        let (tag, reference) = rest.split_at(2);
        Values { guard: number(guard), tag: number(tag) as u16, reference: number(reference) }
    }

    /// Checks the tags of a block that was read, as the plan requests. False for a block that
    /// disables checks, for example a block that was never written.
    ///
    /// # Errors
    /// The first wrong tag.
    pub fn check(
        &self,
        data: &[u8],
        metadata: &[u8],
        block: u64,
        plan: &Protection,
    ) -> Result<bool, WrongTag> {
        let found = self.read(metadata);
        let unplaced = self.is_placed || found.reference == self.reference_max();
        if found.tag == u16::MAX && unplaced {
            return Ok(false);
        }
        let (tag, reference) = (plan.tag & plan.tag_mask, self.reference(block));
        if plan.check_guard {
            let guard = self.guard.of(data, &metadata[..self.at]);
            if guard != found.guard {
                let kind = MismatchKind::Flipped;
                return Err(WrongTag::new(kind, "guard", block, found.guard, guard));
            }
        }
        let (found_tag, tag) = (u64::from(found.tag & plan.tag_mask), tag.into());
        if plan.check_tag && found_tag != tag {
            let kind = MismatchKind::Foreign;
            return Err(WrongTag::new(kind, "application tag", block, found_tag, tag));
        }
        if plan.check_reference && self.is_placed && found.reference != reference {
            let kind = MismatchKind::Misdirected;
            return Err(WrongTag::new(kind, "reference tag", block, found.reference, reference));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECKED: Protection = Protection {
        check_guard: true,
        check_tag: true,
        check_reference: true,
        tag: 0x17,
        ..Protection::DEFAULT
    };

    fn tags(guard: Guard, at: usize, is_placed: bool) -> Tags {
        Tags { guard, at, is_placed }
    }

    #[test]
    fn guards_have_the_published_check_values() {
        assert_eq!(Guard::Crc16.of(b"123456789", b""), 0xd0db);
        assert_eq!(Guard::Crc16.of(b"1234", b"56789"), 0xd0db);
        assert_eq!(Guard::Crc64.of(b"123456789", b""), 0xae8b_1486_0a79_9888);
        assert_eq!(Guard::Crc64.of(&[0; 4096], b""), 0x6482_d367_eb22_b64e);
        assert_eq!(Guard::Crc64.of(&[0xff; 4096], b""), 0xc0dd_ba73_02ec_a3ac);
    }

    #[test]
    fn tags_stand_where_the_format_says() {
        let mut metadata = [0xee; 16];
        tags(Guard::Crc16, 8, true).make(b"123456789", &mut metadata, 0x1_0203_0405, 0x17);
        let guard = Guard::Crc16.of(b"123456789", &[0xee; 8]) as u16;
        assert_eq!(metadata[..8], [0xee; 8]);
        assert_eq!(metadata[8..10], guard.to_be_bytes());
        assert_eq!(metadata[10..], [0, 0x17, 2, 3, 4, 5]);
        tags(Guard::Crc64, 0, true).make(b"123456789", &mut metadata, 0x1_0203_0405, 0x1234);
        assert_eq!(metadata[..8], 0xae8b_1486_0a79_9888_u64.to_be_bytes());
        assert_eq!(metadata[8..], [0x12, 0x34, 0, 1, 2, 3, 4, 5]);
        assert_eq!(
            tags(Guard::Crc64, 0, true).reference_words(0x0605_0203_0405_0607),
            [0x0405_0607, 0x0203]
        );
    }

    #[test]
    fn each_change_of_a_block_is_told_by_its_tag() {
        for (guard, at, bytes) in [
            (Guard::Crc16, 0, 8),
            (Guard::Crc16, 8, 16),
            (Guard::Crc64, 0, 16),
            (Guard::Crc64, 4, 20),
        ] {
            let tags = tags(guard, at, true);
            let mut data: Vec<u8> = (0..512).map(|at| (at * 7) as u8).collect();
            let mut metadata = vec![0x5a; bytes];
            tags.make(&data, &mut metadata, 77, CHECKED.tag);
            assert_eq!(tags.check(&data, &metadata, 77, &CHECKED), Ok(true));
            let said = |data: &[u8], metadata: &[u8], block, plan: &Protection| {
                let wrong = tags.check(data, metadata, block, plan).expect_err("it changed");
                (wrong.kind, wrong.detail)
            };
            let (kind, detail) = said(&data, &metadata, 78, &CHECKED);
            assert_eq!(kind, MismatchKind::Misdirected);
            assert_eq!(detail, "the reference tag of LBA 78 is 0x4d, and 0x4e was expected");
            let other = Protection { tag: 0x18, ..CHECKED };
            let (kind, detail) = said(&data, &metadata, 77, &other);
            assert_eq!(kind, MismatchKind::Foreign);
            assert_eq!(detail, "the application tag of LBA 77 is 0x17, and 0x18 was expected");
            // Bits beyond the mask are not looked at.
            let masked = Protection { tag_mask: 0xfff0, ..other };
            assert_eq!(tags.check(&data, &metadata, 77, &masked), Ok(true));
            for bit in 0..8 * data.len() {
                data[bit / 8] ^= 1 << (bit % 8);
                let (kind, detail) = said(&data, &metadata, 77, &CHECKED);
                assert_eq!(kind, MismatchKind::Flipped);
                assert!(detail.starts_with("the guard of LBA 77 is 0x"), "{detail}");
                let unchecked = Protection { check_guard: false, ..CHECKED };
                assert_eq!(tags.check(&data, &metadata, 77, &unchecked), Ok(true));
                data[bit / 8] ^= 1 << (bit % 8);
            }
            // The guard is over the metadata before it.
            if at > 0 {
                metadata[at - 1] ^= 1;
                assert_eq!(said(&data, &metadata, 77, &CHECKED).0, MismatchKind::Flipped);
            }
        }
    }

    #[test]
    fn blocks_that_were_never_written_are_not_checked() {
        let (placed, free) = (tags(Guard::Crc16, 0, true), tags(Guard::Crc16, 0, false));
        assert_eq!(placed.check(&[0; 512], &[0xff; 8], 3, &CHECKED), Ok(false));
        assert_eq!(free.check(&[0; 512], &[0xff; 8], 3, &CHECKED), Ok(false));
        let tag_alone = [0, 0, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(placed.check(&[0; 512], &tag_alone, 3, &CHECKED), Ok(false));
        assert!(free.check(&[0; 512], &tag_alone, 3, &CHECKED).is_err());
    }

    /// Pages of a format with that much metadata; DPS, whether blocks are extended, and the word of
    /// the command set's page.
    fn metadata(bytes: u16, dps: u8, extended: bool, word: u32) -> io::Result<Option<Metadata>> {
        let (mut namespace, mut extensions) = (vec![0; 4096], vec![0; 4096]);
        namespace[26] = if extended { 0x11 } else { 1 };
        namespace[29] = dps;
        namespace[132..134].copy_from_slice(&bytes.to_le_bytes());
        extensions[16..20].copy_from_slice(&u32::to_le_bytes(word));
        Metadata::of(&namespace, Some(&extensions), 1, false)
    }

    #[test]
    fn formats_by_their_pages() {
        let of = |bytes, dps, extended, word| metadata(bytes, dps, extended, word).expect("known");
        assert_eq!(of(0, 0, false, 0), None);
        let plain = Metadata {
            bytes: 64,
            is_extended: true,
            is_moved: true,
            is_by_host: false,
            tags: None,
        };
        assert_eq!(of(64, 0, true, 0), Some(plain));
        let made = of(8, 1, false, 0).expect("metadata");
        assert_eq!((made.is_moved, made.tags), (false, Some(tags(Guard::Crc16, 0, true))));
        let last = of(16, 2, false, 0).expect("metadata");
        assert_eq!((last.is_moved, last.tags), (true, Some(tags(Guard::Crc16, 8, true))));
        let first = of(16, 3 | 8, true, 0).expect("metadata");
        assert_eq!((first.is_moved, first.tags), (true, Some(tags(Guard::Crc16, 0, false))));
        let wide = of(16, 1, true, 2 << 7).expect("metadata");
        assert_eq!((wide.is_moved, wide.tags), (false, Some(tags(Guard::Crc64, 0, true))));
        for (word, said) in [(1 << 7, "16 or 64"), (3, "storage tags")] {
            let refused = metadata(16, 1, false, word).expect_err("not known").to_string();
            assert!(refused.contains(said), "{refused}");
        }
        assert!(metadata(8, 1, false, 2 << 7).is_err());
    }
}
