//! Words of a command line in the syntax of the IOR family, and the numbers in them.
//!
//! `-n 10`, `-n10` and `-n=10` are equivalent. Flags may be grouped (`-FCT`), are counted, and may
//! have a number (`-F=0`). Long names are not abbreviated.

use std::ops::RangeInclusive;

use candor_record::Note;

use candor_front::{
    Assignment, Diagnostic, Given, Plain, Refused, Row, Span, Table, Takes, Texts, ValueKind, Word,
};

/// Unit letters, each 1024 times the previous one.
const UNITS: &str = "kmgtp";

/// Form of a flag's value.
pub const FLAG: &str = "0|1";

/// A number with an optional unit: `64`, `8k`, `2MiB`.
///
/// # Errors
/// The word is no number, is negative, or exceeds 63 bits.
pub fn number(text: &str) -> Result<u64, Refused> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let power = unit_power(unit).filter(|_| !digits.is_empty());
    let power = power.ok_or_else(|| wrong_form(text, format!("`{text}` is no whole number")))?;
    let number: Option<u64> = digits.parse().ok();
    let number = number.and_then(|number| number.checked_mul(1 << (10 * power)));
    number
        .filter(|number| *number <= i64::MAX as u64)
        .ok_or_else(|| wrong_form(text, format!("{text} does not fit in 63 bits")))
}

/// Power of 1024 that a unit stands for: `k`, `KB`, `GiB`; 0 without a unit.
pub fn unit_power(unit: &str) -> Option<u32> {
    let unit = unit.to_ascii_lowercase();
    match unit.split_at(unit.chars().next().map_or(0, char::len_utf8)) {
        ("", _) => Some(0),
        (letter, "" | "b" | "ib") => UNITS.find(letter).map(|nth| nth as u32 + 1),
        _ => None,
    }
}

/// Refusal of a number in another form.
pub fn wrong_form(text: &str, message: String) -> Refused {
    let remedy = "give digits and at most one of the letters k, m, g, t, p: powers of 1024";
    Refused::whole(text, message, remedy)
}

/// A number within bounds.
///
/// # Errors
/// The word is no number, or out of bounds.
pub fn within<T: TryFrom<u64>>(text: &str, bounds: RangeInclusive<u64>) -> Result<T, Refused> {
    let number = number(text)?;
    let fits = T::try_from(number).ok().filter(|_| bounds.contains(&number));
    fits.ok_or_else(|| {
        let remedy = format!("give {} to {}", bounds.start(), bounds.end());
        Refused::whole(text, format!("{number} is out of range"), remedy)
    })
}

/// A flag: counted without a value, disabled by 0, set by other numbers.
///
/// # Errors
/// The word is no number.
pub fn flag(text: &str, before: u32) -> Result<u32, Refused> {
    match text {
        "" => Ok(before.saturating_add(1)),
        text => within(text, 0..=i32::MAX as u64).map_err(|_| {
            Refused::whole(text, format!("`{text}` is no number"), "give 0 or 1, or nothing")
        }),
    }
}

/// A command line in its options.
#[derive(Debug, Default)]
pub struct Read {
    /// The options that the command line sets, with their positions.
    pub given: Given,
    /// The errors.
    pub wrong: Vec<Diagnostic>,
    /// Letters of groups such as the `42` of `-R42`, which the family skips silently.
    pub skipped: Vec<Word>,
}

/// Reads the words after the program's name into options by the table of `tool`.
pub fn read<O: 'static>(
    words: &[Word],
    tool: &str,
    table: &Table<Plain<O>>,
    options: &mut O,
) -> Read {
    let list = format!("see {tool} --help");
    let mut reader = Reader { words, table, options, list, next: 1, read: Read::default() };
    while let Some(word) = reader.take() {
        reader.word(&word);
    }
    reader.read
}

