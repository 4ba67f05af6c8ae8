//! How far phases came: later phases work on what these have made or left.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Counts of each rank by the names of the targets. Clones share it.
#[derive(Clone, Default)]
pub struct Reached {
    /// Things that a phase reached whose time was up.
    things: Counts,
    /// Items that have left a window.
    left: Counts,
}

type Counts = Arc<Mutex<HashMap<Vec<String>, u64>>>;

fn get(counts: &Counts, targets: &[String]) -> Option<u64> {
    counts.lock().unwrap_or_else(PoisonError::into_inner).get(targets).copied()
}

fn set(counts: &Counts, targets: &[String], count: u64) {
    counts.lock().unwrap_or_else(PoisonError::into_inner).insert(targets.to_vec(), count);
}

impl Reached {
    /// Things of each rank that the last phase on these targets reached; none where no phase had to
    /// end before its work was done.
    pub fn of(&self, targets: &[String]) -> Option<u64> {
        get(&self.things, targets)
    }

    /// Notes how far a phase on these targets came.
    pub fn note(&self, targets: &[String], things: u64) {
        set(&self.things, targets, things);
    }

    /// Items of each rank that have left the window over these targets; none before it has moved.
    pub fn left(&self, targets: &[String]) -> Option<u64> {
        get(&self.left, targets)
    }

    /// Notes how many items have left the window over these targets.
    pub fn note_left(&self, targets: &[String], items: u64) {
        set(&self.left, targets, items);
    }
}
