//! State that outlives a phase: the clock, and the values of families.

use std::cell::OnceCell;

use crate::clock::{Calibration, Clock};
use crate::family::{Families, Kept};

/// State of the engine over the phases of a run.
pub struct Session {
    calibration: Calibration,
    clock: OnceCell<Clock>,
    pub(crate) families: Families,
    /// Values of the families.
    pub kept: Kept,
}

impl Session {
    /// Begins to calibrate the clock. `families` maps each kind of work to its family.
    pub fn new(families: Families) -> Session {
        Session {
            calibration: Calibration::begin(),
            clock: OnceCell::new(),
            families,
            kept: Kept::default(),
        }
    }

    /// Clock of the run; calibrated at first use.
    pub fn clock(&self) -> Clock {
        *self.clock.get_or_init(|| self.calibration.end())
    }
}
