//! The rate from second to second: steps, plateaus, drifts.

use candor_plan::units::Direction;
use candor_record::fmt::ratio;
use candor_record::series::slope;
use candor_record::{Measurement, Sample};

pub use candor_record::series::mean;

use crate::thresholds::FULL_SECOND;

/// A full interval of a run, usually a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// End, in seconds since the start.
    pub at_s: f64,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Bytes since the start, this second included.
    pub bytes_so_far: f64,
}

/// Every full interval; the last one is usually cut where the phase ends.
pub fn seconds(measured: &Measurement, does: impl Fn(Direction) -> bool) -> Vec<Second> {
    let longest = measured.samples.iter().map(|s| s.length_ns).max().unwrap_or(0);
    let mut bytes_so_far = 0.0;
    let mut found = Vec::new();
    for sample in &measured.samples {
        let (ops, bytes) = sums(sample, &does);
        bytes_so_far += bytes;
        let length_s = sample.length_ns as f64 / 1e9;
        if sample.length_ns > 0 && sample.length_ns as f64 >= longest as f64 * FULL_SECOND.value {
            found.push(Second {
                at_s: sample.at_ns as f64 / 1e9,
                ops_per_s: ratio(ops, length_s),
                bytes_per_s: ratio(bytes, length_s),
                bytes_so_far,
            });
        }
    }
    found
}

/// Operations per second of every full interval.
pub fn ops_rates(measured: &Measurement) -> Vec<f64> {
    seconds(measured, |_| true).iter().map(|second| second.ops_per_s).collect()
}

fn sums(sample: &Sample, does: impl Fn(Direction) -> bool) -> (f64, f64) {
    let used = || Direction::ALL.into_iter().filter(|op| does(*op));
    let ops: u64 = used().map(|op| sample.ops(op)).sum();
    let bytes: u64 = used().map(|op| sample.bytes(op)).sum();
    (ops as f64, bytes as f64)
}

/// A level that gives way to a lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Number of values before it.
    pub at: usize,
    /// Mean before, without the value next to the step.
    pub before: f64,
    /// Mean after, without the value next to the step.
    pub after: f64,
    /// Deviation of these values after it, relative to their mean.
    pub spread_after: f64,
}

/// The step that splits the values best, with at least so many on either side; none where the
/// levels overlap (nine of ten values before lie above nine of ten after) or rise.
pub fn step_down(values: &[f64], least_before: usize, least_after: usize) -> Option<Step> {
    let last = values.len().checked_sub(least_after)?;
    // The best split leaves the least to be explained: the largest n₁n₂(m₁ − m₂)².
    let all: f64 = values.iter().sum();
    let (mut sum, mut best) = (0.0, None);
    for (at, value) in values.iter().enumerate() {
        if at >= least_before.max(1) && at <= last && at < values.len() {
            let (n, m) = (at as f64, (values.len() - at) as f64);
            let explained = n * m * (sum / n - (all - sum) / m).powi(2);
            if best.is_none_or(|(most, _)| explained > most) {
                best = Some((explained, at));
            }
        }
        sum += value;
    }
    let (_, at) = best?;
    let (before, after) = values.split_at(at);
    // The change may have come in the middle of the second on either side.
    let before =
        before.split_last().map_or(before, |(_, rest)| if rest.is_empty() { before } else { rest });
    let after =
        after.split_first().map_or(after, |(_, rest)| if rest.is_empty() { after } else { rest });
    let apart = quantile(before, 0.1) > quantile(after, 0.9);
    apart.then(|| Step {
        at,
        before: mean(before),
        after: mean(after),
        spread_after: spread(after),
    })
}

/// The change along a fitted line and what it leaves unexplained, both relative to the mean.
pub fn drift(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = mean(values);
    if count < 3.0 || mean <= 0.0 {
        return None;
    }
    let middle = (count - 1.0) / 2.0;
    let offset = |i: usize| i as f64 - middle;
    let slope = slope(values);
    let left = |(i, v): (usize, &f64)| (v - mean - slope * offset(i)).powi(2);
    let left: f64 = values.iter().enumerate().map(left).sum();
    Some((ratio(slope * (count - 1.0), mean), ratio((left / count).sqrt(), mean)))
}

/// The mean of each of so many equal windows; what is left over at the start is dropped.
pub fn windows(values: &[f64], count: usize) -> Vec<f64> {
    let each = values.len() / count.max(1);
    if each == 0 {
        return Vec::new();
    }
    values[values.len() - each * count..].chunks(each).map(mean).collect()
}

/// Standard deviation relative to the mean.
pub fn spread(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    ratio((square / (values.len() as f64 - 1.0).max(1.0)).sqrt(), mean)
}

/// The value that a share of the values does not exceed.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_where_it_is() {
        let values: Vec<f64> =
            (0..60).map(|i| if i < 20 { 4700.0 } else { 1500.0 + f64::from(i % 2) }).collect();
        let step = step_down(&values, 3, 10).unwrap();
        assert_eq!((step.at, step.before), (20, 4700.0));
        assert!(step.spread_after < 0.001 && (step.after - 1500.5).abs() < 0.1);
        let up: Vec<f64> = values.iter().rev().copied().collect();
        assert_eq!(step_down(&up, 3, 10), None);
        assert_eq!(step_down(&values[..25], 3, 10).map(|step| step.at), None);
        let noisy: Vec<f64> = (0..60).map(|i| f64::from((i * 7919) % 100)).collect();
        assert_eq!(step_down(&noisy, 3, 10), None);
    }

    /// Seen on Linux 6.18, where a limit came in the middle of the fifth second.
    #[test]
    fn the_second_of_the_change_is_no_part_of_the_plateau() {
        let mut values = vec![38_600.0, 41_500.0, 37_700.0, 30_200.0, 10_200.0];
        values.extend([3000.0, 2999.0, 2995.0, 2952.0, 3001.0, 3000.0, 3000.0, 2998.0, 3000.0]);
        let step = step_down(&values, 3, 3).unwrap();
        assert!(step.spread_after < 0.01 && (step.after - 2994.0).abs() < 4.0, "{step:?}");
    }

    #[test]
    fn a_line_is_all_drift_and_no_rest() {
        let line: Vec<f64> = (0..5).map(|i| 120.0 - 10.0 * f64::from(i)).collect();
        let (change, rest) = drift(&line).unwrap();
        assert!((change + 0.4).abs() < 1e-9 && rest < 1e-9);
        assert_eq!(windows(&[9.0, 1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!(drift(&[1.0, 2.0]), None);
    }

    #[test]
    fn garbage_is_survived() {
        let values = [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX, 1.0, f64::MIN, f64::NAN];
        for length in 0..=values.len() {
            for count in 0..5 {
                let values = &values[..length];
                let _ = (step_down(values, count, 3), drift(values), windows(values, count));
                let _ = (spread(values), quantile(values, 0.9));
            }
        }
    }
}
