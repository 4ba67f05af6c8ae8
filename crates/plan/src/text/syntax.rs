//! Errors in the form of a TOML text.

use std::ops::Range;

use crate::{PlanPath, Problem, Source};

/// Errors in the form of a text, and how far the text can be trusted in spite of them.
pub(super) struct Syntax {
    /// The problems, by position.
    pub problems: Vec<Problem>,
    /// Lines whose values must not be complained about again, as ranges of bytes.
    lines: Vec<Range<usize>>,
    /// From here on the parser may have misunderstood everything.
    lost: Option<usize>,
}

impl Syntax {
    /// Takes the parser's errors; enters the places of the problems into `source`.
    pub fn new(mut errors: Vec<toml::de::Error>, source: &mut Source) -> Self {
        errors.sort_by_key(|error| range(error, source).start);
        let mut syntax = Syntax { problems: Vec::new(), lines: Vec::new(), lost: None };
        for error in errors {
            let range = range(&error, source);
            let line = line_around(&source.text, range.start);
            let place = mark(source, range.clone());
            let problem = problem(&error, &source.text[range.clone()], place);
            // Errors after a structural error, or before it on its line, are mostly its echo.
            if !is_local(error.message()) {
                let before = syntax.lines.iter().take_while(|known| **known != line).count();
                syntax.problems.truncate(before);
                syntax.problems.push(problem);
                syntax.lost = Some(line.start);
                break;
            }
            syntax.lines.push(line);
            syntax.problems.push(problem);
        }
        syntax
    }

    /// True where a complaint about the value at `offset` would only repeat a syntax error.
    pub fn hides(&self, offset: usize) -> bool {
        self.lost.is_some_and(|lost| offset >= lost)
            || self.lines.iter().any(|line| line.contains(&offset) || line.start == offset)
    }
}

/// The error's range within the text, on character boundaries.
fn range(error: &toml::de::Error, source: &Source) -> Range<usize> {
    let text = &source.text;
    let span = error.span().unwrap_or(0..0);
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let end = text.ceil_char_boundary(span.end.clamp(start, text.len()));
    start..end
}

fn line_around(text: &str, offset: usize) -> Range<usize> {
    let start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
    start..end
}

/// Gives a place to a range that belongs to no value.
fn mark(source: &mut Source, range: Range<usize>) -> PlanPath {
    let (line, column) = source.line_column(range.start);
    let place = PlanPath::from(format!("line {line}, column {column}").as_str());
    source.spans.insert(place.clone(), range);
    place
}

/// True for errors that leave the rest of the text readable.
fn is_local(message: &str) -> bool {
    const LOCAL: [&str; 3] = ["string values must", "duplicate key", "invalid "];
    const NOT_LOCAL: [&str; 2] = ["invalid unquoted key", "invalid multi-line"];
    LOCAL.iter().any(|start| message.starts_with(start))
        && !NOT_LOCAL.iter().any(|start| message.starts_with(start))
}

fn problem(error: &toml::de::Error, found: &str, place: PlanPath) -> Problem {
    let message = error.message();
    let (message, remedy) = if message.starts_with("string values must") {
        if found.is_empty() {
            ("a key has no value".to_owned(), "write a value after the =".to_owned())
        } else {
            (format!("`{found}` is not in quotes"), format!("write \"{found}\""))
        }
    } else {
        if message == "duplicate key" {
            (
                format!("`{found}` is given twice"),
                "remove one of the two, or open a new [[section]]".to_owned(),
            )
        } else {
            split_expected(message)
        }
    };
    Problem::error("syntax", place, message, remedy)
}

/// The parser's own words: what is wrong, and what it expected.
fn split_expected(message: &str) -> (String, String) {
    match message.split_once(", expected ") {
        Some((wrong, "nothing")) => (wrong.to_owned(), "sizes and times need quotes".to_owned()),
        Some((wrong, expected)) => (wrong.to_owned(), format!("expected {expected}")),
        None => (message.to_owned(), "see the TOML format at toml.io".to_owned()),
    }
}
