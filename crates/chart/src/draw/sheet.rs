//! The sheet that is drawn on: elements with the classes and colours of the look.

use crate::look::{Look, Paint};
use crate::model::Axis;
use crate::scale::Placed;
use crate::svg::{Svg, n};

use super::{MARGIN, TEXT};

/// The sheet that is drawn on.
pub struct Sheet<'a> {
    pub look: &'a Look,
    pub paint: &'static Paint,
    pub svg: Svg,
    /// The x axis as the root element tells it to scripts.
    pub x: Option<String>,
}

/// A text at a place.
pub struct Text<'t> {
    pub text: &'t str,
    pub at: (f64, f64),
    pub size: f64,
    pub class: &'static str,
    pub anchor: &'static str,
    pub is_bold: bool,
    /// Edged in the colour of the background, so that lines behind it do not cross it.
    pub has_halo: bool,
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text {
            text: "",
            at: (0.0, 0.0),
            size: TEXT,
            class: "ink",
            anchor: "start",
            is_bold: false,
            has_halo: false,
        }
    }
}

impl<'a> Sheet<'a> {
    pub fn new(look: &'a Look) -> Sheet<'a> {
        Sheet { look, paint: look.theme.paint(), svg: Svg::default(), x: None }
    }

    /// Left edge of everything.
    pub fn left(&self) -> f64 {
        if self.look.is_framed { MARGIN } else { 2.0 }
    }

    /// Right edge of everything.
    pub fn right(&self) -> f64 {
        self.width() - if self.look.is_framed { MARGIN } else { 8.0 }
    }

    /// Width of the picture.
    pub fn width(&self) -> f64 {
        if self.look.width.is_finite() { self.look.width.clamp(240.0, 10_000.0) } else { 960.0 }
    }

    /// Tells scripts how values lie along x.
    pub fn note_x(&mut self, axis: &Axis, x: &Placed) {
        self.x = Some(axis_attribute(axis, x));
    }

    pub fn text(&mut self, text: &Text<'_>) {
        if text.text.is_empty() {
            return;
        }
        let fill = match text.class {
            "faint" => self.paint.faint,
            "caution" => self.paint.caution,
            "mark" => self.paint.mark,
            "on-dark" => "#ffffff",
            "on-light" => "#14171a",
            _ => self.paint.ink,
        };
        let (x, y, size) = (n(text.at.0), n(text.at.1), n(text.size));
        let mut attributes = vec![("x", x.as_str()), ("y", &y), ("fill", fill)];
        let class = if text.has_halo { format!("{} halo", text.class) } else { text.class.into() };
        attributes.push(("class", &class));
        if text.size != TEXT {
            attributes.push(("font-size", &size));
        }
        if text.anchor != "start" {
            attributes.push(("text-anchor", text.anchor));
        }
        if text.is_bold {
            attributes.push(("font-weight", "600"));
        }
        if text.has_halo {
            attributes.extend([
                ("stroke", self.paint.back),
                ("stroke-width", "3"),
                ("stroke-linejoin", "round"),
                ("paint-order", "stroke"),
            ]);
        }
        self.svg.text_in("text", &attributes, text.text);
    }

    /// A straight line of a class that has a colour of its own.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str, dashes: &str) {
        let stroke = match class {
            "grid" => self.paint.grid,
            "axis" => self.paint.axis,
            "mark-line" => self.paint.mark,
            _ => self.paint.ink,
        };
        let path = format!("M{} {}L{} {}", n(from.0), n(from.1), n(to.0), n(to.1));
        let mut attributes = vec![("d", path.as_str()), ("class", class), ("stroke", stroke)];
        if !dashes.is_empty() {
            attributes.push(("stroke-dasharray", dashes));
        }
        self.svg.put("path", &attributes);
    }

    /// A filled rectangle.
    pub fn rect(&mut self, from: (f64, f64), to: (f64, f64), class: &str, fill: &str) {
        self.rect_with(from, to, &[("class", class), ("fill", fill)]);
    }

    /// A rectangle with attributes of its own.
    pub fn rect_with(&mut self, from: (f64, f64), to: (f64, f64), more: &[(&str, &str)]) {
        let (x, y) = (n(from.0.min(to.0)), n(from.1.min(to.1)));
        let (width, height) = (n((to.0 - from.0).abs()), n((to.1 - from.1).abs()));
        let place: [(&str, &str); 4] =
            [("x", &x), ("y", &y), ("width", &width), ("height", &height)];
        self.svg.put("rect", &[&place[..], more].concat());
    }
}

/// Least value, greatest value and scale of an axis, as scripts read them.
pub fn axis_attribute(axis: &Axis, placed: &Placed) -> String {
    format!("{} {} {}", placed.low, placed.high, Placed::word(&axis.scale))
}
