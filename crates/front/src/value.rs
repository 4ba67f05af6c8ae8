//! Values as read, and values that cannot be read.

use std::ops::Range;

/// A value as read, and what to remark about the reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// The value.
    pub value: T,
    /// A sentence for the notes of the report: read as the tool does, but perhaps not as meant.
    pub remark: Option<String>,
}

impl<T> Read<T> {
    /// A value without a remark.
    pub fn plain(value: T) -> Self {
        Read { value, remark: None }
    }

    /// The same remark about another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Read<U> {
        Read { value: change(self.value), remark: self.remark }
    }
}

/// Why a value cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The fault, with the value; where the tool reads something else, with both readings.
    pub message: String,
    /// The text to write instead; may be empty.
    pub remedy: String,
    /// Bytes of the word that are at fault.
    pub part: Range<usize>,
}

impl Refused {
    /// A whole word that cannot be read.
    pub fn whole(text: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Refused { message: message.into(), remedy: remedy.into(), part: 0..text.len() }
    }

    /// The same about a part of a longer word, which begins at that byte of it.
    #[must_use]
    pub fn behind(mut self, start: usize) -> Self {
        self.part = self.part.start + start..self.part.end + start;
        self
    }
}

/// The result of a parser.
pub type Value<T> = Result<Read<T>, Refused>;

/// A word that may be chosen, and what it stands for in a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// The effect.
    pub help: &'static str,
}

/// The index of a word among those to choose from.
///
/// # Errors
/// None of them is that word; the remedy names the nearest and lists all.
pub fn choose(text: &str, choices: &[Choice]) -> Result<usize, Refused> {
    let text = text.trim();
    let found = choices.iter().position(|choice| !choice.word.is_empty() && choice.word == text);
    found.ok_or_else(|| {
        let words: Vec<_> =
            choices.iter().map(|choice| choice.word).filter(|word| !word.is_empty()).collect();
        let remedy = match candor_plan::nearest(text, words.iter().copied()) {
            Some(near) => format!("did you mean {near}? It takes {}", words.join(", ")),
            None => format!("it takes {}", words.join(", ")),
        };
        Refused::whole(text, format!("`{text}` is not one of its values"), remedy)
    })
}
