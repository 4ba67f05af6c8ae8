//! md-workbench: its options, the window of objects that it moves on, the plan, and its output.
//!
//! [`options::Options`] is what a command line asks for; [`setup::Setup`] is the same once it is
//! known where the window begins; [`plan::lower`] makes a plan of it; [`output`] makes the lines,
//! documents and latency files of the records. Nothing here opens a target.

pub mod options;
pub mod output;
pub mod plan;
pub mod setup;
