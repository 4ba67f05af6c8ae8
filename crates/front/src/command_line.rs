//! Command lines in the way of `getopt_long`: words into options with their values, and operands.

use std::ffi::OsString;

use candor_plan::PathText;

use super::{Diagnostic, Span, Table, Takes, Texts, ValueKind, Word};

/// The spelling of an option on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The name, or an alias, without dashes.
    pub name: &'static str,
    /// The letter that stands for it behind a single dash.
    pub letter: Option<char>,
    /// The value behind the name.
    pub takes: Takes,
}

impl<K: ValueKind> Table<K> {
    /// The spellings of all options, by all their names.
    pub fn spellings(&self) -> impl Iterator<Item = Spelling> + use<K> {
        self.rows().flat_map(|row| {
            let (letter, takes) = (row.letter, row.kind.takes());
            row.names().map(move |name| Spelling { name, letter, takes })
        })
    }
}

/// The differences between the command lines of tools.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// Long names may stand behind a single dash (`getopt_long_only`).
    pub long_behind_one_dash: bool,
    /// An equals sign may stand between a letter and its value, and a value may be empty
    /// (`boost::program_options`).
    pub equals_behind_letters: bool,
    /// The remedy for an unknown name.
    pub unknown: &'static str,
}

/// A piece of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option.
    Option {
        /// The full name.
        name: &'static str,
        /// Where the name stands.
        at: Span,
        /// The value.
        value: Option<Word>,
    },
    /// A word that is no option.
    Operand(Word),
    /// A word that is wrong.
    Wrong(Diagnostic),
}

/// Makes a text of the words, one blank between them, and gives each word with its place.
pub fn enter(texts: &mut Texts, argv: &[OsString]) -> Vec<Word> {
    let text_index = texts.all.len();
    let (mut line, mut words) = (String::new(), Vec::new());
    for (nth, word) in argv.iter().enumerate() {
        if nth > 0 {
            line.push(' ');
        }
        let text = match nth {
            0 => program(&word.text()),
            _ => word.text(),
        };
        let start = line.len();
        // A line break within a word would make two lines of one command line.
        line.push_str(&text.replace(['\n', '\r'], " "));
        let at = Span { text: text_index, start, end: line.len() };
        words.push(Word { text, at });
    }
    texts.add("command line", line);
    words
}

