//! Report in, text and JSON out.
//!
//! Everything here takes a record and gives text; nothing here measures, judges or opens a file.
//! Numbers are formatted, not computed: what a table shows stands in the report as it is, so that
//! two renderings of one report never disagree.
//!
//! | module | from | to |
//! | --- | --- | --- |
//! | [`report`] | `Report` | the page that a person reads first |
//! | [`facts`] | `Facts` | what `candor inspect` prints |
//! | [`problems`] | what is wrong with a plan | messages that underline the offending words |
//! | [`progress`] | `Event`s | one line that tells how far a run is |
//! | [`requests`] | `Trace` | what `candor align` prints |
//! | [`results`] | `Results` | what `candor show` prints of another tool's results |
//! | [`cached`] | `Cached` | what `candor cache` prints |
//! | [`rules`] | `Explanation`s | what `candor explain` prints, and the page of all rules |
//! | [`history`] | runs and trends | what `candor history` prints, and pictures of trends |
//! | [`comparison`] | `Comparison` | what `candor compare` prints |
//! | [`csv`] | `Report` | a table for spreadsheets |
//! | [`charts`] | `Results` and `Report` | charts, which the crate `chart` draws |
//! | [`json`] | `Report`, `Facts`, `Explanation`s | the document for machines |

pub mod cached;
pub mod charts;
pub mod comparison;
pub mod csv;
pub mod describe;
pub mod facts;
pub mod history;
pub mod json;
mod layout;
pub mod problems;
pub mod progress;
pub mod report;
pub mod requests;
pub mod results;
pub mod rules;
mod style;
pub mod watch;
mod words;

#[cfg(test)]
mod sample;

pub use layout::{Align, Cell, Table, cut, wrap};
pub use style::{Style, Tone};
