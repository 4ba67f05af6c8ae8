//! Columns of `summary.html`, `totals.html` and the console.

use super::{FileSheet, done, per, rate_and_response, transfers};
use crate::definitions::fwd::FileOperation;
use crate::output::Figures;

/// A number with its width and decimals.
#[derive(Clone, Copy, Debug)]
struct Field {
    title: &'static str,
    width: usize,
    digits: usize,
}

/// One heading over one or two numbers.
struct Column {
    title: &'static str,
    fields: &'static [Field],
}

const fn field(title: &'static str, width: usize, digits: usize) -> Field {
    Field { title, width, digits }
}

const RATE_AND_RESPONSE: &[Field] = &[field("rate", 5, 1), field("resp", 6, 3)];
const WIDE_RATE: &[Field] = &[field("rate", 6, 1), field("resp", 6, 3)];

const INTERVAL: Column = Column { title: "Interval", fields: &[field("", 10, 0)] };
const REQUESTED: Column = Column { title: "ReqstdOps.", fields: WIDE_RATE };
const CPU: Column = Column { title: "cpu%", fields: &[field("total", 5, 1), field("sys", 4, 2)] };
const READ_PERCENT: Column = Column { title: " read", fields: &[field("pct", 5, 1)] };
const READ: Column = Column { title: "read", fields: WIDE_RATE };
const WRITE: Column = Column { title: "write", fields: WIDE_RATE };
const MEGABYTES: Column =
    Column { title: "mb/sec", fields: &[field("read", 5, 2), field("write", 5, 2)] };
const MEGABYTES_ALL: Column = Column { title: "mb/sec", fields: &[field("total", 6, 2)] };
const TRANSFER: Column = Column { title: "xfer", fields: &[field("size", 7, 0)] };

/// Operations with a column each, and whether the column is always there.
const EACH: [(FileOperation, &str, bool); 11] = [
    (FileOperation::Mkdir, "mkdir", true),
    (FileOperation::Rmdir, "rmdir", true),
    (FileOperation::Create, "create", true),
    (FileOperation::Open, "open", true),
    (FileOperation::Close, "close", true),
    (FileOperation::Delete, "delete", true),
    (FileOperation::Getattr, "getattr", false),
    (FileOperation::Setattr, "setattr", false),
    (FileOperation::Access, "access", false),
    (FileOperation::Copy, "copy", false),
    (FileOperation::Move, "move", false),
];

fn each(used: &[FileOperation]) -> impl Iterator<Item = (FileOperation, Column)> {
    EACH.into_iter()
        .filter(|(operation, _, always)| *always || used.contains(operation))
        .map(|(operation, title, _)| (operation, Column { title, fields: RATE_AND_RESPONSE }))
}

/// Both header lines, without the date and its spaces.
pub fn headings(used: &[FileOperation]) -> [String; 2] {
    let first =
        [INTERVAL, REQUESTED, CPU, READ_PERCENT, READ, WRITE, MEGABYTES, MEGABYTES_ALL, TRANSFER];
    let all: Vec<Column> = first.into_iter().chain(each(used).map(|(_, column)| column)).collect();
    [all.iter().map(Column::heading).collect(), all.iter().map(Column::titles).collect()]
}

/// A line of numbers, without the time of day.
pub fn row(sheet: &FileSheet, label: &str, figures: &Figures) -> String {
    use FileOperation::{Read, Write};
    let [read_mb, written_mb] = [Read, Write].map(|operation| {
        per(done(figures, operation).bytes as f64 / sheet.megabyte(), figures.seconds)
    });
    let (both, cpu) = (transfers(figures), figures.cpu.unwrap_or_default());
    let bytes = per(both.bytes as f64, both.ops as f64).floor();
    let reads = 100.0 * per(done(figures, Read).ops as f64, both.ops as f64);
    let mut line = format!(" {label:>10}");
    line += &REQUESTED.numbers(&[figures.rate(), figures.all().response_ms()]);
    line += &CPU.numbers(&[100.0 * (cpu.user + cpu.system), 100.0 * cpu.system]);
    line += &READ_PERCENT.numbers(&[reads]);
    line += &READ.numbers(&rate_and_response(figures, Read));
    line += &WRITE.numbers(&rate_and_response(figures, Write));
    line += &MEGABYTES.numbers(&[read_mb, written_mb]);
    line += &MEGABYTES_ALL.numbers(&[read_mb + written_mb]);
    line += &TRANSFER.numbers(&[bytes]);
    for (operation, column) in each(&sheet.used) {
        line += &column.numbers(&rate_and_response(figures, operation));
    }
    line
}

impl Column {
    /// Width of all numbers, with the blanks between them.
    fn width(&self) -> usize {
        self.fields.iter().map(|field| field.width + 1).sum::<usize>() - 1
    }

    /// The heading amid dots.
    fn heading(&self) -> String {
        let dots = self.width().saturating_sub(self.title.len());
        let before = dots / 2;
        format!(" {}{}{}", ".".repeat(before), self.title, ".".repeat(dots - before))
    }

    /// Titles of the numbers.
    fn titles(&self) -> String {
        self.fields.iter().map(|field| format!(" {:>1$}", field.title, field.width)).collect()
    }

    fn numbers(&self, values: &[f64]) -> String {
        let each = self.fields.iter().zip(values);
        each.map(|(field, value)| format!(" {}", fitted(*value, field.width, field.digits)))
            .collect()
    }
}

/// A number of this width; decimals are dropped if they do not fit.
pub fn fitted(value: f64, width: usize, digits: usize) -> String {
    let mut text = format!("{value:.digits$}");
    while text.len() > width && text.contains('.') {
        text.pop();
        if text.ends_with('.') {
            text.pop();
        }
    }
    format!("{text:>width$}")
}
