//! Times.

use candor_plan::Nanos;

use super::arithmetic;
use super::number::{before, number_and_unit, stops_there, whole};
use super::{Read, Refused, Value};

/// The unit of a time that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, as `runtime` does.
    Seconds,
    /// Microseconds, as `thinktime` does.
    Micros,
}

impl TimeUnit {
    fn micros(self) -> i128 {
        match self {
            TimeUnit::Seconds => SECOND,
            TimeUnit::Micros => 1,
        }
    }
}

/// Microseconds, the resolution of fio.
const SECOND: i128 = 1_000_000;

/// Maximum time in microseconds, whose nanoseconds still fit.
const MICROS_MAX: i128 = (u64::MAX / 1000) as i128;

/// A time: a whole number and d, h, m, s, ms or us. In parentheses the default is microseconds.
pub fn time(text: &str, default: TimeUnit) -> Value<Nanos> {
    if text.starts_with('(') {
        let micros = arithmetic::evaluate(text, &|unit| micros_of_unit(unit))?;
        return nanos(text, micros).map(Read::plain);
    }
    if let Some(head) = before(text, &['*', '+']) {
        let read = time(head, default)?;
        let of_default = |sum: i128| if has_unit(text) { sum } else { sum * default.micros() };
        let sum = arithmetic::evaluate(text, &|unit| micros_of_unit(unit))
            .ok()
            .map(|sum| shown(of_default(sum)));
        let remark = stops_there(text, head, &read.value.to_string(), sum);
        return Ok(Read { value: read.value, remark: Some(remark) });
    }
    if let Some(read) = without_decimals(text, default) {
        return read;
    }
    let Some((digits, unit)) = number_and_unit(text) else { return Err(misread(text, default)) };
    let factor = match unit {
        "" => default.micros(),
        _ => micros_of_unit(unit).ok_or_else(|| misread(text, default))?,
    };
    let micros = whole(digits).and_then(|value| value.checked_mul(factor));
    let value = nanos(text, micros.unwrap_or(i128::MAX))?;
    let remark = unit.eq_ignore_ascii_case("sec").then(|| {
        format!(
            "`{text}` is read in seconds, as fio's manual says; fio 3.33 takes it as microseconds"
        )
    });
    Ok(Read { value, remark })
}

/// `1.5s`, whose decimals fio drops.
fn without_decimals(text: &str, default: TimeUnit) -> Option<Value<Nanos>> {
    let (whole, rest) = text.split_once('.')?;
    let letters = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (decimals, unit) = rest.split_at(letters);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_unit = unit.is_empty() || micros_of_unit(unit).is_some();
    if !is_number(whole) || !is_number(decimals) || !is_unit {
        return None;
    }
    let meant = meant(text, default).map(shown)?;
    Some(time(&format!("{whole}{unit}"), default).map(|read| {
        let remark = format!(
            "`{text}` is read as {}, as fio does, which drops decimals; it looks like {meant}",
            read.value
        );
        Read { value: read.value, remark: Some(remark) }
    }))
}

fn has_unit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_alphabetic())
}

fn nanos(text: &str, micros: i128) -> Result<Nanos, Refused> {
    if micros < 0 {
        return Err(Refused::whole(text, format!("`{text}` is negative"), "give 0 or more"));
    }
    match u64::try_from(micros.min(MICROS_MAX + 1)) {
        Ok(fits) if micros <= MICROS_MAX => Ok(Nanos(fits * 1000)),
        _ => {
            let message = format!("`{text}` is longer than 584 years");
            Err(Refused::whole(text, message, "give a shorter time"))
        }
    }
}

/// Microseconds of a unit.
fn micros_of_unit(unit: &str) -> Option<i128> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1,
        "ms" | "msec" => 1000,
        "s" | "sec" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        "d" => 86_400 * SECOND,
        _ => return None,
    })
}

/// Refuses a word, with fio's reading and the probable meaning.
fn misread(text: &str, default: TimeUnit) -> Refused {
    let hint = "write a whole number and d, h, m, s, ms or us";
    let Some(read) = lenient(text, default) else {
        return Refused::whole(text, format!("`{text}` is not a time"), hint);
    };
    let read = shown(read);
    let (message, remedy) = match meant(text, default).map(shown) {
        Some(meant) if meant != read => (
            format!(
                "`{text}` is not a whole number with a unit: fio takes it as {read}, but it looks \
                 like {meant}"
            ),
            format!("write {meant} or {read}"),
        ),
        _ => (format!("`{text}` is not a time: fio takes it as {read}"), hint.to_owned()),
    };
    Refused::whole(text, message, remedy)
}

/// Texts that fio accepts, in microseconds: the digits times the unit if the rest is one, else in
/// microseconds.
fn lenient(text: &str, default: TimeUnit) -> Option<i128> {
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let value: i128 = text[..digits].parse().ok()?;
    let letters = text[digits..].find(|c: char| c.is_ascii_alphabetic());
    let factor = match letters {
        None => default.micros(),
        Some(at) => match &text[digits + at..] {
            unit if unit.eq_ignore_ascii_case("sec") => 1,
            unit => micros_of_unit(unit).unwrap_or(1),
        },
    };
    value.checked_mul(factor)
}

/// The time that a person means by decimals or several units, in microseconds.
fn meant(text: &str, default: TimeUnit) -> Option<i128> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (mut rest, mut micros) = (compact.as_str(), 0.0);
    while !rest.is_empty() {
        let number = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let unit = rest[number..].bytes().take_while(u8::is_ascii_alphabetic).count();
        if number == 0 {
            return None;
        }
        micros +=
            rest[..number].parse::<f64>().ok()? * person(&rest[number..number + unit], default)?;
        rest = &rest[number + unit..];
    }
    (micros < MICROS_MAX as f64).then_some(micros as i128)
}

/// Microseconds of a unit as people write it.
fn person(unit: &str, default: TimeUnit) -> Option<f64> {
    let known = micros_of_unit(unit).map(|micros| micros as f64);
    known.or_else(|| match unit.to_ascii_lowercase().as_str() {
        "" => Some(default.micros() as f64),
        "ns" | "nsec" => Some(0.001),
        "secs" | "second" | "seconds" => Some(SECOND as f64),
        "min" | "mins" | "minute" | "minutes" => Some(60.0 * SECOND as f64),
        "hr" | "hour" | "hours" => Some(3600.0 * SECOND as f64),
        "day" | "days" => Some(86_400.0 * SECOND as f64),
        _ => None,
    })
}

/// Microseconds in the largest unit without remainder, as in fio.
fn shown(micros: i128) -> String {
    let units = [(SECOND, "s"), (1000, "ms"), (1, "us")];
    let (size, name) = units.iter().find(|(size, _)| micros % size == 0).unwrap_or(&units[2]);
    format!("{}{name}", micros / size)
}
