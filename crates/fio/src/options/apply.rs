//! Values of the kinds: their form in the help, and their reading into a job's options.

use std::sync::LazyLock;

use candor_plan::Nanos;

use super::kind::{Kind, MANY, Parsed, Row};
use super::{TABLE, value};
use crate::options::{JobOptions, KbBase};
use crate::values::Units;
use candor_front::{Applied, Choice, Refused, Takes, Value, ValueKind};

impl ValueKind for Kind {
    type Options = JobOptions;
    type Setter = fn(&mut JobOptions, &Parsed);
    const NOTHING: Self::Setter = |_, _| ();

    fn form(&self) -> String {
        match self {
            Kind::Flag => "nothing, 0 or 1".to_owned(),
            Kind::Bool => "0 or 1".to_owned(),
            Kind::Int(low, high) => {
                format!("a number{}", bounds(low, high, &0, &MANY))
            }
            Kind::Signed(low, high) => format!("a number from {low} to {high}"),
            Kind::Ints(low, high) => {
                format!("up to three numbers{}", bounds(low, high, &0, &MANY))
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
        let read = enter(row, options, text, units)?;
        let is_default = is_default(row, &read.value, text, units);
        Ok(Applied { remark: read.remark, is_default })
    }
}

fn enter(row: &Row, options: &mut JobOptions, text: Option<&str>, units: Units) -> Value<Parsed> {
    let mut read = value::parse(&row.kind, text, units)?;
    if let Kind::Own(_, _, reader) = row.kind {
        read.remark = reader(options, text.unwrap_or_default(), units)?;
    }
    (row.set)(options, &read.value);
    Ok(read)
}

/// Options of an empty job: the defaults of all rows.
pub fn defaults() -> JobOptions {
    static DEFAULTS: LazyLock<JobOptions> = LazyLock::new(|| {
        let mut options = JobOptions::default();
        for row in TABLE.rows().filter(|row| !row.default.is_empty()) {
            // A test reads each of them.
            let _ = enter(row, &mut options, Some(row.default), Units { kb_base: 1024 });
        }
        options
    });
    DEFAULTS.clone()
}

/// Bytes in a "K".
pub(super) fn kb_base(options: &JobOptions) -> u32 {
    match options.statistics.kb_base {
        KbBase::Binary => 1024,
        KbBase::Decimal => 1000,
    }
}

/// True if a value equals the default.
fn is_default(row: &Row, parsed: &Parsed, text: Option<&str>, units: Units) -> bool {
    if let Kind::Own(_, _, reader) = row.kind {
        let mut options = defaults();
        let read = reader(&mut options, text.unwrap_or_default(), units);
        return read.is_ok() && options == defaults();
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
