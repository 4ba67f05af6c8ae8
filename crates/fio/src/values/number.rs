//! Whole numbers with units of size.

use smart_default::SmartDefault;

use super::arithmetic;
use super::{Read, Refused, Value};

/// The meaning of units of size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, SmartDefault)]
pub struct Units {
    /// `kb_base`: 1024 swaps the meanings of kB and KiB, 1000 follows the standards.
    #[default = 1024]
    pub kb_base: u32,
}

/// An amount that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, SmartDefault)]
pub enum Amount {
    /// Bytes.
    #[default]
    Bytes(u64),
    /// Percent of the target.
    Percent(u32),
    /// Zones of the target.
    Zones(u64),
}

/// A size in bytes, or any other number that is not negative: `4k`, `0x1000`, `(4*1024)`.
pub fn bytes(text: &str, units: Units) -> Value<u64> {
    let read = integer(text, units)?;
    match u64::try_from(read.value) {
        Ok(value) => Ok(Read { value, remark: read.remark }),
        Err(_) if read.value < 0 => {
            // fio computes with 64 bits.
            let taken = (1i128 << 64) + read.value;
            let message = format!("`{text}` is negative: fio takes it as {taken}");
            Err(Refused::whole(text, message, "give 0 or more"))
        }
        Err(_) => Err(too_large(text)),
    }
}

/// A whole number with an optional unit of size; it may be negative.
pub fn integer(text: &str, units: Units) -> Value<i128> {
    if text.starts_with('(') {
        return arithmetic::evaluate(text, &|unit| size_of_unit(unit, units)).map(Read::plain);
    }
    if text.ends_with(')') && !text.contains('(') {
        return without_bracket(text, units);
    }
    if let Some(head) = before(text, &[';']) {
        let read = integer(head, units)?;
        let remark = stops_there(text, head, &read.value.to_string(), None);
        return Ok(Read { value: read.value, remark: Some(remark) });
    }
    let Some((digits, unit)) = number_and_unit(text) else { return Err(misread(text, units)) };
    let factor = size_of_unit(unit, units).ok_or_else(|| misread(text, units))?;
    let value = whole(digits).ok_or_else(|| too_large(text))?;
    let value = value.checked_mul(factor).filter(|value| value.unsigned_abs() <= MAX);
    let value = value.ok_or_else(|| too_large(text))?;
    Ok(Read { value, remark: oddly_read(text, unit, value, units) })
}

/// A number that counts something other than bytes: `128*1` is 128 and `1s` is 1, as fio reads no
/// further.
pub fn count(text: &str, units: Units) -> Value<u64> {
    if let Some(head) = before(text, &['*', '+']) {
        let read = bytes(head, units)?;
        let sum = arithmetic::evaluate(text, &|unit| size_of_unit(unit, units)).ok();
        let remark = stops_there(text, head, &read.value.to_string(), sum.map(|n| n.to_string()));
        return Ok(Read { value: read.value, remark: Some(remark) });
    }
    let seconds = text
        .strip_suffix(['s', 'S'])
        .filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(number) = seconds else { return bytes(text, units) };
    let remark = format!(
        "`{text}` is read as {number}, as fio does: this is a number without a unit of time, and \
         no {number} seconds"
    );
    bytes(number, units).map(|read| Read { value: read.value, remark: Some(remark) })
}

/// The number before one of these characters: `128` of `128*1`, `4k` of `4k;8k`.
pub(super) fn before<'a>(text: &'a str, stops: &[char]) -> Option<&'a str> {
    let (head, _) = text.split_at(text.find(stops)?);
    number_and_unit(head).map(|_| head)
}

/// The remark on a value that fio reads only up to an operator, with the result if computable.
pub(super) fn stops_there(text: &str, head: &str, read: &str, sum: Option<String>) -> String {
    let stop = &text[head.len()..head.len() + 1];
    let meant = sum.map_or_else(String::new, |sum| format!("; as arithmetic it would be {sum}"));
    format!("`{text}` is read as {read}, as fio does, which stops at `{stop}`{meant}")
}

