//! Values as fio's users write them: sizes, times, ranges, lists, splits, arithmetic.
//!
//! Pure functions from a word to a typed value. What fio takes for something else without a word
//! (`1.5k` as one byte) is refused, with both readings; what it reads oddly but as documented
//! (`4KiB` as 4000 bytes) is followed, with a remark.

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
    pub part: std::ops::Range<usize>,
}

/// What a parser gives.
pub type Value<T> = Result<Read<T>, Refused>;
