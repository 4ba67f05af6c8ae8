//! Values as sysfs and procfs write them. Every parser takes any text and never panics.

use candor_plan::path_text;

/// A plain number.
pub(crate) fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// A number that is only a fact when it is not zero: many attributes write 0 for "none".
pub(crate) fn positive(text: &str) -> Option<u64> {
    number(text).filter(|&number| number > 0)
}

/// `0` or `1`.
pub(crate) fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Kibibytes, as bytes.
pub(crate) fn kib(text: &str) -> Option<u64> {
    number(text)?.checked_mul(1024)
}

/// Microseconds, as nanoseconds.
pub(crate) fn microseconds(text: &str) -> Option<u64> {
    number(text)?.checked_mul(1000)
}

/// Sectors of 512 bytes, as bytes; sysfs counts in these whatever the device's own unit.
pub(crate) fn sectors(text: &str) -> Option<u64> {
    number(text)?.checked_mul(512)
}

/// Sectors of 512 bytes, as bytes, where 0 means that there is no such limit.
pub(crate) fn positive_sectors(text: &str) -> Option<u64> {
    sectors(text).filter(|&bytes| bytes > 0)
}

/// A text that says something.
pub(crate) fn words(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The choice in brackets of a list such as `none [mq-deadline] kyber`, or the only word.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let bracketed = text.split_whitespace().find_map(|word| {
        word.strip_prefix('[').and_then(|word| word.strip_suffix(']')).map(str::to_owned)
    });
    let mut all = text.split_whitespace();
    let first = all.next()?;
    bracketed.or_else(|| all.next().is_none().then(|| first.to_owned()))
}

/// The number at the start of a quantity such as `6.0 Gbps` or `8.0 GT/s PCIe`.
pub(crate) fn quantity(text: &str) -> Option<f64> {
    let number = text.split_whitespace().next()?;
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    number.parse::<f64>().ok().filter(|&value| plain && value > 0.0)
}

/// The value of `key: value` in a list of such lines; a unit after it is left in.
pub(crate) fn keyed<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// Decodes the octal escapes (`\040` for a blank) of procfs path fields.
pub(crate) fn unescape(field: &str) -> String {
    let bytes = path_text::bytes_of(field);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match octal(bytes.get(at..at + 4)) {
            Some(byte) => {
                decoded.push(byte);
                at += 4;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    path_text::text_of(&decoded)
}

/// Writes blanks, ends of lines and backslashes as procfs does; [`unescape`] reads it.
pub(crate) fn escape(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            ' ' => written.push_str("\\040"),
            '\t' => written.push_str("\\011"),
            '\n' => written.push_str("\\012"),
            '\\' => written.push_str("\\134"),
            other => written.push(other),
        }
    }
    written
}

/// The byte that a backslash and three octal digits stand for.
fn octal(escape: Option<&[u8]>) -> Option<u8> {
    let [b'\\', digits @ ..] = escape? else { return None };
    digits.iter().try_fold(0u8, |value, &digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 8)?;
        value.checked_mul(8)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_bytes() {
        assert_eq!(kib("128"), Some(131_072));
        assert_eq!(sectors("128"), Some(65_536));
        assert_eq!(positive_sectors("0"), None);
        assert_eq!(kib("2147483647"), Some(2_147_483_647 * 1024));
        assert_eq!(kib("18446744073709551615"), None);
        assert_eq!(number("-1"), None);
        assert_eq!(microseconds("75000"), Some(75_000_000));
        assert_eq!(flag("2"), None);
    }

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none").as_deref(), Some("none"));
        assert_eq!(chosen("none kyber"), None);
        assert_eq!(chosen(""), None);
    }

    #[test]
    fn quantities_that_say_nothing_are_absent() {
        assert_eq!(quantity("8.0 GT/s PCIe"), Some(8.0));
        assert_eq!(quantity("1.5 Gbps"), Some(1.5));
        for unknown in ["<unknown>", "Unknown", "Link Rate failed", "", "inf", "nan", "-1", "0"] {
            assert_eq!(quantity(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn escapes_of_mountinfo() {
        assert_eq!(unescape(r"/mnt/my\040disk\134x"), r"/mnt/my disk\x");
        assert_eq!(unescape(r"\04"), r"\04");
        assert_eq!(unescape(r"\999\777"), r"\999\777");
    }

    #[test]
    fn keys_are_whole_words() {
        assert_eq!(keyed("rchar: 7\nread_bytes: 12\n", "read_bytes"), Some("12"));
        assert_eq!(keyed("cancelled_write_bytes: 1", "write_bytes"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in any::<String>()) {
            let _ = (number(&text), positive(&text), flag(&text), kib(&text), sectors(&text));
            let _ = (chosen(&text), quantity(&text), keyed(&text, "a"), unescape(&text));
        }

        #[test]
        fn what_is_escaped_comes_back(text in any::<String>()) {
            prop_assert!(!escape(&text).contains([' ', '\t', '\n']));
            prop_assert_eq!(unescape(&escape(&text)), text);
        }

        #[test]
        fn text_without_backslash_stays(text in "[^\\\\]*") {
            prop_assert_eq!(unescape(&text), text);
        }
    }
}
