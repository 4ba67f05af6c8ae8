//! IOR: its options and scripts, the plan they ask for, and its output.
//!
//! [`options::read`] makes tests of a command line and of the script that it names;
//! [`setup::TestSetup`] is a test once the host is known; [`plan::lower`] makes one plan of all
//! tests. Nothing here opens a target.

mod grammar;
pub mod options;
pub mod output;
pub mod plan;
pub mod setup;
