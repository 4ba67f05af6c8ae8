//! Output: reports, facts and other records in; text, JSON, CSV and charts out.
//!
//! Every function takes a record and gives text; nothing here measures, judges or opens a file.
//! Numbers are formatted, not computed, so two forms of one report never disagree.
//!
//! ```
//! let json = candor_show::json::report(&candor_record::Report::default()).unwrap();
//! assert!(json.starts_with('{'));
//! ```
//!
//! | module | input | output |
//! | --- | --- | --- |
//! | [`report`] | `Report` | the page that a person reads first |
//! | [`facts`] | `Facts` | `candor inspect` |
//! | [`problems`] | problems of a plan | messages that underline the words at fault |
//! | [`progress`] | `Event`s | one line of progress |
//! | [`requests`] | `Trace` | `candor align` |
//! | [`results`] | `Results` | `candor show` for results of another tool |
//! | [`cached`] | `Cached` | `candor cache` |
//! | [`rules`] | `Explanation`s | `candor explain`, and the pages of rules |
//! | [`history`] | runs and trends | `candor history`, with charts of trends |
//! | [`comparison`] | `Comparison` | `candor compare` |
//! | [`csv`] | `Report` | a table for spreadsheets |
//! | [`charts`] | `Results`, `Report` | charts, drawn by `candor-chart` |
//! | [`json`] | any of these | the document for programs |

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
