//! Means, medians and quantiles.

/// The mean of values; 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The geometric mean of values; 0 for no values, and if a value is 0.
pub fn geometric_mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    // The product itself may exceed the range of a float.
    let logarithms = values.iter().map(|value| value.ln());
    (logarithms.sum::<f64>() / values.len() as f64).exp()
}

/// The middle value, or the mean of the two in the middle; absent for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let (count, middle) = (values.len(), values.len() / 2);
    if count == 0 {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if count.is_multiple_of(2) => Some(f64::midpoint(lower, *upper)),
        _ => Some(*upper),
    }
}

/// The value that `share` of the values do not exceed (nearest rank); 0 for no values.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

/// The means of `count` windows of equal length; values at the start that do not fill a window are
/// dropped.
pub fn windows(values: &[f64], count: usize) -> Vec<f64> {
    let length = values.len() / count.max(1);
    if length == 0 {
        return Vec::new();
    }
    values[values.len() - length * count..].chunks(length).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_values_have_the_expected_means_and_medians() {
        assert_eq!((mean(&[]), mean(&[1.0, 2.0, 6.0])), (0.0, 3.0));
        assert_eq!((median(&[]), median(&[7.0])), (None, Some(7.0)));
        assert_eq!((median(&[3.0, 1.0]), median(&[9.0, 1.0, 2.0])), (Some(2.0), Some(2.0)));
        assert_eq!((geometric_mean(&[]), geometric_mean(&[0.0, 5.0])), (0.0, 0.0));
        assert!((geometric_mean(&[1e300, 1e200]) / 1e250 - 1.0).abs() < 1e-9);
        assert_eq!(windows(&[9.0, 1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!((windows(&[1.0], 2), windows(&[1.0], 0)), (vec![], vec![]));
        assert_eq!((quantile(&[], 0.5), quantile(&[4.0, 1.0, 2.0, 3.0], 0.5)), (0.0, 3.0));
    }

    proptest! {
        #[test]
        fn medians_and_quantiles_split_the_values(
            values in prop::collection::vec(-1e9..1e9_f64, 1..50),
            share in 0.0..=1.0_f64,
        ) {
            let middle = median(&values).expect("a value");
            let below = values.iter().filter(|value| **value < middle).count();
            let above = values.iter().filter(|value| **value > middle).count();
            prop_assert!(below.max(above) * 2 <= values.len());
            let found = quantile(&values, share);
            let within = values.iter().filter(|value| **value <= found).count() as f64;
            prop_assert!(values.contains(&found));
            prop_assert!(within + 0.5 >= share * (values.len() - 1) as f64);
        }
    }
}
