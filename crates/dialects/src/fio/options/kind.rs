//! Kinds of values, and values as read.

use candor_plan::Nanos;
use candor_plan::units::PerDirection;

use super::{Row, value};
use crate::fio::job_options::{Amount, JobOptions, KbBase};
use crate::fio::values::{TimeUnit, Units};
use crate::kit::{Applied, Choice, Refused, Takes, ValueKind};

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

impl ValueKind for Kind {
    type Options = JobOptions;
    type Setter = fn(&mut JobOptions, &Parsed);
    const NOTHING: Self::Setter = |_, _| ();

    fn form(&self) -> String {
        match self {
            Kind::Flag => "nothing, 0 or 1".to_owned(),
            Kind::Bool => "0 or 1".to_owned(),
            Kind::Int(low, high) => {
                format!("a number{}", bounds(low, high, &0, &u64::from(u32::MAX)))
            }
            Kind::Signed(low, high) => format!("a number from {low} to {high}"),
            Kind::Ints(low, high) => {
                format!("up to three numbers{}", bounds(low, high, &0, &u64::from(u32::MAX)))
            }
            Kind::Size(_) => "a size such as 4k".to_owned(),
            Kind::Sizes(_) => "up to three sizes such as 4k,8k".to_owned(),
            Kind::Amount => "a size such as 1g, a percentage, or zones such as 4z".to_owned(),
            Kind::Time(unit) => format!("a time such as 10s; without a unit in {unit:?}"),
            Kind::Times(unit) => format!("up to three times; without a unit in {unit:?}"),
            Kind::Choice(choices) => words(choices),
            Kind::Text => "a text".to_owned(),
            Kind::MaybeText => "a text, or nothing".to_owned(),
            Kind::Floats(.., 1) => "a number with decimals".to_owned(),
            Kind::Floats(..) => "numbers with colons between, such as 50:99.9".to_owned(),
            Kind::Own(form, ..) => (*form).to_owned(),
            Kind::Deprecated => "anything".to_owned(),
        }
    }

    fn choices(&self) -> &'static [Choice] {
        match self {
            Kind::Choice(choices) | Kind::Own(_, choices, _) => choices,
            _ => &[],
        }
    }

    fn takes(&self) -> Takes {
        match self {
            Kind::Flag => Takes::Maybe("VALUE"),
            Kind::MaybeText => Takes::MaybeNext("VALUE"),
            _ => Takes::One("VALUE"),
        }
    }

    fn apply(row: &Row, options: &mut JobOptions, text: Option<&str>) -> Result<Applied, Refused> {
        let units = Units { kb_base: kb_base(options) };
        let mut read = value::parse(&row.kind, text, units)?;
        if let Kind::Own(_, _, reader) = row.kind {
            read.remark = reader(options, text.unwrap_or_default(), units)?;
        }
        (row.set)(options, &read.value);
        let is_default = is_default(row, &read.value, text, units);
        Ok(Applied { remark: read.remark, is_default })
    }
}

/// Bytes in a "K".
pub(super) fn kb_base(options: &JobOptions) -> u32 {
    match options.statistics.kb_base {
        KbBase::Binary => 1024,
        KbBase::Decimal => 1000,
    }
}

/// True where a value says what holds without it.
fn is_default(row: &Row, parsed: &Parsed, text: Option<&str>, units: Units) -> bool {
    if let Kind::Own(_, _, reader) = row.kind {
        let mut options = JobOptions::default();
        let read = reader(&mut options, text.unwrap_or_default(), units);
        return read.is_ok() && options == JobOptions::default();
    }
    let default = match (row.kind, row.default) {
        (Kind::Flag | Kind::Bool, "") => Some(Parsed::Bool(false)),
        (Kind::Time(_), "") => Some(Parsed::Time(Nanos(0))),
        (_, "") => None,
        (_, text) => value::parse(&row.kind, Some(text), units).ok().map(|read| read.value),
    };
    default.as_ref() == Some(parsed)
}

fn bounds(low: &u64, high: &u64, least: &u64, most: &u64) -> String {
    match (low == least, high == most) {
        (true, true) => String::new(),
        (false, true) => format!(", at least {low}"),
        _ => format!(" from {low} to {high}"),
    }
}

fn words(choices: &[Choice]) -> String {
    let words: Vec<_> = choices.iter().map(|c| c.word).filter(|word| !word.is_empty()).collect();
    words.join(", ")
}
