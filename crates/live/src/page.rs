//! Text on a screen: sections of lines, as many of each as there is room for.

use std::cell::Cell;
use std::ops::Range;

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::{Line, Span};

use crate::keys::Key;

/// A heading or a name to find again.
pub fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Something to skip on first reading.
pub fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// A picture.
pub fn drawn() -> Style {
    Style::new().fg(Color::Cyan)
}

/// Worth a look.
pub fn caution() -> Style {
    Style::new().fg(Color::Yellow)
}

/// Wrong.
pub fn bad() -> Style {
    Style::new().fg(Color::Red)
}

/// Lines that belong together.
#[derive(Default)]
pub struct Section {
    /// All lines, the heading first.
    pub lines: Vec<Line<'static>>,
    /// Lines that are shown in any case.
    pub least: usize,
}

impl Section {
    /// With a heading.
    pub fn titled(title: String) -> Section {
        Section { lines: vec![Line::styled(title, dim())], least: 1 }
    }

    /// Lines of plain text below the heading.
    pub fn add(&mut self, text: String) {
        self.lines.push(Line::raw(text));
    }
}

/// Puts sections below each other into rows of a screen, an empty line between them.
/// Each gets its least; what room is left goes to them in their order. A section that is cut says
/// so behind the first word of its heading.
pub fn sections(buffer: &mut Buffer, rows: Range<u16>, sections: Vec<Section>) {
    let sections: Vec<Section> =
        sections.into_iter().filter(|section| !section.lines.is_empty()).collect();
    let room = rows.len();
    let gaps = sections.len().saturating_sub(1);
    let mut heights: Vec<usize> =
        sections.iter().map(|section| section.least.min(section.lines.len())).collect();
    let mut left = room.saturating_sub(gaps + heights.iter().sum::<usize>());
    for (height, section) in heights.iter_mut().zip(&sections) {
        let more = (section.lines.len() - *height).min(left);
        *height += more;
        left -= more;
    }
    let mut y = rows.start;
    for (height, section) in heights.into_iter().zip(sections) {
        let cut = section.lines.len() - height;
        for (at, text) in section.lines.iter().take(height).enumerate() {
            if y >= rows.end {
                return;
            }
            line(buffer, y, text);
            if at == 0 && cut > 0 {
                let heading = text.to_string();
                let word = heading.split(' ').next().unwrap_or_default().chars().count();
                buffer.set_string(word as u16 + 1, y, format!("+{cut} more"), dim());
            }
            y += 1;
        }
        y += 1;
    }
}

/// Number of the first line that is shown of a list.
#[derive(Clone, Debug, Default)]
pub struct Scroll(Cell<usize>);

impl Scroll {
    /// Moves by a key, if it is one that moves. Where the list ends shows when it is drawn.
    pub fn key(&self, key: Key) {
        const PAGE: usize = 10;
        let first = self.0.get();
        self.0.set(match key {
            Key::Up => first.saturating_sub(1),
            Key::Down => first + 1,
            Key::PageUp => first.saturating_sub(PAGE),
            Key::PageDown => first + PAGE,
            Key::Char(_) => first,
        });
    }

    /// Moves to the first line.
    pub fn to_top(&self) {
        self.0.set(0);
    }
}

/// Puts lines into rows, as they are scrolled; not further than to the last one.
pub fn scrolled(buffer: &mut Buffer, rows: Range<u16>, lines: &[Line<'static>], scroll: &Scroll) {
    let first = scroll.0.get().min(lines.len().saturating_sub(rows.len()));
    scroll.0.set(first);
    for (y, text) in rows.zip(&lines[first..]) {
        line(buffer, y, text);
    }
}

/// Puts a line on a screen.
pub fn line(buffer: &mut Buffer, y: u16, text: &Line<'static>) {
    buffer.set_line(0, y, text, buffer.area.width);
}

/// Puts two texts on a line, one at each end; the left one is cut where they meet.
pub fn ends(buffer: &mut Buffer, y: u16, left: &Span<'_>, right: &Span<'_>) {
    let columns = usize::from(buffer.area.width);
    let right_columns = right.content.chars().count().min(columns);
    let left_columns = columns.saturating_sub(right_columns + 1);
    let text = candor_show::cut(&left.content, left_columns);
    buffer.set_stringn(0, y, text, left_columns, left.style);
    buffer.set_stringn(
        (columns - right_columns) as u16,
        y,
        &right.content,
        right_columns,
        right.style,
    );
}

/// A label, a number and a picture beside it.
pub fn figure(label: &str, number: &str, picture: String, note: &str) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{label:<10}"), dim()),
        Span::styled(format!("{number:>10}  "), strong()),
        Span::styled(picture, drawn()),
        Span::styled(format!("  {note}"), dim()),
    ])
}

#[cfg(test)]
mod tests {
    use ratatui_core::layout::Rect;

    use super::*;

    fn section(least: usize, lines: &[&str]) -> Section {
        Section { lines: lines.iter().map(|line| Line::raw((*line).to_owned())).collect(), least }
    }

    fn shown(rows: u16, all: Vec<Section>) -> Vec<String> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, rows));
        sections(&mut buffer, 0..rows, all);
        crate::text(&buffer).lines().map(|line| line.trim_end().to_owned()).collect()
    }

    #[test]
    fn sections_get_their_least_and_then_what_is_left() {
        let all = || vec![section(2, &["a", "b", "c", "d"]), section(1, &["e", "f"])];
        assert_eq!(shown(8, all()), ["a", "b", "c", "d", "", "e", "f", ""]);
        assert_eq!(shown(5, all()), ["a +1 mor", "b", "c", "", "e +1 mor"]);
        assert_eq!(shown(4, all()), ["a +2 mor", "b", "", "e +1 mor"]);
        assert_eq!(shown(2, all()), ["a +2 mor", "b"], "what has no room is left out");
        assert_eq!(shown(2, vec![section(0, &[]), section(1, &["a"])]), ["a", ""]);
    }

    #[test]
    fn lines_scroll_to_the_last_one_and_not_further() {
        let lines: Vec<Line> = ["a", "b", "c"].map(|line| Line::raw(line.to_owned())).to_vec();
        let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 2));
        let scroll = Scroll::default();
        scroll.key(Key::PageDown);
        scrolled(&mut buffer, 0..2, &lines, &scroll);
        assert_eq!(crate::text(&buffer), "b \nc \n");
        scroll.key(Key::Up);
        scrolled(&mut buffer, 0..2, &lines, &scroll);
        assert_eq!(crate::text(&buffer), "a \nb \n", "keys take effect at once");
    }

    #[test]
    fn two_ends_of_a_line_do_not_meet() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        ends(&mut buffer, 0, &"a long left".into(), &"right".into());
        assert_eq!(crate::text(&buffer), "a l… right\n");
    }
}
