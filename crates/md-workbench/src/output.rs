//! Results in md-workbench's forms: a line for each phase, files of latencies, and one document.
//!
//! [`Results`] has the figures of each phase; every form is a function of it. A rate counts what
//! succeeded, and nothing else.

mod document;
mod latencies;
mod results;
#[cfg(test)]
mod tests;
mod text;

pub use document::{csv, json};
pub use latencies::{Timed, latency_line, timed};
pub use results::{OpResult, ProcessResult, Results, StageResult};
pub use text::{closing, header, line, stamp};

/// Version of md-workbench whose words and forms are spoken.
pub const VERSION: &str = "4.1.0+dev";

/// Words that scripts look for, and what stands for them in candor's own sentences.
pub const FIGURES: &[(&str, &str)] = &[
    ("precreate process", "the first phase"),
    ("benchmark process", "the benchmark"),
    ("cleanup process", "the last phase"),
];
