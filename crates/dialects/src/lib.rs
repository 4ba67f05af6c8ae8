//! Languages of other tools: command lines to plans, reports to the tool's output.
//!
//! One module per tool ([`fio`], [`elbencho`], [`ior`], [`mdtest`], [`md_workbench`], [`vdbench`],
//! [`iostat`], [`dd`]), on a [`kit`] that knows no tool. Each tool has the same steps:
//!
//! ```text
//! argv, files ── read ──> options with positions ── lower ──> Plan, notes, data for the output
//! Report ── output ──> text, JSON or CSV of the tool
//! ```
//!
//! A table of rows declares the options of a tool. Help, support matrix, refusals, defaults and
//! notes come from it. All mistakes are reported at once, each with file, line and column.
//!
//! [`results`] reads result files of the real tools:
//!
//! ```
//! let error = candor_dialects::results::read("run.json", b"no results").unwrap_err();
//! assert!(error.contains("run.json"));
//! ```
//!
//! Nothing here opens a target or runs a program.

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
