//! Takes a Rust file apart: its code without strings and comments, its comments, its strings.

/// Three texts of the same lines and columns as the file, blank where another layer is.
#[derive(Default)]
pub struct Layers {
    /// Code; the contents of strings and of characters are blank, their quotes stay.
    pub code: String,
    /// Comments.
    pub comments: String,
    /// Contents of strings.
    pub strings: String,
    /// Per line, whether it begins within a string.
    pub begins_in_string: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    LineComment,
    /// With the depth of nesting.
    BlockComment(u32),
    String,
    /// With the number of hashes.
    RawString(usize),
}

/// Kind of some characters.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    /// Contents of a string.
    Text,
    /// A character with its quotes.
    Character,
}

impl Layers {
    /// Of a file.
    pub fn of(text: &str) -> Layers {
        let chars: Vec<char> = text.chars().collect();
        let mut layers = Layers { begins_in_string: vec![false], ..Layers::default() };
        let (mut state, mut at) = (State::Code, 0);
        while at < chars.len() {
            let (next, length, kind) = step(state, &chars, at);
            for (i, &c) in chars[at..at + length].iter().enumerate() {
                let is_end = c == '\n';
                let is_quote = kind == Kind::Character && (i == 0 || i + 1 == length);
                let pick = |wanted: bool| if is_end || wanted { c } else { ' ' };
                layers.code.push(pick(kind == Kind::Code || is_quote));
                layers.comments.push(pick(kind == Kind::Comment));
                layers.strings.push(pick(kind == Kind::Text));
                if is_end {
                    layers.begins_in_string.push(kind == Kind::Text);
                }
            }
            (state, at) = (next, at + length);
        }
        layers
    }
}

/// The state after the characters at a place, how many characters that took, what they are.
fn step(state: State, chars: &[char], at: usize) -> (State, usize, Kind) {
    let two = (chars[at], chars.get(at + 1).copied().unwrap_or('\0'));
    match state {
        State::Code => step_code(chars, at, two),
        State::LineComment if two.0 == '\n' => (State::Code, 1, Kind::Code),
        State::LineComment => (state, 1, Kind::Comment),
        State::BlockComment(depth) => match two {
            ('*', '/') if depth == 1 => (State::Code, 2, Kind::Comment),
            ('*', '/') => (State::BlockComment(depth - 1), 2, Kind::Comment),
            ('/', '*') => (State::BlockComment(depth + 1), 2, Kind::Comment),
            _ => (state, 1, Kind::Comment),
        },
        State::String => match two.0 {
            '\\' => (state, 2.min(chars.len() - at), Kind::Text),
            '"' => (State::Code, 1, Kind::Code),
            _ => (state, 1, Kind::Text),
        },
        State::RawString(hashes) => {
            let after = &chars[at + 1..];
            let closed = after.len() >= hashes && after[..hashes].iter().all(|c| *c == '#');
            match two.0 {
                '"' if closed => (State::Code, 1 + hashes, Kind::Code),
                _ => (state, 1, Kind::Text),
            }
        }
    }
}

fn step_code(chars: &[char], at: usize, two: (char, char)) -> (State, usize, Kind) {
    match two {
        ('/', '/') => (State::LineComment, 2, Kind::Comment),
        ('/', '*') => (State::BlockComment(1), 2, Kind::Comment),
        ('"', _) => (State::String, 1, Kind::Code),
        ('\'', _) => match character(&chars[at..]) {
            Some(length) => (State::Code, length, Kind::Character),
            None => (State::Code, 1, Kind::Code),
        },
        ('r', '"' | '#') if !is_word_before(chars, at) => {
            let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
            match chars.get(at + 1 + hashes) {
                Some('"') => (State::RawString(hashes), 2 + hashes, Kind::Code),
                _ => (State::Code, 1, Kind::Code),
            }
        }
        _ => (State::Code, 1, Kind::Code),
    }
}

/// True if the `r` at a place is the end of a name; the `b` of `br"…"` is none.
fn is_word_before(chars: &[char], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or(' ', |i| chars[i]);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let is_prefix = matches!(before(1), 'b' | 'c') && !word(before(2));
    word(before(1)) && !is_prefix
}

/// Length of the character at the start with its quotes; none if it is a lifetime instead.
fn character(chars: &[char]) -> Option<usize> {
    match (chars.get(1), chars.get(2)) {
        (Some('\\'), Some(_)) => {
            let close = chars.iter().skip(3).position(|c| *c == '\'');
            close.map(|rest| rest + 4)
        }
        (Some(_), Some('\'')) => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_comments_come_apart() {
        let layers = Layers::of("let a = \"x // y\"; // z\nb /* c /* d */ e */ f");
        assert_eq!(layers.code, "let a = \"      \";     \nb                   f");
        assert_eq!(layers.comments, "                  // z\n  /* c /* d */ e */  ");
    }

    #[test]
    fn literals_are_blank_and_lifetimes_are_not() {
        let code = |text| Layers::of(text).code;
        assert_eq!(code("f('{', '\\'', '\\u{7d}')"), "f(' ', '  ', '      ')");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code("(\"\\\"{\", 1)"), "(\"   \", 1)");
        assert_eq!(code("(r#\"{\"}\"#, 1)"), "(r#\"   \"#, 1)");
        assert_eq!(code("var\"x\""), "var\" \"");
    }

    #[test]
    fn lines_within_strings_are_known() {
        let lines = Layers::of("a(\"\n b\n c\"); // \"\nd").begins_in_string;
        assert_eq!(lines, [false, true, true, false]);
    }
}
