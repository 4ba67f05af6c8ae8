//! Results in mdtest's formats: the block of rates, CSV of each task, and one document.
//!
//! Each format is a function of [`Results`], the metrics of all rows. A rate counts successful
//! operations only.

mod document;
mod ranks;
mod results;
#[cfg(test)]
mod tests;
mod text;
mod times;

pub use document::{csv, json};
pub use ranks::rank_file;
pub use results::{Results, SHORT_READS, TaskRun, TestResult, is_at_end, short_reads};
pub use text::{header, stamp, totals_and_block};
pub use times::time_logs;

/// Version of mdtest whose formats are used.
pub const VERSION: &str = "4.1.0+dev";

/// Row names that scripts search for, and the words that candor's own sentences use instead.
pub const FIGURES: &[(&str, &str)] = &[
    ("Directory creation", "creation of directories"),
    ("Directory stat", "stat of directories"),
    ("Directory rename", "rename of directories"),
    ("Directory removal", "removal of directories"),
    ("File creation", "creation of files"),
    ("File stat", "stat of files"),
    ("File read", "read of files"),
    ("File removal", "removal of files"),
    ("Tree creation", "creation of the tree"),
    ("Tree removal", "removal of the tree"),
];
