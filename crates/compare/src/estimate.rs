//! A change of one figure: how large, how certain, and from what that is known.

use candor_record::comparison::{Basis, ChangeInterval};
use candor_record::results::FigureKind;
use candor_stats::{mean, relative_variance, student};

use crate::thresholds::{
    ASSUMED_FREEDOM, BLOCKS, CONFIDENCE, FREEDOM_MIN, RATE_DEVIATION, RESOLUTION, assumed_deviation,
};

/// A figure on one side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Value in each repeat.
    pub values: Vec<f64>,
    /// Values in the intervals of each repeat, in order; empty where there are none.
    pub intervals: Vec<Vec<f64>>,
    /// The job kept the rate that the plan held it at, and the figure is that rate.
    pub is_held: bool,
    /// The job did less than it could, and the figure is a latency.
    pub is_idle: bool,
    /// Workers waited for CPUs that others used.
    pub is_starved: bool,
}

/// A change, and what is known of it.
#[derive(Clone, Debug)]
pub struct Change {
    /// As a share of the baseline.
    pub share: f64,
    /// Interval, with [`CONFIDENCE`].
    pub interval: Option<ChangeInterval>,
    /// Probability of such a change where there is none.
    pub p_value: Option<f64>,
    /// Where that is known from.
    pub basis: Basis,
}

/// A variance of the logarithm of a mean, and how certain it is.
#[derive(Clone, Copy, Debug)]
struct Part {
    variance: f64,
    freedom: f64,
}

impl Part {
    /// A variance without uncertainty.
    fn known(variance: f64) -> Part {
        Part { variance, freedom: f64::INFINITY }
    }
}

impl Side {
    /// Mean of the repeats.
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Degrees of freedom of the spread of its repeats.
    fn freedom(&self) -> usize {
        self.values.len().saturating_sub(1)
    }

    /// Variance of a single repeat as a share of the mean, from the spread of the repeats.
    fn spread(&self) -> f64 {
        relative_variance(&self.values)
    }

    /// Variance within a repeat, as a share of its mean, on average over the repeats; none where
    /// one of them has too few intervals.
    fn within(&self) -> Option<Part> {
        let parts: Option<Vec<Part>> = self.intervals.iter().map(|of| within(of)).collect();
        let parts = parts.filter(|parts| !parts.is_empty())?;
        Some(Part {
            variance: mean(&parts.iter().map(|part| part.variance).collect::<Vec<_>>()),
            freedom: parts.iter().map(|part| part.freedom).sum(),
        })
    }

    fn interval_count(&self) -> u32 {
        self.intervals.iter().map(|of| of.len() as u32).sum()
    }
}

/// The change of a figure from one side to the other; none where it has no share.
pub fn change(kind: FigureKind, baseline: &Side, run: &Side) -> Option<Change> {
    let (from, to) = (baseline.mean(), run.mean());
    if !(from > 0.0 && to > 0.0 && from.is_finite() && to.is_finite()) {
        return None;
    }
    let (basis, parts) = parts(kind, baseline, run);
    let logarithm = (to / from).ln();
    let share = to / from - 1.0;
    if parts.is_empty() {
        return Some(Change { share, interval: None, p_value: None, basis });
    }
    let sum: f64 = parts.iter().map(|part| part.variance).sum();
    // Satterthwaite: parts that are known well count for more.
    let squares = parts.iter().map(|part| part.variance * part.variance / part.freedom);
    let freedom = sum * sum / squares.sum::<f64>();
    let deviation = sum.sqrt();
    let half = student::quantile(1.0 - CONFIDENCE, freedom) * deviation;
    let [low, high] = [logarithm - half, logarithm + half].map(|end| end.exp() - 1.0);
    let interval = ChangeInterval { low, high };
    Some(Change {
        share,
        // A spread that leaves every value possible is no knowledge.
        interval: Some(interval).filter(|of| of.high.is_finite()),
        p_value: Some(student::two_sided(logarithm / deviation, freedom)),
        basis,
    })
}

