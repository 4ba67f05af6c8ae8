//! vdbench: its parameter files, the runs they stand for, the plan of each, and its results.
//!
//! [`file::read`] makes typed definitions of parameter files; [`runs::expand`] writes out the runs
//! that loops and curves stand for; [`lower::lower`] makes a phase of each; [`output`] writes what
//! vdbench writes. Nothing here opens a target.

pub mod definitions;
pub mod file;
mod kind;
pub mod lines;
pub mod lower;
pub mod options;
pub mod output;
mod parameters;
pub mod runs;
pub mod values;

pub use kind::{Parameter, meant};
pub use parameters::Written;
