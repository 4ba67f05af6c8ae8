//! How numbers with a suffix are read: sizes, times and rates.

use std::str::FromStr;

use super::{Bytes, BytesPerSec, Nanos, OpsPerSec, UnitError};

/// Why a well-formed number cannot be used.
enum Misfit {
    /// A value that is not a whole number of the smallest unit.
    Fraction,
    /// A value that does not fit into 64 bits.
    TooLarge,
}

/// The text as messages show it: in back-quotes, cut where it is long.
pub(super) fn quote(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 40;
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None if text.trim().is_empty() => "an empty text".to_owned(),
        None => format!("`{text}`"),
    }
}

/// Splits `1.5k` into its decimal number, as digits and number of fractional digits, and the rest.
///
/// Numbers of more than 20 digits before or 9 after the point are refused, so that the arithmetic
/// of [`scaled`] stays within 128 bits.
fn split_number(text: &str) -> Option<(u128, u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || fraction.len() > 9 || whole.len() > 20 {
        return None;
    }
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, fraction.len() as u32, rest))
}

/// `digits / 10^places * scale`, where that is a whole number that fits.
fn scaled(digits: u128, places: u32, scale: u64) -> Result<u64, Misfit> {
    let product = digits.checked_mul(u128::from(scale)).ok_or(Misfit::TooLarge)?;
    let divisor = 10u128.pow(places);
    match product % divisor {
        0 => u64::try_from(product / divisor).map_err(|_| Misfit::TooLarge),
        _ => Err(Misfit::Fraction),
    }
}

/// The complaint about `text`, which should have been a `what`.
fn complaint(text: &str, what: &str, why: Option<&Misfit>, remedy: &str) -> UnitError {
    let text = quote(text);
    UnitError(match why {
        None => format!("{text} is not a {what}; {remedy}"),
        Some(Misfit::Fraction) => format!("{text} is not a whole number as a {what}; {remedy}"),
        Some(Misfit::TooLarge) => format!("{text} is too large for a {what}; {remedy}"),
    })
}

/// Power of 1000 or 1024 of a suffix.
fn power(letter: char) -> Option<u32> {
    "kmgtp".find(letter).map(|i| i as u32 + 1)
}

fn size_scale(suffix: &str) -> Option<u64> {
    let lower = suffix.to_ascii_lowercase();
    let mut letters = lower.chars();
    match (letters.next(), letters.as_str()) {
        (None, _) | (Some('b'), "") => Some(1),
        (Some(letter), "" | "i" | "ib") => Some(1 << (10 * power(letter)?)),
        (Some(letter), "b") => Some(1000u64.pow(power(letter)?)),
        _ => None,
    }
}

fn parse_size(text: &str) -> Option<Result<u64, Misfit>> {
    let (digits, places, suffix) = split_number(text)?;
    Some(scaled(digits, places, size_scale(suffix.trim_start())?))
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "write a whole number of bytes, with k, m, g, t or p (powers of 1024) or \
                      kB, MB, … (powers of 1000)";
        match parse_size(text.trim()) {
            Some(Ok(bytes)) => Ok(Bytes(bytes)),
            Some(Err(why)) => Err(complaint(text, "size", Some(&why), remedy)),
            None => Err(complaint(text, "size", None, remedy)),
        }
    }
}

fn time_scale(suffix: &str) -> Option<u64> {
    Some(match suffix {
        "ns" => 1,
        "us" | "µs" | "μs" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    })
}

fn parse_time(text: &str) -> Option<Result<u64, Misfit>> {
    if text == "0" {
        return Some(Ok(0));
    }
    let mut rest = text;
    let mut total = 0u64;
    while !rest.is_empty() {
        let (digits, places, after) = split_number(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let part = match scaled(digits, places, time_scale(after[..end].trim())?) {
            Ok(part) => part,
            Err(why) => return Some(Err(why)),
        };
        let Some(sum) = total.checked_add(part) else {
            return Some(Err(Misfit::TooLarge));
        };
        total = sum;
        rest = &after[end..];
    }
    (!text.is_empty()).then_some(Ok(total))
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "write a number with ns, us, ms, s, m, h or d, such as 30s or 1m30s";
        match parse_time(text.trim()) {
            Some(Ok(nanos)) => Ok(Nanos(nanos)),
            Some(Err(why)) => Err(complaint(text, "time", Some(&why), remedy)),
            None => Err(complaint(text, "time", None, remedy)),
        }
    }
}

/// The text without a final `/s`.
fn per_second(text: &str) -> &str {
    let text = text.trim();
    text.strip_suffix("/s").unwrap_or(text).trim_end()
}

impl FromStr for BytesPerSec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "write bytes per second as a size, such as 100MB or 1GiB/s";
        match parse_size(per_second(text)) {
            Some(Ok(bytes)) => Ok(BytesPerSec(bytes)),
            Some(Err(why)) => Err(complaint(text, "rate", Some(&why), remedy)),
            None => Err(complaint(text, "rate", None, remedy)),
        }
    }
}

fn parse_ops(text: &str) -> Option<Result<u64, Misfit>> {
    let (digits, places, suffix) = split_number(text)?;
    let scale = match suffix.trim_start() {
        "" => 1,
        "k" | "K" => 1000,
        "m" | "M" => 1_000_000,
        _ => return None,
    };
    Some(scaled(digits, places, scale))
}

impl FromStr for OpsPerSec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let remedy = "write operations per second, such as 20000 or 20k (k and M are decimal)";
        match parse_ops(per_second(text)) {
            Some(Ok(ops)) => Ok(OpsPerSec(ops)),
            Some(Err(why)) => Err(complaint(text, "rate", Some(&why), remedy)),
            None => Err(complaint(text, "rate", None, remedy)),
        }
    }
}
