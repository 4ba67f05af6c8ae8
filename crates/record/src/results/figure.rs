//! Figures of an operation, each with name, unit and the direction that is better.

use std::fmt::{self, Display, Formatter};

use candor_plan::work::is_request;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OpResults;
use crate::fmt::{REQUESTS_PER_S, count, rate_decimal};
use crate::{Quantity, Unit};

/// Kind of a figure of an operation.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureKind {
    /// Operations per second.
    OpsPerS,
    /// Bytes per second.
    BytesPerS,
    /// Mean latency.
    LatencyMean,
    /// A percentile of latency, from 0 to 100.
    LatencyPercentile(f64),
}

/// A figure with its value in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureValue {
    /// Kind of the figure.
    pub kind: FigureKind,
    /// Value in the unit of the kind.
    pub value: f64,
}

impl FigureKind {
    /// Unit of its values.
    pub fn unit(self) -> Unit {
        match self {
            FigureKind::OpsPerS => Unit::OpsPerS,
            FigureKind::BytesPerS => Unit::BytesPerS,
            FigureKind::LatencyMean | FigureKind::LatencyPercentile(_) => Unit::Ns,
        }
    }

    /// More is better.
    pub fn is_better_higher(self) -> bool {
        matches!(self, FigureKind::OpsPerS | FigureKind::BytesPerS)
    }

    /// A value of the kind with its unit; rates in bytes in powers of 1000.
    pub fn text(self, value: f64) -> String {
        match self.unit() {
            Unit::BytesPerS => rate_decimal(value),
            unit => Quantity::new(value, unit).to_string(),
        }
    }

    /// The same of an operation: requests on objects are no IOPS.
    pub fn text_of(self, operation: &str, value: f64) -> String {
        match self {
            FigureKind::OpsPerS if is_request(operation) => {
                format!("{} {REQUESTS_PER_S}", count(value))
            }
            kind => kind.text(value),
        }
    }

    /// The label of an operation's figure.
    pub fn label_of(self, operation: &str) -> String {
        match self {
            FigureKind::OpsPerS if is_request(operation) => REQUESTS_PER_S.into(),
            kind => kind.label(),
        }
    }

    /// The figure as a table names it.
    pub fn label(self) -> String {
        match self {
            FigureKind::OpsPerS => "IOPS".into(),
            FigureKind::BytesPerS => "bandwidth".into(),
            FigureKind::LatencyMean => "mean latency".into(),
            FigureKind::LatencyPercentile(p) => format!("p{p} latency"),
        }
    }

    /// The figure of a word: `iops`, `bandwidth` (`bw`), `mean`, `p99`, `p99.9`.
    ///
    /// # Errors
    /// A sentence with the words that are known.
    pub fn parse(word: &str) -> Result<FigureKind, String> {
        let percentile = || {
            let p: f64 = word.strip_prefix('p')?.parse().ok()?;
            (p > 0.0 && p < 100.0).then_some(FigureKind::LatencyPercentile(p))
        };
        match word {
            "iops" => Ok(FigureKind::OpsPerS),
            "bandwidth" | "bw" => Ok(FigureKind::BytesPerS),
            "mean" => Ok(FigureKind::LatencyMean),
            _ => percentile().ok_or_else(|| {
                format!(
                    "`{word}` is not a metric: iops, bandwidth, mean, or a percentile such as p99"
                )
            }),
        }
    }
}

/// The word that [`FigureKind::parse`] reads.
impl Display for FigureKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FigureKind::OpsPerS => f.write_str("iops"),
            FigureKind::BytesPerS => f.write_str("bandwidth"),
            FigureKind::LatencyMean => f.write_str("mean"),
            FigureKind::LatencyPercentile(p) => write!(f, "p{p}"),
        }
    }
}

impl OpResults {
    /// The figure of that kind, where it is reported.
    pub fn figure_value(&self, kind: FigureKind) -> Option<f64> {
        let latency = self.latency.as_ref();
        match kind {
            FigureKind::OpsPerS => self.ops_per_s,
            // Operations on names move no bytes.
            FigureKind::BytesPerS => self.bytes_per_s.filter(|rate| *rate > 0.0),
            FigureKind::LatencyMean => latency?.mean_ns,
            FigureKind::LatencyPercentile(p) => latency?.percentile_ns(p).map(|ns| ns as f64),
        }
    }

    /// All figures that are reported.
    pub fn figures(&self) -> Vec<FigureValue> {
        let percentiles = self.latency.iter().flat_map(|latency| &latency.percentiles);
        [FigureKind::OpsPerS, FigureKind::BytesPerS, FigureKind::LatencyMean]
            .into_iter()
            .chain(percentiles.map(|(p, _)| FigureKind::LatencyPercentile(*p)))
            .filter_map(|kind| Some(FigureValue { kind, value: self.figure_value(kind)? }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::LatencyResults;

    #[test]
    fn a_word_is_the_figure_that_prints_as_it() {
        for word in ["iops", "bandwidth", "mean", "p99", "p99.9"] {
            assert_eq!(FigureKind::parse(word).expect(word).to_string(), word);
        }
        for word in ["", "p", "p0", "p100", "pNaN", "IOPS"] {
            assert!(FigureKind::parse(word).expect_err(word).contains("is not a metric"));
        }
    }

    #[test]
    fn the_rate_of_requests_is_no_iops() {
        let rate = FigureKind::OpsPerS;
        assert_eq!(
            (rate.text_of("get", 1200.0), rate.label_of("get")),
            ("1200 req/s".into(), "req/s".into())
        );
        assert_eq!(
            (rate.text_of("read", 9.0), rate.label_of("read")),
            ("9 IOPS".into(), "IOPS".into())
        );
    }

    #[test]
    fn figures_are_those_that_are_there() {
        let latency = LatencyResults { percentiles: vec![(50.0, 7)], ..Default::default() };
        let op = OpResults {
            ops_per_s: Some(3.0),
            bytes_per_s: Some(0.0),
            latency: Some(latency),
            ..OpResults::default()
        };
        let kinds: Vec<String> = op.figures().iter().map(|of| of.kind.to_string()).collect();
        assert_eq!(kinds, ["iops", "p50"]);
    }
}
