//! The values of IOR's options: numbers with a one-letter unit, memory, lists of directives.

use std::ops::RangeInclusive;
use std::time::Duration;

use candor_front::{Refused, Span, Word};
use candor_ior_family::words::{unit_power, wrong_form};

/// A number with an optional unit: `64`, `8m`, `-1`, `4GiB`. IOR reads only the first letter of a
/// unit: `GB` and `GiB` are powers of 1024, too.
///
/// # Errors
/// The word has another form, or the number exceeds 63 bits.
pub fn number(text: &str) -> Result<i64, Refused> {
    let word = text.trim();
    let sign = usize::from(word.starts_with('-'));
    let digits_end =
        word[sign..].find(|c: char| !c.is_ascii_digit()).map_or(word.len(), |n| sign + n);
    let (digits, unit) = word.split_at(digits_end);
    let number: i64 = if digits.len() > sign {
        digits.parse().map_err(|_| too_large(text))?
    } else {
        return Err(wrong_form(text, format!("`{text}` is no number")));
    };
    let power = unit_power(unit.trim_start()).ok_or_else(|| {
        let fault = if unit.starts_with('.') {
            format!("`{text}` is no whole number: IOR would read {digits}")
        } else {
            format!("`{text}` has a unit that IOR does not know")
        };
        wrong_form(text, fault)
    })?;
    number.checked_mul(1 << (10 * power)).ok_or_else(|| too_large(text))
}

fn too_large(text: &str) -> Refused {
    wrong_form(text, format!("{} does not fit in 63 bits", text.trim()))
}

/// A number within bounds.
///
/// # Errors
/// The word is no number, or out of bounds.
pub fn within(text: &str, bounds: RangeInclusive<i64>) -> Result<i64, Refused> {
    let number = number(text)?;
    if bounds.contains(&number) {
        Ok(number)
    } else {
        let remedy = format!("give {} to {}", bounds.start(), bounds.end());
        Err(Refused::whole(text, format!("{number} is out of range"), remedy))
    }
}

/// A time in seconds, with optional decimals: `2`, `0.5`.
///
/// # Errors
/// The word has another form, or the time exceeds 32 bits of seconds.
pub fn seconds(text: &str) -> Result<Duration, Refused> {
    let word = text.trim();
    let (whole, decimals) = word.split_once('.').unwrap_or((word, ""));
    let is_decimal = |digits: &str| digits.bytes().all(|c| c.is_ascii_digit());
    if decimals.is_empty() || !is_decimal(whole) || !is_decimal(decimals) {
        let seconds = within(text, 0..=i64::from(u32::MAX))?;
        return Ok(Duration::from_secs(seconds.unsigned_abs()));
    }
    let seconds = word.parse().ok().filter(|seconds| *seconds <= f64::from(u32::MAX));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        let remedy = "give seconds, such as 2 or 0.5";
        Refused::whole(text, format!("`{text}` is no time"), remedy)
    })
}

/// A flag: `0` disables it, other numbers set it or its count; without a value it is counted.
///
/// # Errors
/// The word is no number.
pub fn flag(text: &str, before: u32) -> Result<u32, Refused> {
    if text.is_empty() {
        return Ok(before.saturating_add(1));
    }
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => return Ok(1),
        "false" | "no" | "off" => return Ok(0),
        _ => {}
    }
    within(text, 0..=i64::from(i32::MAX)).map(|number| number as u32).map_err(|_| {
        Refused::whole(text, format!("`{text}` is neither 0 nor 1"), "give 0 or 1, or nothing")
    })
}

/// Memory: bytes, or a share of the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Bytes.
    Bytes(u64),
    /// Percent of the host's memory.
    Percent(u8),
}

/// Memory: `2g`, `75%`.
///
/// # Errors
/// The word has another form, or the share is above 100 %.
pub fn memory(text: &str) -> Result<Memory, Refused> {
    let Some(percent) = text.trim().strip_suffix('%') else {
        return within(text, 0..=i64::MAX).map(|bytes| Memory::Bytes(bytes as u64));
    };
    let percent = percent.trim().parse().ok().filter(|percent: &u8| *percent <= 100);
    percent.map(Memory::Percent).ok_or_else(|| {
        let remedy = "give 0% to 100%, or bytes such as 2g";
        Refused::whole(text, format!("`{text}` is no share of memory"), remedy)
    })
}

/// A directive: `key=value`, with both positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The key as written.
    pub key: Word,
    /// The value; absent without an equals sign.
    pub value: Option<Word>,
}

