//! Words of a command line: letters, which may be grouped, and long names.

use super::rows::{TABLE, Value};
use candor_front::{Diagnostic, Row, Span, Takes, ValueKind, Word};

/// Name of an option and its value, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// First name of the option.
    pub name: &'static str,
    /// Position of the name.
    pub at: Span,
    /// The value; absent for a bare flag.
    pub value: Option<Word>,
}

/// Remedy for an unknown word.
pub(super) const LIST: &str = "ior -h lists all options";

/// A command line in its options.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The options, or their errors.
    pub written: Vec<Result<Written, Box<Diagnostic>>>,
    /// Letters in groups that IOR skips.
    pub skipped: Vec<Word>,
    /// Values whose `k` IOR also reads as `-k`.
    pub keeping: Vec<Word>,
}

/// Splits the words after the program's name into options.
pub(super) fn written(words: &[Word]) -> Words {
    let mut all = Words::default();
    let mut left = words.iter().skip(1);
    while let Some(word) = left.next() {
        match word.text.strip_prefix("--") {
            // Older guides put `--` before the options of back ends.
            Some("") => {}
            Some(_) => all.written.push(long(word, &mut left)),
            None if word.text.len() > 1 && word.text.starts_with('-') => {
                letters(word, &mut left, &mut all);
            }
            None => {
                let message = format!("`{}` is no option, and IOR takes no operands", word.text);
                let wrong = Diagnostic::new(word.at, "operand", &word.text, message);
                all.written.push(Err(Box::new(wrong.remedy("name the file with -o"))));
            }
        }
    }
    all
}

/// The option of a name, in upper or lower case.
pub(super) fn find(name: &str) -> Option<&'static Row<Value>> {
    TABLE.rows().find(|row| row.names().any(|known| known.eq_ignore_ascii_case(name)))
}

/// The diagnostic of an unknown name.
pub(super) fn unknown(name: &str, at: Span) -> Diagnostic {
    let message = format!("`{name}` is no option");
    let names = TABLE.names().chain(["help"]);
    let wrong = Diagnostic::new(at, "option", name, message).nearest(names).remedy(LIST);
    wrong.known_as("IOR", &format!("Unrecognized parameter \"{name}\""))
}

fn long<'w>(
    word: &Word,
    left: &mut impl Iterator<Item = &'w Word>,
) -> Result<Written, Box<Diagnostic>> {
    let body = &word.text[2..];
    let (name, value) = match body.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (body, None),
    };
    let at = Span { end: word.at.start + 2 + name.len(), ..word.at };
    let row = find(name).ok_or_else(|| Box::new(unknown(name, at)))?;
    let value = value.map(|value| tail(word, value));
    finished(row, at, value, left)
}

/// Letters after one dash: flags, the last of which may be an option with a value.
fn letters<'w>(word: &Word, left: &mut impl Iterator<Item = &'w Word>, all: &mut Words) {
    let mut skipped: Option<Span> = None;
    for (from, letter) in word.text.char_indices().skip(1) {
        let start = word.at.start + from;
        let at = Span { start, end: start + letter.len_utf8(), ..word.at };
        let Some(row) = TABLE.by_letter(letter) else {
            if from == 1 {
                return all.written.push(Err(Box::new(unknown(&letter.to_string(), at))));
            }
            skipped = Some(Span { start: skipped.map_or(at.start, |first| first.start), ..at });
            continue;
        };
        let rest = &word.text[from + letter.len_utf8()..];
        let behind_equals = rest.strip_prefix('=');
        let takes_rest = matches!(row.kind.takes(), Takes::One(_)) && !rest.is_empty();
        if behind_equals.is_some() || takes_rest {
            let value = tail(word, behind_equals.unwrap_or(rest));
            if behind_equals.is_none() && from == 1 && is_read_as_keep(&value.text) {
                all.keeping.push(value.clone());
            }
            all.written.push(finished(row, at, Some(value), left));
            break;
        }
        all.written.push(finished(row, at, None, left));
    }
    if let Some(at) = skipped {
        let (start, end) = (at.start - word.at.start, at.end - word.at.start);
        all.skipped.push(Word { text: word.text[start..end].to_owned(), at });
    }
}

/// True for a number in KiB: IOR reads all letters of `-b64k`, including the `k`.
fn is_read_as_keep(value: &str) -> bool {
    let digits = value.trim_end_matches(['b', 'B', 'i']).strip_suffix('k');
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()))
}

/// The end of a word as a separate word.
fn tail(word: &Word, text: &str) -> Word {
    Word { text: text.to_owned(), at: Span { start: word.at.end - text.len(), ..word.at } }
}

fn finished<'w>(
    row: &'static Row<Value>,
    at: Span,
    value: Option<Word>,
    left: &mut impl Iterator<Item = &'w Word>,
) -> Result<Written, Box<Diagnostic>> {
    let value = match (row.kind.takes(), value) {
        (Takes::One(form), None) => Some(left.next().cloned().ok_or_else(|| {
            let behind = row.letter.map(|letter| format!(" behind -{letter}"));
            let message = format!("{} needs a value{}", row.name, behind.unwrap_or_default());
            let wrong = Diagnostic::new(at, "value", row.name, message);
            Box::new(wrong.remedy(format!("write {}={form}", row.name)))
        })?),
        (_, value) => value,
    };
    Ok(Written { name: row.name, at, value })
}
