//! The picture as pixels, with the fonts of the system.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::look::Look;
use crate::model::Chart;

/// Pixels of the longer edge, at most.
const EDGE_MAX: f32 = 20_000.0;

/// The chart as a PNG of `scale` pixels for each pixel of its look.
///
/// # Errors
/// A sentence: the system has no font, or the picture would be too large.
pub fn render(chart: &Chart, look: &Look, scale: f32) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let sans = sans_serif(fonts).ok_or(
        "no font is installed, so a PNG would have no text; install one, such as the package \
         fonts-dejavu-core, or write SVG, which takes the reader's fonts",
    )?;
    fonts.set_sans_serif_family(&sans);
    options.font_family = sans;
    let tree = Tree::from_str(&chart.svg(look), &options)
        .map_err(|error| format!("the picture cannot be drawn: {error}"))?;
    let size = tree.size();
    let (width, height) = (size.width() * scale, size.height() * scale);
    let fits = width <= EDGE_MAX && height <= EDGE_MAX;
    let mut pixels = fits
        .then(|| Pixmap::new(width.ceil() as u32, height.ceil() as u32))
        .flatten()
        .ok_or_else(|| format!("a picture of {width:.0} x {height:.0} pixels is too large"))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("the picture cannot be packed: {error}"))
}

/// The family for text: one of the usual ones, or the first there is.
fn sans_serif(fonts: &Database) -> Option<String> {
    const USUAL: [&str; 8] = [
        "Inter",
        "Noto Sans",
        "Open Sans",
        "Roboto",
        "Liberation Sans",
        "Arial",
        "Helvetica",
        "DejaVu Sans",
    ];
    let names: Vec<&String> =
        fonts.faces().filter_map(|face| Some(&face.families.first()?.0)).collect();
    let usual = USUAL.iter().find(|usual| names.iter().any(|name| name == *usual));
    usual.map(|name| (*name).to_owned()).or_else(|| names.first().map(|name| (*name).clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::timeline;

    #[test]
    fn pixels_show_what_the_chart_has_or_a_sentence_says_what_lacks() {
        let png = match render(&timeline(), &Look::default(), 2.0) {
            Ok(png) => png,
            Err(sentence) => {
                assert!(sentence.contains("no font"), "{sentence}");
                return;
            }
        };
        let pixels = Pixmap::decode_png(&png).expect("a PNG");
        assert_eq!(pixels.width(), 1920);
        let count = |wanted: (u8, u8, u8)| {
            let rgb = pixels.pixels().iter().map(|at| (at.red(), at.green(), at.blue()));
            rgb.filter(|at| *at == wanted).count()
        };
        // Background, the two series, and texts.
        assert!(count((255, 255, 255)) > 1_000_000);
        assert!(count((0x00, 0x72, 0xb2)) > 500 && count((0xd5, 0x5e, 0x00)) > 500);
        assert!(count((0x1f, 0x23, 0x28)) > 500);
    }

    #[test]
    fn too_large_a_picture_is_refused() {
        let refused = render(&timeline(), &Look::default(), 1000.0).expect_err("too large");
        assert!(refused.contains("too large") || refused.contains("no font"), "{refused}");
    }
}
