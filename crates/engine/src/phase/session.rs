//! State that outlives a phase: the clock, and what families keep.

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
    /// Begins to calibrate the clock; `families` is who can do which work.
    pub fn new(families: Families) -> Session {
        Session {
            calibration: Calibration::begin(),
            clock: OnceCell::new(),
            families,
            kept: Kept::default(),
        }
    }

    /// The clock of the run; calibrated when first asked for.
    pub fn clock(&self) -> Clock {
        *self.clock.get_or_init(|| self.calibration.end())
    }
}
