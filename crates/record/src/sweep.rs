//! A sweep: the same work with one or two of its settings at several values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// A sweep: phases of one plan that differ in one or two settings of their job, and in no other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The settings that differ; the gain of a row goes by the last.
    pub keys: Vec<SweepKey>,
    /// One row for each phase that ran, its repeats together, from the least value to the greatest.
    pub rows: Vec<SweepRow>,
    /// Where more no longer paid: one for each value of the first key where there are two. Empty
    /// where the last key is no amount, or a rate was set.
    pub knees: Vec<Knee>,
}

/// A setting that a sweep has several values of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SweepKey {
    /// Directions of operations and their order.
    Rw,
    /// Bytes per operation.
    Bs,
    /// Operations in flight per worker.
    Depth,
    /// Number of workers.
    Workers,
}

impl SweepKey {
    /// The name of the setting, which is that of its flag.
    pub fn name(self) -> &'static str {
        match self {
            SweepKey::Rw => "rw",
            SweepKey::Bs => "bs",
            SweepKey::Depth => "depth",
            SweepKey::Workers => "workers",
        }
    }
}

/// The results at one value, or pair of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepRow {
    /// Index of the phase in the plan.
    pub phase: usize,
    /// The value of each key, as people read it.
    pub values: Vec<String>,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean latency, in ns.
    pub latency_ns_mean: Option<f64>,
    /// 99th percentile of latency, in ns, where there were operations enough for it.
    pub latency_ns_p99: Option<u64>,
    /// Rate over that of the next smaller value of the last key: of bytes where that is `bs`, else
    /// of operations.
    pub gain: Option<f64>,
    /// Whether it can be believed; of repeats, the worst.
    pub verdict: Verdict,
}

/// The least value beyond which more no longer paid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// Values of the other keys, where the sweep has several; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub series: String,
    /// The value; absent where the sweep does not show one.
    pub value: Option<String>,
    /// Rates and values that it rests on, or why there is none.
    pub sentence: String,
}
