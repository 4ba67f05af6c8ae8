//! A keyed permutation of `0..n`: each number once, in an order that looks random, without memory.
//!
//! A balanced Feistel network over the next even power of two is applied until the result is below
//! n. The mean number of applications is at most 4 for any n, and below 2 on average over all n.

/// Mixes two numbers into one that depends on every bit of both (splitmix64's finaliser).
#[inline(always)]
pub const fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A permutation of `0..len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    key: u64,
}

const ROUNDS: u64 = 4;

impl Permutation {
    /// Permutation of `0..len` with that key.
    pub fn new(len: u64, key: u64) -> Permutation {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Permutation { len: len.max(1), half_bits: bits.div_ceil(2).max(1), key }
    }

    /// The same numbers in the order of another key.
    #[must_use]
    pub fn with_key(self, key: u64) -> Permutation {
        Permutation { key, ..self }
    }

    /// Count of numbers in the permutation.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Always false.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number at an index below `len`.
    #[inline]
    pub fn at(&self, place: u64) -> u64 {
        let mut number = self.network(place);
        while number >= self.len {
            number = self.network(number);
        }
        number
    }

    #[inline]
    fn network(&self, number: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (mix(right ^ (round << 56), self.key) & mask));
        }
        (left << self.half_bits) | right
    }
}
