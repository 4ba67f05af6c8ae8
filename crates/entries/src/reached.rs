//! How far phases came whose time was up: later phases work on what these have made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Things of each rank that were reached, by the names of the targets. Clones share it.
#[derive(Clone, Default)]
pub struct Reached(Arc<Mutex<HashMap<Vec<String>, u64>>>);

impl Reached {
    /// Things of each rank that the last phase on these targets reached; none where no phase had to
    /// end before its work was done.
    pub fn of(&self, targets: &[String]) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(targets).copied()
    }

    /// Notes how far a phase on these targets came.
    pub fn note(&self, targets: &[String], things: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(targets.to_vec(), things);
    }
}
