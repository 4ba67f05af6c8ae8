//! Reading of a command line.

use std::ffi::OsString;

use super::table::{CommandLine, TABLE, directory};
use super::{Entry, Options, Partitions, Request, Unit};
use candor_front::{Diagnostic, Row, Span, Support, Takes, Texts, ValueKind, Word};

/// Reads a command line, the program's name first. `posix` requests sectors of 512 bytes
/// (`POSIXLY_CORRECT`).
///
/// # Errors
/// All errors, and the text of their positions.
pub fn read(argv: &[OsString], posix: bool) -> Result<Request, (Vec<Diagnostic>, Texts)> {
    let mut texts = Texts::default();
    let words = candor_front::enter(&mut texts, argv);
    let errors = Vec::new();
    let mut reader = Reader { line: CommandLine::default(), words: &words, next: 1, errors };
    while let Some(word) = reader.take() {
        reader.word(word);
        if reader.line.version {
            return Ok(Request::Version);
        }
    }
    let Reader { line, mut errors, .. } = reader;
    match line.finish(posix) {
        Ok(options) if errors.is_empty() => return Ok(Request::Reports(Box::new(options))),
        Ok(_) => {}
        Err(sentence) => errors.push(Diagnostic::nowhere("together", sentence)),
    }
    Err((errors, texts))
}

struct Reader<'a> {
    line: CommandLine,
    words: &'a [Word],
    next: usize,
    errors: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn take(&mut self) -> Option<&'a Word> {
        let word = self.words.get(self.next);
        self.next += 1;
        word
    }

    fn word(&mut self, word: &Word) {
        match word.text.as_str() {
            "--help" => self.errors.push(Diagnostic::nowhere("help", "the options are")),
            "+f" => {
                let name = self.take().map_or("", |name| name.text.as_str());
                if let Err(refused) = directory(&mut self.line, name, true) {
                    self.wrong(word.at, "value", &refused.message);
                }
            }
            text if text.starts_with("--") => self.long(word),
            text if text.len() > 1 && text.starts_with('-') => self.letters(word),
            text => {
                if let Err(refused) = self.line.operand(text) {
                    self.wrong(word.at, "operand", &refused.message);
                }
            }
        }
    }

    fn wrong(&mut self, at: Span, rule: &'static str, message: &str) {
        self.errors.push(Diagnostic::new(at, rule, "", message));
    }

    fn long(&mut self, word: &Word) {
        let body = &word.text[2..];
        let (name, value) = body.split_once('=').map_or((body, None), |(n, v)| (n, Some(v)));
        let row = TABLE.find(name).filter(|row| row.letter.is_none());
        let takes = row.is_some_and(|row| row.kind.takes() != Takes::Nothing);
        match row {
            Some(row) if takes || value.is_none() => self.apply(row, value, word.at),
            _ => self.wrong(word.at, "option", &format!("`{}` is no option of iostat", word.text)),
        }
    }

    /// Letters after one dash; only the last may have a value, the next word.
    fn letters(&mut self, word: &Word) {
        let letters: Vec<char> = word.text.chars().skip(1).collect();
        for (nth, letter) in letters.iter().enumerate() {
            let Some(row) = TABLE.by_letter(*letter) else {
                let message = format!("`{}`: -{letter} is no option of iostat", word.text);
                return self.wrong(word.at, "option", &message);
            };
            let value = match row.kind.takes() {
                Takes::Nothing => None,
                // In a group of letters, `-p` has no device.
                Takes::Maybe(_) | Takes::MaybeNext(_) if letters.len() > 1 => None,
                Takes::Maybe(_) | Takes::MaybeNext(_) => self.next_unless_option(),
                Takes::One(_) if nth + 1 < letters.len() => {
                    let message =
                        format!("`{}`: -{letter} must be the last of its letters", word.text);
                    return self.wrong(word.at, "option", &message);
                }
                Takes::One(_) => self.take(),
            };
            match row.support {
                Support::Refused(_) => self.refused(word, &format!("-{letter}")),
                _ => self.apply(
                    row,
                    value.map(|value| value.text.as_str()),
                    value.map_or(word.at, |value| word.at.to(value.at)),
                ),
            }
        }
    }

    fn next_unless_option(&mut self) -> Option<&'a Word> {
        let next = self.words.get(self.next).filter(|next| !next.text.starts_with('-'))?;
        self.next += 1;
        Some(next)
    }

    fn refused(&mut self, word: &Word, spelled: &str) {
        let row = spelled.chars().nth(1).and_then(|letter| TABLE.by_letter(letter));
        let why = row.map_or("", |row| row.support.reason());
        self.wrong(word.at, "unsupported", &format!("`{spelled}` is not done: {why}"));
    }

    fn apply(&mut self, row: &Row<super::table::Value>, value: Option<&str>, at: Span) {
        if let Err(refused) = row.apply(&mut self.line, value) {
            self.wrong(at, "value", &refused.message);
        }
    }
}

impl CommandLine {
    fn finish(self, posix: bool) -> Result<Options, String> {
        let CommandLine { mut options, units, numbers, .. } = self;
        (options.interval_s, options.count) = match numbers[..] {
            [] | [0] => (None, None),
            [interval] => (Some(interval), None),
            [0, _] => return Err("`0`: a count needs an interval of a second or more".to_owned()),
            [_, 0] => return Err("`0`: a count of reports begins at 1".to_owned()),
            [interval, count] => (Some(interval), Some(count)),
            [.., third] => {
                return Err(format!("`{third}`: after interval and count no number has a meaning"));
            }
        };
        options.unit = match units[..] {
            [] if posix => Unit::Sector,
            [] => Unit::Kilo,
            [first, ..] if units.iter().all(|unit| *unit == first) => first,
            _ => return Err("`-k` and `-m`: only one of them can be the unit".to_owned()),
        };
        let has_group = options.entries.iter().any(|entry| matches!(entry, Entry::Group(_)));
        if options.groups_only && !has_group {
            return Err("`-H` shows groups only, and no `-g` makes one".to_owned());
        }
        if options.partitions != Partitions::Named && !options.entries.is_empty() {
            // A command line with devices and `-p` alone prints both.
            options.entries.push(Entry::All);
        }
        let either = options.cpu || options.devices;
        // Extended metrics, partitions and groups are about devices.
        let of_devices = options.extended || options.partitions != Partitions::Named;
        options.devices |= !either || of_devices || !options.entries.is_empty();
        options.cpu |= !either;
        Ok(options)
    }
}
