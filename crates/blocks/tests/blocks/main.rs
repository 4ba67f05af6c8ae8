//! Jobs of blocks on real files, from the plan to the measurement.

mod before_write;
mod common;
mod engines;
mod flushes;
mod jobs;
mod limits;
mod measures;
mod ranks;
mod small;
mod traces;
mod unknown;
mod verify;
mod ways;
mod zones;
