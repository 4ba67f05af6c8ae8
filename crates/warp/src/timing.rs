//! Times of requests: a histogram of all of them, or the averages that a file has.

use candor_record::Histogram;

/// Times of the requests of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Timing {
    /// Unknown.
    #[default]
    Absent,
    /// Counts of all requests.
    Requests(Histogram),
    /// Values that a file has; percentiles of several pieces are averages.
    Averaged(Box<Summary>),
}

/// Values of [`Timing`] in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of requests.
    pub requests: u64,
    /// Pieces of the run whose values are averaged; 1 if percentiles cover all requests.
    pub pieces: u64,
    /// Mean.
    pub mean: f64,
    /// Least.
    pub fastest: f64,
    /// Greatest.
    pub slowest: f64,
    /// Standard deviation.
    pub std_dev: f64,
    /// 25th percentile; absent if the file does not have it.
    pub p25: Option<f64>,
    /// Median.
    pub p50: f64,
    /// 75th percentile; absent if the file does not have it.
    pub p75: Option<f64>,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Percentiles 0 to 100; empty if the file does not have them.
    pub percentiles: Vec<f64>,
}

impl Timing {
    /// The values; none without requests.
    pub fn summary(&self) -> Option<Summary> {
        match self {
            Timing::Absent => None,
            Timing::Requests(histogram) => of_histogram(histogram),
            Timing::Averaged(summary) => Some((**summary).clone()),
        }
    }

    /// Adds the requests of another. Histograms add exactly.
    pub fn add(&mut self, other: &Timing) {
        if let (Timing::Requests(mine), Timing::Requests(theirs)) = (&mut *self, other) {
            return mine.merge(theirs);
        }
        match (self.summary(), other.summary()) {
            (_, None) => {}
            (None, Some(_)) => *self = other.clone(),
            (Some(mine), Some(theirs)) => *self = Timing::Averaged(Box::new(mine.with(&theirs))),
        }
    }
}

fn of_histogram(histogram: &Histogram) -> Option<Summary> {
    Some(Summary {
        requests: histogram.count(),
        pieces: 1,
        mean: histogram.mean_ns()?,
        fastest: histogram.min()?.0 as f64,
        slowest: histogram.max()?.0 as f64,
        std_dev: histogram.stddev_ns()?,
        p25: Some(quantile(histogram, 0.25)),
        p50: quantile(histogram, 0.5),
        p75: Some(quantile(histogram, 0.75)),
        p90: quantile(histogram, 0.9),
        p99: quantile(histogram, 0.99),
        percentiles: (0..=100).map(|of| quantile(histogram, f64::from(of) / 100.0)).collect(),
    })
}

fn quantile(histogram: &Histogram, share: f64) -> f64 {
    histogram.quantile(share).map_or(0.0, |ns| ns.0 as f64)
}

impl Summary {
    /// True if percentiles are averages of several pieces.
    pub fn is_averaged(&self) -> bool {
        self.pieces > 1
    }

    /// Both together: mean, least, greatest and deviation of all requests, and mean percentiles.
    fn with(&self, other: &Summary) -> Summary {
        let requests = self.requests.saturating_add(other.requests);
        let share = if requests == 0 { 0.5 } else { self.requests as f64 / requests as f64 };
        let weights = Weights { mine: share, other: 1.0 - share };
        let mean = weights.mean(self.mean, other.mean);
        let square = weights.mean(self.square(), other.square()) - mean * mean;
        let pairs = self.percentiles.iter().zip(&other.percentiles);
        Summary {
            requests,
            pieces: self.pieces.saturating_add(other.pieces),
            mean,
            fastest: self.fastest.min(other.fastest),
            slowest: self.slowest.max(other.slowest),
            std_dev: square.max(0.0).sqrt(),
            p25: self.p25.zip(other.p25).map(|(mine, other)| weights.mean(mine, other)),
            p50: weights.mean(self.p50, other.p50),
            p75: self.p75.zip(other.p75).map(|(mine, other)| weights.mean(mine, other)),
            p90: weights.mean(self.p90, other.p90),
            p99: weights.mean(self.p99, other.p99),
            percentiles: pairs.map(|(mine, other)| weights.mean(*mine, *other)).collect(),
        }
    }

    /// Mean of the squares.
    fn square(&self) -> f64 {
        self.std_dev * self.std_dev + self.mean * self.mean
    }
}

struct Weights {
    mine: f64,
    other: f64,
}

impl Weights {
    fn mean(&self, mine: f64, other: f64) -> f64 {
        mine * self.mine + other * self.other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Timing {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        Timing::Requests(histogram)
    }

    fn averaged(values: &[u64]) -> Timing {
        Timing::Averaged(Box::new(of(values).summary().expect("values")))
    }

    #[test]
    fn histograms_add_exactly() {
        let mut sum = of(&[1, 2, 3]);
        sum.add(&of(&[100]));
        assert_eq!(sum, of(&[1, 2, 3, 100]));
        let summary = sum.summary().expect("values");
        assert_eq!((summary.p50, summary.p99, summary.pieces), (2.0, 100.0, 1));
        sum.add(&Timing::Absent);
        assert_eq!(sum.summary(), Some(summary));
    }

    #[test]
    fn averages_keep_mean_bounds_and_deviation() {
        let mut sum = averaged(&[10, 20]);
        sum.add(&averaged(&[60, 70, 80, 120]));
        let summary = sum.summary().expect("values");
        let exact = of(&[10, 20, 60, 70, 80, 120]).summary().expect("values");
        assert!((summary.mean - exact.mean).abs() < 1e-9);
        assert!((summary.std_dev - exact.std_dev).abs() < 1e-9);
        assert_eq!((summary.fastest, summary.slowest), (10.0, 120.0));
        assert!(summary.is_averaged() && !exact.is_averaged());
        let mut none = Timing::Absent;
        none.add(&averaged(&[5]));
        assert!(!none.summary().expect("values").is_averaged());
    }
}
