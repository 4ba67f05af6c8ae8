//! Measurements in addition to counts and latency.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::Nanos;
use crate::omit::is_default;

/// Measurements in addition to counts and latency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Split latency at the return of the submitting call, for engines with one operation or more
    /// in flight. Submission is then a separate system call also with io_uring, which could submit
    /// and wait in one call.
    pub submission: bool,
    /// Counts of operations in flight, handed over and taken back at a time.
    pub depths: bool,
    /// Counts and latencies of each target apart: of each file, where the job has one target.
    pub per_target: bool,
    /// Log kept while the job runs.
    #[serde(skip_serializing_if = "LogPlan::is_off")]
    #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::log))]
    pub log: LogPlan,
}

/// Log of a job, kept while it runs, without the ramp. The caller that runs the plan gets the log;
/// the report does not contain it.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct LogPlan {
    /// Every operation, when it has ended.
    pub each: bool,
    /// Every operation, flushes too, in the order of hand-over: a trace that can be followed.
    pub trace: bool,
    /// Counts and sums of latencies over windows of this length.
    pub window: Option<Nanos>,
    /// The greatest latency of each window too.
    pub peaks: bool,
    /// Histograms of latency over intervals of this length.
    pub histogram: Option<Nanos>,
    /// Operations that are kept at most; further ones are only counted.
    #[default(1 << 24)]
    pub entries_max: u64,
}

impl LogPlan {
    /// True where nothing is logged.
    pub fn is_off(&self) -> bool {
        !self.each && !self.trace && self.window.is_none() && self.histogram.is_none()
    }
}

/// File of a job's operations: a line of JSON before and after each, ramp included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct OperationsLog {
    /// Path of the file; lines are added at its end, and several jobs may name one file.
    #[serde(with = "crate::path_text::as_text")]
    #[schemars(with = "PathBuf")]
    pub file: PathBuf,
    /// Lines are written under a lock (`flock`), for files that other processes write to as well.
    #[serde(default)]
    pub lock: bool,
    /// Log system calls (`openat`, `pwrite`), with time, worker, call, file, offset and result
    /// only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: bool,
}
