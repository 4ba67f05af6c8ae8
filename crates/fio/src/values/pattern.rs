//! Patterns of data: `"text"`, `0xdead`, `-12`, `%o`, `'file'`, in sequence.

use super::{Read, Refused, Value};

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The offset of the block, as eight bytes, the lowest first.
    Offset,
    /// The content of that file.
    File(String),
}

/// The parts of a pattern in order; adjacent bytes are one part.
pub fn pattern(text: &str) -> Value<Vec<PatternPart>> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (length, part) = next(&text[at..]).map_err(|refused| refused.behind(at))?;
        at += length;
        match (all.last_mut(), part) {
            (Some(PatternPart::Bytes(before)), PatternPart::Bytes(more)) => before.extend(more),
            (_, part) => all.push(part),
        }
    }
    let is_empty = all.iter().all(|part| *part == PatternPart::Bytes(Vec::new()));
    if is_empty {
        Err(Refused::whole(text, format!("`{text}` is an empty pattern"), HINT))
    } else {
        Ok(Read::plain(all))
    }
}

const HINT: &str = "write \"text\", 0xdead, a number, %o or 'file', one behind the other";

/// The first part of `text`, and how long it is.
fn next(text: &str) -> Result<(usize, PatternPart), Refused> {
    let here = text.chars().next().map_or(0, char::len_utf8);
    let wrong = |why: String| {
        let part = 0..here;
        Refused { message: why, remedy: HINT.to_owned(), part }
    };
    if let Some(quote) = text.chars().next().filter(|c| "\"'".contains(*c)) {
        let Some(length) = text[1..].find(quote) else {
            return Err(wrong(format!("`{text}` has no closing {quote}")));
        };
        let inside = &text[1..=length];
        let part = match quote {
            '"' => PatternPart::Bytes(inside.as_bytes().to_vec()),
            _ => PatternPart::File(inside.to_owned()),
        };
        return Ok((length + 2, part));
    }
    if text.starts_with("%o") {
        return Ok((2, PatternPart::Offset));
    }
    if text.starts_with("0x") || text.starts_with("0X") {
        let digits = text[2..].bytes().take_while(u8::is_ascii_hexdigit).count();
        let digits = before_hex(&text[2..], digits);
        return match digits {
            0 => Err(wrong(format!("`{text}` has no hexadecimal digits"))),
            _ => Ok((2 + digits, PatternPart::Bytes(hex_bytes(&text[2..2 + digits])))),
        };
    }
    let blanks = text.len() - text.trim_start().len();
    decimal(&text[blanks..])
        .map(|(length, bytes)| (blanks + length, PatternPart::Bytes(bytes)))
        .ok_or_else(|| wrong(format!("`{text}` is no part of a pattern")))
}

/// The bytes of hexadecimal digits in written order; an odd first digit is one byte.
fn hex_bytes(digits: &str) -> Vec<u8> {
    let nibbles: Vec<u8> =
        digits.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    let (first, rest) = nibbles.split_at(nibbles.len() % 2);
    let pairs = rest.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]);
    first.iter().copied().chain(pairs).collect()
}

/// A decimal number of 32 bits as bytes, the lowest first, without the zero bytes at the top.
fn decimal(text: &str) -> Option<(usize, Vec<u8>)> {
    let sign = usize::from(text.starts_with('-'));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    let digits = before_hex(&text[sign..], digits);
    let value: i32 = text[..sign + digits].parse().ok()?;
    let bytes = value.to_le_bytes();
    let kept = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    Some((sign + digits, bytes[..kept].to_vec()))
}

/// How many of that many digits belong to the number: in 120xdead and 0x000xff the last zero begins
/// the next one.
fn before_hex(text: &str, digits: usize) -> usize {
    let begins = text[..digits].ends_with('0') && text[digits..].starts_with(['x', 'X']);
    digits - usize::from(digits > 1 && begins)
}
