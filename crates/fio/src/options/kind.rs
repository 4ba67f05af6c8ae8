//! Kinds of values, and values as read.

use candor_plan::Nanos;
use candor_plan::units::PerDirection;

use crate::options::{Amount, JobOptions};
use crate::values::{TimeUnit, Units};
use candor_front::{Choice, Refused};

/// An option of a job.
pub type Row = candor_front::Row<Kind>;

/// Largest value of most integers.
pub(super) const MANY: u64 = u32::MAX as u64;

/// A kind of value.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Nothing, 0 or 1.
    Flag,
    /// 0 or 1.
    Bool,
    /// An integer within bounds, with an optional suffix.
    Int(u64, u64),
    /// An integer within bounds, possibly negative.
    Signed(i64, i64),
    /// Up to three integers: for reads, writes and trims.
    Ints(u64, u64),
    /// A size in bytes, with its minimum.
    Size(u64),
    /// Up to three sizes in bytes, with their minimum.
    Sizes(u64),
    /// Bytes, percent or zones.
    Amount,
    /// A time, with its default unit.
    Time(TimeUnit),
    /// Up to three times.
    Times(TimeUnit),
    /// One of these choices.
    Choice(&'static [Choice]),
    /// Any text.
    Text,
    /// A text or nothing.
    MaybeText,
    /// Numbers separated by colons: bounds, and their maximum count.
    Floats(f64, f64, usize),
    /// A value with its own syntax: form, choices if any, and reader.
    Own(&'static str, &'static [Choice], Reader),
    /// A value without effect.
    Deprecated,
}

/// Reads a value with its own syntax into the options.
pub type Reader = fn(&mut JobOptions, &str, Units) -> Result<Option<String>, Refused>;

/// A value as read.
#[derive(Clone, Debug, PartialEq)]
pub enum Parsed {
    /// A flag or a bool.
    Bool(bool),
    /// An integer or a size.
    Int(u64),
    /// A signed integer.
    Signed(i64),
    /// Integers and sizes; directions without value keep theirs.
    Ints(PerDirection<Option<u64>>),
    /// An amount.
    Amount(Amount),
    /// A time.
    Time(Nanos),
    /// Times; directions without value keep theirs.
    Times(PerDirection<Option<Nanos>>),
    /// Index of a choice.
    Choice(usize),
    /// A text. A reader stores a value with its own syntax.
    Text(String),
    /// A list of numbers.
    Floats(Vec<f64>),
}

/// Accessors for the rows; each row reads values of its own kind only.
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
