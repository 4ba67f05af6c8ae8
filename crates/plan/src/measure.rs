//! What is measured beside counts and latency.

use serde::{Deserialize, Serialize};

/// What is measured beside counts and latency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Measure {
    /// Latency is split at the return of the submitting call, for engines with one operation or
    /// more in flight. Submitting is then a system call of its own also with io_uring, which could
    /// submit and wait in one.
    pub submission: bool,
    /// Counts of operations in flight, handed over and taken back at a time.
    pub depths: bool,
}
