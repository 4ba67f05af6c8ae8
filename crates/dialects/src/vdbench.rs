//! vdbench: its parameter files, the runs they stand for, the plan of each, and its results.
//!
//! [`file::read`] makes typed definitions of parameter files; [`runs::expand`] writes out the runs
//! that loops and curves stand for. Nothing here opens a target.

pub mod definitions;
pub mod file;
mod kind;
pub mod lines;
mod parameters;
pub mod runs;
pub mod values;

pub use kind::meant;
pub use parameters::Written;
