//! The picture, part by part, from the top.

mod bars;
mod cells;
mod frame;
mod legend;
mod marks;
mod panel;
mod shapes;
mod sheet;

use crate::look::Look;
use crate::model::{Chart, Scale, Shape, Weight};
use crate::scale::{Ends, Placed};
use crate::svg::n;

use sheet::{Sheet, Text};

/// Size of most texts, in pixels.
const TEXT: f64 = 12.0;
/// Height of a line of such texts.
const LINE: f64 = 16.0;
/// Room around all of it.
const MARGIN: f64 = 20.0;
/// Most of the width that names of rows take.
const NAMES_SHARE: f64 = 0.3;

impl Chart {
    /// The picture as a document of SVG, the same for the same chart and look.
    pub fn svg(&self, look: &Look) -> String {
        let mut sheet = Sheet::new(look);
        let top = frame::top(self, &mut sheet);
        let below = match () {
            () if self.is_empty() => frame::nothing(&mut sheet, top),
            () if self.is_bars() => bars::draw(self, &mut sheet, top),
            () => panels(self, &mut sheet, top),
        };
        let height = frame::bottom(self, &mut sheet, below);
        frame::document(self, sheet, height)
    }
}

/// Axes of a panel.
#[derive(Clone, Copy)]
struct Axes<'a> {
    x: &'a Placed,
    y: &'a Placed,
}

/// Edges of a plot, in pixels.
#[derive(Clone, Copy, Debug)]
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Plot {
    fn attribute(&self) -> String {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        [self.left, self.top, width, height].map(n).join(" ")
    }
}

/// All panels over one x axis; gives the pixel below them.
fn panels(chart: &Chart, sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let heights = heights(chart, sheet.right() - sheet.left());
    let axes: Vec<Placed> = chart
        .panels
        .iter()
        .zip(&heights)
        .map(|(panel, height)| panel::y_axis(panel, *height))
        .collect();
    let room = (sheet.right() - sheet.left()) * NAMES_SHARE;
    let ticks = axes.iter().flat_map(|axis| &axis.ticks);
    let widest = ticks.map(|(_, text)| crate::letters::width(text, TEXT)).fold(0.0, f64::max);
    let left = sheet.left() + widest.min(room) + 8.0;
    let right = sheet.right() - 4.0;
    let x = x_axis(chart, left, right);
    sheet.note_x(&chart.x, &x);
    let mut y = top;
    for index in 0..chart.panels.len() {
        y = legend::header(chart, index, &axes[index], sheet, y);
        if index == 0 {
            y = marks::names(chart, &x, sheet, y);
        }
        let plot = Plot { left, right, top: y, bottom: y + heights[index] };
        let axis = axes[index].clone().at(plot.bottom, plot.top);
        panel::draw(chart, index, Axes { x: &x, y: &axis }, plot, sheet);
        let is_last = index + 1 == chart.panels.len();
        y = plot.bottom + if is_last { 0.0 } else { 14.0 };
    }
    panel::x_ticks(chart, &x, sheet, y)
}

/// Height of each panel's plot: a single one is high, many share a screen.
fn heights(chart: &Chart, width: f64) -> Vec<f64> {
    let of_cells = |at: usize| rows_of_cells(chart, at).map(|rows| rows as f64 * 34.0);
    let full = match chart.panels.len() {
        0 | 1 => (width * 0.42).clamp(220.0, 400.0),
        2 => (width * 0.24).clamp(170.0, 230.0),
        3 => 170.0,
        _ => 140.0,
    };
    (0..chart.panels.len())
        .map(|at| match chart.panels[at].weight {
            Weight::Full => of_cells(at).map_or(full, |cells| cells.clamp(120.0, full.max(300.0))),
            Weight::Low => full * 0.6,
        })
        .collect()
}

/// Rows of a panel of cells whose y axis has names.
fn rows_of_cells(chart: &Chart, at: usize) -> Option<usize> {
    match &chart.panels[at].y.scale {
        Scale::Category(names) => Some(names.len()),
        _ => None,
    }
}

fn x_axis(chart: &Chart, left: f64, right: f64) -> Placed {
    let series = chart.panels.iter().flat_map(|panel| &panel.series);
    let of_series = series.flat_map(|series| series.shape.places()).map(|(x, _)| x);
    let of_marks = chart.marks.iter().flat_map(|mark| [Some(mark.at), mark.until]).flatten();
    let each = match chart.x.scale {
        Scale::Date => 96.0,
        Scale::Log => 64.0,
        _ => 76.0,
    };
    let ticks_max = ((right - left) / each) as usize;
    let values = of_series.chain(of_marks);
    Placed::new(&chart.x, values, left..right, ticks_max, Ends::Tight)
}

/// Whether a series has cells.
fn is_cells(shape: &Shape) -> bool {
    matches!(shape, Shape::Cells(..))
}
