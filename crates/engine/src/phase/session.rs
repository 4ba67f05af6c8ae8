//! What outlives a phase: the clock, and what is known about verified blocks.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_plan::blocks::{Verify, Zones};

use crate::clock::{Calibration, Clock};
use crate::data::verify::{Map, UNKNOWN};
use crate::targets::files::OpenFile;
use crate::targets::zones;

/// State of the engine over the phases of a run.
pub struct Session {
    calibration: Calibration,
    clock: OnceCell<Clock>,
    /// By path, distance of places, and the first place.
    maps: HashMap<(PathBuf, u64, u64), Arc<Map>>,
    zones: HashMap<PathBuf, Arc<zones::Map>>,
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl Session {
    /// Begins to calibrate the clock.
    pub fn new() -> Session {
        Session {
            calibration: Calibration::begin(),
            clock: OnceCell::new(),
            maps: HashMap::new(),
            zones: HashMap::new(),
        }
    }

    /// The clock of the run; calibrated when first asked for.
    pub fn clock(&self) -> Clock {
        *self.clock.get_or_init(|| self.calibration.end())
    }

    /// What is known about the blocks of a file: nothing at first, and nothing again once it is
    /// used further than before. Every operation begins and ends at a multiple of `step`
    /// behind `origin`.
    pub fn map(&mut self, path: &Path, size: u64, step: u64, origin: u64) -> Arc<Map> {
        let new = || Map::from(origin, size, step, UNKNOWN);
        let key = (path.to_owned(), step, origin);
        let map = self.maps.entry(key).or_insert_with(new);
        if !map.covers(size) {
            *map = new();
        }
        map.clone()
    }

    /// Notes that a file was laid out with headers of the first generation.
    pub fn laid_out(&mut self, path: &Path, size: u64, verify: &Verify) {
        self.maps
            .insert((path.to_owned(), verify.interval.0, 0), Map::new(size, verify.interval.0, 1));
    }

    /// What is known about the zones of a file, shared by all that reach the same one.
    ///
    /// # Errors
    /// What does not fit, and what to do.
    pub fn zones(
        &mut self,
        file: &OpenFile,
        plan: &Zones,
    ) -> Result<Arc<zones::Map>, (String, &'static str)> {
        // Names that lead to one file share its zones.
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let map = match self.zones.get(&real) {
            Some(map) => map.clone(),
            None => Arc::new(zones::Map::of(file, plan)?),
        };
        if !map.agrees(plan) {
            let message =
                format!("jobs say different things of zones of `{}`", file.path.display());
            return Err((message, "give their zones the same length and capacity"));
        }
        map.reach(file.size);
        self.zones.insert(real, map.clone());
        Ok(map)
    }
}
