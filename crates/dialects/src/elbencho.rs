//! elbencho: its options, paths and sizes, the plan they ask for, and its output.
//!
//! [`options::Options`] is what a command line asks for; [`setup::Setup`] is the same once the
//! paths were looked at; [`plan::lower`] makes a plan of it. Nothing here opens a target.

mod grammar;
pub mod options;
pub mod output;
mod paths;
pub mod plan;
pub mod setup;
