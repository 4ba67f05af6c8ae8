//! One panel: grid, ticks, series, levels.

use crate::letters::{cut, width};
use crate::model::{Chart, Level, Panel, Scale, Weight};
use crate::scale::{Ends, Placed};
use crate::svg::n;
use crate::unit;
use candor_record::fmt::axis::short;

use super::sheet::axis_attribute;
use super::{Axes, LINE, Plot, Sheet, TEXT, Text, cells, is_cells, marks, shapes};

/// A level up to so many times the greatest value is within the plot; one further up is named at
/// the plot's top, where it does not press the values down.
const LEVEL_REACH: f64 = 1.6;
/// Pixels between ticks of a y axis.
const TICK_EVERY: f64 = 42.0;

/// The y axis of a panel, along its height from 0.
pub fn y_axis(panel: &Panel, height: f64) -> Placed {
    let values = || panel.series.iter().flat_map(|of| of.shape.places()).map(|(_, y)| y);
    let greatest = values().filter(|value| value.is_finite()).fold(f64::MIN, f64::max);
    let near = panel.levels.iter().map(|level| level.value);
    let near = near.filter(|value| *value <= greatest * LEVEL_REACH);
    let ticks_max = (height / TICK_EVERY).clamp(2.0, 8.0) as usize;
    let is_of_cells = panel.series.iter().any(|series| is_cells(&series.shape));
    let ends = if is_of_cells { Ends::Tight } else { Ends::Round };
    Placed::new(&panel.y, values().chain(near), height..0.0, ticks_max, ends)
}

/// The panel at its place.
pub fn draw(chart: &Chart, index: usize, axes: Axes<'_>, plot: Plot, sheet: &mut Sheet<'_>) {
    let (panel, Axes { x, y }) = (&chart.panels[index], axes);
    let (number, edges) = (index.to_string(), plot.attribute());
    let axis = axis_attribute(&panel.y, y);
    sheet.svg.open("g", &[("data-panel", &number), ("data-plot", &edges), ("data-y", &axis)]);
    let is_of_cells = panel.series.iter().any(|series| is_cells(&series.shape));
    marks::shades(chart, x, plot, sheet);
    if !is_of_cells {
        grid(x, y, plot, sheet);
    }
    y_ticks(y, plot, sheet);
    marks::lines(chart, x, plot, sheet);
    for (nth, series) in panel.series.iter().enumerate() {
        let name = format!("{index}.{nth}");
        sheet.svg.open("g", &[("data-series", &name)]);
        if is_cells(&series.shape) {
            cells::draw(series, axes, sheet);
        } else {
            shapes::draw(panel, nth, axes, plot, sheet);
        }
        sheet.svg.close();
    }
    // What only explains is believable; over all else it lies on top, as cells fill the plot.
    if panel.weight == Weight::Full {
        watermark(chart, plot, sheet);
    }
    sheet.line((plot.left, plot.bottom), (plot.right, plot.bottom), "axis", "");
    levels(panel, y, plot, sheet);
    sheet.svg.close();
}

fn grid(x: &Placed, y: &Placed, plot: Plot, sheet: &mut Sheet<'_>) {
    for at in y.ticks.iter().filter_map(|(value, _)| y.place(*value)) {
        sheet.line((plot.left, at), (plot.right, at), "grid", "");
    }
    for at in x.ticks.iter().filter_map(|(value, _)| x.place(*value)) {
        sheet.line((at, plot.top), (at, plot.bottom), "grid", "");
    }
}

fn y_ticks(y: &Placed, plot: Plot, sheet: &mut Sheet<'_>) {
    let room = plot.left - 8.0 - sheet.left() + 1.0;
    let mut last = f64::MAX;
    for (value, text) in &y.ticks {
        let Some(at) = y.place(*value) else { continue };
        if last - at < TEXT {
            continue;
        }
        last = at;
        let text = cut(text, TEXT, room);
        let at = (plot.left - 8.0, at + 4.0);
        sheet.text(&Text { text: &text, at, class: "faint", anchor: "end", ..Text::default() });
    }
}

