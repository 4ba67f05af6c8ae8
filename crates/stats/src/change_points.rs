//! Changes of the level of a series, such as one value per run.
//!
//! The method is binary segmentation over seeded intervals. Within an interval, the split with the
//! largest statistic is a candidate: the difference of the means of both sides, in units of its
//! standard error under noise alone. The largest candidate above the threshold splits the series,
//! and the search continues in both parts.
//!
//! - Values enter as logarithms, because noise of rates and latencies grows with them.
//! - Noise is the smaller of two estimates, because each may be too large. One uses differences of
//!   neighbours (median of their absolute values): a few changes of level do not affect it, but few
//!   values make it inaccurate. The other uses the distances to the levels on both sides of the
//!   best split: few values suffice, but it is too large if there are more than two levels. If
//!   values repeat, noise is at least half a step between them.
//! - Correlated neighbours (drift, hosts in the same state) increase the noise of a mean.
//!   Differences over two steps, and products of neighbours, estimate the correlation.
//! - Values beyond [`CLIP`] from the median of their interval are clipped, so that no single run
//!   makes a change.
//! - A level lasts at least [`RUNS_MIN`] runs, and changes by at least [`SHARE_MIN`].

use std::f64::consts::SQRT_2;

use crate::median;

/// Runs on either side of a change.
const RUNS_MIN: usize = 3;
/// Values below which noise cannot be estimated.
const VALUES_MIN: usize = 8;
/// Smallest change that is reported, as a logarithm of a quotient.
const SHARE_MIN: f64 = 0.01;
/// Least noise that is assumed: caps and clocks may make runs equal to the last digit.
const NOISE_MIN: f64 = 0.001;
/// Distance from the median, in the noise of a mean, to which values are clipped: no single value
/// reaches the threshold, and three at the end of a series do.
const CLIP: f64 = 3.0;
/// Distance from a level, in robust standard deviations, to which values are clipped before they
/// enter the noise.
const FAR: f64 = 3.0;
/// Difference of two logarithms that exceeds rounding.
const STEP_MIN: f64 = 1e-9;
/// Largest autocorrelation of neighbours that counts as noise; above, it is drift.
const CORRELATION_MAX: f64 = 0.7;
/// Standard deviations per median absolute deviation, for normal noise.
const PER_DEVIATION: f64 = 1.4826;

/// Levels of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// First index of each level except the first, ascending.
    pub changes: Vec<usize>,
    /// One standard deviation of the noise, as a share of the value; absent for too few values.
    pub noise_share: Option<f64>,
}

/// Finds the levels of values above zero.
pub fn levels(values: &[f64]) -> Levels {
    if values.len() < VALUES_MIN {
        return Levels::default();
    }
    let values: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let noise = Noise::of(&values);
    let limits = Limits { noise, threshold: threshold(values.len()) };
    let mut changes = Vec::new();
    split(&values, 0, limits, &mut changes);
    changes.sort_unstable();
    drop_small(&values, &mut changes);
    Levels { changes, noise_share: Some(noise.deviation) }
}

/// Median of values that exist.
fn middle(values: &[f64]) -> f64 {
    median(values).unwrap_or(0.0)
}

/// Noise of the values.
#[derive(Clone, Copy, Debug)]
struct Noise {
    /// Standard deviation of one value.
    deviation: f64,
    /// Standard deviation of a mean times the square root of the number of its values.
    of_mean: f64,
}

impl Noise {
    fn of(values: &[f64]) -> Noise {
        let steps = Noise::of_steps(values);
        let Some(split) = best(values, steps) else { return steps };
        let about = Noise::about(values, split.at);
        let least = if about.of_mean < steps.of_mean { about } else { steps };
        let resolution = resolution(values, split.at);
        Noise { of_mean: least.of_mean.max(resolution), deviation: least.deviation.max(resolution) }
    }

    /// Estimate from the differences of neighbours.
    fn of_steps(values: &[f64]) -> Noise {
        let [one, two] = [1, 2].map(|lag| {
            let pairs = values.iter().zip(&values[lag..]);
            let steps: Vec<f64> = pairs.map(|(a, b)| (b - a).abs()).collect();
            (PER_DEVIATION * middle(&steps) / SQRT_2).max(NOISE_MIN)
        });
        // Of a first-order process: variance of steps over two neighbours and over one.
        let correlation = beyond_chance((two / one).powi(2) - 1.0, values.len());
        Noise::correlated(one / (1.0 - correlation).sqrt(), correlation)
    }

    /// Estimate from the distances to the levels before and after an index.
    fn about(values: &[f64], at: usize) -> Noise {
        let mut sides = [&values[..at], &values[at..]].map(|side| {
            let level = middle(side);
            side.iter().map(|value| value - level).collect::<Vec<f64>>()
        });
        let sizes: Vec<f64> = sides.iter().flatten().map(|distance| distance.abs()).collect();
        let reach = (FAR * PER_DEVIATION * middle(&sizes)).max(NOISE_MIN);
        sides.iter_mut().flatten().for_each(|of| *of = of.clamp(-reach, reach));
        let squares: f64 = sides.iter().flatten().map(|distance| distance * distance).sum();
        let pairs = sides.iter().flat_map(|side| side.windows(2));
        let products: f64 = pairs.map(|pair| pair[0] * pair[1]).sum();
        let n = values.len() as f64;
        let deviation = (squares / (n - 2.0)).sqrt().max(NOISE_MIN);
        // Levels that come from the values hide a part of the correlation.
        let share = products / squares.max(f64::MIN_POSITIVE) * n / (n - 3.0);
        Noise::correlated(deviation, beyond_chance(share, values.len()))
    }

