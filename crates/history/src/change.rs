//! Changes of the level of a series of values, found afterwards.
//!
//! The method is binary segmentation over seeded intervals. Within an interval the split with the
//! largest statistic is a candidate: the difference of the means of both sides, in units of its
//! standard error under noise alone. The largest candidate splits the series where it is above the
//! threshold, and both parts are looked at again.
//!
//! - Values are taken as logarithms, since noise of rates and latencies grows with them.
//! - Noise is the smaller one of two estimates, since each may be too large. One comes from
//!   differences of neighbours (median of their absolute values), which a few changes of level do
//!   not move, and which few values tell badly. The other one comes from the distances to the
//!   levels on both sides of the best split, which tells well with few values, and is too large
//!   where there are more levels than these two. Values of few different sizes hide noise: it is
//!   half of a step between them at least.
//! - Neighbours that resemble each other (drift, hosts in the same mood) make the noise of a mean
//!   larger: differences over two steps, and products of neighbours, tell by how much.
//! - Values further than [`CLIP`] from the median of their interval count as if they were there, so
//!   that no single run makes a change.
//! - A level lasts [`RUNS_MIN`] runs at least, and changes by [`SHARE_MIN`] at least.

/// Runs on either side of a change.
const RUNS_MIN: usize = 3;
/// Values below which noise cannot be estimated.
const VALUES_MIN: usize = 8;
/// Smallest change that is reported, as a logarithm of a quotient.
const SHARE_MIN: f64 = 0.01;
/// Least noise that is assumed: caps and clocks may make runs equal to the last digit.
const NOISE_MIN: f64 = 0.001;
/// Distance from the median, in the noise of a mean, beyond which values count no more: no single
/// one reaches the threshold, and three at the end of a series do.
const CLIP: f64 = 3.0;
/// Distance from a level, in robust standard deviations, beyond which values count no more for the
/// noise about it.
const FAR: f64 = 3.0;
/// Difference of two logarithms that rounding alone does not make.
const STEP_MIN: f64 = 1e-9;
/// Largest autocorrelation of neighbours that is accounted for; above, all is drift.
const CORRELATION_MAX: f64 = 0.7;
/// Standard deviations per median absolute deviation, for normal noise.
const PER_DEVIATION: f64 = 1.4826;

/// Levels of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Levels {
    /// First index of each level but the first, ascending.
    pub changes: Vec<usize>,
    /// One standard deviation of the noise, as a share of the value; absent where there are too
    /// few values.
    pub noise_share: Option<f64>,
}

/// Finds the levels of values above zero.
pub(crate) fn levels(values: &[f64]) -> Levels {
    if values.len() < VALUES_MIN {
        return Levels::default();
    }
    let values: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let noise = Noise::of(&values);
    let mut changes = Vec::new();
    let threshold = threshold(values.len());
    split(&values, 0, (noise, threshold), &mut changes);
    changes.sort_unstable();
    drop_small(&values, &mut changes);
    Levels { changes, noise_share: Some(noise.deviation) }
}

/// Noise of the values.
#[derive(Clone, Copy, Debug)]
struct Noise {
    /// Standard deviation of one value.
    deviation: f64,
    /// Standard deviation of a mean times the root of the number of its values.
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

    /// From the differences of neighbours.
    fn of_steps(values: &[f64]) -> Noise {
        let deviation = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            let mut steps: Vec<f64> = pairs.map(|(a, b)| (b - a).abs()).collect();
            PER_DEVIATION * median(&mut steps) / std::f64::consts::SQRT_2
        };
        let (one, two) = (deviation(1).max(NOISE_MIN), deviation(2).max(NOISE_MIN));
        // Of a first-order process: variance of steps over two neighbours and over one.
        let correlation = beyond_chance((two / one).powi(2) - 1.0, values.len());
        Noise::correlated(one / (1.0 - correlation).sqrt(), correlation)
    }

    /// From the distances to the levels before and after that index.
    fn about(values: &[f64], at: usize) -> Noise {
        let distances = |side: &[f64]| -> Vec<f64> {
            let level = median(&mut side.to_vec());
            side.iter().map(|value| value - level).collect()
        };
        let mut sides = [distances(&values[..at]), distances(&values[at..])];
        let mut sizes: Vec<f64> = sides.iter().flatten().map(|distance| distance.abs()).collect();
        let reach = (FAR * PER_DEVIATION * median(&mut sizes)).max(NOISE_MIN);
        sides.iter_mut().flatten().for_each(|of| *of = of.clamp(-reach, reach));
        let squares: f64 = sides.iter().flatten().map(|distance| distance * distance).sum();
        let pairs = sides.iter().flat_map(|side| side.windows(2));
        let products: f64 = pairs.map(|pair| pair[0] * pair[1]).sum();
        let n = values.len() as f64;
        let deviation = (squares / (n - 2.0)).sqrt().max(NOISE_MIN);
        // Levels that were made of the values hide some of what neighbours share.
        let share = products / squares.max(f64::MIN_POSITIVE) * n / (n - 3.0);
        Noise::correlated(deviation, beyond_chance(share, values.len()))
    }

    /// Noise of a first-order process.
    fn correlated(deviation: f64, correlation: f64) -> Noise {
        let of_mean = deviation * ((1.0 + correlation) / (1.0 - correlation)).sqrt();
        Noise { deviation, of_mean }
    }
}

