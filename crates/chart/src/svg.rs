//! Writer of SVG elements.

use std::fmt::Write;

/// A picture in the making.
#[derive(Default)]
pub struct Svg {
    out: String,
    open: Vec<&'static str>,
}

/// A number with one digit after the point at most; what is no number is 0.
pub fn n(value: f64) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// A text as XML may hold it.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            // XML has no way to write these.
            c if c < ' ' || matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Attributes of an element: names and values.
pub type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Svg {
    /// Opens an element that others are put into.
    pub fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.out.push_str(">\n");
        self.open.push(name);
    }

    /// Closes the element that was opened last.
    pub fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = writeln!(self.out, "</{name}>");
        }
    }

    /// An element without contents.
    pub fn put(&mut self, name: &str, attributes: Attributes<'_>) {
        self.tag(name, attributes);
        self.out.push_str("/>\n");
    }

    /// An element with a text.
    pub fn text_in(&mut self, name: &str, attributes: Attributes<'_>, text: &str) {
        self.tag(name, attributes);
        let _ = writeln!(self.out, ">{}</{name}>", escaped(text));
    }

    fn tag(&mut self, name: &str, attributes: Attributes<'_>) {
        let _ = write!(self.out, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.out, " {name}=\"{}\"", escaped(value));
        }
    }

    /// Everything that another has.
    pub fn put_all(&mut self, other: Svg) {
        self.out.push_str(&other.finish());
    }

    /// All of it, every element closed.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }
}

/// The path through points; a point without a place begins it anew.
pub fn path(points: &[Option<(f64, f64)>]) -> String {
    let mut path = String::new();
    let mut is_down = false;
    for point in points {
        let Some((x, y)) = point else {
            is_down = false;
            continue;
        };
        path.push(if is_down { 'L' } else { 'M' });
        path.push_str(&n(*x));
        path.push(' ');
        path.push_str(&n(*y));
        is_down = true;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_elements_closed() {
        let mut svg = Svg::default();
        svg.open("g", &[("class", "a\"b")]);
        svg.text_in("text", &[("x", "1")], "<script>&\u{1}");
        let text = svg.finish();
        assert_eq!(
            text,
            "<g class=\"a&quot;b\">\n<text x=\"1\">&lt;script&gt;&amp;\u{fffd}</text>\n</g>\n"
        );
    }

    #[test]
    fn numbers_are_short_and_always_numbers() {
        let printed = [0.0, -0.01, 1.25, 10.0, f64::NAN, f64::INFINITY].map(n);
        assert_eq!(printed, ["0", "0", "1.2", "10", "0", "0"]);
    }

    #[test]
    fn a_gap_lifts_the_pen() {
        let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((3.0, 4.0))];
        assert_eq!(path(&points), "M0 1L1 2M3 4");
    }
}
