//! The frame of commands that speak another tool's language. Nothing here is about one tool.
//!
//! [`run_on`] runs a plan as a [`Foreign`] command wants it: results on stdout or in a file,
//! results so far on request ([`monitor`]), lines of progress ([`progress`]), the verdict where it
//! breaks no consumer ([`verdict`]), candor's own report, page and metrics (`own`), complaints on
//! stderr under the tool's name ([`complaints`]), the exit code of the tool, services and hosts of
//! a fleet ([`service`], [`hosts`]), processes that MPI's launchers start ([`launch`]), and the
//! ranks of tools that these launch ([`ranks`]).

pub mod complaints;
pub mod failures;
pub mod host;
pub mod hosts;
pub mod launch;
pub mod monitor;
pub mod operations;
mod own;
pub mod progress;
pub mod ranks;
pub mod removal;
pub mod run;
pub mod service;
pub mod sink;
pub mod verdict;

pub use complaints::{Complaints, capped, lines};
pub use run::{Driver, Foreign, Place, run_on, run_ranked};
