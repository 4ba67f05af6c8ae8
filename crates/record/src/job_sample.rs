//! Work of a job within one interval of a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Sample;

/// One job's part of an interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSample {
    /// Name of the job.
    pub job: String,
    /// Counts and percentiles.
    pub sample: Sample,
    /// Work of each of its workers meanwhile, by rank; none where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerSample>,
}

/// One worker's part of an interval, flushes apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerSample {
    /// Operations that completed.
    pub ops: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}
