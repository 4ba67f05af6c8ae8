//! Lines through values at equal distances, by least squares.

use crate::mean;

/// Greatest range of a steady series by SNIA's criterion, in percent of the mean.
const STEADY_RANGE_PERCENT: f64 = 20.0;
/// Greatest fitted change of a steady series by SNIA's criterion, in percent of the mean.
const STEADY_CHANGE_PERCENT: f64 = 10.0;

/// The line through values, as shares of their mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Change from the first value to the last.
    pub change: f64,
    /// Root mean square of the distances of the values from the line.
    pub rest: f64,
    count: usize,
}

impl Line {
    /// The line through values; absent for fewer than three, and if their mean is not above 0.
    pub fn through(values: &[f64]) -> Option<Line> {
        let (count, mean) = (values.len(), mean(values));
        if count < 3 || mean <= 0.0 {
            return None;
        }
        let (last, slope) = ((count - 1) as f64, slope(values));
        let squares: f64 = values
            .iter()
            .enumerate()
            .map(|(nth, value)| (value - mean - slope * (nth as f64 - last / 2.0)).powi(2))
            .sum();
        let rest = (squares / count as f64).sqrt();
        Some(Line { change: slope * last / mean, rest: rest / mean, count })
    }

    /// The slope in units of its standard error.
    pub fn errors(&self) -> f64 {
        let n = self.count as f64;
        let errors =
            self.change.abs() / self.rest * ((n - 2.0) * (n + 1.0) / (12.0 * (n - 1.0))).sqrt();
        if self.rest > 0.0 { errors } else { f64::MAX }
    }
}

/// Change per value of the least-squares line; 0 for fewer than two values.
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

/// Whether values meet SNIA's criterion of a steady state: their range is at most 20 % of the mean,
/// and the change along their line at most 10 %.
pub fn is_steady(values: &[f64]) -> bool {
    let mean = mean(values);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    let change = slope(values) * (values.len() as f64 - 1.0);
    mean > 0.0
        && (high - low) * 100.0 / mean <= STEADY_RANGE_PERCENT
        && change.abs() * 100.0 / mean <= STEADY_CHANGE_PERCENT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_straight_series_has_a_change_and_no_rest() {
        let rising: Vec<f64> = (0..9).map(|x| 5.0 + 3.0 * f64::from(x)).collect();
        assert_eq!((slope(&rising), slope(&[]), slope(&[7.0])), (3.0, 0.0, 0.0));
        let falling: Vec<f64> = (0..5).map(|i| 120.0 - 10.0 * f64::from(i)).collect();
        let line = Line::through(&falling).expect("five values");
        assert!((line.change + 0.4).abs() < 1e-9 && line.rest < 1e-9);
        assert_eq!((Line::through(&[1.0, 2.0]), Line::through(&[0.0; 4])), (None, None));
    }

    #[test]
    fn a_slope_within_its_noise_has_few_errors() {
        let noisy = Line::through(&[10.0, 12.0, 9.0, 11.0, 10.5]).expect("five values");
        let clear = Line::through(&[10.0, 12.1, 13.9, 16.0, 18.0]).expect("five values");
        assert!(noisy.errors() < 1.0 && clear.errors() > 30.0, "{noisy:?} {clear:?}");
        assert_eq!(Line { rest: 0.0, ..clear }.errors(), f64::MAX);
    }

    #[test]
    fn a_steady_series_neither_ranges_nor_drifts() {
        assert!(is_steady(&[100.0, 105.0, 95.0, 102.0]));
        assert!(!is_steady(&[100.0, 100.0, 100.0, 130.0]), "the range is too large");
        assert!(!is_steady(&[100.0, 106.0, 112.0, 118.0]), "the change is too large");
        assert!(!is_steady(&[0.0; 5]) && !is_steady(&[]));
    }

    proptest! {
        #[test]
        fn a_line_does_not_depend_on_the_unit(
            values in prop::collection::vec(1.0..1e6_f64, 3..30),
            unit in 0.001..1000.0_f64,
        ) {
            let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
            let [one, other] = [&values, &scaled].map(|of| Line::through(of).expect("a line"));
            prop_assert!((one.change - other.change).abs() < 1e-9, "{one:?} {other:?}");
            prop_assert!((one.rest - other.rest).abs() < 1e-9, "{one:?} {other:?}");
        }
    }
}
