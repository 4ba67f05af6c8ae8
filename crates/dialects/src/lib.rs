//! The languages of other tools: their words into a plan, a report into their output.
//!
//! One folder per tool. Nothing here opens a target or runs anything.

pub mod dd;
pub mod elbencho;
pub mod fio;
pub mod ior;
pub mod ior_family;
pub mod iostat;
pub mod kit;
pub mod md_workbench;
pub mod mdtest;
pub mod results;
pub mod vdbench;
