//! elbencho: its options, paths and sizes, the plan they ask for, and its output.
//!
//! [`options::Options`] is what a command line asks for; [`setup::Setup`] is the same once the paths
//! were looked at. Nothing here opens or changes anything.

mod grammar;
pub mod options;
pub mod output;
mod paths;
pub mod setup;