/// The note on letters that `tool` skips.
pub fn skipped_note(tool: &str, letters: &Word, texts: &Texts) -> Note {
    Note {
        asked: letters.text.clone(),
        did: "nothing".into(),
        why: format!("{tool} skips letters that it does not know after one that it knows"),
        place: Some(texts.location(letters.at)),
    }
}

struct Reader<'a, O: 'static> {
    words: &'a [Word],
    table: &'a Table<Plain<O>>,
    options: &'a mut O,
    /// Remedy for an unknown name.
    list: String,
    /// Index of the next word.
    next: usize,
    read: Read,
}

/// A part of a word, with its position.
fn part(word: &Word, from: usize, to: usize) -> Word {
    let start = word.at.start + from;
    let at = Span { start, end: word.at.start + to, ..word.at };
    Word { text: word.text[from..to].to_owned(), at }
}

impl<O: 'static> Reader<'_, O> {
    fn take(&mut self) -> Option<Word> {
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        word
    }

    fn word(&mut self, word: &Word) {
        let text = &word.text;
        let end = text.find('=').unwrap_or(text.len());
        let value = (end < text.len()).then(|| part(word, end + 1, text.len()));
        if text.starts_with("--") {
            return self.long(&part(word, 2, end), value);
        }
        if text.starts_with('-') && end > 1 {
            self.letters(&part(word, 0, end), value.as_ref());
        } else {
            let message = format!("`{text}` is no option: all words are options here");
            let wrong = Diagnostic::new(word.at, "operand", text, message);
            self.read.wrong.push(wrong.remedy(&self.list));
        }
    }

    fn unknown(&mut self, name: &Word) {
        let message = format!("there is no option `{}`", name.text);
        let wrong = Diagnostic::new(name.at, "unknown-option", &name.text, message);
        self.read.wrong.push(wrong.nearest(self.table.names()).remedy(&self.list));
    }

    fn long(&mut self, name: &Word, value: Option<Word>) {
        let long = |row: &&Row<Plain<O>>| row.names().any(|known| known == name.text);
        // A name of one letter is not a long name.
        match self.table.rows().filter(|_| name.text.len() > 1).find(long) {
            Some(row) => self.option(row, name.at, value),
            None => self.unknown(name),
        }
    }

    /// Letters after a dash: flags, or an option with its value.
    fn letters(&mut self, word: &Word, value: Option<&Word>) {
        let text = &word.text;
        let mut skipped: Vec<Word> = Vec::new();
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = part(word, at, end);
            let Some(row) = self.table.by_letter(letter) else {
                if at == 1 {
                    return self.unknown(&name);
                }
                skipped.push(name);
                continue;
            };
            let takes = row.kind.takes() != Takes::Maybe(FLAG);
            // Only the first letter may be followed directly by its value.
            if takes && at == 1 && end < text.len() && value.is_none() {
                return self.option(row, name.at, Some(part(word, end, text.len())));
            }
            self.option(row, name.at, value.cloned());
        }
        if let Some((first, last)) = skipped.first().zip(skipped.last()) {
            let from = first.at.start - word.at.start;
            self.read.skipped.push(part(word, from, last.at.end - word.at.start));
        }
    }

    fn option(&mut self, row: &'static Row<Plain<O>>, at: Span, value: Option<Word>) {
        let takes = row.kind.takes() != Takes::Maybe(FLAG);
        let value = match value.filter(|value| !value.text.is_empty()) {
            None if takes => self.take(),
            value => value,
        };
        if takes && value.is_none() {
            let behind = row.letter.map(|letter| format!(" behind -{letter}"));
            let message = format!("{} needs a value{}", row.name, behind.unwrap_or_default());
            let wrong = Diagnostic::new(at, "value", row.name, message);
            return self.read.wrong.push(wrong.remedy("write it after the option"));
        }
        let assignment = Assignment { name: Word { text: row.name.to_owned(), at }, value };
        match self.table.assign(&assignment, self.options, &self.list) {
            Ok(assigned) => self.read.given.insert(assigned.row.name, assigned.given),
            Err(wrong) => self.read.wrong.push(*wrong),
        }
    }
}

