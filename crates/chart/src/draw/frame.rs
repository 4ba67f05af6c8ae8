//! The frame: title, caution, corners, and the document around all.

use crate::letters::{cut, width, wrap};
use crate::model::Chart;
use crate::svg::{Svg, n};

use super::{LINE, Sheet, TEXT, Text};

/// Size of the title.
const TITLE: f64 = 18.0;

/// Title, subtitle and caution; gives the pixel below them.
pub fn top(chart: &Chart, sheet: &mut Sheet<'_>) -> f64 {
    let (left, room) = (sheet.left(), sheet.right() - sheet.left());
    let mut y = if sheet.look.is_framed { 14.0 } else { 2.0 };
    if sheet.look.is_framed {
        // Bold letters are a tenth wider.
        for line in wrap(&chart.title, TITLE * 1.1, room, 2) {
            y += 22.0;
            let text = Text { text: &line, at: (left, y - 4.0), size: TITLE, ..Text::default() };
            sheet.text(&Text { is_bold: true, ..text });
        }
        for line in wrap(&chart.subtitle, TEXT, room, 2) {
            y += LINE;
            sheet.text(&Text { text: &line, at: (left, y), class: "faint", ..Text::default() });
        }
        y += 12.0;
    }
    match &chart.caution {
        Some(caution) => self::caution(caution, sheet, y),
        None => y,
    }
}

/// A sentence that says why the numbers cannot be believed; gives the pixel below it.
fn caution(sentence: &str, sheet: &mut Sheet<'_>, y: f64) -> f64 {
    let (left, right) = (sheet.left(), sheet.right());
    let lines = wrap(sentence, TEXT, right - left - 26.0, 4);
    let bottom = y + lines.len() as f64 * LINE + 12.0;
    sheet.rect((left, y), (right, bottom), "caution-back", sheet.paint.caution_back);
    sheet.rect((left, y), (left + 4.0, bottom), "caution", sheet.paint.caution);
    for (line, nth) in lines.iter().zip(0u32..) {
        let at = (left + 14.0, y + 6.0 + LINE * f64::from(nth) + 12.0);
        sheet.text(&Text { text: line, at, ..Text::default() });
    }
    bottom + 10.0
}

/// A picture of nothing says so; gives the pixel below.
pub fn nothing(sheet: &mut Sheet<'_>, top: f64) -> f64 {
    let middle = (sheet.left() + sheet.right()) / 2.0;
    let at = (middle, top + 70.0);
    let text = "No values to draw.";
    sheet.text(&Text { text, at, class: "faint", anchor: "middle", ..Text::default() });
    top + 130.0
}

/// Source and verdict in the corners; gives the height of the picture.
pub fn bottom(chart: &Chart, sheet: &mut Sheet<'_>, y: f64) -> f64 {
    if !sheet.look.is_framed || (chart.source.is_empty() && chart.verdict.is_empty()) {
        return y + 6.0;
    }
    const SMALL: f64 = 11.0;
    let (left, right) = (sheet.left(), sheet.right());
    let line = y + 14.0;
    sheet.line((left, line), (right, line), "grid", "");
    let mut at = line + 18.0;
    let is_wide = width(&chart.source, SMALL) + width(&chart.verdict, SMALL) + 24.0 < right - left;
    let class = if chart.caution.is_some() { "caution" } else { "faint" };
    let is_bold = chart.caution.is_some();
    let verdict = cut(&chart.verdict, SMALL * 1.08, right - left);
    let place = if is_wide { (right, at) } else { (left, at) };
    let anchor = if is_wide { "end" } else { "start" };
    let text = Text { text: &verdict, at: place, size: SMALL, class, ..Text::default() };
    sheet.text(&Text { anchor, is_bold, ..text });
    if !is_wide && !chart.verdict.is_empty() {
        at += 15.0;
    }
    let source = cut(&chart.source, SMALL, right - left);
    let text = Text { text: &source, at: (left, at), size: SMALL, ..Text::default() };
    sheet.text(&Text { class: "faint", ..text });
    at + 14.0
}

/// The document around the picture.
pub fn document(chart: &Chart, sheet: Sheet<'_>, height: f64) -> String {
    let (id, theme, framed) = (&sheet.look.id, sheet.paint, sheet.look.is_framed);
    let (width, height) = (n(sheet.width()), n(height.ceil()));
    let view = format!("0 0 {width} {height}");
    let (title, desc) = (format!("{id}-title"), format!("{id}-desc"));
    let names = format!("{title} {desc}");
    let mut attributes = vec![
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("class", "chart"),
        ("id", id),
        ("viewBox", &view),
        ("width", &width),
        ("height", &height),
        ("role", "img"),
        ("aria-labelledby", &names),
        ("font-family", "system-ui, sans-serif"),
        ("font-size", "12"),
        ("fill", "none"),
    ];
    if let Some(x) = &sheet.x {
        attributes.push(("data-x", x));
    }
    let mut svg = Svg::default();
    svg.open("svg", &attributes);
    svg.text_in("title", &[("id", &title)], &chart.title);
    svg.text_in("desc", &[("id", &desc)], &chart.description);
    if framed {
        let size = [("width", width.as_str()), ("height", &height)];
        svg.put("rect", &[&[("class", "back"), ("fill", theme.back)], &size[..]].concat());
    }
    svg.put_all(sheet.svg);
    svg.finish()
}
