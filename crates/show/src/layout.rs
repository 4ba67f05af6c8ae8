//! Lines, wrapped paragraphs and tables, in columns of characters.

use crate::style::{Style, Tone};

/// A page that grows from top to bottom.
pub(crate) struct Page<'a> {
    text: String,
    pub style: &'a Style,
}

impl<'a> Page<'a> {
    pub fn new(style: &'a Style) -> Self {
        Page { text: String::new(), style }
    }

    /// The page, ending with one line break.
    pub fn finish(self) -> String {
        format!("{}\n", self.text.trim_end())
    }

    /// Lines so far.
    pub fn lines(&self) -> usize {
        self.text.matches('\n').count()
    }

    /// One line as it is.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// An empty line, never two in a row.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A heading with space above it.
    pub fn heading(&mut self, text: &str) {
        self.blank();
        self.line(&self.style.paint(Tone::Strong, text));
    }

    /// A paragraph: `lead` before its first line, as much room before the others.
    pub fn paragraph(&mut self, lead: &str, text: &str) {
        self.toned(lead, text, None);
    }

    /// A paragraph to skip on first reading.
    pub fn aside(&mut self, lead: &str, text: &str) {
        self.toned(lead, text, Some(Tone::Dim));
    }

    fn toned(&mut self, lead: &str, text: &str, tone: Option<Tone>) {
        let room = width(lead);
        for (i, line) in wrap(text, self.style.columns() - room).iter().enumerate() {
            let before = if i == 0 { lead.to_owned() } else { " ".repeat(room) };
            let line = tone.map_or(line.clone(), |tone| self.style.paint(tone, line));
            self.line(&format!("{before}{line}"));
        }
    }
}

/// Columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Units, which stay on the line of the number before them.
const UNITS: [&str; 16] = [
    "%", "ns", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB",
];

/// The words of a text; a number and its unit are one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', ';', '.', ':', ')']));
        let number = words.last_mut().filter(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        match number {
            Some(number) if is_unit => *number += &format!(" {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// The text in lines of at most `columns`, broken between words; longer words stay whole.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        // The list is never empty: it starts with one line.
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(&word);
        } else if width(line) + 1 + width(&word) <= columns {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// The text in at most `columns`, its end replaced by `…` where it is longer.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// One cell of a table.
#[derive(Clone, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Option<Tone>,
}

impl Cell {
    pub fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Cell { text: text.into(), tone: Some(tone) }
    }

    /// True where a value stands in it.
    pub fn holds_value(&self) -> bool {
        !self.text.is_empty() && self.text != "-"
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: text.into(), tone: None }
    }
}

/// How a column stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table whose columns are as wide as their widest cell.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// Room between columns.
const GAP: usize = 2;

impl Table {
    pub fn new<N: AsRef<str>>(columns: &[(N, Align)]) -> Self {
        let named = |(name, align): &(N, Align)| (name.as_ref().to_owned(), *align);
        Table { columns: columns.iter().map(named).collect(), rows: Vec::new() }
    }

    /// Adds a row; it may be shorter than the table is wide.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |(i, (name, _)): (usize, &(String, Align))| {
            let cells = self.rows.iter().filter_map(|row| row.get(i)).map(|c| width(&c.text));
            cells.max().unwrap_or(0).max(width(name))
        };
        self.columns.iter().enumerate().map(widest).collect()
    }

    /// Columns the whole table takes.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    /// The column names, then the rows, each a line.
    pub fn lines(&self, style: &Style) -> Vec<String> {
        let widths = self.widths();
        let names = self.columns.iter().map(|(name, _)| Cell::toned(name, Tone::Dim)).collect();
        std::iter::once(&names)
            .chain(&self.rows)
            .map(|row| self.draw(row, &widths, style).trim_end().to_owned())
            .collect()
    }

    fn draw(&self, row: &[Cell], widths: &[usize], style: &Style) -> String {
        let cell = |(i, cell): (usize, &Cell)| {
            let space = " ".repeat(widths[i].saturating_sub(width(&cell.text)));
            let text = cell.tone.map_or(cell.text.clone(), |tone| style.paint(tone, &cell.text));
            match self.columns[i].1 {
                Align::Left => format!("{text}{space}"),
                Align::Right => format!("{space}{text}"),
            }
        };
        row.iter().enumerate().map(cell).collect::<Vec<_>>().join(&" ".repeat(GAP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_never_broken() {
        assert_eq!(wrap("a bb ccc averylongword d", 6), ["a bb", "ccc", "averylongword", "d"]);
        assert_eq!(wrap("", 6), [""]);
        assert_eq!(wrap("took 10 %, or 5 s.", 7), ["took", "10 %,", "or 5 s."]);
        assert_eq!(wrap("one s of 5 things", 6), ["one s", "of 5", "things"]);
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(cut("random read", 11), "random read");
        assert_eq!(cut("random read", 8), "random …");
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("what", Align::Left), ("IOPS", Align::Right)]);
        table.row(vec!["random".into(), "7".into()]);
        table.row(vec!["x".into()]);
        assert_eq!(table.lines(&Style::default()), ["what    IOPS", "random     7", "x"]);
        assert_eq!(table.width(), 12);
    }
}
