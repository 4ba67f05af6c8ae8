//! Lengths of operations.

use candor_plan::units::SizeSpec;

use crate::random::Random;

/// Lengths of one direction.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// Always the same.
    Fixed(u32),
    /// `low` + k · `step` for k in `0..steps`.
    Stepped {
        /// The least.
        low: u32,
        /// The distance.
        step: u32,
        /// How many there are.
        steps: u32,
    },
    /// One entry per percent.
    Weighted(Box<[u32; 100]>),
}

/// Lengths are kept in 32 bits; one operation moves at most 2 GiB less a page in Linux anyway.
fn length(bytes: candor_plan::Bytes) -> u32 {
    u32::try_from(bytes.0).unwrap_or(u32::MAX)
}

impl Sizes {
    /// From the plan's words.
    pub fn new(spec: &SizeSpec) -> Sizes {
        match spec {
            SizeSpec::Fixed(size) => Sizes::Fixed(length(*size)),
            SizeSpec::Range(low, high) => {
                let (low, high) = (length(*low).max(1), length(*high));
                Sizes::Stepped { low, step: low, steps: (high.max(low) - low) / low + 1 }
            }
            SizeSpec::Weighted(list) => {
                let each = list.iter().flat_map(|(size, percent)| {
                    std::iter::repeat_n(length(*size), usize::from(*percent))
                });
                let last = list.last().map_or(1, |(size, _)| length(*size));
                let mut table = Box::new([last; 100]);
                table.iter_mut().zip(each).for_each(|(entry, size)| *entry = size);
                Sizes::Weighted(table)
            }
        }
    }

    /// The next length.
    #[inline(always)]
    pub fn pick(&self, random: &mut Random) -> u32 {
        match self {
            Sizes::Fixed(length) => *length,
            Sizes::Stepped { low, step, steps } => {
                low + step * random.below(u64::from(*steps)) as u32
            }
            Sizes::Weighted(table) => table[random.below(100) as usize],
        }
    }
}
