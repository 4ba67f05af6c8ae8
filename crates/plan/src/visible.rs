//! Names as a terminal may show them: what would control it is spelled out.

use std::borrow::Cow;

use crate::path_text::byte_of;

/// True for a character that a terminal obeys and does not show: control characters, marks of the
/// direction of text, separators of lines, and bytes of names that are no text.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || byte_of(c).is_some()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name on one line: each hidden character as `\u{1b}`, a line feed as `\n`, and a byte that is
/// no text as `\xe9`.
pub fn visible(name: &str) -> Cow<'_, str> {
    escaped(name, is_hidden)
}

/// Text of several lines: as [`visible`], but line feeds and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden_in_lines)
}

/// A document of JSON: as [`visible_lines`], in JSON's own spelling, which changes no string.
pub fn visible_json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(is_hidden_in_lines) {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if is_hidden_in_lines(c) {
            shown += &format!("\\u{:04x}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden_in_lines(c: char) -> bool {
    is_hidden(c) && c != '\n' && c != '\t'
}

/// Text with candor's own codes in it: as [`visible_lines`], but colours stay, and codes that write
/// a line of a terminal over again.
pub fn visible_with_codes(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let own = own_code(rest);
        let length = own.unwrap_or(c.len_utf8());
        if own.is_some() || !is_hidden(c) || "\n\t\r".contains(c) {
            shown.push_str(&rest[..length]);
        } else {
            spell(c, &mut shown);
        }
        rest = &rest[length..];
    }
    Cow::Owned(shown)
}

/// Length of a code at the start of a text that sets a colour or wipes the rest of a line.
fn own_code(text: &str) -> Option<usize> {
    let code = text.strip_prefix("\x1b[")?;
    let end = code.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let is_own = match code.as_bytes()[end] {
        b'm' => code[..end].split(';').all(is_tone),
        b'K' => end == 0,
        _ => false,
    };
    is_own.then_some("\x1b[".len() + end + 1)
}

/// True for the number of a colour or of a weight, and for an absent number.
fn is_tone(number: &str) -> bool {
    match number.parse::<u32>() {
        Ok(number) => matches!(number, 0..=2 | 30..=37 | 39 | 90..=97),
        Err(_) => number.is_empty(),
    }
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) { spell(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

fn spell(c: char, to: &mut String) {
    match byte_of(c) {
        Some(byte) => to.push_str(&format!("\\x{byte:02x}")),
        None => to.extend(c.escape_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_spelled_out() {
        assert!(matches!(visible("täst 𝄞"), Cow::Borrowed("täst 𝄞")));
        assert_eq!(visible("\u{1b}]0;x\u{7}\n\u{9b}\u{7f}"), r"\u{1b}]0;x\u{7}\n\u{9b}\u{7f}");
        assert_eq!(
            visible("a\u{202e}b\u{2066}\u{200f}\u{61c}"),
            r"a\u{202e}b\u{2066}\u{200f}\u{61c}"
        );
        assert_eq!(
            visible_json("{\n \"a\": \"\u{9b}\u{202e}\"}"),
            "{\n \"a\": \"\\u009b\\u202e\"}"
        );
        assert_eq!(visible("f\u{efe9}"), r"f\xe9");
        assert_eq!(visible_lines("a\n\tb\r\u{1b}"), "a\n\tb\\r\\u{1b}");
    }

    #[test]
    fn own_codes_stay_and_others_are_spelled_out() {
        let own = "\r\x1b[1mhead\x1b[0m \x1b[1;91mred\x1b[m\n\x1b[K";
        assert_eq!(visible_with_codes(own), own);
        let foreign = "\x1b[8m\x1b[2J\x1b]52;c;x\x07\x1b[38;5;1m\x1b";
        let shown = r"\u{1b}[8m\u{1b}[2J\u{1b}]52;c;x\u{7}\u{1b}[38;5;1m\u{1b}";
        assert_eq!(visible_with_codes(foreign), shown);
    }
}
