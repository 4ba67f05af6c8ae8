//! Checksums of headers of the format `acca`, byte for byte as other tools write them.
//!
//! Some differ from the algorithm of their name, because the tool that set the format computes them
//! so. The CRCs start and end unusually. SHA-1's words are stored least significant byte first.
//! SHA-256 pads with the length least significant byte first, and keeps eight bytes of its state.
//! SHA-512 is not finished at all: the stored bytes are those of its buffer, so damage in the
//! middle of a block is not detected.

use candor_plan::blocks::Sum;
use crc_fast::{CrcAlgorithm, CrcParams, checksum, checksum_with_params};
use md5::Md5;
use sha1::Sha1;
use sha3::{Digest, Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// Length of the longest sum, in bytes.
pub const SUM_BYTES_MAX: usize = 128;
const SHA256_START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Computes sums, with tables made beforehand.
#[derive(Clone)]
pub struct Summer {
    sum: Sum,
    crc: Option<CrcParams>,
}

impl Summer {
    /// Summer for one kind of sum.
    pub fn new(sum: Sum) -> Summer {
        let crc = match sum {
            Sum::Crc32 => Some(CrcParams::new("crc32", 32, 0x04c1_1db7, 0, false, 0, 0)),
            Sum::Crc64 => Some(CrcParams::new("crc64", 64, 0xad93_d235_94c9_35a9, 0, true, 0, 0)),
            _ => None,
        };
        Summer { sum, crc }
    }

    /// Kind of the sum.
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// Writes the sum of `data` to `out`, which has the length of the sum.
    #[inline(always)]
    pub fn write(&self, data: &[u8], out: &mut [u8]) {
        match self.sum {
            Sum::None | Sum::Pattern => {}
            Sum::Crc32c => out.copy_from_slice(&crc32c(data).to_le_bytes()),
            _ => self.write_slow(data, out),
        }
    }

    fn write_slow(&self, data: &[u8], out: &mut [u8]) {
        match self.sum {
            Sum::None | Sum::Pattern | Sum::Crc32c => {}
            Sum::Crc7 => out[0] = crc7(data),
            Sum::Crc16 => {
                let crc = checksum(CrcAlgorithm::Crc16Arc, data) as u16;
                out.copy_from_slice(&crc.to_le_bytes());
            }
            Sum::Crc32 | Sum::Crc64 => {
                let crc = self.crc.map_or(0, |params| checksum_with_params(params, data));
                out.copy_from_slice(&crc.to_le_bytes()[..out.len()]);
            }
            Sum::Xxhash => {
                out.copy_from_slice(&xxhash_rust::xxh32::xxh32(data, 1).to_le_bytes());
            }
            Sum::Md5 => out.copy_from_slice(&Md5::digest(data)),
            Sum::Sha1 => {
                out.copy_from_slice(&Sha1::digest(data));
                out.chunks_exact_mut(4).for_each(<[u8]>::reverse);
            }
            Sum::Sha256 => sha256(data, out),
            Sum::Sha512 => sha512(data, out),
            Sum::Sha3_224 => out.copy_from_slice(&Sha3_224::digest(data)),
            Sum::Sha3_256 => out.copy_from_slice(&Sha3_256::digest(data)),
            Sum::Sha3_384 => out.copy_from_slice(&Sha3_384::digest(data)),
            Sum::Sha3_512 => out.copy_from_slice(&Sha3_512::digest(data)),
        }
    }
}

/// Sum in hexadecimal, byte by byte as it is stored.
pub fn hex(sum: &[u8]) -> String {
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// CRC-32C without the final inversion.
#[inline(always)]
pub fn crc32c(data: &[u8]) -> u32 {
    !(checksum(CrcAlgorithm::Crc32Iscsi, data) as u32)
}

/// CRC-7 as memory cards use it.
fn crc7(data: &[u8]) -> u8 {
    const TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut crc, mut bit) = (byte as u8, 0);
            while bit < 8 {
                crc = if crc & 0x80 != 0 { (crc << 1) ^ (0x09 << 1) } else { crc << 1 };
                bit += 1;
            }
            table[byte] = crc;
            byte += 1;
        }
        table
    };
    data.iter().fold(0, |crc, byte| TABLE[usize::from(crc ^ byte)]) >> 1
}

