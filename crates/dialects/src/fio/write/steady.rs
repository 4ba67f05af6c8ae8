//! Steady state: what was asked for, and how far the last intervals were from it.

use super::direction::Interval;
use super::figures::Figures;
use crate::fio::job::SteadyGoal;

/// How steady a job was over its last intervals.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Steadiness {
    /// It ended because it had become steady.
    pub attained: bool,
    /// Bytes per second in each second of the window.
    pub bytes_per_s: Vec<f64>,
    /// Operations per second in each second of the window.
    pub ops_per_s: Vec<f64>,
    /// Greatest distance from the mean, in the unit of what was judged.
    pub deviation: f64,
    /// Change per second of a fitted line, in the unit of what was judged.
    pub slope: f64,
    /// The one of these two that was held against the limit, in its unit.
    pub criterion: f64,
}

impl Steadiness {
    /// Of the last intervals that span the duration asked for.
    pub fn of(figures: &Figures, goal: &SteadyGoal) -> Steadiness {
        let seconds = seconds(&figures.mixed().samples);
        let window = &seconds[seconds.len().saturating_sub(goal.duration_s.max(1) as usize)..];
        let (bytes_per_s, ops_per_s): (Vec<f64>, Vec<f64>) = window.iter().copied().unzip();
        let judged = if goal.bandwidth { &bytes_per_s } else { &ops_per_s };
        let mean = mean(judged);
        let deviation = judged.iter().map(|v| (v - mean).abs()).fold(0.0, f64::max);
        let slope = slope(judged, mean);
        let criterion = if goal.slope { slope } else { deviation };
        let criterion = match (goal.percent, mean > 0.0) {
            (false, _) => criterion,
            (true, true) => criterion * 100.0 / mean,
            (true, false) => 0.0,
        };
        let attained = figures.steady;
        Steadiness { attained, bytes_per_s, ops_per_s, deviation, slope, criterion }
    }
}

/// Bytes and operations per second, second by second up to the end; samples may be shorter.
fn seconds(samples: &[Interval]) -> Vec<(f64, f64)> {
    let length_s = samples.first().map_or(1.0, |sample| sample.length_s);
    let together = ((1.0 / length_s).round() as usize).max(1);
    let mut seconds: Vec<(f64, f64)> = samples
        .rchunks_exact(together)
        .map(|second| {
            let of =
                |rate: fn(&Interval) -> f64| mean(&second.iter().map(rate).collect::<Vec<_>>());
            (of(|sample| sample.bytes_per_s), of(|sample| sample.ops_per_s))
        })
        .collect();
    seconds.reverse();
    seconds
}

/// The mean of values; 0 for none.
pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Least squares over values at equal distances.
fn slope(values: &[f64], mean: f64) -> f64 {
    let middle = (values.len().max(1) - 1) as f64 / 2.0;
    let (mut upper, mut lower) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let distance = at as f64 - middle;
        upper += distance * (value - mean);
        lower += distance * distance;
    }
    if lower == 0.0 { 0.0 } else { upper / lower }
}

/// What was asked for, as fio words it: `iops:10.000000%`.
pub(super) fn words(goal: &SteadyGoal) -> String {
    let what = if goal.bandwidth { "bw" } else { "iops" };
    let slope = if goal.slope { "_slope" } else { "" };
    let percent = if goal.percent { "%" } else { "" };
    format!("{what}{slope}:{:.6}{percent}", goal.limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_slope() {
        let line = [10.0, 12.0, 14.0, 16.0];
        assert!((slope(&line, mean(&line)) - 2.0).abs() < 1e-9);
        assert_eq!(slope(&[5.0], 5.0), 0.0);
        assert_eq!(slope(&[], 0.0), 0.0);
    }

    #[test]
    fn shorter_samples_make_up_seconds_from_the_end() {
        let sample = |ops_per_s| Interval { length_s: 0.5, bytes_per_s: 0.0, ops_per_s };
        let samples = [9.0, 1.0, 3.0, 5.0, 7.0].map(sample);
        assert_eq!(seconds(&samples), [(0.0, 2.0), (0.0, 6.0)]);
        assert!(seconds(&[]).is_empty());
    }

    #[test]
    fn the_goal_in_words() {
        let mut goal = SteadyGoal {
            bandwidth: false,
            slope: false,
            limit: 10.0,
            percent: true,
            duration_s: 2,
        };
        assert_eq!(words(&goal), "iops:10.000000%");
        goal = SteadyGoal { bandwidth: true, slope: true, percent: false, ..goal };
        assert_eq!(words(&goal), "bw_slope:10.000000");
    }
}
