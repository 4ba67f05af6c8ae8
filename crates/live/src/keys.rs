//! Keys, from the bytes that a terminal sends.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, also of the control key: Ctrl-Z is `\x1a`.
    Char(char),
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
}

/// The keys of some bytes. Sequences of keys that no screen has a use for are left out.
pub fn of_bytes(bytes: &[u8]) -> Vec<Key> {
    let text = String::from_utf8_lossy(bytes);
    let mut rest = text.as_ref();
    let mut keys = Vec::new();
    while let Some(first) = rest.chars().next() {
        let sequence = rest.strip_prefix("\x1b[").or_else(|| rest.strip_prefix("\x1bO"));
        let Some(sequence) = sequence else {
            rest = &rest[first.len_utf8()..];
            keys.extend((first != '\x1b').then_some(Key::Char(first)));
            continue;
        };
        // Parameters, then one letter or `~`.
        let end = sequence.find(|c: char| matches!(c, '@'..='~'));
        let (whole, after) = sequence.split_at(end.map_or(sequence.len(), |at| at + 1));
        keys.extend(match whole {
            "A" => Some(Key::Up),
            "B" => Some(Key::Down),
            "5~" => Some(Key::PageUp),
            "6~" => Some(Key::PageDown),
            _ => None,
        });
        rest = after;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_sequences_are_keys() {
        assert_eq!(of_bytes(b"q v"), ['q', ' ', 'v'].map(Key::Char));
        let moves = of_bytes(b"\x1b[A\x1bOB\x1b[5~\x1b[6~");
        assert_eq!(moves, [Key::Up, Key::Down, Key::PageUp, Key::PageDown]);
        assert_eq!(of_bytes("µ".as_bytes()), [Key::Char('µ')]);
    }

    #[test]
    fn unknown_and_broken_sequences_do_no_harm() {
        assert_eq!(of_bytes(b"\x1b[1;5Dq"), [Key::Char('q')]);
        assert_eq!(of_bytes(b"\x1b"), []);
        assert_eq!(of_bytes(b"\x1b["), []);
        assert_eq!(of_bytes(b"\x1b[12"), []);
        assert_eq!(of_bytes(&[0xff, b's']), [Key::Char('\u{fffd}'), Key::Char('s')]);
    }
}