/// Eight bytes of the state, followed by the rest of the last block.
fn sha256(data: &[u8], out: &mut [u8]) {
    let mut state = SHA256_START;
    let (blocks, tail) = data.as_chunks::<64>();
    sha2::block_api::compress256(&mut state, blocks);
    let mut last = [[0; 64]; 2];
    let used = if tail.len() < 56 { 1 } else { 2 };
    let flat = last.as_flattened_mut();
    flat[..tail.len()].copy_from_slice(tail);
    flat[tail.len()] = 0x80;
    let bits = (data.len() as u64).wrapping_mul(8);
    flat[used * 64 - 8..used * 64].copy_from_slice(&bits.to_le_bytes());
    sha2::block_api::compress256(&mut state, &last[..used]);
    out.copy_from_slice(&last[used - 1]);
    out.iter_mut().zip(state).for_each(|(byte, word)| *byte = word as u8);
}

/// First block, overlaid with the incomplete last one.
fn sha512(data: &[u8], out: &mut [u8]) {
    out.fill(0);
    let first = data.len().min(SUM_BYTES_MAX);
    out[..first].copy_from_slice(&data[..first]);
    let tail = &data[data.len() - data.len() % SUM_BYTES_MAX..];
    out[..tail.len()].copy_from_slice(tail);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums that the tool which set the format stored for blocks of 4 KiB full of 0xab.
    const STORED: [(Sum, &str); 13] = [
        (Sum::Md5, "02760760d3d9c7c05f26ff4f60555da9"),
        (Sum::Crc7, "49"),
        (Sum::Crc16, "0dcb"),
        (Sum::Crc32, "02ea8e47"),
        (Sum::Crc32c, "96066621"),
        (Sum::Crc64, "242023118ed3f0cc"),
        (Sum::Xxhash, "c4b40f3b"),
        (Sum::Sha1, "5e127d4788205769a076588727f3fb85823fbc5c"),
        (
            Sum::Sha256,
            "1dbaed18f3206bf8abababababababababababababababab80000000000000000000000000000000\
             00000000000000000000000000000000c07c000000000000",
        ),
        (Sum::Sha3_224, "94f24bea71814da7c966ff97d220a592bd6e61818043aa3a7a3a9062"),
        (Sum::Sha3_256, "a39a76a53e49e27b797006dcb85e24e65b05861b8005d19a2afb74a08494146a"),
        (
            Sum::Sha3_384,
            "ae71dd35d33a59516e1edee2cbb3e54278c0b21c4c762bfa732d1aa20aa74f99fe49929c0aa6cbcc\
             31ff7f1372c9a99c",
        ),
        (
            Sum::Sha3_512,
            "1db74aa8d02344bdbcb77fcfb2a0f456031df47c383cf6be8a3251698166c3e6c3bc862dd20fb1fc\
             d34456c5565a41cfaf68007efbaff3bb8b217487eea6b3bf",
        ),
    ];

    #[test]
    fn sums_are_those_that_are_stored() {
        for (sum, stored) in STORED {
            let room = sum.room_bytes() as usize;
            let mut out = vec![0; room];
            Summer::new(sum).write(&vec![0xab; 4096 - 40 - room], &mut out);
            let hex: String = out.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, stored, "{sum:?}");
        }
    }

    #[test]
    fn the_last_block_may_need_a_second_one() {
        for length in [0, 1, 55, 56, 63, 64, 119, 120, 128, 300] {
            let data: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let mut out = [0; 64];
            sha256(&data, &mut out);
            let bits = (length as u64 * 8).to_le_bytes();
            assert_eq!(out[56..], bits, "{length}");
            let mut out = [9; 128];
            sha512(&data, &mut out);
            let tail = &data[length - length % 128..];
            assert_eq!(&out[..tail.len()], tail, "{length}");
        }
    }
}