/// An unmatched bracket changes no number, so fio's reading is the meant one.
fn without_bracket(text: &str, units: Units) -> Value<i128> {
    let read = integer(text.trim_end_matches(')'), units)?;
    let remark =
        format!("`{text}` is read as {}: nothing opens the bracket at its end", read.value);
    Ok(Read { value: read.value, remark: Some(remark) })
}

/// 0 or 1.
pub fn boolean(text: &str) -> Value<bool> {
    match number_and_unit(text).map(|(digits, unit)| (whole(digits), unit)) {
        Some((Some(0), "")) => Ok(Read::plain(false)),
        Some((Some(1), "")) => Ok(Read::plain(true)),
        _ => Err(Refused::whole(text, format!("`{text}` is neither 0 nor 1"), "write 0 or 1")),
    }
}

/// A size that may be a percentage of the target (`10%`) or a number of its zones (`4z`).
pub fn amount(text: &str, units: Units) -> Value<Amount> {
    let Some(unit) = text.chars().next_back().filter(|c| "%zZ".contains(*c)) else {
        return bytes(text, units).map(|read| read.map(Amount::Bytes));
    };
    let number = &text[..text.len() - 1];
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !plain {
        let read =
            lenient(text, units).map_or_else(String::new, |n| format!("; fio takes it as {n}"));
        let what = if unit == '%' { "percentage" } else { "number of zones" };
        let message = format!("`{text}` is not a whole {what}{read}");
        return Err(Refused::whole(
            text,
            message,
            format!("write a whole number before the {unit}"),
        ));
    }
    match unit {
        '%' => number.parse().map(Amount::Percent).ok(),
        _ => number.parse().map(Amount::Zones).ok(),
    }
    .map(Read::plain)
    .ok_or_else(|| too_large(text))
}

/// The largest number that fits, up to its sign.
const MAX: u128 = u64::MAX as u128;

fn too_large(text: &str) -> Refused {
    let message = format!("`{text}` is too large for 64 bits");
    Refused::whole(text, message, "give a smaller number")
}

/// A number and the letters after it, if the text contains nothing else but final spaces.
pub(super) fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end();
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = text.len() - body.len();
    let is_hex = body.starts_with("0x") || body.starts_with("0X");
    let (prefix, digit): (usize, fn(&u8) -> bool) =
        if is_hex { (2, u8::is_ascii_hexdigit) } else { (0, u8::is_ascii_digit) };
    let digits = body.as_bytes()[prefix..].iter().take_while(|byte| digit(byte)).count();
    let (number, unit) = text.split_at(sign + prefix + digits);
    // A unit after hex digits would be ambiguous.
    let unit_is_one = unit.bytes().all(|byte| byte.is_ascii_alphabetic());
    (digits > 0 && unit_is_one && (unit.is_empty() || !is_hex)).then_some((number, unit))
}

/// The number of digits with a sign and a prefix.
pub(super) fn whole(digits: &str) -> Option<i128> {
    let (negative, body) = match digits.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    let hex = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"));
    let value = match hex {
        Some(hex) => i128::from_str_radix(hex, 16),
        None => body.parse(),
    };
    let value = value.ok().filter(|value| value.unsigned_abs() <= MAX)?;
    Some(if negative { -value } else { value })
}

/// Bytes of a unit of size. fio needs the `b` before it reads the `i` as the other base: `ki`
/// equals `k`.
pub(super) fn size_of_unit(unit: &str, units: Units) -> Option<i128> {
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit == "b" {
        return Some(1);
    }
    let power = 1 + "kmgtp".find(unit.chars().next()?)?;
    let other = match &unit[1..] {
        "" | "b" | "i" => false,
        "ib" => true,
        _ => return None,
    };
    let base: i128 = if (units.kb_base == 1000) == other { 1024 } else { 1000 };
    base.checked_pow(u32::try_from(power).ok()?)
}

/// The remark that an oddly read unit deserves.
fn oddly_read(text: &str, unit: &str, value: i128, units: Units) -> Option<String> {
    let unit = unit.to_ascii_lowercase();
    let with_i = unit.get(1..2) == Some("i");
    match (with_i, unit.ends_with('b'), units.kb_base) {
        (true, true, 1024) => Some(format!(
            "`{text}` is {value} bytes: under kb_base=1024 fio counts units with an i in thousands"
        )),
        (true, false, base) => Some(format!(
            "`{text}` is {value} bytes: fio reads an i without the b as if it were not there, and \
             kb_base is {base}"
        )),
        _ => None,
    }
}

