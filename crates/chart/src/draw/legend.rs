//! The line above a plot: title of its y axis, and names of its series.

use std::ops::Range;

use crate::letters::{cut, width};
use crate::look::heat;
use crate::model::{Chart, Panel, Series, Shape, ValueKey};
use crate::scale::Placed;
use crate::unit;
use candor_record::fmt::axis::short;

use super::{LINE, Sheet, TEXT, Text, cells, shapes};

/// Width of a sign in a legend.
const SIGN: f64 = 22.0;

/// Title and legend of a panel; gives the pixel below them.
pub fn header(chart: &Chart, index: usize, axis: &Placed, sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let panel = &chart.panels[index];
    let (left, right) = (sheet.left(), sheet.right());
    let key = panel.series.iter().find_map(cells::key);
    let title = match key {
        Some((key, _)) => key.label.clone(),
        None => unit::title(&panel.y, &axis.unit),
    };
    let title = cut(&title, TEXT * 1.1, right - left);
    let baseline = top + 12.0;
    sheet.text(&Text { text: &title, at: (left, baseline), is_bold: true, ..Text::default() });
    let mut at = (left + width(&title, TEXT * 1.1) + 22.0, baseline);
    if let Some((key, range)) = key {
        let rows = format!("by {}", unit::title(&panel.y, &axis.unit).to_lowercase());
        let x = left + width(&title, TEXT * 1.1) + 6.0;
        sheet.text(&Text { text: &rows, at: (x, baseline), class: "faint", ..Text::default() });
        at = value_key(key, &range, sheet, (x + width(&rows, TEXT) + 22.0, baseline));
    } else if index == 0 || entries(panel) != entries(&chart.panels[index - 1]) {
        at = legend(panel, sheet, at);
    }
    at.1 + 14.0
}

/// Names and places in the palette of a panel's series.
fn entries(panel: &Panel) -> Vec<(&str, usize)> {
    let named = panel.series.iter().filter(|series| !series.name.is_empty());
    named.map(|series| (series.name.as_str(), series.slot)).collect()
}

/// The legend from a place on, in as many lines as it takes; gives the end of it.
fn legend(panel: &Panel, sheet: &mut Sheet<'_>, at: (f64, f64)) -> (f64, f64) {
    let (left, right) = (sheet.left(), sheet.right());
    let (mut x, mut y) = at;
    for series in panel.series.iter().filter(|series| !series.name.is_empty()) {
        let name = cut(&series.name, TEXT, right - left - SIGN - 6.0);
        let room = SIGN + 6.0 + width(&name, TEXT);
        if x + room > right && x > left {
            (x, y) = (left, y + LINE);
        }
        sign(series, sheet, (x, y - 4.0));
        sheet.text(&Text { text: &name, at: (x + SIGN + 6.0, y), ..Text::default() });
        x += room + 16.0;
    }
    (x, y)
}

/// The sign of a series, in a box that begins at a place.
fn sign(series: &Series, sheet: &mut Sheet<'_>, (x, y): (f64, f64)) {
    let fill = sheet.paint.slot(series.slot);
    let (line, face) = shapes::classes(series.slot);
    match &series.shape {
        Shape::Band(_) | Shape::Area(_) | Shape::Bars(_) => {
            let opacity = if matches!(series.shape, Shape::Bars(_)) { "1" } else { "0.3" };
            let more = [("class", face.as_str()), ("fill", fill), ("fill-opacity", opacity)];
            sheet.rect_with((x, y - 5.0), (x + SIGN, y + 5.0), &more);
        }
        Shape::Cells(..) => {}
        shape => {
            if !matches!(shape, Shape::Dots(_)) {
                let path = format!("M{x:.1} {y:.1}h{SIGN}");
                let dashes = if matches!(shape, Shape::Dotted(_)) { "2 3" } else { "none" };
                sheet.svg.put(
                    "path",
                    &[
                        ("d", &path),
                        ("class", &line),
                        ("stroke", fill),
                        ("stroke-width", "2"),
                        ("stroke-dasharray", dashes),
                    ],
                );
            }
            if shapes::has_markers(shape) {
                shapes::marker(series.slot, (x + SIGN / 2.0, y), sheet);
            }
        }
    }
}

/// The colours of cells, from the least value to the greatest; gives the end of it.
fn value_key(
    key: &ValueKey,
    range: &Range<f64>,
    sheet: &mut Sheet<'_>,
    (x, y): (f64, f64),
) -> (f64, f64) {
    let (left, right) = (short(range.start, key.unit), short(range.end, key.unit));
    let parts: f64 = 32.0;
    let room = width(&left, TEXT) + width(&right, TEXT) + 108.0;
    let (mut x, y) = if x + room > sheet.right() {
        (sheet.left(), y + LINE)
    } else {
        (sheet.right() - room + 6.0, y)
    };
    sheet.text(&Text { text: &left, at: (x, y), ..Text::default() });
    x += width(&left, TEXT) + 8.0;
    for part in 0..parts as u32 {
        let (colour, _) = heat((f64::from(part) + 0.5) / parts);
        let from = x + 80.0 / parts * f64::from(part);
        sheet.rect((from, y - 9.0), (from + 80.0 / parts + 0.2, y + 1.0), "cell", &colour);
    }
    x += 88.0;
    sheet.text(&Text { text: &right, at: (x, y), ..Text::default() });
    (x, y)
}
