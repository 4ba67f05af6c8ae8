//! Pseudo-random numbers: one generator whose stream is fixed for ever.
//!
//! The generator is xoshiro256++ by its definition. The bounded draw is candor's own (multiply and
//! shift), so that a seed gives the same offsets whatever changes in a library.

pub use candor_plan::permutation::mix;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Stream of a seed and a salt; the salt separates users of one seed.
    pub fn new(seed: u64, salt: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(mix(seed, salt.wrapping_add(1))))
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform number in `0..bound`; the bias is below bound ÷ 2^64. 0 for a bound of 0.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform number in `[0, 1)` with 53 bits.
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True in `percent` of 100 cases.
    #[inline(always)]
    pub fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Fills a buffer.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        self.0.fill_bytes(buffer);
    }
}
