//! Names computed from numbers: text with fields such as `{number}` or `{rank:04}`.

use std::fmt;

use crate::path_text::{bytes_of, text_of};
use crate::units::UnitError;

/// Longest field: the digits of the largest number.
pub(crate) const WIDTH_MAX: u8 = 20;

/// Numbers that a name may show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Of a file in its set, or of an item in its directory.
    pub number: u64,
    /// Rank of the worker that the name belongs to.
    pub rank: u64,
    /// Directory in its tree, level by level; the root has 0.
    pub directory: u64,
    /// Directory among its siblings, from 0.
    pub child: u64,
    /// Item among all of its tree.
    pub item: u64,
    /// Item among the places for items of its tree, of which each directory has as many.
    pub slot: u64,
    /// Level of a directory; the root has 0.
    pub level: u64,
}

/// A field of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Number,
    Rank,
    Directory,
    Child,
    Item,
    Slot,
    Level,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Number => "number",
            Field::Rank => "rank",
            Field::Directory => "directory",
            Field::Child => "child",
            Field::Item => "item",
            Field::Slot => "slot",
            Field::Level => "level",
        }
    }

    fn of(self, numbers: &Numbers) -> u64 {
        match self {
            Field::Number => numbers.number,
            Field::Rank => numbers.rank,
            Field::Directory => numbers.directory,
            Field::Child => numbers.child,
            Field::Item => numbers.item,
            Field::Slot => numbers.slot,
            Field::Level => numbers.level,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The bytes of the path.
    Text(Vec<u8>),
    /// A number, padded with zeros to the width.
    Field(Field, u8),
}

impl Part {
    pub fn text(text: &str) -> Part {
        Part::Text(bytes_of(text).into_owned())
    }
}

/// Texts and fields, one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern(pub Vec<Part>);

impl Pattern {
    /// Reads text with these fields; `{{` and `}}` are braces.
    pub fn parse(text: &str, fields: &[Field], how: &str) -> Result<Pattern, UnitError> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(behind) = rest.strip_prefix(brace) {
                plain.push_str(brace);
                rest = behind;
                continue;
            }
            let field = rest.split_once('}').filter(|_| brace == "{");
            let Some((field, behind)) = field else {
                return Err(UnitError::new(text, "has a brace without its other half", how));
            };
            let part =
                fields.iter().find_map(|known| Some(Part::Field(*known, width(field, *known)?)));
            let Some(part) = part else {
                let wrong = format!("has the unknown field `{{{field}}}`");
                return Err(UnitError::new(text, &wrong, how));
            };
            if !plain.is_empty() {
                parts.push(Part::text(&plain));
                plain.clear();
            }
            parts.push(part);
            rest = behind;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::text(&plain));
        }
        Ok(Pattern(parts))
    }

    /// Appends the name of these numbers. Allocates only where the buffer is too small.
    pub fn write(&self, numbers: &Numbers, to: &mut Vec<u8>) {
        for part in &self.0 {
            match part {
                Part::Text(text) => to.extend_from_slice(text),
                Part::Field(field, width) => write_number(field.of(numbers), *width, to),
            }
        }
    }

    /// The name of these numbers.
    pub fn name(&self, numbers: &Numbers) -> String {
        let mut name = Vec::new();
        self.write(numbers, &mut name);
        text_of(&name)
    }

    /// True where names differ by that field.
    pub fn has(&self, field: Field) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Field(of, _) if *of == field))
    }

    /// True where no name has a slash.
    pub fn is_flat(&self) -> bool {
        !self.0.iter().any(|part| matches!(part, Part::Text(text) if text.contains(&b'/')))
    }

    /// True for names below a directory.
    pub fn is_below(&self) -> bool {
        let name = self.name(&Numbers::default());
        !name.contains('\0') && !name.split('/').any(|part| matches!(part, "" | "." | ".."))
    }
}

impl fmt::Display for Pattern {
    /// Parsing reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(&text_of(text).replace('{', "{{").replace('}', "}}")),
            Part::Field(field, 0) => write!(f, "{{{}}}", field.name()),
            Part::Field(field, width) => write!(f, "{{{}:0{width}}}", field.name()),
        })
    }
}

/// Least digits of a field as it is written; none for another field.
fn width(text: &str, field: Field) -> Option<u8> {
    let format = text.strip_prefix(field.name())?;
    if format.is_empty() {
        return Some(0);
    }
    let width = format.strip_prefix(":0")?;
    let is_canonical = !width.starts_with(['0', '+']);
    width.parse().ok().filter(|width| is_canonical && (1..=WIDTH_MAX).contains(width))
}

/// Appends a number, padded with zeros to the width. The formatter of the standard library takes
/// several times as long, and each item of a tree has a name.
#[inline]
fn write_number(mut number: u64, width: u8, to: &mut Vec<u8>) {
    let mut digits = [b'0'; WIDTH_MAX as usize];
    let mut at = digits.len();
    while number > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    let at = at.min(digits.len().saturating_sub(usize::from(width)));
    to.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_written_as_the_standard_library_does(number: u64, width in 0..=WIDTH_MAX) {
            for number in [number, number >> 32, number >> 50, 0] {
                let mut written = Vec::new();
                write_number(number, width, &mut written);
                let expected = format!("{number:0width$}", width = usize::from(width));
                prop_assert_eq!(String::from_utf8(written).expect("digits"), expected);
            }
        }
    }
}