/// Texts that fio reads as far as possible, though no number with a unit.
fn lenient(text: &str, units: Units) -> Option<i128> {
    let text = text.trim_start();
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_hex = body.starts_with("0x") || body.starts_with("0X");
    let digit: fn(&u8) -> bool = if is_hex { u8::is_ascii_hexdigit } else { u8::is_ascii_digit };
    let prefix = if is_hex { 2 } else { 0 };
    let digits = body.as_bytes()[prefix..].iter().take_while(|byte| digit(byte)).count();
    let (number, rest) = text.split_at(text.len() - body.len() + prefix + digits);
    let rest: String = rest.chars().take(3).collect::<String>().to_ascii_lowercase();
    // fio ignores letters after a unit.
    let unit = match rest.chars().next().filter(|first| !is_hex && "kmgtp".contains(*first)) {
        Some(_) if rest[1..] == *"ib" => rest.as_str(),
        Some(_) => &rest[..1],
        None => "",
    };
    whole(number)?.checked_mul(size_of_unit(unit, units)?)
}

/// Refuses a word, with fio's reading and the probable meaning.
fn misread(text: &str, units: Units) -> Refused {
    let is_list = text.contains([',', '/']);
    let looks_like_range = text.split(['-', ':']).count() == 2
        && text.split(['-', ':']).all(|end| number_and_unit(end).is_some());
    if let Some(refused) = of_the_target(text) {
        return refused;
    }
    let meant = meant(text, units);
    let Some(read) = lenient(text, units) else {
        let message = format!("`{text}` is not a number");
        return Refused::whole(text, message, "write a whole number with a unit, such as 4k");
    };
    let reading = format!("fio takes it as {read}");
    let (message, remedy) = match meant {
        Some(meant) if meant != read => (
            format!("`{text}` is not a whole number: {reading}, but it looks like {meant}"),
            format!("write {meant} or {read}"),
        ),
        _ if looks_like_range => (
            format!("`{text}` is a range where one number belongs: {reading}"),
            format!("write {read}, or use the option for ranges"),
        ),
        _ if is_list => (
            format!("`{text}` is a list where one number belongs: {reading}"),
            format!("write {read} if that is meant"),
        ),
        _ => (
            format!("`{text}` is not a number with a unit: {reading} and drops the rest"),
            format!("write {read} if that is meant"),
        ),
    };
    Refused::whole(text, message, remedy)
}

/// Refuses percentages and zones for other options.
fn of_the_target(text: &str) -> Option<Refused> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    let message = match unit {
        // fio marks percentages by counting down from the top of 64 bits.
        "%" => format!("`{text}` is a percentage: fio takes it as {}", u64::MAX - number),
        "z" | "Z" => format!("`{text}` counts zones"),
        _ => return None,
    };
    Some(Refused::whole(text, message, "this option takes plain numbers only, such as 4k"))
}

/// The number that a person means by decimals, an exponent or a blank before its unit.
fn meant(text: &str, units: Units) -> Option<i128> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    if let Some((digits, unit)) = number_and_unit(&compact) {
        // KiB after a space means 1024.
        let standard = unit.get(1..).is_some_and(|rest| rest.eq_ignore_ascii_case("ib"));
        let units = if standard { Units { kb_base: 1000 } } else { units };
        return whole(digits)?.checked_mul(size_of_unit(unit, units)?);
    }
    if let Some(hex) = compact.to_ascii_lowercase().strip_prefix("0x") {
        let digits = hex.find(|c: char| !c.is_ascii_hexdigit())?;
        let value = i128::from_str_radix(&hex[..digits], 16).ok()?;
        return value.checked_mul(size_of_unit(&hex[digits..], units)?);
    }
    let letters = compact.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let (number, unit) = compact.split_at(letters);
    let number: f64 = number.parse().ok()?;
    let value = number * size_of_unit(unit, units)? as f64;
    (value.is_finite() && value.abs() < u64::MAX as f64).then_some(value as i128)
}
