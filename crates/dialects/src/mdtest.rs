//! mdtest: its options, the arithmetic of its items, the plan they ask for, and its output.
//!
//! [`options::Options`] is what a command line asks for; [`setup::Setup`] is the same once items
//! are counted; [`plan::lower`] makes a plan of it; [`output`] makes mdtest's block of the records.
//! Nothing here opens a target.

pub mod options;
pub mod output;
pub mod plan;
pub mod setup;
