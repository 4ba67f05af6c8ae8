//! Kinds of values, and values as read.

use candor_plan::Nanos;
use candor_plan::units::PerDirection;

use crate::options::{Amount, JobOptions};
use crate::values::{TimeUnit, Units};
use candor_front::{Choice, Refused};

/// An option of a job.
pub type Row = candor_front::Row<Kind>;

/// Largest value of most whole numbers.
pub(super) const MANY: u64 = u32::MAX as u64;

/// A kind of value.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// A whole number within bounds; suffixes are taken.
    Int(u64, u64),
    /// A whole number within bounds that may be negative.
    Signed(i64, i64),
    /// Up to three whole numbers: for reads, writes and trims.
    Ints(u64, u64),
    /// A number of bytes, at least so many.
    Size(u64),
    /// Up to three numbers of bytes, each at least so many.
    Sizes(u64),
    /// Bytes, percent or zones.
    Amount,
    /// A time; without a unit in this one.
    Time(TimeUnit),
    /// Up to three times.
    Times(TimeUnit),
    /// One of these words.
    Choice(&'static [Choice]),
    /// Any text.
    Text,
    /// A text, or nothing.
    MaybeText,
    /// Numbers with colons between: bounds, and how many at most.
    Floats(f64, f64, usize),
    /// A little language of its own: its form, its words if any, and its reader.
    Own(&'static str, &'static [Choice], Reader),
    /// Nothing that matters any more.
    Deprecated,
}

/// Reads a value of an option with a language of its own into the settings.
pub type Reader = fn(&mut JobOptions, &str, Units) -> Result<Option<String>, Refused>;

/// A value as read.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// Of a flag or a bool.
    Bool(bool),
    /// Of an int or a size.
    Int(u64),
    /// Of a signed int.
    Signed(i64),
    /// Of ints and sizes; directions that are not given stay as they are.
    Ints(PerDirection<Option<u64>>),
    /// Of an amount.
    Amount(Amount),
    /// Of a time.
    Time(Nanos),
    /// Of times; directions that are not given stay as they are.
    Times(PerDirection<Option<Nanos>>),
    /// Of a choice: its index.
    Choice(usize),
    /// Of a text, or of a little language, which has entered the settings by itself.
    Text(String),
    /// Of a list of numbers.
    Floats(Vec<f64>),
}

/// The readings, for the rows: each kind of value is read by the rows of that kind only.
impl Parsed {
    pub(super) fn bool(&self) -> bool {
        matches!(self, Parsed::Bool(true))
    }

    pub(super) fn int(&self) -> u64 {
        if let Parsed::Int(value) = self { *value } else { 0 }
    }

    pub(super) fn signed(&self) -> i64 {
        if let Parsed::Signed(value) = self { *value } else { 0 }
    }

    pub(super) fn ints(&self, into: &mut PerDirection<u64>) {
        if let Parsed::Ints(given) = self {
            for (op, value) in given.iter() {
                *into.of_mut(op) = value.unwrap_or(*into.of(op));
            }
        }
    }

    pub(super) fn times(&self, into: &mut PerDirection<Nanos>) {
        if let Parsed::Times(given) = self {
            for (op, value) in given.iter() {
                *into.of_mut(op) = value.unwrap_or(*into.of(op));
            }
        }
    }

    pub(super) fn amount(&self) -> Amount {
        if let Parsed::Amount(value) = self { *value } else { Amount::Bytes(0) }
    }

    pub(super) fn time(&self) -> Nanos {
        if let Parsed::Time(value) = self { *value } else { Nanos(0) }
    }

    pub(super) fn of<T: Copy + Default>(&self, all: &[T]) -> T {
        match self {
            Parsed::Choice(index) => all.get(*index).copied().unwrap_or_default(),
            _ => T::default(),
        }
    }

    pub(super) fn text(&self) -> String {
        if let Parsed::Text(value) = self { value.clone() } else { String::new() }
    }

    pub(super) fn floats(&self) -> Vec<f64> {
        if let Parsed::Floats(values) = self { values.clone() } else { Vec::new() }
    }
}
