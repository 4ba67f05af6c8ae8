//! The frame of commands that accept another tool's command line. Nothing here is about one tool.
//!
//! [`Invocation::run`] runs a plan for a [`candor_front::Session`] and does all of its I/O:
//! results on stdout or in a file, the tool's files ([`files`]) and empty directories
//! ([`removal`]), interim results on request ([`monitor`]), progress lines ([`progress`]), the
//! verdict where it breaks no parser ([`verdict`]), candor's report, page and metrics (`own`),
//! complaints on stderr under the tool's name ([`complaints`]), and the tool's exit code.
//!
//! [`Tool`] is an entry in the list of tools, and [`conversion`] makes plans of command lines.
//! [`ranked`] is the command of each tool that MPI launches, on hosts that a launcher ([`launch`])
//! or the user ([`ranks`]) names. Services and hosts of a fleet are in [`service`] and [`hosts`].

pub mod complaints;
pub mod conversion;
pub mod files;
pub mod force;
pub mod host;
pub mod hosts;
pub mod launch;
pub mod lead;
pub mod monitor;
mod own;
mod place;
pub mod progress;
pub mod ranked;
pub mod ranks;
pub mod removal;
pub mod run;
mod scheduled;
pub mod service;
pub mod sink;
pub mod tool;
pub mod verdict;

pub use complaints::Complaints;
pub use place::Place;
pub use run::{Driver, Invocation};
pub use tool::Tool;
