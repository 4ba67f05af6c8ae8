//! Texts that a user wrote, and places in them.

use std::ops::Range;

/// A place: bytes `start..end` of one of the [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which text, as an index into [`Texts::all`].
    pub text: usize,
    /// The word's first byte.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
}

impl Span {
    /// From the beginning of this place to the end of another in the same text.
    #[must_use]
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.end), ..self }
    }

    /// The bytes within the text.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// A word and where it stands. Its text is what is meant: variables and keywords are replaced by
/// their values, comments and blanks around it are gone. [`Texts::snippet`] has what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: String,
    /// Place of the word.
    pub at: Span,
}

/// A text: the command line, a job file, or a file that one of them includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// File name as the user wrote it, `command line` or `stdin`.
    pub name: String,
    /// The content.
    pub text: String,
}

/// All texts that were read, the command line first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The texts, in the order in which they were opened.
    pub all: Vec<Text>,
}

impl Texts {
    /// Adds a text and gives its index.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        self.all.push(Text { name: name.into(), text: text.into() });
        self.all.len() - 1
    }

    /// The words at a place, as the user wrote them.
    pub fn snippet(&self, at: Span) -> &str {
        self.all.get(at.text).and_then(|text| text.text.get(at.range())).unwrap_or_default()
    }

    /// Line and column where a place begins, both from 1, columns in characters.
    pub fn line_column(&self, at: Span) -> (usize, usize) {
        let Some(Text { text, .. }) = self.all.get(at.text) else { return (1, 1) };
        let before = &text[..text.floor_char_boundary(at.start)];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// `file:line:column`.
    pub fn location(&self, at: Span) -> String {
        let (line, column) = self.line_column(at);
        let name = self.all.get(at.text).map_or("?", |text| text.name.as_str());
        format!("{name}:{line}:{column}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_in_characters() {
        let mut texts = Texts::default();
        texts.add("command line", "fio a.fio");
        let file = texts.add("a.fio", "[µ]\nbs=4x\n");
        let at = Span { text: file, start: 8, end: 10 };
        assert_eq!((texts.snippet(at), texts.location(at)), ("4x", "a.fio:2:4".to_owned()));
        let nowhere = Span { text: 9, start: 5, end: 1 };
        assert_eq!((texts.snippet(nowhere), texts.location(nowhere)), ("", "?:1:1".to_owned()));
    }
}
