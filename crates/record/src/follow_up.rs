//! Short trials of other work after a phase.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Measurement, Snapshot};

/// A short trial of work that differs from a phase's in one thing, run after it because what was
/// counted during the phase could not tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FollowUp {
    /// The difference.
    pub change: Change,
    /// Why it was run: what the phase alone could not tell.
    pub why: String,
    /// Number of workers.
    pub workers: u32,
    /// Operations in flight, of each worker.
    pub depth: u32,
    /// Seconds that it took: setting up, running, closing.
    pub cost_s: f64,
    /// Measurement of the trial.
    pub measurement: Measurement,
    /// The kernel's counters at its start.
    pub before: Snapshot,
    /// The counters when its last operation had completed.
    pub after: Snapshot,
}

/// In what a follow-up differs from the phase before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
// Reports of version 2 were written with the other names, when one doubling was all there was.
pub enum Change {
    /// In nothing but the places: others of the same range.
    #[default]
    OtherPlaces,
    /// Nothing: the places that the phase began with, once more.
    SamePlaces,
    /// More operations in flight for each worker: twice as many, and twice that again.
    #[serde(alias = "twice_the_depth")]
    MoreDepth,
    /// More workers, twice as many and twice that again, each with as many in flight as before.
    #[serde(alias = "twice_the_workers")]
    MoreWorkers,
    /// Twice the workers, each with half as many in flight.
    TwiceTheThreads,
    /// One worker with one operation in flight.
    OneAtATime,
    /// Each worker in a file of its own.
    FilesOfTheirOwn,
}
