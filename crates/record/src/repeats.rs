//! Results of a phase that ran several times: mean and spread of each figure over the repeats.

use candor_plan::work::Figure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// A phase that ran several times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeats {
    /// Index of the phase in the plan.
    pub phase: usize,
    /// Name of the phase.
    pub name: String,
    /// How often it ran.
    pub count: u32,
    /// Numbers of the repeats, from 0, that no mean contains: they did not end well, or can be
    /// believed less than the others.
    pub left_out: Vec<u32>,
    /// The worst verdict of the others.
    pub verdict: Verdict,
    /// Figures of each operation of each job over the others; none where fewer than two are left.
    pub results: Vec<RepeatedOp>,
}

/// Figures of an operation of a job over the repeats of its phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedOp {
    /// Name of the job.
    pub job: String,
    /// Name of the operation.
    pub operation: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations per second.
    pub ops_per_s: Spread,
    /// Bytes per second; absent where no bytes moved.
    pub bytes_per_s: Option<Spread>,
    /// Mean latency of each repeat, in ns.
    pub latency_ns_mean: Option<Spread>,
    /// Median latency of each repeat, in ns.
    pub latency_ns_p50: Option<Spread>,
    /// 99th percentile of each repeat, in ns, where the samples of all carry it.
    pub latency_ns_p99: Option<Spread>,
}

/// A figure over repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Number of repeats.
    pub count: u32,
    /// Mean of the repeats.
    pub mean: f64,
    /// Standard deviation of a single repeat, estimated from these.
    pub stddev: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// Half the width of the 95 % interval of the mean (Student's t), for repeats that are
    /// independent of each other.
    pub interval_95: f64,
}

impl Spread {
    /// Half the width of the interval as a share of the mean.
    pub fn interval_share(&self) -> f64 {
        crate::fmt::ratio(self.interval_95, self.mean)
    }
}

impl RepeatedOp {
    /// The rate by which people compare such results: pieces of memory are candor's choice, their
    /// bytes are not.
    pub fn rate(&self) -> Spread {
        match self.figure {
            Figure::Memory => self.bytes_per_s.unwrap_or(self.ops_per_s),
            _ => self.ops_per_s,
        }
    }
}
