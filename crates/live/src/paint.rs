//! A screen as bytes for a terminal: only what differs from what it shows.

use std::fmt::Write;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};

/// Remembers what a terminal shows.
pub struct Painter {
    shown: Buffer,
    color: bool,
}

impl Painter {
    /// Of a terminal that shows nothing. Without colours, weights are all that sets text apart.
    pub fn new(color: bool) -> Painter {
        Painter { shown: Buffer::empty(Rect::ZERO), color }
    }

    /// The terminal shows something else now: the next screen is painted whole.
    pub fn forget(&mut self) {
        self.shown = Buffer::empty(Rect::ZERO);
    }

    /// Bytes to write so that the terminal shows `next`; none where it does already.
    pub fn paint(&mut self, next: Buffer) -> Vec<u8> {
        let mut text = String::new();
        if self.shown.area != next.area {
            self.shown = Buffer::empty(next.area);
            text.push_str("\x1b[0m\x1b[2J");
        }
        let (mut at, mut style) = (None, String::new());
        for (x, y, cell) in self.shown.diff(&next) {
            if at != Some((x, y)) {
                // Writing to a text cannot fail.
                let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
            }
            let wanted = self.style(cell);
            if wanted != style {
                text.push_str(&wanted);
                style = wanted;
            }
            text.push_str(cell.symbol());
            // The next cell is next to it, unless this one is wide: then it is sought again.
            at = cell.symbol().is_ascii().then_some((x + 1, y));
        }
        self.shown = next;
        text.into_bytes()
    }

    fn style(&self, cell: &Cell) -> String {
        let mut codes = String::from("\x1b[0");
        let modifiers = [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")];
        for (modifier, code) in modifiers {
            codes.push_str(if cell.modifier.contains(modifier) { code } else { "" });
        }
        let color = match cell.fg {
            _ if !self.color => "",
            Color::Red => ";31",
            Color::Green => ";32",
            Color::Yellow => ";33",
            Color::Cyan => ";36",
            _ => "",
        };
        codes + color + "m"
    }
}

#[cfg(test)]
mod tests {
    use ratatui_core::style::Style;

    use super::*;

    fn screen(lines: &[&str]) -> Buffer {
        Buffer::with_lines(lines.iter().copied())
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).expect("text").replace('\x1b', "^")
    }

    #[test]
    fn only_differences_are_written() {
        let mut painter = Painter::new(true);
        assert_eq!(text(painter.paint(screen(&["ab ", "  c"]))), "^[0m^[2J^[1;1H^[0mab^[2;3Hc");
        assert_eq!(text(painter.paint(screen(&["ab ", "  c"]))), "");
        assert_eq!(text(painter.paint(screen(&["ax ", "  c"]))), "^[1;2H^[0mx");
        painter.forget();
        assert!(text(painter.paint(screen(&["ax ", "  c"]))).contains("2J"));
    }

    #[test]
    fn colours_are_left_out_where_they_are_not_wanted() {
        let mut next = screen(&["a"]);
        next.set_style(next.area, Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
        assert!(text(Painter::new(true).paint(next.clone())).ends_with("^[0;1;31ma"));
        assert!(text(Painter::new(false).paint(next)).ends_with("^[0;1ma"));
    }
}