/// Noise that values of few different sizes may hide, such as percentiles from a histogram: half of
/// the smallest step but that of the split. Levels alone make few steps.
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

/// The correlation that counts: chance alone makes it seem larger half of the time, the more so
/// the fewer values there are.
fn beyond_chance(correlation: f64, values: usize) -> f64 {
    (correlation - 0.5 / (values as f64).sqrt()).clamp(0.0, CORRELATION_MAX)
}

/// Statistic above which a split is a change, calibrated by simulation: at most three false ones in
/// two hundred series of independent noise. Few values tell their noise badly, many have more
/// splits.
fn threshold(values: usize) -> f64 {
    let n = values as f64;
    1.2 * (2.0 * n.ln()).sqrt() + 1.1 + 20.0 / n
}

/// Enters the changes of a part of the series that begins at `first`.
fn split(values: &[f64], first: usize, limits: (Noise, f64), changes: &mut Vec<usize>) {
    let (noise, threshold) = limits;
    let best = best(values, noise).filter(|best| best.statistic > threshold);
    let Some(Candidate { at, .. }) = best else { return };
    changes.push(first + at);
    split(&values[..at], first, limits, changes);
    split(&values[at..], first + at, limits, changes);
}

/// The best split of all intervals.
fn best(values: &[f64], noise: Noise) -> Option<Candidate> {
    let of_interval = |(begin, end)| {
        let best = candidate(&values[begin..end], noise)?;
        Some(Candidate { at: begin + best.at, ..best })
    };
    let candidates = intervals(values.len()).filter_map(of_interval);
    candidates.max_by(|one, other| one.statistic.total_cmp(&other.statistic))
}

/// Intervals to look at: all of it, and halves that overlap, down to the shortest.
fn intervals(values: usize) -> impl Iterator<Item = (usize, usize)> {
    let shrink = |length: &usize| Some(length * 7 / 10).filter(|next| *next >= 2 * RUNS_MIN);
    std::iter::successors(Some(values), shrink).flat_map(move |length| {
        let step = (length / 3).max(1);
        let begins = (0..values.saturating_sub(length)).step_by(step);
        // The last one ends where the series ends: changes of the last days matter most.
        let begins = begins.chain(values.checked_sub(length));
        begins.map(move |begin| (begin, begin + length))
    })
}

/// A possible change.
struct Candidate {
    at: usize,
    statistic: f64,
}

/// The best split of an interval, if it is long enough for one.
fn candidate(values: &[f64], noise: Noise) -> Option<Candidate> {
    if values.len() < 2 * RUNS_MIN {
        return None;
    }
    let middle = median(&mut values.to_vec());
    let reach = CLIP * noise.of_mean;
    let clipped = || values.iter().map(|value| (value - middle).clamp(-reach, reach));
    let sum: f64 = clipped().sum();
    let n = values.len() as f64;
    let mut left = 0.0;
    let mut best: Option<Candidate> = None;
    for (index, value) in clipped().enumerate() {
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
        let level = |part: &[usize]| median(&mut values[part[0]..part[1]].to_vec());
        let size = |parts: &[usize]| (level(&parts[1..]) - level(&parts[..2])).abs();
        let sizes = ends.windows(3).map(size).enumerate();
        let smallest = sizes.min_by(|(_, a), (_, b)| a.total_cmp(b));
        match smallest {
            Some((index, size)) if size < SHARE_MIN => changes.remove(index),
            _ => return,
        };
    }
}

/// The middle of the values; 0 where there are none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let is_even = values.len().is_multiple_of(2);
    let middle = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_even {
        let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        f64::midpoint(lower, *upper)
    } else {
        *upper
    }
}

#[cfg(test)]
mod tests;