/// The basis of a change, and the variances that make up that of its logarithm.
fn parts(kind: FigureKind, baseline: &Side, run: &Side) -> (Basis, Vec<Part>) {
    let sides = [baseline, run];
    if sides.iter().all(|side| side.is_held) {
        return (Basis::Rate, vec![Part::known(2.0 * RATE_DEVIATION.powi(2))]);
    }
    if sides.iter().map(|side| side.freedom()).sum::<usize>() >= FREEDOM_MIN {
        let [baseline, run] = sides.map(|side| side.values.len() as u32);
        let each = sides.map(|side| side.values.len() as f64);
        let finest = RESOLUTION.powi(2) * (1.0 / each[0] + 1.0 / each[1]);
        let mut parts = of_repeats(sides[0], sides[1]);
        parts.push(Part::known(finest));
        return (Basis::Repeats { baseline, run }, parts);
    }
    if sides.iter().any(|side| side.is_starved) {
        return unknown(
            "workers waited for CPUs that others used, which differs from run to run. Repeat with \
             --repeats 5, or on an idle host",
        );
    }
    if sides.iter().any(|side| side.is_idle) {
        return unknown(
            "below saturation latency differs more from run to run than within one. Repeat with \
             --repeats 5",
        );
    }
    let (Some(mine), Some(theirs)) = (baseline.within(), run.within()) else {
        return unknown("there are too few repeats and intervals. Repeat with --repeats 5");
    };
    let each = sides.map(|side| 1.0 / side.values.len() as f64);
    // One assumption for both sides: it is right or wrong for both.
    let variance = assumed_deviation(kind).powi(2) * (each[0] + each[1]);
    let mut parts = vec![Part { variance, freedom: ASSUMED_FREEDOM }];
    for ((side, within), each) in sides.into_iter().zip([mine, theirs]).zip(each) {
        // Few repeats may show more than their intervals do.
        let variance = within.variance.max(side.spread()) * each;
        parts.push(Part { variance, freedom: within.freedom });
    }
    let [baseline, run] = sides.map(Side::interval_count);
    (Basis::Intervals { baseline, run }, parts)
}

/// No basis, for a reason.
fn unknown(why: &str) -> (Basis, Vec<Part>) {
    (Basis::Nothing { why: why.into() }, Vec::new())
}

/// The variances of both means, each from the spread of its repeats. A side with one run has the
/// variance of the other side.
fn of_repeats(one: &Side, other: &Side) -> Vec<Part> {
    match [one, other].map(Side::freedom) {
        [0, freedom] | [freedom, 0] => {
            let variance = one.spread().max(other.spread());
            let both = 1.0 / one.values.len() as f64 + 1.0 / other.values.len() as f64;
            vec![Part { variance: variance * both, freedom: freedom as f64 }]
        }
        _ => [one, other]
            .map(|side| Part {
                variance: side.spread() / side.values.len() as f64,
                freedom: side.freedom() as f64,
            })
            .to_vec(),
    }
}

/// Variance of a run's figure, as a share of it, as far as its intervals show it: that of blocks of
/// a quarter of the run. It is not divided by their number: noise slower than a block is assumed to
/// be as large as that of a block, because storage and hosts wander, and blocks are not independent
/// of each other.
fn within(intervals: &[f64]) -> Option<Part> {
    let blocks = BLOCKS.min(intervals.len());
    if blocks < 2 {
        return None;
    }
    let ends: Vec<usize> = (0..=blocks).map(|nth| nth * intervals.len() / blocks).collect();
    let blocks: Vec<f64> = ends.windows(2).map(|of| mean(&intervals[of[0]..of[1]])).collect();
    Some(Part { variance: relative_variance(&blocks), freedom: (blocks.len() - 1) as f64 })
}

#[cfg(test)]
mod tests;
