//! Patterns of offsets: positions of a worker's operations in a stretch of its share.
//!
//! A pattern is the same for all files of one size. The state of a file is one number, which
//! [`super::offsets`] keeps.

use candor_plan::blocks::{Access, Blocks};
use candor_plan::units::{Direction, PerDirection};

use super::precondition::{Precondition, Progress};
use super::region::Region;
use super::skew::{Bands, Normal, Zipf};
use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};

/// Pattern, without the state of any file.
pub enum Pattern {
    /// Ascending, with a hole of `hole` bytes after each operation. State: the next position.
    Ascending {
        /// Length of the hole.
        hole: u64,
        /// Number of which positions are multiples.
        align: u64,
    },
    /// Descending. State: the end of the next operation plus 1; 0 at the start.
    Descending {
        /// Number of which positions are multiples.
        align: u64,
        /// A remainder at the end that holds no whole operation comes first, as a short one.
        short_last: bool,
    },
    /// Back from the end of each operation. State: the next position.
    Back {
        /// Distance to go back.
        step: u64,
    },
    /// Ascending in an area at the start, or behind it. State: the next position of each.
    HitArea {
        /// Bytes of the area.
        bytes: u64,
        /// Share of operations in the area, in percent.
        hit_percent: PerDirection<f64>,
        /// Length of the hole after each operation.
        hole: u64,
    },
    /// Every position once per pass. State: the number of positions given.
    Once,
    /// Every position of a block of a segment once, in an order that all its segments have. State:
    /// the number of positions given.
    OncePerBlock(Permutation),
    /// Every block once per pass, with a map.
    Mapped,
    /// Uniform.
    Uniform,
    /// Zipf; a permutation scatters the popular positions.
    Zipf {
        /// Distribution of ranks.
        zipf: Zipf,
        /// Map from rank to position.
        scatter: Scatter,
    },
    /// Pareto: position = positions · u^power, scattered or not.
    Pareto {
        /// Exponent of the power law.
        power: f64,
        /// Map from rank to position; none where they are the same.
        scatter: Option<Scatter>,
    },
    /// Normal around a position.
    Normal(Normal),
    /// Uniform within bands that are drawn by weight, per direction.
    Bands(PerDirection<Bands>),
    /// Blocks of a list. State: the number of blocks given.
    Listed(Listed),
    /// Blocks of a preconditioning pass, with a progress per file.
    Precondition(Precondition),
}

/// Blocks in the order of a list, over and over.
pub struct Listed {
    blocks: Box<[u64]>,
    /// Number of blocks by which the list moves on each time through.
    advance: u64,
}

impl Listed {
    /// Next block of `positions`; none where it lies behind them.
    pub fn next(&self, given: &mut u64, positions: u64) -> Option<u64> {
        let entries = self.blocks.len().max(1) as u64;
        let entry = *self.blocks.get((*given % entries) as usize)?;
        let block = entry.checked_add((*given / entries).checked_mul(self.advance)?)?;
        *given += u64::from(block < positions);
        (block < positions).then_some(block)
    }
}

/// Ranks of popularity, scattered over positions.
pub struct Scatter {
    permutation: Permutation,
    shift: u64,
}

impl Scatter {
    /// Scatter over that many positions; the first rank falls on `center_percent` of them.
    fn new(positions: u64, center_percent: Option<f64>, seed: u64) -> Scatter {
        let permutation = Permutation::new(positions, mix(seed, 0x7363_6174));
        let shift = center_percent.map_or(0, |percent| {
            let center = ((positions as f64 * percent / 100.0) as u64).min(positions - 1);
            center + positions - permutation.at(0)
        });
        Scatter { permutation, shift }
    }

    fn at(&self, rank: u64) -> u64 {
        let positions = self.permutation.len();
        (self.permutation.at(rank.min(positions - 1)) + self.shift) % positions
    }
}

/// Part of a share in which a pattern runs.
#[derive(Clone, Copy)]
pub struct Stretch {
    /// First position.
    pub from: u64,
    /// One past the last position.
    pub to: u64,
    /// Key that separates its permutation from others.
    pub key: u64,
}

