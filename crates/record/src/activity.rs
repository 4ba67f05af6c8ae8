//! Activity of devices, whoever causes it: the content of `candor watch`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ceiling;
use crate::facts::Missing;
use crate::requests::{RequestOp, Requests};

/// Activity of some devices between two looks: one line of `candor watch --json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Watched {
    /// Version of the report's shape, whose parts these are.
    pub report_version: u32,
    /// When the later look was, in ms since 1970.
    pub unix_ms: u64,
    /// Time between the looks, in seconds.
    pub elapsed_s: f64,
    /// Each device.
    pub devices: Vec<Activity>,
    /// Why single requests could not be traced; absent where they were.
    pub untraced: Option<Missing>,
}

/// Activity of one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    /// Name, or that of a group of devices.
    pub device: String,
    /// The devices of a group, which its figures are the sums and means of; none for a device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
    /// Reads.
    pub read: Traffic,
    /// Writes.
    pub write: Traffic,
    /// Discards.
    pub discard: Traffic,
    /// Flushes of its cache; they have no bytes.
    pub flush: Traffic,
    /// Requests under way or waiting, on average.
    pub queue_mean: f64,
    /// Requests that it takes at once, where known.
    pub queue_max: Option<u64>,
    /// Share of the time in which anything was under way, from 0 to 1. At 1 it was never idle,
    /// which says nothing about how much more it could have done.
    pub busy: f64,
    /// Ceilings of its link and of limits, and how much of each was used.
    pub ceilings: Vec<Ceiling>,
    /// A sentence about how full it was.
    pub sentence: String,
    /// Statistics of single requests, where tracing is allowed.
    pub requests: Vec<Requests>,
}

/// Traffic in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Requests per second.
    pub per_s: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Mean size; 0 where there was no request.
    pub size_mean_bytes: u64,
    /// Share of what was asked for that was merged into other requests, from 0 to 1.
    pub merged: f64,
    /// Mean time from the making of a request to its end, in ns; the kernel counts in ms.
    pub wait_mean_ns: u64,
}

impl Traffic {
    /// Requests in the seconds between the looks: the count from which the rate was made.
    pub fn requests(&self, elapsed_s: f64) -> u64 {
        (self.per_s * elapsed_s).round() as u64
    }

    /// Bytes in the seconds between the looks.
    pub fn bytes(&self, elapsed_s: f64) -> u64 {
        (self.bytes_per_s * elapsed_s).round() as u64
    }
}

impl Activity {
    /// Traffic by direction.
    pub fn ways(&self) -> impl Iterator<Item = (RequestOp, &Traffic)> {
        let ways = [&self.read, &self.write, &self.discard, &self.flush];
        RequestOp::ALL.into_iter().zip(ways)
    }

    /// True if nothing happened.
    pub fn is_idle(&self) -> bool {
        self.ways().all(|(_, way)| way.per_s == 0.0) && self.busy == 0.0
    }
}
