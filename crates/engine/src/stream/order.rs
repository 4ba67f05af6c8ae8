//! Orders of offsets: where in its share a worker's next operation falls.

use candor_plan::blocks::Access;

use super::permutation::Permutation;
use super::skew::{Bands, Normal, Zipf};
use super::space::Space;
use crate::random::Random;

/// An order with its state.
pub enum Order {
    /// Ascending from `at`, leaving `hole` bytes after each operation.
    Ascending {
        /// The next position.
        at: u64,
        /// Bytes left out.
        hole: u64,
        /// Positions are multiples of it.
        align: u64,
    },
    /// Descending; `below` is the end of the next operation, 0 for the start of a pass.
    Descending {
        /// End of the next operation.
        below: u64,
        /// Positions are multiples of it.
        align: u64,
    },
    /// Uniform, operations of one length, with the number of positions worked out beforehand.
    UniformFixed {
        /// Number of positions.
        positions: u64,
        /// The length.
        length: u32,
    },
    /// Uniform, any length.
    Uniform,
    /// Every position once per pass.
    Once {
        /// The order.
        permutation: Permutation,
        /// How many of the pass were given.
        given: u64,
    },
    /// Zipf, popular positions scattered by a permutation.
    Zipf {
        /// The ranks.
        zipf: Zipf,
        /// Rank to position.
        scatter: Permutation,
    },
    /// Pareto: position = positions · u^power.
    Pareto {
        /// The power.
        power: f64,
    },
    /// Normal around the middle.
    Normal(Normal),
    /// Uniform within bands that are chosen by weight.
    Bands(Bands),
}

/// A uniform offset for an operation of that length.
#[inline(always)]
pub fn uniform(space: &Space, length: u32, random: &mut Random) -> u64 {
    let index = random.below(space.positions(length));
    space.offset(space.position(index, length))
}

impl Order {
    /// The order of a plan, for operations of `fixed` length or, where absent, of any.
    ///
    /// A trace has no order of its own; it is ascending here and never asked.
    pub fn new(access: &Access, space: &Space, fixed: Option<u32>, random: &mut Random) -> Order {
        let length = fixed.unwrap_or(space.align() as u32);
        // Without an explicit alignment, ordered operations lie side by side.
        let align = space.explicit_align();
        let positions = space.positions(length);
        match access {
            Access::Sequential | Access::Trace { .. } => Order::Ascending { at: 0, hole: 0, align },
            Access::Holes { hole } => Order::Ascending { at: 0, hole: hole.0, align },
            Access::Backward => Order::Descending { below: 0, align },
            Access::Random => match fixed {
                Some(length) => Order::UniformFixed { positions, length },
                None => Order::Uniform,
            },
            Access::Permutation => {
                Order::Once { permutation: Permutation::new(positions, random.bits()), given: 0 }
            }
            Access::Zipf { theta } => Order::Zipf {
                zipf: Zipf::new(positions, *theta),
                scatter: Permutation::new(positions, random.bits()),
            },
            Access::Pareto { h } => Order::Pareto { power: h.ln() / (1.0 - h).ln() },
            Access::Normal { deviation_percent } => {
                Order::Normal(Normal::new(deviation_percent / 100.0))
            }
            Access::Zoned { zones } => Order::Bands(Bands::zoned(zones)),
            Access::HotBand { hit_percent, start_percent, length_percent } => {
                Order::Bands(Bands::hot(*hit_percent, *start_percent, *length_percent))
            }
        }
    }

    /// Offset in the file of the next operation.
    #[inline(always)]
    pub fn next(&mut self, space: &Space, length: u32, random: &mut Random) -> u64 {
        if let Order::UniformFixed { positions, length } = self {
            let index = random.below(*positions);
            return space.offset(space.position(index, *length));
        }
        space.offset(self.position(space, length, random))
    }

    fn position(&mut self, space: &Space, length: u32, random: &mut Random) -> u64 {
        match self {
            Order::Ascending { at, hole, align } => {
                ascend(at, *hole, *align, space.length(), length)
            }
            Order::Descending { below, align } => descend(below, *align, space.length(), length),
            _ => {
                let positions = space.positions(length);
                let index = self.index(positions, random);
                space.position(index.min(positions - 1), length)
            }
        }
    }

    fn index(&mut self, positions: u64, random: &mut Random) -> u64 {
        let share = |unit: f64| (positions as f64 * unit) as u64;
        match self {
            Order::Once { permutation, given } => {
                let index = permutation.at(*given);
                *given += 1;
                if *given >= permutation.len() {
                    *given = 0;
                    *permutation = Permutation::new(permutation.len(), random.bits());
                }
                index
            }
            Order::Zipf { zipf, scatter } => scatter.at(zipf.rank(random)),
            Order::Pareto { power } => share(random.unit().powf(*power)),
            Order::Normal(normal) => share(normal.unit(random)),
            Order::Bands(bands) => share(bands.unit(random)),
            _ => random.below(positions),
        }
    }
}

#[inline(always)]
fn ascend(at: &mut u64, hole: u64, align: u64, end: u64, length: u32) -> u64 {
    let length = u64::from(length);
    let position = if *at + length > end { 0 } else { *at };
    *at = position.saturating_add(length + hole).next_multiple_of(align);
    position
}

#[inline(always)]
fn descend(below: &mut u64, align: u64, end: u64, length: u32) -> u64 {
    let length = u64::from(length);
    // A pass starts at the end, less what does not make up a whole operation.
    let top = if *below < length { end - end % length.max(1) } else { *below };
    *below = top.saturating_sub(length) / align * align;
    *below
}
