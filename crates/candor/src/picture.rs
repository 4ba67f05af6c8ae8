//! Pictures as files.

use std::path::Path;

use candor_chart::{Chart, Look};
use candor_plan::PathText;

use crate::screen;

/// Pixels of a PNG for each pixel of the picture: texts are sharp on any screen.
#[cfg(feature = "png")]
const PNG_SCALE: f32 = 2.0;

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

impl Format {
    /// The format that the ending says; SVG on stdout, which is `-`.
    ///
    /// # Errors
    /// It says none.
    pub fn of(out: &Path) -> Result<Format, String> {
        if out == Path::new("-") { Ok(Format::Svg) } else { Format::of_file(out) }
    }

    /// The format that the ending of a file says.
    ///
    /// # Errors
    /// It says none.
    pub fn of_file(out: &Path) -> Result<Format, String> {
        let ending = out.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "svg" => Ok(Format::Svg),
            "png" => Ok(Format::Png),
            _ => Err(format!("{} has no known extension: end it in .svg or .png", out.text())),
        }
    }
}

/// Draws a picture into a file, or to stdout.
///
/// # Errors
/// It cannot be written, or this candor makes none of that format.
pub fn write(chart: &Chart, format: Format, out: &Path, look: &Look) -> Result<(), String> {
    if out == Path::new("-") {
        return screen::machine(&chart.svg(look));
    }
    let bytes = match format {
        Format::Svg => chart.svg(look).into_bytes(),
        Format::Png => pixels(chart, look)?,
    };
    candor_files::replace(out, bytes)
        .map_err(|error| format!("{} cannot be written: {error}", out.text()))
}

#[cfg(feature = "png")]
fn pixels(chart: &Chart, look: &Look) -> Result<Vec<u8>, String> {
    candor_chart::png::render(chart, look, PNG_SCALE)
}

#[cfg(not(feature = "png"))]
fn pixels(_: &Chart, _: &Look) -> Result<Vec<u8>, String> {
    Err("this candor was built without PNG, its feature `png`; write .svg".into())
}
