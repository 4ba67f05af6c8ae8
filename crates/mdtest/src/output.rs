//! Results in mdtest's forms: the block of rates, CSV of each task, and one document of all.
//!
//! [`Results`] has the figures of each row; every form is a function of it. A rate counts what
//! succeeded, and nothing else.

mod document;
mod ranks;
mod results;
#[cfg(test)]
mod tests;
mod text;

pub use document::{csv, json};
pub use ranks::rank_file;
pub use results::{Results, SHORT_READS, TaskRun, TestResult, is_at_end, short_reads};
pub use text::{Space, header, stamp, totals_and_block};

pub use candor_ior_family::results::exponent;

/// Version of mdtest whose words and forms are spoken.
pub const VERSION: &str = "4.1.0+dev";

/// Words of the rows that scripts look for, and what stands for them in candor's own sentences.
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
