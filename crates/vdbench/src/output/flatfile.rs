//! `flatfile.html`: a table for programs, one row for each interval and each average.

use super::{Figures, Sheet};
use crate::lower::LoweredRun;
use crate::runs::RunRate;

/// Rate in place of "as fast as possible".
const MAX: f64 = 9_999_988.0;
/// Rate in place of the first run of a curve.
const CURVE_MAX: f64 = 9_999_977.0;

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Nothing that is one number.
    Absent,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Cell::Whole(number) => write!(f, "{number}"),
            Cell::Number(0.0) => write!(f, "0"),
            Cell::Number(number) => write!(f, "{number:.4}"),
            Cell::Text(word) => write!(f, "{word}"),
            Cell::Absent => write!(f, "n/a"),
        }
    }
}

/// A row.
pub struct FlatRow<'a> {
    /// Time of day.
    pub tod: &'a str,
    /// Time with its date and zone.
    pub stamp: &'a str,
    /// The run.
    pub run: &'a LoweredRun,
    /// Requested rate, if known.
    pub rate: Option<f64>,
    /// Number of the interval, or `avg_2-N`.
    pub label: &'a str,
    /// Metrics.
    pub figures: &'a Figures,
}

/// Columns of the run, with their descriptions.
const OF_RUN: [(&str, &str); 5] = [
    ("tod", "Time of day"),
    ("timestamp", "Date and time with its zone"),
    ("Run", "Name of the run"),
    ("Interval", "Number of the interval, or avg_M-N"),
    ("reqrate", "requested I/O rate: 9999988 is max, 9999977 the max run of a curve"),
];

/// The explanation of all columns, and the line of their names.
pub(super) fn head(sheet: &dyn Sheet) -> String {
    let columns = sheet.flat_columns();
    let mut text =
        String::from("*\n* One row for each interval; rows of averages begin with avg_.\n*\n");
    for (name, says) in OF_RUN.iter().chain(&columns) {
        text += &format!("* {name:<12}: {says}\n");
    }
    text += "*\n ";
    text += &format!("{:>12} {:>23} ", OF_RUN[0].0, OF_RUN[1].0);
    for (name, _) in OF_RUN[2..].iter().chain(&columns) {
        text += &format!("{name:>10} ");
    }
    text + "\n"
}

/// A row: its values, each followed by one blank, so that readers may split it at single blanks.
/// Rows of averages have a second blank before their label, as vdbench 5.04.07 has.
pub(super) fn row(sheet: &dyn Sheet, row: &FlatRow<'_>) -> String {
    let rate = match (row.rate, row.run.rate) {
        (Some(rate), _) => Cell::Whole(rate.round() as u64),
        (None, Some(RunRate::CurveMax)) => Cell::Whole(CURVE_MAX as u64),
        (None, _) => Cell::Whole(MAX as u64),
    };
    let (name, label) = (&row.run.name, row.label);
    let blank = if label.starts_with("avg_") { " " } else { "" };
    let mut text = format!("{} {} {name} {blank}{label} {rate} ", row.tod, row.stamp);
    for cell in sheet.flat_cells(row.run, row.figures) {
        text += &format!("{cell} ");
    }
    text + "\n"
}
