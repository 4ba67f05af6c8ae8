//! Every number that decides. The crate's README says where each comes from.

use candor_record::results::FigureKind;

/// Confidence of each interval, and of all changes of one run together.
pub const CONFIDENCE: f64 = 0.99;

/// Percentiles that are compared, where both runs have them.
pub const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// Repeats of both sides together, less one for each side, from which on their spread is used.
pub const FREEDOM_MIN: usize = 3;

/// Blocks into which the intervals of a run are joined.
pub const BLOCKS: usize = 4;

/// Standard deviation of a figure, as a share of it, that no spread of repeats goes below: clocks
/// and the buckets of histograms are no finer.
pub const RESOLUTION: f64 = 0.0025;

/// Certainty of the assumption about how far runs differ, as degrees of freedom.
pub const ASSUMED_FREEDOM: f64 = 4.0;

/// A job whose rate is at least that share of the rate that held it has kept it.
pub const RATE_KEPT: f64 = 0.995;

/// Standard deviation of the rate of a job that kept its rate.
pub const RATE_DEVIATION: f64 = 0.0025;

/// Difference of the load of others from which on the hosts were not alike, as a share of all.
pub const DISTURBANCE: f64 = 0.1;

/// Numbers of names in two trees of which neither is more often in the other, from which on their
/// rates answer different questions: series make as many as there is time for.
pub const NAMES_RATIO: f64 = 2.0;

/// Share of their time for which workers waited for a CPU, from which on one run says nothing of
/// the next.
pub const STARVED: f64 = 0.1;

/// Standard deviation between runs of the same work that is assumed where there is one run only,
/// as a share of the figure.
pub fn assumed_deviation(kind: FigureKind) -> f64 {
    match kind {
        FigureKind::OpsPerS | FigureKind::BytesPerS | FigureKind::LatencyMean => 0.01,
        FigureKind::LatencyPercentile(p) if p <= 50.0 => 0.02,
        FigureKind::LatencyPercentile(_) => 0.05,
    }
}