/// The directives of a line or of `-O`: comma-separated, up to a `#`. `at` is the position of the
/// text.
pub fn directives(text: &str, at: Span) -> Vec<Directive> {
    let end = text.find('#').unwrap_or(text.len());
    let mut all = Vec::new();
    let mut start = 0;
    for piece in text[..end].split(',') {
        let word = |text: &str, from: usize| {
            let trimmed = text.trim();
            let from = at.start + from + (text.len() - text.trim_start().len());
            let at = Span { start: from, end: from + trimmed.len(), ..at };
            Word { text: trimmed.to_owned(), at }
        };
        let (key, value) = match piece.split_once('=') {
            Some((key, value)) => (key, Some(word(value, start + key.len() + 1))),
            None => (piece, None),
        };
        all.push(Directive { key: word(key, start), value });
        start += piece.len() + 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_have_one_letter() {
        for (text, value) in [
            ("0", 0),
            ("64", 64),
            ("8m", 8 << 20),
            ("4K", 4096),
            (" 1g ", 1 << 30),
            ("1G", 1 << 30),
            ("2t", 2 << 40),
            ("1p", 1 << 50),
            ("1MB", 1 << 20),
            ("16MiB", 16 << 20),
            ("-1", -1),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(number(text).ok(), Some(value), "{text}");
        }
        let wrong =
            ["", "k", "-", "1.5g", "4x", "1 2", "9223372036854775808", "9000p", "+1", "0x10"];
        for text in wrong {
            assert!(number(text).is_err(), "{text}");
        }
        let refused = number("1.5g").expect_err("no whole number");
        assert!(refused.message.contains("IOR would read 1"), "{}", refused.message);
    }

    #[test]
    fn seconds_may_have_decimals() {
        let ms = |text: &str| seconds(text).ok().map(|time| time.as_millis());
        for (text, value) in [("2", 2000), ("0.5", 500), (".25", 250), ("1k", 1_024_000)] {
            assert_eq!(ms(text), Some(value), "{text}");
        }
        for text in ["", ".", "1.", "-1", "1.5s", "1.2.3", "9999999999.5", "x"] {
            assert_eq!(ms(text), None, "{text}");
        }
    }

    #[test]
    fn flags_count_or_have_a_value() {
        assert_eq!((flag("", 0).ok(), flag("", 1).ok()), (Some(1), Some(2)));
        assert_eq!((flag("0", 2).ok(), flag("3", 0).ok(), flag("true", 0).ok()), {
            (Some(0), Some(3), Some(1))
        });
        assert!(flag("x", 0).is_err() && flag("-1", 0).is_err());
    }

    #[test]
    fn memory_is_bytes_or_a_share() {
        assert_eq!(memory("2g").ok(), Some(Memory::Bytes(2 << 30)));
        assert_eq!(memory("75%").ok(), Some(Memory::Percent(75)));
        assert!(memory("101%").is_err() && memory("-2g").is_err() && memory("%").is_err());
    }

    #[test]
    fn directives_have_places() {
        let at = Span { text: 0, start: 10, end: 40 };
        let all = directives("api=POSIX, testFile = /a/b # x=1,y", at);
        assert_eq!(all.len(), 2);
        let of = |word: &Word| (word.text.clone(), word.at.start);
        assert_eq!((of(&all[0].key), all[0].value.as_ref().map(of)), {
            (("api".into(), 10), Some(("POSIX".into(), 14)))
        });
        assert_eq!((of(&all[1].key), all[1].value.as_ref().map(of)), {
            (("testFile".into(), 21), Some(("/a/b".into(), 32)))
        });
        assert_eq!(directives("", at).len(), 1);
        assert_eq!(directives("quiet", at)[0].value, None);
    }

    proptest! {
        /// Any text gives a value or a sentence.
        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9kKmMgGtTpPbBiI.% ]{0,12}") {
            let refusals = [number(&text).err(), flag(&text, 0).err(), memory(&text).err()];
            for refused in refusals.into_iter().flatten() {
                prop_assert!(!refused.message.is_empty() && !refused.remedy.is_empty());
                prop_assert!(refused.part.end <= text.len());
            }
        }

        /// A unit multiplies the number.
        #[test]
        fn units_multiply(value in 0..1_i64 << 12, unit in 0..5_usize) {
            let text = format!("{value}{}", ["k", "M", "g", "T", "p"][unit]);
            prop_assert_eq!(number(&text).ok(), Some(value << (10 * (unit + 1))));
        }

        /// The position of each directive contains its text.
        #[test]
        fn places_of_directives_hold(text in "[a-c]{1,3}=[x-z]{0,3}(, ?[a-c]{1,3}=[x-z]{1,3}){0,3}")
        {
            let at = Span { text: 0, start: 0, end: text.len() };
            for directive in directives(&text, at) {
                prop_assert_eq!(&text[directive.key.at.range()], &directive.key.text);
                let value = directive.value.expect("all have one");
                prop_assert_eq!(&text[value.at.range()], &value.text);
            }
        }
    }
}
