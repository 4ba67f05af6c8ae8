//! Heat maps: rectangles in the colour of their value, which they carry where there is room.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::letters::width;
use crate::look::heat;
use crate::model::{Cell, Series, Shape, ValueKey};
use crate::svg::n;
use candor_record::fmt::axis::short;

use super::{Axes, Sheet, TEXT, Text};

/// Cells that are elements of their own, at most: more of them, which are small, make few shapes.
const CELLS_MAX: usize = 400;
/// Colours of many cells.
const LEVELS: f64 = 32.0;

/// A value with two corners of its cell.
type PlacedCell = (f64, ((f64, f64), (f64, f64)));

/// Meaning and range of the colours of a series of cells.
pub fn key(series: &Series) -> Option<(&ValueKey, Range<f64>)> {
    let Shape::Cells(cells, key) = &series.shape else { return None };
    let values = || cells.iter().map(|cell| cell.value).filter(|value| is_shown(key, *value));
    let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
    (low <= high).then_some((key, low..high))
}

fn is_shown(key: &ValueKey, value: f64) -> bool {
    value.is_finite() && (!key.is_log || value > 0.0)
}

/// The share of the way from the least value to the greatest.
fn share(key: &ValueKey, range: &Range<f64>, value: f64) -> f64 {
    let Range { start: low, end: high } = range;
    let share = if key.is_log {
        (value / low).ln() / (high / low).ln()
    } else {
        (value - low) / (high - low)
    };
    // One value only is the greatest there is.
    if share.is_finite() { share } else { 1.0 }
}

/// The cells.
pub fn draw(series: &Series, axes: Axes<'_>, sheet: &mut Sheet<'_>) {
    let Shape::Cells(cells, _) = &series.shape else { return };
    let Some((key, range)) = self::key(series) else { return };
    let edges = |cell: &Cell| {
        let Axes { x, y } = axes;
        let from = (x.place(cell.x.0)?, y.place(cell.y.0)?);
        Some((from, (x.place(cell.x.1)?, y.place(cell.y.1)?)))
    };
    let shown = cells.iter().filter(|cell| is_shown(key, cell.value));
    let placed: Vec<PlacedCell> =
        shown.filter_map(|cell| Some((cell.value, edges(cell)?))).collect();
    // Values are written into all cells or into none.
    let has_room = placed.iter().all(|(value, (from, to))| {
        let room = width(&short(*value, key.unit), TEXT) + 8.0;
        (to.0 - from.0).abs() >= room && (to.1 - from.1).abs() >= 18.0
    });
    if !has_room && placed.len() > CELLS_MAX {
        return by_level(&placed, &|value| share(key, &range, value), sheet);
    }
    for (value, (from, to)) in placed {
        let (colour, is_light) = heat(share(key, &range, value));
        sheet.rect_with(from, to, &[("fill", &colour), ("shape-rendering", "crispEdges")]);
        if has_room {
            let at = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0 + 4.0);
            let class = if is_light { "on-light" } else { "on-dark" };
            let text = short(value, key.unit);
            sheet.text(&Text { text: &text, at, class, anchor: "middle", ..Text::default() });
        }
    }
}

/// Many cells: one path for each of the colours, so that a page with thousands of them stays small.
fn by_level(placed: &[PlacedCell], share: &dyn Fn(f64) -> f64, sheet: &mut Sheet<'_>) {
    let mut paths: BTreeMap<u32, String> = BTreeMap::new();
    for (value, (from, to)) in placed {
        let level = (share(*value).clamp(0.0, 1.0) * LEVELS).round();
        let (left, right) = (n(from.0.min(to.0)), n(from.0.max(to.0)));
        let (top, bottom) = (n(from.1.min(to.1)), n(from.1.max(to.1)));
        let path = paths.entry(level as u32).or_default();
        path.push_str(&format!("M{left} {top}H{right}V{bottom}H{left}z"));
    }
    for (level, path) in paths {
        let (colour, _) = heat(f64::from(level) / LEVELS);
        sheet
            .svg
            .put("path", &[("d", &path), ("fill", &colour), ("shape-rendering", "crispEdges")]);
    }
}
