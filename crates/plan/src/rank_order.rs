//! The rank whose data a worker uses: its own, a shifted or a random one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::permutation::{Permutation, mix};

/// Order in which the workers of a job take the data of its ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RankOrder {
    /// Each rank its own, or the rank of `rank_shift`.
    #[default]
    InOrder,
    /// A random rank, equal in every run of a seed.
    Random {
        /// Seed of the draw, which goes by (seed, rank, ranks) alone.
        seed: u64,
        /// Least distance of the random rank, modulo the number of ranks; above 0, the worker's own
        /// rank is excluded. For `repeats` only.
        #[serde(default)]
        distance: u64,
        /// Each worker draws for itself, so that some data is taken several times and some never;
        /// else each rank's data is taken once.
        #[serde(default)]
        repeats: bool,
    },
}

/// The ranks on whose data the workers of a job work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataOf {
    /// Distance from the own rank, modulo ranks.
    pub shift: i64,
    /// In that order.
    pub order: RankOrder,
}

impl DataOf {
    /// Each worker on its own rank's.
    pub const OWN: DataOf = DataOf { shift: 0, order: RankOrder::InOrder };

    /// The rank on whose data the worker of a rank works.
    pub fn rank(self, rank: u64, ranks: u64) -> u64 {
        match self.order {
            RankOrder::InOrder => data_rank(rank, ranks, self.shift),
            RankOrder::Random { seed, distance, repeats: true } => {
                drawn_rank(seed, rank, ranks, distance)
            }
            RankOrder::Random { seed, repeats: false, .. } => {
                Permutation::new(ranks.max(1), mix(seed, ranks)).at(rank % ranks.max(1))
            }
        }
    }
}

/// A rank at least `distance` further on, drawn by (seed, rank, ranks).
fn drawn_rank(seed: u64, rank: u64, ranks: u64, distance: u64) -> u64 {
    let ranks = ranks.max(1);
    let choices = ranks.saturating_sub(distance).max(1);
    let drawn = mix(mix(seed, ranks), rank);
    // Multiplying and shifting draws with a bias below choices ÷ 2^64, and stays below `choices`.
    let further = distance + ((u128::from(drawn) * u128::from(choices)) >> 64) as u64;
    ((u128::from(rank) + u128::from(further)) % u128::from(ranks)) as u64
}

/// The rank on whose data a worker works: `shift` further on, modulo `ranks`.
pub fn data_rank(rank: u64, ranks: u64, shift: i64) -> u64 {
    let ranks = i128::from(ranks.max(1));
    // The remainder is not negative and below `ranks`, so it fits again.
    (i128::from(rank) + i128::from(shift)).rem_euclid(ranks) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shifts_wrap_in_both_directions() {
        for (rank, ranks, shift, expected) in
            [(0, 4, 1, 1), (3, 4, 1, 0), (0, 4, -1, 3), (2, 4, -9, 1), (5, 0, i64::MIN, 0)]
        {
            assert_eq!(data_rank(rank, ranks, shift), expected, "{rank} of {ranks} by {shift}");
        }
    }

    fn random(seed: u64, distance: u64, repeats: bool) -> DataOf {
        DataOf { shift: 0, order: RankOrder::Random { seed, distance, repeats } }
    }

    fn ranks(order: DataOf) -> Vec<u64> {
        (0..8).map(|rank| order.rank(rank, 8)).collect()
    }

    #[test]
    fn a_random_order_is_fixed_for_ever() {
        assert_eq!(ranks(random(1, 0, false)), [0, 6, 5, 2, 3, 1, 7, 4]);
        assert_eq!(ranks(random(1, 2, true)), [5, 5, 1, 5, 3, 3, 0, 4]);
        assert_eq!(random(9, 0, false).rank(0, 0), 0);
        assert_eq!(random(9, 7, true).rank(3, 4), 2, "no rank is so far away");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_random_order_without_repeats_takes_every_rank_once(seed: u64, ranks in 1..10_000_u64) {
            let order = random(seed, 0, false);
            let mut seen = vec![false; ranks as usize];
            for rank in 0..ranks {
                let of = order.rank(rank, ranks) as usize;
                prop_assert!(!std::mem::replace(&mut seen[of], true), "{} twice", of);
            }
        }

        #[test]
        fn a_random_order_with_repeats_keeps_its_distance(
            seed: u64,
            ranks in 1..10_000_u64,
            distance in 0..10_000_u64,
        ) {
            let distance = distance % ranks;
            let order = random(seed, distance, true);
            for rank in 0..ranks {
                let of = order.rank(rank, ranks);
                let further = (of + ranks - rank) % ranks;
                prop_assert!(of < ranks && further >= distance, "{} of {}: {}", rank, ranks, of);
            }
        }
    }

    #[test]
    fn draws_with_repeats_leave_some_ranks_out() {
        let order = random(7, 1, true);
        let taken: BTreeSet<u64> = (0..10_000).map(|rank| order.rank(rank, 10_000)).collect();
        // A share of 1/e of all ranks is never drawn.
        assert!((6_100..6_550).contains(&taken.len()), "{} ranks", taken.len());
    }
}
