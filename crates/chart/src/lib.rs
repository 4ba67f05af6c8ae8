//! Data series in, pictures out.
//!
//! A [`Chart`] is data: titles, one x axis, panels that share it, series with units, marks.
//! [`Chart::svg`] draws it, [`Chart::data`] gives the values to a script that draws it again, and
//! with feature `png` [`png::render`] makes pixels. Nothing here knows a report or a tool.
//!
//! | module | home of |
//! | --- | --- |
//! | [`model`] | what a picture shows |
//! | [`look`] | how wide, in which colours, with or without a frame |
//! | `unit` | steps and names of units on an axis |
//! | `ticks` | round numbers along an axis |
//! | `scale` | values to positions |
//! | `decimate` | long series without their inner points, never without an extreme |
//! | `letters` | widths of texts, so that they do not collide |
//! | `svg` | writer of elements |
//! | `draw` | the picture, part by part |
//! | `data` | the same values as JSON |
//! | `table` | the same values as rows of text
//! | [`png`] | the picture as pixels |

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