/// Help in the family's layout: flags, then options with their defaults.
pub fn help<O: 'static>(program: &str, table: &Table<Plain<O>>) -> String {
    let is_flag = |row: &&Row<Plain<O>>| row.kind.takes() == Takes::Maybe(FLAG);
    let line = |row: &Row<Plain<O>>| {
        let letter = row.letter.map(|letter| format!("-{letter}"));
        let long = row.names().find(|name| name.len() > 1).map(|name| format!("--{name}"));
        let names: Vec<String> = letter.into_iter().chain(long).collect();
        let form = match row.kind.takes() {
            Takes::One(form) if row.default.is_empty() => format!("={form}"),
            Takes::One(_) => format!("={}", row.default),
            _ => String::new(),
        };
        let refused = if row.is_done() { "" } else { " (refused)" };
        format!("  {:<32} {}{refused}\n", names.join(", ") + &form, row.help)
    };
    let flags: String = table.rows().filter(is_flag).map(line).collect();
    let options: String = table.rows().filter(|row| !is_flag(row)).map(line).collect();
    format!(
        "Synopsis {program}\n\
         \n\
         Flags\n\
         {flags}\n\
         Optional arguments\n\
         {options}\n\
         `candor options {program}` lists the support of each option.\n"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_have_one_unit() {
        for (text, value) in [
            ("0", 0),
            ("64", 64),
            ("8m", 8 << 20),
            ("4K", 4096),
            ("1GiB", 1 << 30),
            ("2tb", 2 << 40),
            ("9223372036854775807", i64::MAX as u64),
        ] {
            assert_eq!(number(text).ok(), Some(value), "{text}");
        }
        for text in ["", "k", "-1", "1.5g", "4x", "1 2", "9223372036854775808", "9000p", "+1", "1é"]
        {
            assert!(number(text).is_err(), "{text}");
        }
        assert_eq!((flag("", 2).ok(), flag("0", 2).ok(), flag("3", 0).ok()), {
            (Some(3), Some(0), Some(3))
        });
        assert!(flag("x", 0).is_err());
    }

    /// Names of the given options of a line, the skipped letters, and the number of errors.
    fn read_of(line: &str) -> (Vec<&'static str>, Vec<String>, usize) {
        const ROWS: &[Row<Plain<()>>] = &[
            Row::flag("random", FLAG, |(), _| Ok(()), "").letter('R'),
            Row::value("items", "N", |(), _| Ok(()), "").letter('n'),
        ];
        let table = Table(&[candor_front::Group { title: "", rows: ROWS }]);
        let mut texts = Texts::default();
        let argv: Vec<_> = line.split(' ').map(Into::into).collect();
        let words = candor_front::enter(&mut texts, &argv);
        let read = read(&words, "mdtest", &table, &mut ());
        let names = read.given.iter().map(|(name, _)| name).collect();
        (names, read.skipped.into_iter().map(|word| word.text).collect(), read.wrong.len())
    }

    #[test]
    fn letters_behind_a_known_one_may_be_unknown() {
        assert_eq!(read_of("mdtest -R42 -n 9"), (vec!["items", "random"], vec!["42".into()], 0));
        assert_eq!(read_of("mdtest -n9"), (vec!["items"], Vec::new(), 0));
        assert_eq!(read_of("mdtest -4R"), (Vec::new(), Vec::new(), 1));
    }

    proptest! {
        /// Any text gives a value or a sentence.
        #[test]
        fn any_text_is_read_or_refused(text in "[-0-9kKmMgGtTpPbBiI.% é]{0,12}") {
            for refused in [number(&text).err(), flag(&text, 0).err()].into_iter().flatten() {
                prop_assert!(!refused.message.is_empty() && !refused.remedy.is_empty());
            }
        }
    }
}
