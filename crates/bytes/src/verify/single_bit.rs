//! Place of a single flipped bit, found by the difference of two checksums.
//!
//! A CRC is linear: the difference of the sums depends on the flipped bits alone, not on the data.
//! Each single bit of a block leaves a difference of its own, which is tried for one after another.

/// Polynomial of CRC-32C with its bits reversed, as the sum shifts them.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Difference after one more bit of zeros.
fn shifted(difference: u32) -> u32 {
    (difference >> 1) ^ (POLYNOMIAL & (difference & 1).wrapping_neg())
}

/// The only bit that differs in so many bytes under a CRC-32C, counted from their start and from
/// the lowest bit of each byte; none where more than one does.
pub fn flipped_bit(difference: u32, bytes: usize) -> Option<usize> {
    // The last bit of all, the highest of the last byte, passes the shift once.
    let mut of_bit = shifted(1);
    for bit in (0..bytes * 8).rev() {
        if of_bit == difference {
            return Some(bit);
        }
        of_bit = shifted(of_bit);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::checksums::crc32c;

    #[test]
    fn every_single_bit_is_found_and_no_pair() {
        let bytes: Vec<u8> = (0..100u8).map(|n| n.wrapping_mul(73)).collect();
        let difference = |bits: &[usize]| {
            let mut other = bytes.clone();
            bits.iter().for_each(|bit| other[bit / 8] ^= 1 << (bit % 8));
            crc32c(&bytes) ^ crc32c(&other)
        };
        for bit in 0..800 {
            assert_eq!(flipped_bit(difference(&[bit]), 100), Some(bit));
            let pair = [bit, (bit + 1 + bit % 97) % 800];
            assert_eq!(flipped_bit(difference(&pair), 100), None, "{pair:?}");
        }
        assert_eq!(flipped_bit(0, 100), None);
    }
}
