//! Numbers of a series of windows: mean, greatest distance from it, trend.

/// The mean of values; 0 for none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Greatest distance of a value from the mean; 0 for none.
pub fn deviation_max(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max)
}

/// Change per value of the least-squares line; 0 for a single value.
pub fn slope(values: &[f64]) -> f64 {
    let (mean_y, mean_x) = (mean(values), (values.len() as f64 - 1.0) / 2.0);
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in values.iter().enumerate() {
        let dx = x as f64 - mean_x;
        above += dx * (y - mean_y);
        below += dx * dx;
    }
    if below == 0.0 { 0.0 } else { above / below }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope_and_few_values_have_none() {
        let line: Vec<f64> = (0..9).map(|x| 5.0 + 3.0 * f64::from(x)).collect();
        assert_eq!((mean(&line), deviation_max(&line), slope(&line)), (17.0, 12.0, 3.0));
        assert_eq!(
            (mean(&[]), deviation_max(&[]), slope(&[]), slope(&[7.0])),
            (0.0, 0.0, 0.0, 0.0)
        );
    }
}
