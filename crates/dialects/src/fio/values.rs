//! Values as fio's users write them: sizes, times, ranges, lists, splits, arithmetic.
//!
//! Pure functions from a word to a typed value. What fio takes for something else without a word
//! (`1.5k` as one byte) is refused, with both readings; what it reads oddly but as documented
//! (`4KiB` as 4000 bytes) is followed, with a remark.

mod arithmetic;
mod list;
mod number;
mod pattern;
mod range;
mod split;
mod time;

use std::ops::Range;

pub use arithmetic::plain_arithmetic;
pub use list::{by_direction, cpus, decimal, floats};
pub use number::{Amount, Units, amount, boolean, bytes, integer};
pub use pattern::{PatternPart, pattern};
pub use range::{range, ranges_by_direction, time_range};
pub use split::{Share, split, splits_by_direction};
pub use time::{TimeUnit, time};

/// A value as read, and what to remark about the reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Read<T> {
    /// The value.
    pub value: T,
    /// A sentence for the notes of the report: read as fio does, but perhaps not as meant.
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
    /// What is wrong, with the value; where fio reads something else, with both readings.
    pub message: String,
    /// What to write instead; may be empty.
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
    fn behind(mut self, start: usize) -> Self {
        self.part = self.part.start + start..self.part.end + start;
        self
    }
}

/// What a parser gives.
pub type Value<T> = Result<Read<T>, Refused>;

/// Splits at a separator, with the byte where each part begins.
fn parts(text: &str, mut separator: impl FnMut(char) -> bool) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| separator(*c)) {
        parts.push((start, &text[start..at]));
        start = at + c.len_utf8();
    }
    parts.push((start, &text[start..]));
    parts
}

#[cfg(test)]
mod tests;
