//! dd's numbers: decimal, with units and products.

/// Units by their names.
const UNITS: &[(&str, u128)] =
    &[("c", 1), ("w", 2), ("b", 512), ("kiB", 1 << 10), ("kB", 1000), ("k", 1 << 10)];
/// Letters of powers of 1000 and 1024.
const POWERS: &str = "KMGTPEZYRQ";

/// A number as read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The value.
    pub value: u64,
    /// True if a unit ends in `B`: the number counts bytes, where other numbers count blocks.
    pub in_bytes: bool,
}

/// Reason for which a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Another form.
    Form,
    /// Larger than the maximum.
    TooLarge,
}

/// Reads a number of at most `max`.
pub fn read(text: &str, max: u64) -> Result<Number, Wrong> {
    let mut number = Number { value: 1, in_bytes: false };
    let (mut value, mut is_larger) = (1_u64, false);
    for (nth, text) in text.split('x').enumerate() {
        let factor = factor(text);
        // Only the first factor may have a `B`.
        let is_behind = nth > 0 && factor.is_ok_and(|factor| factor.in_bytes);
        match factor {
            Ok(_) if is_behind => return Err(Wrong::Form),
            Ok(factor) => {
                is_larger &= factor.value > 0;
                match value.checked_mul(factor.value) {
                    Some(product) => value = product,
                    None => is_larger = true,
                }
            }
            Err(Wrong::Form) => return Err(Wrong::Form),
            Err(Wrong::TooLarge) => is_larger = value > 0,
        }
    }
    number.value = value;
    // dd searches the whole word for `B`: both `1kB` and `5B` count bytes.
    number.in_bytes = text.contains('B');
    if is_larger || value > max { Err(Wrong::TooLarge) } else { Ok(number) }
}

/// True if a factor is `0x`, which makes the product zero; the user may have meant a hexadecimal
/// number.
pub fn has_zero_multiplier(text: &str) -> bool {
    let mut factors = text.split('x').peekable();
    let mut is_zero = false;
    while let Some(factor) = factors.next() {
        is_zero |= factor == "0" && factors.peek().is_some_and(|next| !next.is_empty());
    }
    is_zero
}

/// A number with its unit; a unit without a number is one unit.
fn factor(text: &str) -> Result<Number, Wrong> {
    let trimmed = text.trim_start_matches([' ', '\t', '\n', '\u{b}', '\u{c}', '\r']);
    let unsigned = trimmed.strip_prefix('+').unwrap_or(trimmed);
    let digits = unsigned.len() - unsigned.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = unsigned.split_at(digits);
    let (unit, name, rest) = unit(rest);
    let (in_bytes, rest) = match rest.strip_prefix('B') {
        // Longer names end in `B` themselves.
        Some(rest) if name.len() <= 1 => (true, rest),
        _ => (false, rest),
    };
    let is_number = !number.is_empty() || (!name.is_empty() && unsigned.len() == text.len());
    if !is_number || !rest.is_empty() {
        return Err(Wrong::Form);
    }
    let number = if number.is_empty() { "1" } else { number };
    let value = number.parse::<u64>().map_err(|_| Wrong::TooLarge)?;
    let value = if value == 0 { Some(0) } else { u128::from(value).checked_mul(unit) };
    let value = value.and_then(|value| u64::try_from(value).ok()).ok_or(Wrong::TooLarge)?;
    Ok(Number { value, in_bytes })
}

/// The unit at the start of a text, its name, and the rest.
fn unit(text: &str) -> (u128, &str, &str) {
    for (name, bytes) in UNITS {
        if let Some(rest) = text.strip_prefix(name) {
            return (*bytes, name, rest);
        }
    }
    let letter = text.chars().next().and_then(|letter| POWERS.find(letter));
    let Some(power) = letter.and_then(|power| u32::try_from(power + 1).ok()) else {
        return (1, "", text);
    };
    let (base, length) = match &text[1..] {
        rest if rest.starts_with("iB") => (1024_u128, 3),
        rest if rest.starts_with('B') => (1000, 2),
        _ => (1024, 1),
    };
    let (name, rest) = text.split_at(length);
    (base.pow(power), name, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_products() {
        for (text, value) in [
            ("7", 7),
            ("+1", 1),
            (" 1", 1),
            ("2w", 4),
            ("3c", 3),
            ("1b", 512),
            ("1k", 1024),
            ("1kB", 1000),
            ("1KB", 1000),
            ("1KiB", 1024),
            ("1M", 1 << 20),
            ("1MB", 1_000_000),
            ("2x3", 6),
            ("1KxK", 1 << 20),
            ("k", 1024),
            ("cB", 1),
            ("2x3x4k", 24 << 10),
            ("1xM", 1 << 20),
            ("0Z", 0),
            ("0x99999999999999999999", 0),
        ] {
            assert_eq!(read(text, u64::MAX).map(|number| number.value), Ok(value), "{text}");
        }
        let bytes = |text| read(text, u64::MAX).map(|number| (number.value, number.in_bytes));
        assert_eq!(bytes("5B"), Ok((5, true)));
        assert_eq!(bytes("5Bx2"), Ok((10, true)));
        assert_eq!(bytes("3cB"), Ok((3, true)));
        for (text, value) in [("1kB", 1000), ("1MB", 1_000_000), ("2KiB", 2048), ("2x1kB", 2000)] {
            assert_eq!(bytes(text), Ok((value, true)), "{text}");
        }
        assert_eq!([bytes("1k"), bytes("2M")], [Ok((1024, false)), Ok((2 << 20, false))]);
    }

    #[test]
    fn other_forms_are_refused() {
        for text in [
            "", "x", "1q", "-1", "1 ", "2x", "2xx3", "1m", "1g", "2b3", "2bb", "2BB", "1x5B",
            "1kib", "B", "+k", " k", "1kBB", "7xB", "x2",
        ] {
            assert_eq!(read(text, u64::MAX), Err(Wrong::Form), "{text}");
        }
        for text in ["99999999999999999999", "1Z", "1Y", "16E", "2x9223372036854775808"] {
            assert_eq!(read(text, u64::MAX), Err(Wrong::TooLarge), "{text}");
        }
        assert_eq!(read("11", 10), Err(Wrong::TooLarge));
    }

    #[test]
    fn hexadecimal_looks_are_noted() {
        let looks = ["0x10", "00x4", "2x0x3", "0x", "10x2"].map(has_zero_multiplier);
        assert_eq!(looks, [true, false, true, false, false]);
    }
}
