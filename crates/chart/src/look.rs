//! How a picture looks: width, colours, frame.

/// How a picture looks.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Width in pixels; texts keep their size, whatever the width.
    pub width: f64,
    /// Colours.
    pub theme: Theme,
    /// Title, corners and background are part of the picture; else a page has them around it. The
    /// caution is in the picture in any case.
    pub is_framed: bool,
    /// Name of the picture on a page of several; its elements' ids begin with it.
    pub id: String,
}

impl Default for Look {
    fn default() -> Look {
        Look { width: 960.0, theme: Theme::Light, is_framed: true, id: "chart".into() }
    }
}

/// Colours on a light or a dark background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// On white.
    #[default]
    Light,
    /// On near black.
    Dark,
}

/// Number of places in the palette.
pub const SLOTS: usize = 8;

/// Colours of the series: Okabe and Ito's, which people with any colour vision tell apart, with a
/// brown in place of the yellow that nobody sees on white.
const LIGHT: [&str; SLOTS] =
    ["#0072b2", "#d55e00", "#009e73", "#b4568f", "#b8860b", "#3d9fd6", "#5b5b5b", "#7a4b1e"];

/// The same, lighter.
const DARK: [&str; SLOTS] =
    ["#4da6e0", "#ff8c4a", "#3ecfa0", "#e6a0c8", "#efc04a", "#8fd0f5", "#bdbdbd", "#d0a56f"];

/// Colours of everything that is no series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub back: &'static str,
    pub ink: &'static str,
    pub faint: &'static str,
    pub grid: &'static str,
    pub axis: &'static str,
    pub shade: &'static str,
    pub caution: &'static str,
    pub caution_back: &'static str,
    pub mark: &'static str,
    slots: &'static [&'static str; SLOTS],
}

const LIGHT_PAINT: Paint = Paint {
    back: "#ffffff",
    ink: "#1f2328",
    faint: "#59636e",
    grid: "#e6e8eb",
    axis: "#8b949e",
    shade: "#f3f5f7",
    caution: "#b3401f",
    caution_back: "#fdf0ea",
    mark: "#6e4fa8",
    slots: &LIGHT,
};

const DARK_PAINT: Paint = Paint {
    back: "#15181c",
    ink: "#e8eaed",
    faint: "#a3abb4",
    grid: "#2b3036",
    axis: "#6b747e",
    shade: "#1c2025",
    caution: "#ff9b78",
    caution_back: "#3a2119",
    mark: "#b79cf0",
    slots: &DARK,
};

impl Theme {
    pub(crate) fn paint(self) -> &'static Paint {
        match self {
            Theme::Light => &LIGHT_PAINT,
            Theme::Dark => &DARK_PAINT,
        }
    }
}

impl Paint {
    pub(crate) fn slot(&self, slot: usize) -> &'static str {
        self.slots[slot % SLOTS]
    }
}

/// Style sheet for a page that holds pictures: elements have their colours as attributes, which
/// any rule goes before, so that the page's variables and its dark scheme change them.
///
/// A page may set the variables `--c-ink`, `--c-s0` and so on itself; those that it does not set
/// have the light colours, and the dark ones where the reader prefers a dark scheme on a screen.
pub const STYLE: &str = include_str!("style.css");

/// The steps from the least value to the greatest: viridis, whose lightness alone tells the order.
const VIRIDIS: [(f64, f64, f64); 9] = [
    (68.0, 1.0, 84.0),
    (71.0, 45.0, 123.0),
    (59.0, 82.0, 139.0),
    (44.0, 114.0, 142.0),
    (33.0, 145.0, 140.0),
    (40.0, 174.0, 128.0),
    (94.0, 201.0, 98.0),
    (173.0, 220.0, 48.0),
    (253.0, 231.0, 37.0),
];

/// The colour of a share from 0 to 1, and whether dark ink can be read on it.
pub(crate) fn heat(share: f64) -> (String, bool) {
    let place = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 } * 8.0;
    let below = (place.floor() as usize).min(7);
    let (from, to, part) = (VIRIDIS[below], VIRIDIS[below + 1], place - below as f64);
    let mix = |a: f64, b: f64| a + (b - a) * part;
    let (red, green, blue) = (mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2));
    let light = 0.299 * red + 0.587 * green + 0.114 * blue;
    (format!("#{:02x}{:02x}{:02x}", red as u8, green as u8, blue as u8), light > 128.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as WCAG has it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn texts_and_lines_stand_out() {
        for paint in [LIGHT_PAINT, DARK_PAINT] {
            for ink in [paint.ink, paint.faint, paint.caution, paint.mark] {
                assert!(contrast(ink, paint.back) >= 4.5, "{ink} on {}", paint.back);
                assert!(contrast(ink, paint.shade) >= 4.5, "{ink} on {}", paint.shade);
            }
            assert!(contrast(paint.ink, paint.caution_back) >= 4.5);
            assert!(contrast(paint.caution, paint.caution_back) >= 4.5);
            // Graphics need 3 to 1.
            for slot in 0..SLOTS {
                let colour = paint.slot(slot);
                assert!(contrast(colour, paint.back) >= 2.9, "{colour} on {}", paint.back);
            }
        }
    }

    #[test]
    fn the_style_sheet_has_the_colours_of_both_themes() {
        for paint in [LIGHT_PAINT, DARK_PAINT] {
            let named = [
                ("ink", paint.ink),
                ("faint", paint.faint),
                ("grid", paint.grid),
                ("axis", paint.axis),
                ("shade", paint.shade),
                ("caution", paint.caution),
                ("caution-back", paint.caution_back),
                ("mark", paint.mark),
            ];
            for (name, colour) in named {
                assert!(STYLE.contains(&format!("--c-{name}: {colour}")), "{name} {colour}");
            }
            for slot in 0..SLOTS {
                let expected = format!("--c-s{slot}: {}", paint.slot(slot));
                assert!(STYLE.contains(&expected), "{expected}");
            }
        }
    }

    #[test]
    fn heat_goes_from_dark_to_light() {
        assert_eq!(heat(0.0), ("#440154".into(), false));
        assert_eq!(heat(1.0), ("#fde725".into(), true));
        assert_eq!(heat(f64::NAN), heat(0.0));
        assert_eq!(heat(7.0), heat(1.0));
    }
}
