//! Charts: data series in, SVG or PNG out.
//!
//! A [`Chart`] is data: titles, one x axis, panels that share it, series with units, marks.
//! [`Chart::svg`] draws it, [`Chart::data`] gives its values to a script that draws it again, and
//! `png::render` (feature `png`) makes pixels. The crate knows no report and no tool.
//!
//! ```
//! use candor_chart::{Axis, Chart, Look, Panel, Series, Shape};
//! use candor_record::Unit;
//!
//! let rate = Series::new("read", 0, Shape::Line(vec![(0.0, 81.0e3), (1.0e9, 81.4e3)]));
//! let panel = Panel::new(Axis::linear("Rate", Unit::OpsPerS), vec![rate]);
//! let chart = Chart { x: Axis::elapsed(), panels: vec![panel], ..Chart::default() };
//! assert!(chart.svg(&Look::default()).starts_with("<svg"));
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | [`model`], [`look`] | the chart; its width, colours and frame |
//! | `unit`, `ticks`, `scale` | units on an axis, round numbers along it, values to positions |
//! | `decimate`, `letters` | long series without inner points; widths of texts |
//! | `svg`, `draw` | elements; the picture |
//! | `data`, `table` | the values as JSON and as rows of text |

mod data;
mod decimate;
mod draw;
mod letters;
pub mod look;
pub mod model;
#[cfg(feature = "png")]
pub mod png;
mod scale;
mod svg;
mod table;
mod ticks;
mod unit;

#[cfg(test)]
mod tests;

pub use look::{Look, STYLE, Theme};
pub use model::{
    Axis, Bar, Cell, Chart, Level, Mark, MarkKind, Panel, Scale, Series, Shape, ValueKey, Weight,
};
pub use table::Table;
