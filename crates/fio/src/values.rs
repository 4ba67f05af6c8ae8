//! Values as fio's users write them: sizes, times, ranges, lists, splits, arithmetic.
//!
//! Pure functions from a word to a typed value. A value that fio misreads silently (`1.5k` as one
//! byte) is refused with both readings. A value that it reads oddly but as documented (`4KiB` as
//! 4000 bytes), or visibly truncated (`1.5s` as 1 s), is accepted with a remark.

mod arithmetic;
mod list;
mod number;
mod pattern;
mod range;
mod split;
mod time;

pub use arithmetic::plain_arithmetic;
pub use candor_front::{Read, Refused, Value};
pub use list::{by_direction, cpus, decimal, floats, numbers_by_direction};
pub use number::{Amount, Units, amount, boolean, bytes, count, integer};
pub use pattern::{PatternPart, pattern};
pub use range::{range, ranges_by_direction, time_range};
pub use split::{Share, split, splits_by_direction};
pub use time::{TimeUnit, time};

/// Splits at a separator and returns the start of each part.
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
