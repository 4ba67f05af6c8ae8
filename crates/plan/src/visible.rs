//! Names as a terminal may show them: what would control it is spelled out.

use std::borrow::Cow;

/// True for a character that a terminal obeys and does not show: control characters, marks of the
/// direction of text, and separators of lines.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A name on one line: each hidden character as `\u{1b}`, and a line feed as `\n`.
pub fn visible(name: &str) -> Cow<'_, str> {
    escaped(name, is_hidden)
}

/// Text of several lines: as [`visible`], but line feeds and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_escaped(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
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
        assert_eq!(visible_lines("a\n\tb\r\u{1b}"), "a\n\tb\\r\\u{1b}");
    }
}
