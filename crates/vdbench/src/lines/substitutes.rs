//! Variables: `key=value` on the command line replaces `$key` and `!key` in the files.

use std::collections::BTreeMap;

use super::Line;
use candor_front::{Diagnostic, Span, Word};

/// A value from the command line, and how often it was used.
#[derive(Clone, Debug)]
struct Substitute {
    value: Word,
    uses: u64,
}

/// All variables, by key.
#[derive(Clone, Debug, Default)]
pub struct Substitutes {
    keys: BTreeMap<String, Substitute>,
}

impl Substitutes {
    /// Sets a variable; the last value counts.
    pub fn set(&mut self, key: &str, value: Word) {
        self.keys.insert(key.to_owned(), Substitute { value, uses: 0 });
    }

    /// True if no variable is set.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Replaces the variables of a line at `at`. The longest matching key wins.
    pub(super) fn replace(&mut self, text: &str, at: Span) -> Line {
        let mut line = Line::default();
        let (mut rest, mut start) = (text, at.start);
        while let Some(mark) = self.next(rest) {
            let (before, behind) = rest.split_at(mark.at);
            line.push(before, Span { start, end: start + before.len(), ..at });
            start += before.len();
            let end = start + 1 + mark.key.len();
            if let Some(substitute) = self.keys.get_mut(&mark.key) {
                substitute.uses += 1;
                line.push(&substitute.value.text, Span { start, end, ..at });
            }
            rest = &behind[1 + mark.key.len()..];
            start = end;
        }
        line.push(rest, Span { start, end: start + rest.len(), ..at });
        line
    }

    /// The first variable of a text.
    fn next(&self, text: &str) -> Option<Mark> {
        if self.keys.is_empty() {
            return None;
        }
        text.match_indices(['$', '!']).find_map(|(at, _)| {
            let behind = &text[at + 1..];
            let fits = self.keys.keys().filter(|key| behind.starts_with(key.as_str()));
            let key = fits.max_by_key(|key| key.len())?.clone();
            Some(Mark { at, key })
        })
    }

    /// Variables that no file uses.
    pub fn unused(&self) -> Vec<Diagnostic> {
        let unused = self.keys.iter().filter(|(_, substitute)| substitute.uses == 0);
        unused
            .map(|(key, Substitute { value, .. })| {
                let message =
                    format!("{key}={} matches no ${key} of the parameter files", value.text);
                Diagnostic::new(value.at, "variable", &value.text, message).remedy("remove it")
            })
            .collect()
    }
}

/// A variable in a text.
struct Mark {
    at: usize,
    key: String,
}
