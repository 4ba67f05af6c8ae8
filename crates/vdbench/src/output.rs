//! Results in vdbench's formats: tables of intervals, `flatfile.html`, histograms, skew.
//!
//! A [`Book`] receives samples and ends of phases, and returns the text of each page; a [`Sheet`]
//! has the columns of a kind of work.

mod book;
mod corruptions;
mod figures;
mod files;
mod flatfile;
mod histogram;
mod luns;
mod now;
mod pages;
mod parse_flat;
mod skew;

pub use book::{Book, CONSOLE, RunResult, Setup};
pub use figures::{Figures, Side};
pub use files::{FileSheet, counted_steps, used_operations};
pub use flatfile::{Cell, FlatRow};
pub use histogram::Histogram;
pub use luns::LunSheet;
pub use now::Now;
pub use parse_flat::{Request as ParseFlat, compare, parse_flat};

use super::lower::LoweredRun;

/// Version of vdbench whose metrics the rows have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// 5.04.07, which most parsers of these files expect.
    #[default]
    V50407,
    /// 5.04.06: without the maxima and deviations of reads and writes.
    V50406,
}

/// The columns of a kind of work.
pub trait Sheet {
    /// Header lines of a table of intervals; the date precedes the first.
    fn head(&self, date: &str) -> String;

    /// Columns of `flatfile.html` after the run's columns, with their descriptions.
    fn flat_columns(&self) -> Vec<(&'static str, &'static str)>;

    /// A row of a table, without the time of day.
    fn row(&self, label: &str, figures: &Figures) -> String;

    /// Cells of `flatfile.html`, one per column.
    fn flat_cells(&self, run: &LoweredRun, figures: &Figures) -> Vec<Cell>;
}

#[cfg(test)]
mod tests;
