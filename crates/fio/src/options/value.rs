//! Reads a word as a value of a kind.

use candor_plan::units::PerDirection;

use super::kind::{Kind, Parsed};
use crate::values::{self, TimeUnit, Units};
use candor_front::{Read, Refused, Value, ValueKind, choose};

/// Reads a value; `None` is an option without value.
pub(super) fn parse(kind: &Kind, text: Option<&str>, units: Units) -> Value<Parsed> {
    match (kind, text) {
        (Kind::Flag, None | Some("")) => Ok(Read::plain(Parsed::Bool(true))),
        (Kind::MaybeText, text) => Ok(Read::plain(Parsed::Text(text.unwrap_or("").to_owned()))),
        (Kind::Deprecated, _) => Ok(Read::plain(Parsed::Text(String::new()))),
        (_, None | Some("")) => {
            Err(Refused::whole("", "it has no value", format!("give it {}", kind.form())))
        }
        (_, Some(text)) => given(kind, text, units),
    }
}

fn given(kind: &Kind, text: &str, units: Units) -> Value<Parsed> {
    if let Some(one) = text.strip_suffix(',').filter(|one| is_one(kind) && !one.is_empty()) {
        let remark = format!("`{text}` is read as {one}: this option has one value");
        let read = given(kind, one, units)?;
        return Ok(Read { value: read.value, remark: read.remark.or(Some(remark)) });
    }
    match *kind {
        Kind::Flag => match text.parse::<i64>() {
            // fio treats any number but 0 as set.
            Ok(number) => Ok(Read::plain(Parsed::Bool(number != 0))),
            Err(_) => Ok(values::boolean(text)?.map(Parsed::Bool)),
        },
        Kind::Bool => Ok(values::boolean(text)?.map(Parsed::Bool)),
        Kind::Int(low, high) => {
            let read = values::count(text, units)?;
            within(text, read.value, low, high)?;
            Ok(read.map(Parsed::Int))
        }
        Kind::Size(low) => Ok(number(text, units, low, u64::MAX)?.map(Parsed::Int)),
        Kind::Signed(low, high) => signed(text, units, low, high),
        Kind::Ints(low, high) => ints(text, units, low, high),
        Kind::Sizes(low) => ints(text, units, low, u64::MAX),
        Kind::Amount => Ok(values::amount(text, units)?.map(Parsed::Amount)),
        Kind::Time(unit) => Ok(values::time(text, unit)?.map(Parsed::Time)),
        Kind::Times(unit) => times(text, unit),
        Kind::Choice(choices) => choose(text, choices).map(|i| Read::plain(Parsed::Choice(i))),
        Kind::Floats(low, high, most) => floats(text, low, high, most),
        Kind::Text | Kind::MaybeText | Kind::Own(..) | Kind::Deprecated => {
            Ok(Read::plain(Parsed::Text(text.to_owned())))
        }
    }
}

/// True for options with one number, which a comma may follow.
fn is_one(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Bool
            | Kind::Int(..)
            | Kind::Signed(..)
            | Kind::Size(_)
            | Kind::Amount
            | Kind::Time(_)
    )
}

fn number(text: &str, units: Units, low: u64, high: u64) -> Value<u64> {
    let read = values::bytes(text, units)?;
    within(text, read.value, low, high)?;
    Ok(read)
}

/// Refuses a value that is out of bounds.
pub(super) fn within(text: &str, value: u64, low: u64, high: u64) -> Result<(), Refused> {
    let named = if text == value.to_string() {
        format!("`{text}` is")
    } else {
        format!("`{text}` is {value},")
    };
    if value < low {
        let message = format!("{named} less than {low}");
        return Err(Refused::whole(text, message, format!("give at least {low}")));
    }
    if value > high {
        let message = format!("{named} more than {high}");
        return Err(Refused::whole(text, message, format!("give at most {high}")));
    }
    Ok(())
}

fn signed(text: &str, units: Units, low: i64, high: i64) -> Value<Parsed> {
    let read = values::integer(text, units)?;
    let fits = i64::try_from(read.value).ok().filter(|value| (low..=high).contains(value));
    let value = fits.ok_or_else(|| {
        let message = format!("`{text}` is not within {low} to {high}");
        Refused::whole(text, message, format!("give {low} to {high}"))
    })?;
    Ok(Read { value: Parsed::Signed(value), remark: read.remark })
}

fn ints(text: &str, units: Units, low: u64, high: u64) -> Value<Parsed> {
    Ok(values::numbers_by_direction(text, |part| number(part, units, low, high))?
        .map(|three| Parsed::Ints(per_op(three))))
}

fn times(text: &str, unit: TimeUnit) -> Value<Parsed> {
    let read = values::numbers_by_direction(text, |part| values::time(part, unit))?;
    Ok(read.map(|three| Parsed::Times(per_op(three))))
}

/// Converts three values to reads, writes and trims.
pub(super) fn per_op<T>([read, write, trim]: [T; 3]) -> PerDirection<T> {
    PerDirection { read, write, trim }
}

fn floats(text: &str, low: f64, high: f64, most: usize) -> Value<Parsed> {
    let read = values::floats(text)?;
    if read.value.len() > most {
        let message = format!(
            "`{text}` has {} numbers, the list exceeding max length {most}",
            read.value.len()
        );
        return Err(Refused::whole(text, message, format!("give at most {most}")));
    }
    if let Some(value) = read.value.iter().find(|value| !(low..=high).contains(*value)) {
        let message = format!("value out of range: `{value}` is not within {low} to {high}");
        return Err(Refused::whole(text, message, format!("give {low} to {high}")));
    }
    Ok(read.map(Parsed::Floats))
}
