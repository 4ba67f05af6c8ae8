//! Stops of the process while it measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stops of the process in a job's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stopped {
    /// Length of all stops.
    pub ns: u64,
    /// Number of stops.
    pub times: u32,
    /// Length of the longest one.
    pub longest_ns: u64,
    /// Length of the shortest one.
    #[serde(default)]
    pub shortest_ns: u64,
    /// Cause of the longest one.
    pub by: StoppedBy,
}

impl Stopped {
    /// Adds a stop of that length and cause.
    pub fn add(&mut self, ns: u64, by: StoppedBy) {
        self.shortest_ns = if self.times == 0 { ns } else { self.shortest_ns.min(ns) };
        self.ns += ns;
        self.times += 1;
        if ns > self.longest_ns {
            (self.longest_ns, self.by) = (ns, by);
        }
    }

    /// Adds the stops of another host, which may have been at the same time.
    pub fn merge(&mut self, next: Stopped) {
        if next.longest_ns > self.longest_ns {
            (self.longest_ns, self.by) = (next.longest_ns, next.by);
        }
        self.shortest_ns = self.shortest_ns.min(next.shortest_ns);
        self.ns = self.ns.max(next.ns);
        self.times += next.times;
    }
}

/// Cause of a stop of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StoppedBy {
    /// SIGSTOP or Ctrl-Z: SIGCONT ended it.
    Signal,
    /// The machine was suspended.
    Suspend,
    /// No thread ran, and none waited for a CPU: a frozen control group, a debugger, a hypervisor.
    #[default]
    Other,
}
