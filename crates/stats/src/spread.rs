//! Deviations of values from their mean.

use crate::{mean, student};

/// Mean, deviation and extremes of values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of a single value; 0 for one value.
    pub deviation: f64,
    /// Least value.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}

impl Summary {
    /// Summary of values; absent for no values.
    pub fn of(values: &[f64]) -> Option<Summary> {
        Some(Summary {
            count: values.len(),
            mean: mean(values),
            deviation: deviation(values),
            min: values.iter().copied().reduce(f64::min)?,
            max: values.iter().copied().reduce(f64::max)?,
        })
    }

    /// Half the width of the 95 % confidence interval of the mean, if the values are independent; 0
    /// for one value.
    pub fn interval_95(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let freedom = (self.count - 1) as f64;
        student::quantile(0.05, freedom) * self.deviation / (self.count as f64).sqrt()
    }
}

/// Standard deviation of a single value, estimated from a sample; 0 for fewer than two values.
pub fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Standard deviation as a share of the mean; 0 if the mean is 0.
pub fn relative_deviation(values: &[f64]) -> f64 {
    let share = deviation(values) / mean(values);
    if share.is_finite() { share } else { 0.0 }
}

/// Variance of a single value as a share of the square of the mean; 0 for fewer than two values,
/// and if the mean is not above 0.
pub fn relative_variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    if values.len() < 2 || mean <= 0.0 {
        return 0.0;
    }
    let squares: f64 = values.iter().map(|value| (value / mean - 1.0).powi(2)).sum();
    squares / (values.len() - 1) as f64
}

/// Greatest distance of a value from the mean; 0 for no values.
pub fn deviation_max(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_summary_is_that_of_the_textbook() {
        let summary = Summary::of(&[9.0, 9.5, 10.0, 10.5, 11.0]).expect("values");
        assert_eq!((summary.count, summary.mean), (5, 10.0));
        assert_eq!((summary.min, summary.max), (9.0, 11.0));
        assert!((summary.deviation - 0.790_569).abs() < 1e-6, "{summary:?}");
        // t of 4 degrees of freedom is 2.776.
        assert!((summary.interval_95() - 0.981_5).abs() < 1e-3, "{summary:?}");
        assert_eq!(Summary::of(&[]), None);
        let one = Summary::of(&[7.0]).expect("a value");
        assert_eq!((one.deviation, one.interval_95()), (0.0, 0.0));
        assert_eq!((deviation_max(&[]), deviation_max(&[1.0, 2.0, 6.0])), (0.0, 3.0));
        assert_eq!((relative_deviation(&[]), relative_deviation(&[0.0, 0.0])), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn deviations_agree_with_each_other(
            values in prop::collection::vec(1.0..1e6_f64, 2..30),
        ) {
            let relative = relative_deviation(&values);
            prop_assert!((relative.powi(2) - relative_variance(&values)).abs() < 1e-9);
            let root = (values.len() as f64).sqrt();
            prop_assert!(deviation(&values) <= deviation_max(&values) * root * (1.0 + 1e-9));
        }
    }
}
