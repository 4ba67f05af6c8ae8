//! Parameters of a line: `keyword=value`, with commas between them.

use super::kind::LETTERS_MIN;
use super::lines::Line;
use candor_front::{Diagnostic, Word};

/// A parameter as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The keyword in small letters.
    pub keyword: Word,
    /// The value, with its parentheses and quotes.
    pub value: Word,
}

/// Splits a line into parameters; problems are added to `errors` and `remarks`.
pub fn split(
    line: &Line,
    errors: &mut Vec<Diagnostic>,
    remarks: &mut Vec<Diagnostic>,
) -> Vec<Written> {
    let text = line.text.strip_suffix(',').unwrap_or(&line.text);
    let (mut open, mut quoted, mut start) = (Vec::new(), false, 0);
    let mut found = Vec::new();
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => open.push(at),
            ')' if !quoted && open.pop().is_none() => {
                let message = "the parenthesis closes nothing";
                let place = line.span(at..at + 1);
                errors
                    .push(Diagnostic::new(place, "parenthesis", ")", message).remedy("remove it"));
            }
            ',' if !quoted && open.is_empty() => {
                found.extend(one(line, start..at, errors));
                start = at + 1;
            }
            _ => {}
        }
    }
    if let Some(at) = open.first() {
        let message = "the parenthesis is not closed; the rest of the line belongs to its list";
        remarks.push(Diagnostic::warning(line.span(*at..at + 1), "parenthesis", message));
    }
    found.extend(one(line, start..text.len(), errors));
    found
}

/// The parameter at a part of a line.
fn one(line: &Line, part: std::ops::Range<usize>, errors: &mut Vec<Diagnostic>) -> Option<Written> {
    let text = &line.text[part.clone()];
    let at = line.span(part.clone());
    let wrong = |message: String, remedy: &str| {
        Diagnostic::new(at, "parameter", text, message).remedy(remedy)
    };
    let Some((keyword, value)) = text.split_once('=').filter(|(_, value)| !value.is_empty()) else {
        errors.push(match text {
            "" => wrong("there is no parameter between two commas".into(), "remove one of them"),
            _ => wrong(format!("`{text}` is no parameter"), "write keyword=value"),
        });
        return None;
    };
    if keyword.len() < LETTERS_MIN {
        let message = format!("`{keyword}` is no keyword: it has less than {LETTERS_MIN} letters");
        errors.push(wrong(message, "write more of it"));
        return None;
    }
    let word = |from: usize, to: usize, text: String| Word { text, at: line.span(from..to) };
    let middle = part.start + keyword.len();
    Some(Written {
        keyword: word(part.start, middle, keyword.to_ascii_lowercase()),
        value: word(middle + 1, part.end, value.to_owned()),
    })
}