/// The verdict across the plot, so that a cut-out part of the picture says it as well.
fn watermark(chart: &Chart, plot: Plot, sheet: &mut Sheet<'_>) {
    if chart.caution.is_none() || chart.verdict.is_empty() {
        return;
    }
    let (height, room) = (plot.bottom - plot.top, plot.right - plot.left);
    let per_pixel = width(&chart.verdict, 1.0) * 1.1;
    let size = (height / 3.0).min(34.0).min(room * 0.9 / per_pixel);
    let (x, y) = (n((plot.left + plot.right) / 2.0), n((plot.top + plot.bottom + size) / 2.0));
    let attributes: [(&str, &str); 8] = [
        ("x", &x),
        ("y", &y),
        ("class", "caution"),
        ("fill", sheet.paint.caution),
        ("fill-opacity", "0.16"),
        ("font-size", &n(size)),
        ("font-weight", "700"),
        ("text-anchor", "middle"),
    ];
    sheet.svg.text_in("text", &attributes, &chart.verdict);
}

/// Lines at values that mean something; those beyond the plot are named at its top.
fn levels(panel: &Panel, y: &Placed, plot: Plot, sheet: &mut Sheet<'_>) {
    let name = |level: &Level| format!("{} {}", level.label, short(level.value, panel.y.unit));
    let mut used: Vec<f64> = Vec::new();
    let mut beyond: Vec<String> = Vec::new();
    for level in &panel.levels {
        let Some(at) = y.place(level.value) else {
            beyond.push(name(level));
            continue;
        };
        sheet.line((plot.left, at), (plot.right, at), "level-line", "5 4");
        // Names stand above their lines; where one stands already, the next goes below the line.
        let is_free = |place: &f64| used.iter().all(|used| (used - place).abs() >= LINE - 2.0);
        let places = [at - 5.0, at + 13.0, at - 20.0, at + 28.0];
        let Some(place) = places.into_iter().find(is_free) else { continue };
        let place = if place < plot.top + 8.0 { at + 13.0 } else { place };
        used.push(place);
        level_name(&name(level), (plot.right - 4.0, place), plot, sheet);
    }
    if !beyond.is_empty() {
        let text = format!("↑ beyond: {}", beyond.join(", "));
        level_name(&text, (plot.right - 4.0, plot.top + 11.0), plot, sheet);
    }
}

fn level_name(name: &str, at: (f64, f64), plot: Plot, sheet: &mut Sheet<'_>) {
    let text = cut(name, TEXT, plot.right - plot.left - 8.0);
    sheet.text(&Text { text: &text, at, anchor: "end", has_halo: true, ..Text::default() });
}

/// Ticks and title of the x axis below the last panel; gives the pixel below them.
pub fn x_ticks(chart: &Chart, x: &Placed, sheet: &mut Sheet<'_>, bottom: f64) -> f64 {
    let is_named = matches!(chart.x.scale, Scale::Category(_));
    let each = (x.to - x.from) / x.ticks.len().max(1) as f64;
    let mut free_from = sheet.left() - 4.0;
    for (value, text) in &x.ticks {
        let Some(at) = x.place(*value) else { continue };
        if !is_named {
            sheet.line((at, bottom), (at, bottom + 4.0), "axis", "");
        }
        // Names may be cut, numbers may not.
        let text = if is_named { cut(text, TEXT, each.max(60.0) - 8.0) } else { text.clone() };
        let half = width(&text, TEXT) / 2.0;
        let middle = at.min(sheet.right() - half);
        if middle - half < free_from {
            continue;
        }
        free_from = middle + half + 8.0;
        let text = Text { text: &text, at: (middle, bottom + 18.0), ..Text::default() };
        sheet.text(&Text { class: "faint", anchor: "middle", ..text });
    }
    let title = unit::title(&chart.x, &x.unit);
    if title.is_empty() {
        return bottom + 24.0;
    }
    let at = ((x.from + x.to) / 2.0, bottom + 38.0);
    sheet.text(&Text { text: &title, at, anchor: "middle", is_bold: true, ..Text::default() });
    bottom + 44.0
}