    /// Noise of a first-order process.
    fn correlated(deviation: f64, correlation: f64) -> Noise {
        let of_mean = deviation * ((1.0 + correlation) / (1.0 - correlation)).sqrt();
        Noise { deviation, of_mean }
    }
}

/// Noise that repeated values may hide, such as percentiles from a histogram: half the smallest
/// step except the step of the split. Levels alone make few steps.
fn resolution(values: &[f64], at: usize) -> f64 {
    let sides = [&values[..at], &values[at..]];
    let pairs = sides.iter().flat_map(|side| side.windows(2));
    let steps: Vec<f64> =
        pairs.map(|pair| (pair[1] - pair[0]).abs()).filter(|step| *step > STEP_MIN).collect();
    if steps.len() > values.len() / 8 {
        steps.iter().copied().fold(f64::INFINITY, f64::min) / 2.0
    } else {
        0.0
    }
}

/// The correlation that counts. Chance alone increases half of the estimates, more for fewer
/// values.
fn beyond_chance(correlation: f64, values: usize) -> f64 {
    (correlation - 0.5 / (values as f64).sqrt()).clamp(0.0, CORRELATION_MAX)
}

/// Statistic above which a split is a change, calibrated by simulation: at most three false changes
/// in two hundred series of independent noise. Few values estimate noise badly; many values have
/// more splits.
fn threshold(values: usize) -> f64 {
    let n = values as f64;
    1.2 * (2.0 * n.ln()).sqrt() + 1.1 + 20.0 / n
}

/// Bounds of a search for changes.
#[derive(Clone, Copy)]
struct Limits {
    noise: Noise,
    threshold: f64,
}

/// Adds the changes of a part of the series that begins at `first`.
fn split(values: &[f64], first: usize, limits: Limits, changes: &mut Vec<usize>) {
    let best = best(values, limits.noise).filter(|best| best.statistic > limits.threshold);
    let Some(Candidate { at, .. }) = best else { return };
    changes.push(first + at);
    split(&values[..at], first, limits, changes);
    split(&values[at..], first + at, limits, changes);
}

/// A possible change.
struct Candidate {
    at: usize,
    statistic: f64,
}

/// The best split of all intervals.
fn best(values: &[f64], noise: Noise) -> Option<Candidate> {
    intervals(values.len())
        .filter_map(|interval| {
            let best = candidate(&values[interval.clone()], noise)?;
            Some(Candidate { at: interval.start + best.at, ..best })
        })
        .max_by(|one, other| one.statistic.total_cmp(&other.statistic))
}

/// Intervals of the search: the whole series, and overlapping parts down to the shortest.
fn intervals(values: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    std::iter::successors(Some(values), |length| {
        Some(length * 7 / 10).filter(|next| *next >= 2 * RUNS_MIN)
    })
    .flat_map(move |length| {
        let step = (length / 3).max(1);
        let begins = (0..values.saturating_sub(length)).step_by(step);
        // The last interval ends with the series: changes of the last days matter most.
        let begins = begins.chain(values.checked_sub(length));
        begins.map(move |begin| begin..begin + length)
    })
}

/// The best split of an interval, if the interval is long enough.
fn candidate(values: &[f64], noise: Noise) -> Option<Candidate> {
    if values.len() < 2 * RUNS_MIN {
        return None;
    }
    let (middle, reach) = (middle(values), CLIP * noise.of_mean);
    let clipped: Vec<f64> =
        values.iter().map(|value| (value - middle).clamp(-reach, reach)).collect();
    let sum: f64 = clipped.iter().sum();
    let n = values.len() as f64;
    let mut left = 0.0;
    let mut best: Option<Candidate> = None;
    for (index, value) in clipped.into_iter().enumerate() {
        left += value;
        let at = index + 1;
        if at < RUNS_MIN || values.len() - at < RUNS_MIN {
            continue;
        }
        let (before, after) = (at as f64, n - at as f64);
        let difference = (left / before - (sum - left) / after).abs();
        let statistic = difference * (before * after / n).sqrt() / noise.of_mean;
        if best.as_ref().is_none_or(|best| statistic > best.statistic) {
            best = Some(Candidate { at, statistic });
        }
    }
    best
}

/// Drops changes between levels that are nearly the same.
fn drop_small(values: &[f64], changes: &mut Vec<usize>) {
    loop {
        let ends: Vec<usize> =
            std::iter::once(0).chain(changes.iter().copied()).chain([values.len()]).collect();
        let medians: Vec<f64> =
            ends.windows(2).map(|part| middle(&values[part[0]..part[1]])).collect();
        let sizes = medians.windows(2).map(|pair| (pair[1] - pair[0]).abs()).enumerate();
        match sizes.min_by(|(_, a), (_, b)| a.total_cmp(b)) {
            Some((index, size)) if size < SHARE_MIN => changes.remove(index),
            _ => return,
        };
    }
}

#[cfg(test)]
mod tests;
