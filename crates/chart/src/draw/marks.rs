//! Marks along the x axis: shades and names of ranges, lines and names of single values.

use crate::letters::{cut, width};
use crate::model::{Chart, Mark, MarkKind};
use crate::scale::Placed;

use super::{LINE, Plot, Sheet, TEXT, Text};

/// Lines of names above the first plot, at most; names that find no place are left out, their
/// lines are not.
const ROWS_MAX: usize = 3;

/// The names above the first plot; gives the pixel below them.
pub fn names(chart: &Chart, x: &Placed, sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let ranges: Vec<&Mark> = chart.marks.iter().filter(|mark| mark.until.is_some()).collect();
    let mut y = top;
    let mut is_named = false;
    for mark in &ranges {
        let Some((from, to)) = edges(mark, x) else { continue };
        let text = cut(&mark.label, TEXT, to - from - 8.0);
        is_named |= !text.is_empty();
        let at = (from + 4.0, y + 11.0);
        sheet.text(&Text { text: &text, at, class: "faint", ..Text::default() });
    }
    if is_named {
        y += LINE;
    }
    let singles: Vec<&Mark> = chart.marks.iter().filter(|mark| mark.until.is_none()).collect();
    let mut rows: Vec<f64> = Vec::new();
    for mark in singles {
        let Some(at) = x.place(mark.at) else { continue };
        let room = width(&mark.label, TEXT);
        let start = (at - 4.0).min(sheet.right() - room).max(sheet.left());
        let free = rows.iter().position(|end| *end + 10.0 <= start);
        let row = free.unwrap_or(rows.len());
        if row == ROWS_MAX {
            continue;
        }
        if free.is_none() {
            rows.push(0.0);
        }
        rows[row] = start + room;
        let at = (start, y + 11.0 + LINE * row as f64);
        sheet.text(&Text { text: &mark.label, at, class: "mark", ..Text::default() });
    }
    y + LINE * rows.len() as f64 + if chart.marks.is_empty() { 0.0 } else { 2.0 }
}

fn edges(mark: &Mark, x: &Placed) -> Option<(f64, f64)> {
    Some((x.place(mark.at)?, x.place(mark.until?)?))
}

/// Every second range is shaded.
pub fn shades(chart: &Chart, x: &Placed, plot: Plot, sheet: &mut Sheet<'_>) {
    let ranges = chart.marks.iter().filter_map(|mark| edges(mark, x));
    for (from, to) in ranges.skip(1).step_by(2) {
        sheet.rect((from, plot.top), (to, plot.bottom), "shade", sheet.paint.shade);
    }
}

/// Lines of single values.
pub fn lines(chart: &Chart, x: &Placed, plot: Plot, sheet: &mut Sheet<'_>) {
    for mark in chart.marks.iter().filter(|mark| mark.until.is_none()) {
        let Some(at) = x.place(mark.at) else { continue };
        let dashes = match mark.kind {
            MarkKind::Phase => "1 3",
            MarkKind::Finding => "4 3",
            MarkKind::Knee => "",
        };
        sheet.line((at, plot.top), (at, plot.bottom), "mark-line", dashes);
    }
}
