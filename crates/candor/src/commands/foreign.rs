//! The frame of commands that accept another tool's command line. Nothing here is about one tool.
//!
//! [`Invocation::run`] runs a plan for a [`Session`], the tool's own part: results on stdout or in
//! a file, interim results on request ([`monitor`]), progress lines ([`progress`]), the verdict
//! where it breaks no parser ([`verdict`]), candor's report, page and metrics (`own`), complaints
//! on stderr under the tool's name ([`complaints`]), and the tool's exit code. [`Tool`] is all that
//! candor needs to know about a tool, and [`conversion`] makes plans of its command lines. Services
//! and hosts of a fleet ([`service`], [`hosts`]), processes that MPI's launchers start ([`launch`])
//! and their ranks ([`ranks`]) are here, too.

pub mod complaints;
pub mod conversion;
pub mod failures;
pub mod force;
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
pub mod tool;
pub mod verdict;

pub use complaints::{Complaints, lines};
pub use run::{Driver, Finish, Invocation, Place, Session};
pub use tool::Tool;
