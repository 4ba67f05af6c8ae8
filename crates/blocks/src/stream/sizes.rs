//! Lengths of operations.

use candor_plan::Bytes;
use candor_plan::units::SizeSpec;

use candor_engine::random::Random;

/// Lengths of one direction.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// Same length for all operations.
    Fixed(u32),
    /// `low` + k · `step`, for k in `0..steps`.
    Stepped {
        /// Least length.
        low: u32,
        /// Difference from one length to the next.
        step: u32,
        /// Number of lengths.
        steps: u32,
    },
    /// A table of lengths, one entry per percent.
    Weighted(Box<[u32; 100]>),
    /// Lengths that are cut to the room where it is shorter, in multiples of a unit.
    Cut {
        /// Lengths where there is room.
        whole: Box<Sizes>,
        /// Unit of shorter ones.
        unit: u64,
    },
}

/// Length in 32 bits: on Linux one operation moves at most 2 GiB less a page.
fn length(bytes: Bytes) -> u32 {
    u32::try_from(bytes.0).unwrap_or(u32::MAX)
}

impl Sizes {
    /// Lengths that the plan sets.
    pub fn new(spec: &SizeSpec) -> Sizes {
        match spec {
            SizeSpec::Fixed(size) => Sizes::Fixed(length(*size)),
            SizeSpec::Range(low, high) => Sizes::stepped(*low, *high, *low),
            SizeSpec::Stepped(low, high, step) => Sizes::stepped(*low, *high, *step),
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

    fn stepped(low: Bytes, high: Bytes, step: Bytes) -> Sizes {
        let (low, high, step) = (length(low).max(1), length(high), length(step).max(1));
        Sizes::Stepped { low, step, steps: (high.max(low) - low) / step + 1 }
    }

    /// Next length that fits into `room` bytes; none if even the least one does not.
    #[inline(always)]
    pub fn fit(&self, room: u64, random: &mut Random) -> Option<u32> {
        if let Sizes::Fixed(length) = self {
            return (u64::from(*length) <= room).then_some(*length);
        }
        let length = self.pick(random);
        match self {
            _ if u64::from(length) <= room => Some(length),
            Sizes::Cut { unit, .. } => Some((room / unit * unit) as u32).filter(|left| *left > 0),
            _ => self.fit_again(room, random),
        }
    }

    /// Draws again until a length fits, so that the others keep their proportions.
    #[cold]
    fn fit_again(&self, room: u64, random: &mut Random) -> Option<u32> {
        const TRIES: u32 = 64;
        let mut draws = (0..TRIES).map(|_| self.pick(random));
        let fits = |length: &u32| u64::from(*length) <= room;
        draws.find(fits).or_else(|| Some(self.least()).filter(fits))
    }

    /// Least length.
    pub fn least(&self) -> u32 {
        match self {
            Sizes::Fixed(length) => *length,
            Sizes::Stepped { low, .. } => *low,
            Sizes::Weighted(table) => table.iter().copied().min().unwrap_or(1),
            Sizes::Cut { whole, .. } => whole.least(),
        }
    }

    /// Next length.
    #[inline(always)]
    pub fn pick(&self, random: &mut Random) -> u32 {
        match self {
            Sizes::Fixed(length) => *length,
            Sizes::Stepped { low, step, steps } => {
                low + step * random.below(u64::from(*steps)) as u32
            }
            Sizes::Weighted(table) => table[random.below(100) as usize],
            Sizes::Cut { whole, .. } => whole.pick(random),
        }
    }
}