/// The last part of a path.
fn program(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Takes the words behind the program's name apart. A name may be shortened as long as one option
/// only is meant.
pub fn read(words: &[Word], spellings: &[Spelling], grammar: Grammar) -> Vec<Item> {
    let mut reader = Reader { words, spellings, grammar, next: 1, items: Vec::new() };
    while let Some(word) = reader.take() {
        match word.text.as_str() {
            "--" => {
                let rest =
                    std::iter::from_fn(|| reader.take()).map(Item::Operand).collect::<Vec<_>>();
                reader.items.extend(rest);
            }
            // Alone it is standard input.
            "-" => reader.items.push(Item::Operand(word)),
            text if text.starts_with('-') => reader.option(&word),
            _ => reader.items.push(Item::Operand(word)),
        }
    }
    reader.items
}

struct Reader<'a> {
    words: &'a [Word],
    spellings: &'a [Spelling],
    grammar: Grammar,
    /// Index of the next word.
    next: usize,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn take(&mut self) -> Option<Word> {
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        word
    }

    fn next_is_no_option(&self) -> bool {
        self.words.get(self.next).is_some_and(|word| !word.text.starts_with('-'))
    }

    fn wrong(&mut self, diagnostic: Diagnostic) {
        self.items.push(Item::Wrong(diagnostic));
    }

    /// A word that begins with a dash.
    fn option(&mut self, word: &Word) {
        let dashes = if word.text.starts_with("--") { 2 } else { 1 };
        let body = &word.text[dashes..];
        let first = body.chars().next();
        let letter = first.is_some() && self.spellings.iter().any(|known| known.letter == first);
        let only_letters = !self.grammar.long_behind_one_dash || body.chars().count() == 1;
        if dashes == 1 && only_letters && (letter || !self.grammar.long_behind_one_dash) {
            return self.letters(word);
        }
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let name_at = Span { end: word.at.start + dashes + name.len(), ..word.at };
        let value = value.map(|value| {
            let start = word.at.end - value.len();
            Word { text: value.to_owned(), at: Span { start, ..word.at } }
        });
        match self.meanings(name)[..] {
            [meaning] => self.meant(meaning, name_at, value),
            [] if dashes == 1 && letter => self.letters(word),
            [] => self.unknown(name, name_at),
            ref several => {
                let all: Vec<_> = several.iter().map(|meaning| meaning.name).collect();
                let message = format!("`{name}` is short for {}", all.join(", "));
                let diagnostic = Diagnostic::new(name_at, "ambiguous", name, message);
                self.wrong(diagnostic.remedy("write more of the name"));
            }
        }
    }

    /// Everything that a name may stand for: itself, else all names that begin with it.
    fn meanings(&self, name: &str) -> Vec<Spelling> {
        if let Some(exact) = self.spellings.iter().find(|known| known.name == name) {
            return vec![*exact];
        }
        let begins = |known: &&Spelling| !name.is_empty() && known.name.starts_with(name);
        let mut found: Vec<Spelling> = self.spellings.iter().filter(begins).copied().collect();
        // Two tables may have options of one name.
        found.dedup_by_key(|meaning| meaning.name);
        found
    }

    fn unknown(&mut self, name: &str, at: Span) {
        let message = match name {
            "" => "there is no option after the dashes".to_owned(),
            _ => format!("`{name}` is no option"),
        };
        let candidates = self.spellings.iter().map(|known| known.name);
        let diagnostic = Diagnostic::new(at, "option", name, message).nearest(candidates);
        self.wrong(diagnostic.remedy(self.grammar.unknown));
    }

    /// Letters behind a single dash: options, the last of which may have a value.
    fn letters(&mut self, word: &Word) {
        for (at, letter) in word.text.char_indices().skip(1) {
            let start = word.at.start + at;
            let place = Span { start, end: start + letter.len_utf8(), ..word.at };
            let known = self.spellings.iter().find(|known| known.letter == Some(letter));
            let Some(known) = known.copied() else {
                return self.unknown(&letter.to_string(), place);
            };
            let rest = &word.text[at + letter.len_utf8()..];
            let equals = rest.starts_with('=') && self.grammar.equals_behind_letters;
            let value = (known.takes != Takes::Nothing && !rest.is_empty()).then(|| {
                let sign = usize::from(equals);
                let at = Span { start: place.end + sign, ..word.at };
                Word { text: rest[sign..].to_owned(), at }
            });
            let is_last = value.is_some();
            self.meant(known, place, value);
            if is_last {
                return;
            }
        }
    }

    fn meant(&mut self, meaning: Spelling, at: Span, value: Option<Word>) {
        let Spelling { name, takes, .. } = meaning;
        let value = match (takes, value) {
            (Takes::Nothing, Some(value)) => {
                let message = format!("--{name} takes no value");
                let diagnostic = Diagnostic::new(value.at, "value", &value.text, message);
                return self.wrong(diagnostic.remedy("leave it out"));
            }
            (Takes::One(_), None) => self.take(),
            (Takes::MaybeNext(_), None) if self.next_is_no_option() => self.take(),
            (_, value) => value,
        };
        let may_be_empty = self.grammar.equals_behind_letters;
        let empty = value.as_ref().is_none_or(|value| value.text.is_empty() && !may_be_empty);
        if let (Takes::One(takes), true) = (takes, empty) {
            let diagnostic = Diagnostic::new(at, "value", name, format!("--{name} needs a value"));
            return self.wrong(diagnostic.remedy(format!("write --{name}={takes}")));
        }
        self.items.push(Item::Option { name, at, value });
    }
}
