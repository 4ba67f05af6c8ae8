//! Bars: a row for each name, side by side for each series, with the value behind each bar.

use crate::letters::{cut, width};
use crate::model::{Bar, Chart, Panel, Series, Shape};
use crate::scale::{Ends, Placed};
use crate::svg::n;
use candor_record::fmt::axis::short;

use super::sheet::axis_attribute;
use super::{LINE, NAMES_SHARE, Plot, Sheet, TEXT, Text, legend, shapes};

/// Height of a bar.
const BAR: f64 = 15.0;
/// Room between two rows.
const GAP: f64 = 10.0;

/// All panels, one below the other; gives the pixel below them.
pub fn draw(chart: &Chart, sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let names = chart.categories();
    let widest = names.iter().map(|name| width(name, TEXT)).fold(0.0, f64::max);
    let room = (sheet.right() - sheet.left()) * NAMES_SHARE;
    let left = sheet.left() + widest.min(room) + 8.0;
    let mut y = top;
    for index in 0..chart.panels.len() {
        y = panel(chart, index, left, sheet, y) + 18.0;
    }
    y - 8.0
}

fn label(bar: &Bar, panel: &Panel) -> String {
    let value = short(bar.value, panel.y.unit);
    match bar.note.as_str() {
        "" => value,
        interval if interval.starts_with('±') => format!("{value} {interval}"),
        note => format!("{value}, {note}"),
    }
}

fn bars(series: &Series) -> &[Bar] {
    match &series.shape {
        Shape::Bars(bars) => bars,
        _ => &[],
    }
}

fn panel(chart: &Chart, index: usize, left: f64, sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let panel = &chart.panels[index];
    let all = || panel.series.iter().flat_map(bars);
    let labels = all().map(|bar| width(&label(bar, panel), TEXT)).fold(0.0, f64::max);
    let right = (sheet.right() - labels - 10.0).max(left + 40.0);
    let ends = |bar: &Bar| bar.interval.unwrap_or_default();
    // Of bars that grow from zero, only a lower end below zero needs room.
    let values = all().flat_map(|bar| [bar.value, ends(bar).0.min(0.0), ends(bar).1]);
    let ticks_max = ((right - left) / 76.0) as usize;
    let axis = Placed::new(&panel.y, values, left..right, ticks_max, Ends::Tight);
    let y = legend::header(chart, index, &axis, sheet, top);
    let rows = chart.categories().len().max(1) as f64;
    let row_height = panel.series.len() as f64 * BAR + GAP;
    let plot = Plot { left, right, top: y, bottom: y + rows * row_height };
    let (number, edges) = (index.to_string(), plot.attribute());
    let of_axis = axis_attribute(&panel.y, &axis);
    sheet.svg.open("g", &[("data-panel", &number), ("data-plot", &edges), ("data-y", &of_axis)]);
    for (value, text) in &axis.ticks {
        let Some(at) = axis.place(*value) else { continue };
        sheet.line((at, plot.top), (at, plot.bottom), "grid", "");
        let text = Text { text, at: (at, plot.bottom + 14.0), class: "faint", ..Text::default() };
        sheet.text(&Text { anchor: "middle", ..text });
    }
    for (name, row) in chart.categories().iter().zip(0u32..) {
        let middle = plot.top + row_height * (f64::from(row) + 0.5);
        let name = cut(name, TEXT, left - 8.0 - sheet.left() + 1.0);
        let text = Text { text: &name, at: (left - 8.0, middle + 4.0), ..Text::default() };
        sheet.text(&Text { anchor: "end", ..text });
    }
    for (nth, series) in panel.series.iter().enumerate() {
        let name = format!("{index}.{nth}");
        sheet.svg.open("g", &[("data-series", &name)]);
        for bar in bars(series) {
            let row = bar.row as f64 * row_height + GAP / 2.0;
            let top = plot.top + row + nth as f64 * BAR;
            one(bar, series.slot, &axis, top, sheet);
            let end = bar.interval.map_or(bar.value, |(_, to)| to.max(bar.value));
            let after = axis.place(end).unwrap_or(axis.from).max(axis.base()) + 6.0;
            let text = label(bar, panel);
            sheet.text(&Text { text: &text, at: (after, top + BAR - 3.5), ..Text::default() });
        }
        sheet.svg.close();
    }
    // Where bars go to both sides, they grow from a line within.
    let base = axis.base();
    sheet.line((base, plot.top), (base, plot.bottom), "axis", "");
    sheet.svg.close();
    plot.bottom + LINE + 2.0
}

/// One bar with its interval.
fn one(bar: &Bar, slot: usize, axis: &Placed, top: f64, sheet: &mut Sheet<'_>) {
    let Some(end) = axis.place(bar.value) else { return };
    let (line, face) = shapes::classes(slot);
    let colour = sheet.paint.slot(slot);
    let (from, to) = ((axis.base(), top + 1.0), (end, top + BAR - 1.0));
    let hollow = [
        ("class", line.as_str()),
        ("stroke", colour),
        ("stroke-width", "1.4"),
        ("stroke-dasharray", "3 2"),
    ];
    if bar.is_doubtful {
        sheet.rect_with(from, to, &hollow);
    } else {
        sheet.rect_with(from, to, &[("class", &face), ("fill", colour)]);
    }
    let ends = bar.interval.and_then(|(low, high)| Some((axis.place(low)?, axis.place(high)?)));
    if let Some((low, high)) = ends {
        let (middle, upper) = (n(top + BAR / 2.0), n(top + BAR / 2.0 - 4.0));
        let (low, high) = (n(low), n(high));
        let d = format!("M{low} {upper}v8M{high} {upper}v8M{low} {middle}H{high}");
        let ink = sheet.paint.ink;
        let attributes = [("d", d.as_str()), ("class", "level-line"), ("stroke", ink)];
        sheet.svg.put("path", &attributes);
    }
}
