//! Names of the files of a set, computed from their numbers.

use std::fmt;
use std::str::FromStr;

use crate::path_text::text_of;
use crate::pattern::{Field, Numbers, Part, Pattern};
use crate::text_serde::text_serde;
use crate::units::UnitError;

/// Name of a numbered file, below the target's path: text in which `{number}` is replaced.
///
/// `{number:06}` pads the number with zeros to six digits. `{{` and `}}` are braces. Different
/// numbers have different names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileName(Pattern);

impl FileName {
    /// Texts with the number between each two.
    pub fn joined<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> FileName {
        let mut parts = Vec::new();
        for (nth, text) in texts.into_iter().map(T::into).enumerate() {
            parts.extend((nth > 0).then_some(Part::Field(Field::Number, 0)));
            parts.extend(Some(text).filter(|text| !text.is_empty()).map(|text| Part::text(&text)));
        }
        FileName(Pattern(parts))
    }

    /// The directories before the first number, with the last slash, and the rest.
    pub fn split(&self) -> (String, FileName) {
        let Some((Part::Text(text), others)) = self.0.0.split_first() else {
            return (String::new(), self.clone());
        };
        let slash = text.iter().rposition(|byte| *byte == b'/');
        let (directory, text) = text.split_at(slash.map_or(0, |at| at + 1));
        let rest = Some(Part::Text(text.into())).filter(|_| !text.is_empty());
        (
            text_of(directory),
            FileName(Pattern(rest.into_iter().chain(others.iter().cloned()).collect())),
        )
    }

    /// Appends the name of a number. Allocates only where the buffer is too small.
    pub fn write(&self, number: u64, to: &mut Vec<u8>) {
        self.0.write(&Numbers { number, ..Numbers::default() }, to);
    }

    /// The name of a number.
    pub fn name(&self, number: u64) -> String {
        self.0.name(&Numbers { number, ..Numbers::default() })
    }

    /// The number that has this name; none where no number has.
    pub fn number(&self, name: &str) -> Option<u64> {
        let start = self.0.0.iter().position(|part| matches!(part, Part::Field(..)))?;
        let before = match &self.0.0[..start] {
            [Part::Text(text)] => text_of(text),
            _ => String::new(),
        };
        let digits = name.strip_prefix(&*before)?;
        // Digits of a text may follow: each length is tried.
        let lengths = 1..=digits.bytes().take_while(u8::is_ascii_digit).count();
        let mut numbers = lengths.filter_map(|length| digits[..length].parse().ok());
        numbers.find(|number| self.name(*number) == name)
    }

    /// True where names differ by number.
    pub fn is_numbered(&self) -> bool {
        self.0.has(Field::Number)
    }

    /// True where all files lie in one directory.
    pub fn is_flat(&self) -> bool {
        self.0.is_flat()
    }

    /// True for names of files below a directory.
    pub fn is_below(&self) -> bool {
        self.0.is_below()
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for FileName {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        const HOW: &str =
            "write `{number}`, `{number:06}` with zeros in front, or `{{` for a brace";
        Pattern::parse(text, &[Field::Number], HOW).map(FileName)
    }
}

text_serde!(FileName, "a file name such as \"job.{number}\"", |_| None);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::WIDTH_MAX;

    fn name(text: &str) -> FileName {
        text.parse().expect(text)
    }

    #[test]
    fn names_of_numbers() {
        let job = FileName::joined(["job.0.", ""]);
        assert_eq!((job.name(0), job.name(12)), ("job.0.0".into(), "job.0.12".into()));
        assert_eq!(job, name("job.0.{number}"));
        let deep = name("d{number:03}/{{f}}-{number}");
        assert_eq!((deep.name(7), deep.name(1234)), ("d007/{f}-7".into(), "d1234/{f}-1234".into()));
        assert!(job.is_flat() && !deep.is_flat() && deep.is_below());
        assert!(deep.is_numbered() && !name("a").is_numbered());
        assert_eq!(name("a}}{{{number}").name(1), "a}{1");
        let deep = FileName::joined(["/d/e/f", "/", ""]);
        let (directory, file) = deep.split();
        assert_eq!((directory, file.to_string()), ("/d/e/".into(), "f{number}/{number}".into()));
    }

    fn number(text: &str, file: &str) -> Option<u64> {
        name(text).number(file)
    }

    #[test]
    fn numbers_of_names() {
        assert_eq!(number("a.{number}", "a.10"), Some(10));
        assert_eq!(number("a.{number}", "a.010"), None);
        assert_eq!(number("{number:04}1", "00121"), Some(12));
        assert_eq!(number("{number}{number}", "1212"), Some(12));
        assert_eq!(
            [number("a.{number}", "b.1"), number("a.{number}", "a."), number("a", "a")],
            [None; 3]
        );
    }

    #[test]
    fn names_that_leave_the_directory_and_fields_that_are_not_known() {
        for text in
            ["", "/a{number}", "../{number}", "{number}/..", "a//{number}", "{number}/", "\0"]
        {
            assert!(!name(text).is_below(), "{text:?}");
        }
        for text in ["a.{rank}", "{number:6}", "{number:00}", "{number:021}", "{number", "a}", "{}"]
        {
            let error = text.parse::<FileName>().expect_err(text).to_string();
            assert!(error.contains("write `{number}`"), "{error}");
        }
        let error = "{rank}".parse::<FileName>().expect_err("unknown").to_string();
        assert!(error.contains("has the unknown field `{rank}`"), "{error}");
    }

    fn any_name() -> impl Strategy<Value = FileName> {
        let text = "[a1.{}/é]{1,4}".prop_map(|text| text.replace('{', "{{").replace('}', "}}"));
        let number = prop_oneof![
            Just("{number}".to_owned()),
            (1..=WIDTH_MAX).prop_map(|width| format!("{{number:0{width}}}"))
        ];
        let parts = prop::collection::vec(prop_oneof![text, number.clone()], 0..5);
        (parts, number, 0..5_usize).prop_map(|(mut parts, number, at)| {
            parts.insert(at.min(parts.len()), number);
            name(&parts.concat())
        })
    }

    proptest! {
        #[test]
        fn a_name_reads_back_from_its_text(name in any_name()) {
            prop_assert_eq!(&name.to_string().parse::<FileName>().expect("its own text"), &name);
        }

        #[test]
        fn names_are_distinct_and_tell_their_number(name in any_name(), a: u64, b in 0..2000_u64) {
            let one = name.name(a);
            prop_assert_eq!(name.number(&one), Some(a));
            prop_assert_eq!(one == name.name(b), a == b);
            prop_assert_ne!(name.name(b), name.name(b + 1));
        }
    }
}
