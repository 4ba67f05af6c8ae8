//! Rate of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::omit::is_default;
use crate::units::PerDirection;
use crate::{BytesPerSec, Nanos, OpsPerSec};

/// Rate of a job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Pace {
    /// Operations per second of the whole job, divided evenly between its workers.
    pub ops: Option<OpsPerSec>,
    /// Rates of the whole job in sequence, repeated after the last one; instead of `ops`.
    #[serde(skip_serializing_if = "is_default")]
    pub steps: Vec<RateStep>,
    /// With steps: all operations of a second begin at its start.
    #[serde(skip_serializing_if = "is_default")]
    pub bursts: bool,
    /// Bytes per second of the whole job, divided evenly between its workers.
    pub bytes: Option<BytesPerSec>,
    /// Operations per second of each direction of the whole job, instead of `ops` and `bytes`. The
    /// rates instead of the mix determine the next direction; a direction with rate 0 runs if no
    /// other is due.
    pub per_direction: Option<PerDirection<OpsPerSec>>,
    /// The same in bytes per second. Where both are given, the slower one holds.
    pub bytes_per_direction: Option<PerDirection<BytesPerSec>>,
    /// Gaps between operations under a rate.
    pub arrival: Arrival,
    /// Rest after a number of operations.
    pub think: Option<Think>,
    /// Under a rate, skip operations that became due during think time.
    pub think_shifts: bool,
    /// Rates below which the job fails.
    pub floor: Option<Floor>,
    /// Share of this job in the work of several jobs.
    pub flow: Option<Flow>,
    /// The greatest depth is searched at which latency stays below a goal.
    pub goal: Option<LatencyGoal>,
}

impl Pace {
    /// True where there is a rate, so that latency also counts from the intended start.
    pub fn is_rated(&self) -> bool {
        let ops =
            self.per_direction.iter().flat_map(PerDirection::iter).any(|(_, rate)| rate.0 > 0);
        let bytes =
            self.bytes_per_direction.iter().flat_map(PerDirection::iter).any(|(_, r)| r.0 > 0);
        self.ops.is_some() || !self.steps.is_empty() || self.bytes.is_some() || ops || bytes
    }

    /// Operations per second of the whole job; on average, where the rate changes.
    pub fn mean_ops(&self) -> Option<f64> {
        let times: f64 = self.steps.iter().map(|step| step.time.0 as f64).sum();
        let done = self.steps.iter().map(|step| step.ops.0 as f64 * step.time.0 as f64);
        let done: f64 = done.sum();
        let mean = (times > 0.0).then(|| done / times);
        self.ops.map(|rate| rate.0 as f64).or(mean)
    }
}

/// A rate that holds for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Operations per second; 0 for none.
    pub ops: OpsPerSec,
    /// How long.
    pub time: Nanos,
}

/// Gaps between operations under a rate. Latency is then also reported from the intended start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// All the same.
    #[default]
    Fixed,
    /// Exponentially distributed: arrivals of many independent users.
    Poisson,
}

/// Rest after a number of operations. It begins when everything in flight has completed.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Think {
    /// How long.
    pub time: Nanos,
    /// Add N times the latencies of the operations since the last think time.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
    pub relative: f64,
    /// After how many operations.
    #[serde(default = "one")]
    pub every: u32,
    /// Or after working for that long, whichever comes first.
    pub every_time: Option<Nanos>,
    /// Operations to count.
    #[serde(default)]
    pub count: ThinkCount,
    /// Burn the CPU instead of sleeping.
    #[serde(default)]
    pub spin: bool,
    /// Burn the CPU for this long at the start of the think time.
    #[serde(default)]
    pub spin_first: Nanos,
    /// CPU cycles to burn first, in addition to `time`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spin_cycles: u64,
}

fn one() -> u32 {
    1
}

impl Think {
    /// A rest of that length after every operation.
    pub fn after_each(time: Nanos) -> Think {
        Think {
            time,
            relative: 0.0,
            every: 1,
            every_time: None,
            count: ThinkCount::Issued,
            spin: false,
            spin_first: Nanos(0),
            spin_cycles: 0,
        }
    }

    /// The same rest in time alone, with `time` for its cycles.
    #[must_use]
    pub fn with_cycles_as(self, time: Nanos) -> Think {
        Think {
            time: Nanos(self.time.0.saturating_add(time.0)),
            spin_first: Nanos(self.spin_first.0.saturating_add(time.0)),
            spin_cycles: 0,
            ..self
        }
    }
}

/// Operations that count towards the next rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ThinkCount {
    /// Submitted operations.
    #[default]
    Issued,
    /// Completed operations.
    Completed,
}

/// Rates of a job over a cycle, below which it fails. 0 sets none.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Floor {
    /// Bytes per second, per direction.
    pub bytes: PerDirection<BytesPerSec>,
    /// Operations per second, per direction.
    pub ops: PerDirection<OpsPerSec>,
    /// Over how long each time. The first two seconds are not judged.
    #[default(Nanos::from_secs(1))]
    pub cycle: Nanos,
}

/// A job's share of what all jobs of the same flow in a phase do: their operations, or bytes, are
/// kept in the proportion of their weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Id of the flow.
    #[serde(default)]
    pub id: u32,
    /// Weight of each worker of the job, or of all together.
    pub weight: u32,
    /// How long a worker that is ahead waits before it looks again.
    #[serde(default)]
    pub wait: Nanos,
    /// Shares are of bytes, not of operations.
    #[serde(default)]
    pub bytes: bool,
    /// All workers of the job have one share together, which any fast worker may use.
    #[serde(default)]
    pub together: bool,
}

/// A search for the greatest depth at which latency stays below a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct LatencyGoal {
    /// The latency.
    pub latency: Nanos,
    /// Share of the operations that must not take longer, in percent.
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
    pub percentile: f64,
    /// How long each depth is tried.
    pub window: Nanos,
    /// Continue at the found depth, and adjust it; otherwise the job ends when it is found.
    #[serde(default)]
    pub goes_on: bool,
}
