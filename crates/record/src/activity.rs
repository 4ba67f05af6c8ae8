//! Activity of devices, whoever causes it: the content of `candor watch`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ceiling;
use crate::facts::Missing;
use crate::fmt::ratio;
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

    /// Bytes read and written per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.read.bytes_per_s + self.write.bytes_per_s
    }

    /// True if nothing happened.
    pub fn is_idle(&self) -> bool {
        self.ways().all(|(_, way)| way.per_s == 0.0) && self.busy == 0.0
    }
}

/// Traffic of one process on one device, of the traced requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessTraffic<'a> {
    /// Number of the process.
    pub pid: u32,
    /// Name.
    pub command: &'a str,
    /// Device.
    pub device: &'a str,
    /// Direction.
    pub direction: RequestOp,
    /// Share of the traced requests of that device and direction, from 0 to 1.
    pub share: f64,
    /// That share of the device's requests per second.
    pub per_s: f64,
    /// The share of traced bytes that were its own, of the device's bytes per second.
    pub bytes_per_s: f64,
}

impl Watched {
    /// The processes behind the traced requests, as they were traced on each device.
    pub fn processes(&self) -> Vec<ProcessTraffic<'_>> {
        let mut processes = Vec::new();
        for device in &self.devices {
            for of in &device.requests {
                let way = device.ways().find(|(direction, _)| *direction == of.direction);
                let Some((_, way)) = way else { continue };
                processes.extend(of.issuers.iter().map(|issuer| {
                    let share = ratio(issuer.count as f64, of.count as f64);
                    ProcessTraffic {
                        pid: issuer.pid,
                        command: &issuer.command,
                        device: &device.device,
                        direction: of.direction,
                        share,
                        per_s: share * way.per_s,
                        bytes_per_s: ratio(issuer.bytes as f64, of.bytes as f64) * way.bytes_per_s,
                    }
                }));
            }
        }
        processes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::Issuer;

    #[test]
    fn processes_have_their_share_of_what_the_device_did() {
        let issuer = |pid, command: &str, count, bytes| Issuer {
            pid,
            command: command.into(),
            count,
            bytes,
        };
        let traced = Requests {
            direction: RequestOp::Write,
            count: 10,
            bytes: 100,
            issuers: vec![issuer(7, "dd", 8, 90), issuer(9, "rsync", 2, 10)],
            ..Requests::default()
        };
        let write = Traffic { per_s: 1000.0, bytes_per_s: 5000.0, ..Traffic::default() };
        let device =
            Activity { device: "sda".into(), write, requests: vec![traced], ..Activity::default() };
        let watched = Watched { devices: vec![device], ..Watched::default() };
        let processes = watched.processes();
        let figures: Vec<_> =
            processes.iter().map(|of| (of.pid, of.share, of.per_s, of.bytes_per_s)).collect();
        assert_eq!(figures, [(7, 0.8, 800.0, 4500.0), (9, 0.2, 200.0, 500.0)]);
    }
}
