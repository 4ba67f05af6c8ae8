//! A fall of the level within a series.

use crate::{mean, quantile, relative_deviation};

/// A level that changes to a lower level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Number of values before the step.
    pub at: usize,
    /// Mean before, without the value next to the step.
    pub before: f64,
    /// Mean after, without the value next to the step.
    pub after: f64,
    /// Standard deviation of the values after, as a share of their mean.
    pub spread_after: f64,
}

/// The step down that splits the values best, with at least `before_min` values before and
/// `after_min` after. Absent if the levels overlap (nine of ten values before are above nine of ten
/// after) or rise.
pub fn step_down(values: &[f64], before_min: usize, after_min: usize) -> Option<Step> {
    let at = best_split(values, before_min, after_min)?;
    let (before, after) = values.split_at(at);
    // The level may have changed within the value on either side.
    let before = before.split_last().map_or(before, |(_, rest)| rest_or(rest, before));
    let after = after.split_first().map_or(after, |(_, rest)| rest_or(rest, after));
    let is_apart = quantile(before, 0.1) > quantile(after, 0.9);
    is_apart.then(|| Step {
        at,
        before: mean(before),
        after: mean(after),
        spread_after: relative_deviation(after),
    })
}

/// `rest`, or `all` if it is empty.
fn rest_or<'a>(rest: &'a [f64], all: &'a [f64]) -> &'a [f64] {
    if rest.is_empty() { all } else { rest }
}

/// The split that leaves the least variance: the largest n₁n₂(m₁ − m₂)².
fn best_split(values: &[f64], before_min: usize, after_min: usize) -> Option<usize> {
    let last = values.len().checked_sub(after_min.max(1))?;
    let all: f64 = values.iter().sum();
    let (mut sum, mut best) = (0.0, None);
    for (at, value) in values.iter().enumerate() {
        if (before_min.max(1)..=last).contains(&at) {
            let (n, m) = (at as f64, (values.len() - at) as f64);
            let explained = n * m * (sum / n - (all - sum) / m).powi(2);
            if best.is_none_or(|(most, _)| explained > most) {
                best = Some((explained, at));
            }
        }
        sum += value;
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_step_is_found_at_its_position() {
        let values: Vec<f64> =
            (0..60).map(|i| if i < 20 { 4700.0 } else { 1500.0 + f64::from(i % 2) }).collect();
        let step = step_down(&values, 3, 10).expect("a step");
        assert_eq!((step.at, step.before), (20, 4700.0));
        assert!(step.spread_after < 0.001 && (step.after - 1500.5).abs() < 0.1);
        let up: Vec<f64> = values.iter().rev().copied().collect();
        assert_eq!(step_down(&up, 3, 10), None);
        assert_eq!(step_down(&values[..25], 3, 10), None);
        let noisy: Vec<f64> = (0..60).map(|i| f64::from((i * 7919) % 100)).collect();
        assert_eq!(step_down(&noisy, 3, 10), None);
    }

    /// Seen on Linux 6.18, with a limit set in the middle of the fifth second.
    #[test]
    fn the_second_of_the_change_is_no_part_of_the_plateau() {
        let mut values = vec![38_600.0, 41_500.0, 37_700.0, 30_200.0, 10_200.0];
        values.extend([3000.0, 2999.0, 2995.0, 2952.0, 3001.0, 3000.0, 3000.0, 2998.0, 3000.0]);
        let step = step_down(&values, 3, 3).expect("a step");
        assert!(step.spread_after < 0.01 && (step.after - 2994.0).abs() < 4.0, "{step:?}");
    }

    proptest! {
        #[test]
        fn any_step_falls_within_its_bounds(
            values in prop::collection::vec(prop::num::f64::ANY, 0..20),
            before_min in 0..5_usize,
            after_min in 0..5_usize,
        ) {
            if let Some(step) = step_down(&values, before_min, after_min) {
                prop_assert!(step.at >= before_min.max(1));
                prop_assert!(values.len() - step.at >= after_min.max(1));
            }
        }
    }
}
