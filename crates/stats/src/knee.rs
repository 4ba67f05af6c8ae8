//! The knee of a sweep: the least value beyond which the rate hardly grows.

/// Index of the first rate that is at least `share` of the best rate; absent for no rates.
pub fn knee(rates: &[f64], share: f64) -> Option<usize> {
    let best = rates.iter().copied().reduce(f64::max)?;
    rates.iter().position(|rate| *rate >= share * best)
}

/// Index of the least rate that is below `share` of a rate before and of a rate after it, as a
/// disturbance causes; absent if no rate is.
pub fn dip(rates: &[f64], share: f64) -> Option<usize> {
    let dips = (0..rates.len()).filter(|at| {
        let (before, after) = (best(&rates[..*at]), best(&rates[at + 1..]));
        rates[*at] < share * before.min(after)
    });
    dips.min_by(|a, b| rates[*a].total_cmp(&rates[*b]))
}

fn best(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_rate_close_to_the_best_is_the_knee() {
        assert_eq!(knee(&[10.0, 60.0, 97.0, 100.0], 0.95), Some(2));
        assert_eq!(knee(&[100.0, 97.0], 0.95), Some(0));
        assert_eq!((knee(&[], 0.95), knee(&[0.0, 0.0], 0.95)), (None, Some(0)));
    }

    #[test]
    fn a_rate_below_its_neighbours_is_a_dip() {
        assert_eq!(dip(&[10.0, 2.0, 60.0, 5.0, 70.0], 0.8), Some(1));
        assert_eq!(dip(&[10.0, 20.0, 15.0], 0.8), None, "a rate may fall at the end");
    }

    proptest! {
        #[test]
        fn a_knee_exists_and_a_rising_series_has_no_dip(
            mut rates in prop::collection::vec(0.0..1e9_f64, 1..20),
        ) {
            prop_assert!(knee(&rates, 0.95).is_some());
            rates.sort_by(f64::total_cmp);
            prop_assert_eq!(dip(&rates, 0.9), None);
        }
    }
}