impl Pattern {
    /// Pattern that a plan sets in a share; `mapped` where a map of blocks is needed.
    ///
    /// A trace has no pattern of its own: it is ascending here, and never used.
    pub fn new(blocks: &Blocks, region: &Region, mapped: bool, seed: u64) -> Pattern {
        let length = blocks.smallest().0 as u32;
        let align = blocks.alignment_max().0;
        // Without an explicit alignment, sequential operations are adjacent.
        let sequential_align = if blocks.align.is_some() { align } else { 1 };
        let room = region.length().saturating_sub(u64::from(length));
        let positions = room / region.step(length, align) + 1;
        match &blocks.access {
            Access::Sequential | Access::Trace(_) => {
                Pattern::Ascending { hole: 0, align: sequential_align }
            }
            Access::Holes { hole } => Pattern::Ascending { hole: hole.0, align: sequential_align },
            Access::Backward => {
                let short_last = blocks.short_last && sequential_align == 1;
                Pattern::Descending { align: sequential_align, short_last }
            }
            Access::Back { step } => Pattern::Back { step: step.0 },
            Access::HitArea { bytes, hit_percent, hole } => {
                Pattern::HitArea { bytes: bytes.0, hit_percent: *hit_percent, hole: hole.0 }
            }
            Access::Random => Pattern::Uniform,
            Access::Permutation if mapped => Pattern::Mapped,
            Access::Permutation => Pattern::Once,
            Access::Zipf { theta, center_percent } => Pattern::Zipf {
                zipf: Zipf::new(positions, *theta),
                scatter: Scatter::new(positions, *center_percent, seed),
            },
            Access::Pareto { h, center_percent } => Pattern::Pareto {
                power: h.ln() / (1.0 - h).ln(),
                scatter: center_percent.map(|center| Scatter::new(positions, Some(center), seed)),
            },
            Access::Normal { deviation_percent, center_percent } => {
                let center = center_percent.unwrap_or(50.0);
                Pattern::Normal(Normal::new(deviation_percent / 100.0, center / 100.0))
            }
            Access::Zoned { zones } => {
                let bands = |op| Bands::zoned(zones.of(op), region.length());
                Pattern::Bands(PerDirection {
                    read: bands(Direction::Read),
                    write: bands(Direction::Write),
                    trim: bands(Direction::Trim),
                })
            }
            Access::List { blocks, advances } => {
                let advance = if *advances { blocks.len() as u64 } else { 0 };
                Pattern::Listed(Listed { blocks: blocks.clone().into(), advance })
            }
            Access::Precondition { regions, spare_percent, rewrites_last } => {
                let pass = Precondition::new(positions, *regions, *spare_percent, *rewrites_last);
                Pattern::Precondition(pass)
            }
            Access::HotBand { hit_percent, start_percent, length_percent } => Pattern::Bands(
                PerDirection::all(Bands::hot(*hit_percent, *start_percent, *length_percent)),
            ),
        }
    }

    /// True where operations follow each other, so that directions may have positions of their own.
    pub fn is_sequential(&self) -> bool {
        matches!(
            self,
            Pattern::Ascending { .. } | Pattern::Descending { .. } | Pattern::Back { .. }
        )
    }

    /// Start of a preconditioning pass over a file.
    pub fn progress(&self) -> Option<Progress> {
        match self {
            Pattern::Precondition(pass) => Some(pass.start()),
            _ => None,
        }
    }

    /// True where each file needs a state.
    pub fn has_state(&self) -> bool {
        self.is_sequential()
            || matches!(
                self,
                Pattern::HitArea { .. }
                    | Pattern::Once
                    | Pattern::OncePerBlock(_)
                    | Pattern::Listed(_)
            )
    }

    /// Position of the next operation of a sequential pattern; none when the stretch is used up.
    /// `fit` gives a length for the room that is left.
    #[inline(always)]
    pub fn follow(
        &self,
        state: &mut u64,
        stretch: Stretch,
        mut fit: impl FnMut(u64) -> Option<u32>,
    ) -> Option<(u64, u32)> {
        let size = stretch.to - stretch.from;
        match self {
            Pattern::Ascending { hole, align } => {
                let position = *state;
                let length = fit(size.saturating_sub(position))?;
                let next = position.saturating_add(u64::from(length) + hole);
                *state = if *align == 1 { next } else { next.next_multiple_of(*align) };
                Some((stretch.from + position, length))
            }
            Pattern::Descending { align, short_last } => {
                let fresh = *state == 0;
                let mut top = if fresh { size } else { *state - 1 };
                let length = fit(top)?;
                let rest = size % u64::from(length);
                if fresh && *short_last && rest > 0 {
                    *state = size - rest + 1;
                    return Some((stretch.from + size - rest, rest as u32));
                }
                if fresh {
                    // A pass starts at the end, less the remainder that holds no whole operation.
                    top -= size % u64::from(length);
                }
                let position = (top - u64::from(length)) / align * align;
                *state = position + 1;
                Some((stretch.from + position, length))
            }
            Pattern::Back { step } => {
                let position = (*state).min(size);
                let length = fit(size - position)?;
                let end = position + u64::from(length);
                *state = if end >= *step { end - step } else { size.saturating_sub(*step) };
                Some((stretch.from + position, length))
            }
            _ => None,
        }
    }

    /// Index of the next of `positions` positions of a random pattern.
    #[inline(always)]
    pub fn index(&self, positions: u64, op: Direction, random: &mut Random) -> u64 {
        let share = |unit: f64| (positions as f64 * unit) as u64;
        let index = match self {
            Pattern::Zipf { zipf, scatter } => scatter.at(zipf.rank(random)),
            Pattern::Pareto { power, scatter } => {
                let index = share(random.unit().powf(*power));
                scatter.as_ref().map_or(index, |scatter| scatter.at(index))
            }
            Pattern::Normal(normal) => share(normal.unit(random)),
            Pattern::Bands(bands) => share(bands.of(op).unit(random)),
            _ => return random.below(positions),
        };
        index.min(positions - 1)
    }
}

/// Next of all positions of one length, each once per pass; none when all were given.
#[inline(always)]
pub fn once(given: &mut u64, positions: u64, key: u64) -> Option<u64> {
    if *given >= positions {
        return None;
    }
    let index = Permutation::new(positions, key).at(*given);
    *given += 1;
    Some(index)
}

/// Next of all positions of one length, block by block, each block in the same order; none when all
/// were given.
#[inline(always)]
pub fn once_per_block(given: &mut u64, positions: u64, order: &Permutation) -> Option<u64> {
    if *given >= positions {
        return None;
    }
    let within = *given % order.len();
    let index = *given - within + order.at(within);
    *given += 1;
    Some(index)
}
