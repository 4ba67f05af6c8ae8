//! Results in md-workbench's formats: a line per phase, latency files, and one document.
//!
//! Each format is a function of [`Results`], the metrics of all phases. A rate counts successful
//! operations only.

mod document;
mod latencies;
mod results;
#[cfg(test)]
mod tests;
mod text;

pub use document::{csv, json};
pub use latencies::latency_logs;
pub use results::{OpResult, ProcessResult, Results, StageResult};
pub use text::{closing, header, line, stamp};

/// Version of md-workbench whose formats are used.
pub const VERSION: &str = "4.1.0+dev";

/// Words that scripts search for, and the words that candor's own sentences use instead.
pub const FIGURES: &[(&str, &str)] = &[
    ("precreate process", "the first phase"),
    ("benchmark process", "the benchmark"),
    ("cleanup process", "the last phase"),
];
