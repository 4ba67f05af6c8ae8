//! What outlives a phase: the clock, and what is known about verified blocks.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_plan::blocks::Verify;

use crate::clock::{Calibration, Clock};
use crate::verify::{Map, UNKNOWN};

/// State of the engine over the phases of a run.
pub struct Session {
    calibration: Calibration,
    clock: OnceCell<Clock>,
    maps: HashMap<(PathBuf, u64), Arc<Map>>,
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl Session {
    /// Begins to calibrate the clock.
    pub fn new() -> Session {
        Session { calibration: Calibration::begin(), clock: OnceCell::new(), maps: HashMap::new() }
    }

    /// The clock of the run; calibrated when first asked for.
    pub fn clock(&self) -> Clock {
        *self.clock.get_or_init(|| self.calibration.end())
    }

    /// What is known about the blocks of a file: nothing at first, and nothing again once it is
    /// used further than before. Every operation begins and ends at a multiple of `step`.
    pub fn map(&mut self, path: &Path, size: u64, step: u64) -> Arc<Map> {
        let new = || Map::new(size, step, UNKNOWN);
        let map = self.maps.entry((path.to_owned(), step)).or_insert_with(new);
        if !map.covers(size) {
            *map = new();
        }
        map.clone()
    }

    /// Notes that a file was laid out with headers of the first generation.
    pub fn laid_out(&mut self, path: &Path, size: u64, verify: &Verify) {
        self.maps
            .insert((path.to_owned(), verify.interval.0), Map::new(size, verify.interval.0, 1));
    }
}
