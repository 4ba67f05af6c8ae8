//! The command line, by the rules of `getopt_long_only`.

use std::ffi::OsString;

use super::flags::{FLAGS, Flag, Takes};
use super::{
    Assignment, Bare, Block, Diagnostic, Given, OptionName, Origin, Reading, Section, Span, Word,
    expand, is_global,
};

/// Reads the words, and gives the job files that they name.
pub(super) fn read(
    reading: &mut Reading<'_>,
    argv: &[OsString],
    names: &[OptionName],
) -> Vec<Word> {
    let words = enter(reading, argv);
    let mut reader = Reader { reading, names, words, next: 1, into: Into::Globals };
    let mut files = Vec::new();
    while let Some(word) = reader.take() {
        match word.text.as_str() {
            "--" => files.extend(std::iter::from_fn(|| reader.take())),
            // Alone it is standard input.
            "-" => files.push(word),
            text if text.starts_with('-') => reader.option(&word),
            _ => files.push(word),
        }
    }
    files
}

/// Makes a text of the words, one blank between them, and tells where each stands.
fn enter(reading: &mut Reading<'_>, argv: &[OsString]) -> Vec<Word> {
    let (mut line, mut words) = (String::new(), Vec::new());
    for (nth, word) in argv.iter().enumerate() {
        if nth > 0 {
            line.push(' ');
        }
        let text = match nth {
            0 => program(&word.to_string_lossy()),
            _ => word.to_string_lossy().into_owned(),
        };
        let start = line.len();
        // A line break within a word would make two lines of one command line.
        line.push_str(&text.replace(['\n', '\r'], " "));
        let at = Span { text: 0, start, end: line.len() };
        if word.to_str().is_none() || text.contains('\0') {
            let message = format!("`{text}` is not text in UTF-8");
            reading.diagnostics.push(Diagnostic::new(at, "encoding", &text, message));
        }
        words.push(Word { text, at });
    }
    reading.ast.texts.add("command line", line);
    words
}

/// The last part of a path.
fn program(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// Where options of jobs go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Globals,
    Section,
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Flag(&'static Flag),
    Option(OptionName),
}

impl Meaning {
    fn name(self) -> &'static str {
        match self {
            Meaning::Flag(flag) => flag.name,
            Meaning::Option(option) => option.name,
        }
    }

    fn takes(self) -> Takes {
        match self {
            Meaning::Flag(flag) => flag.takes,
            Meaning::Option(option) if option.bare == Bare::Never => Takes::One("VALUE"),
            Meaning::Option(_) => Takes::Maybe("VALUE"),
        }
    }
}

impl Meaning {
    /// It may stand alone, but the next word is its value if it can be one.
    fn wants_next(self) -> bool {
        matches!(self, Meaning::Option(option) if option.bare == Bare::Last)
    }
}

struct Reader<'a, 'w> {
    reading: &'a mut Reading<'w>,
    names: &'a [OptionName],
    words: Vec<Word>,
    /// Index of the next word.
    next: usize,
    into: Into,
}

impl Reader<'_, '_> {
    fn take(&mut self) -> Option<Word> {
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        word
    }

    fn next_is_no_option(&self) -> bool {
        self.words.get(self.next).is_some_and(|word| !word.text.starts_with('-'))
    }

    /// A word that begins with a dash.
    fn option(&mut self, word: &Word) {
        let dashes = if word.text.starts_with("--") { 2 } else { 1 };
        let body = &word.text[dashes..];
        let letter = FLAGS.iter().any(|flag| body.starts_with(flag.letter));
        if dashes == 1 && letter && body.chars().count() == 1 {
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
                let all: Vec<_> = several.iter().map(|meaning| meaning.name()).collect();
                let message = format!("`{name}` is short for {}", all.join(", "));
                let diagnostic = Diagnostic::new(name_at, "ambiguous", name, message);
                self.reading.diagnostics.push(diagnostic.remedy("write more of the name"));
            }
        }
    }

    /// What a name may stand for: itself, else all names that begin with it.
    fn meanings(&self, name: &str) -> Vec<Meaning> {
        let flags = FLAGS.iter().map(Meaning::Flag);
        let all = || flags.clone().chain(self.names.iter().copied().map(Meaning::Option));
        if let Some(exact) = all().find(|meaning| meaning.name() == name) {
            return vec![exact];
        }
        let mut found: Vec<Meaning> = Vec::new();
        for meaning in all().filter(|m| !name.is_empty() && m.name().starts_with(name)) {
            // Several engines have options of one name.
            if found.iter().all(|before| before.name() != meaning.name()) {
                found.push(meaning);
            }
        }
        found
    }

    fn unknown(&mut self, name: &str, at: Span) {
        let message = match name {
            "" => "there is no option behind the dashes".to_owned(),
            _ => format!("`{name}` is no option"),
        };
        let flags = FLAGS.iter().map(|flag| flag.name);
        let candidates = flags.chain(self.names.iter().map(|option| option.name));
        let diagnostic = Diagnostic::new(at, "option", name, message).nearest(candidates);
        self.reading.diagnostics.push(diagnostic.remedy("--cmdhelp lists all options"));
    }

    /// Letters behind a single dash: flags, the last of which may have a value.
    fn letters(&mut self, word: &Word) {
        for (at, letter) in word.text.char_indices().skip(1) {
            let place = Span {
                start: word.at.start + at,
                end: word.at.start + at + letter.len_utf8(),
                ..word.at
            };
            let Some(flag) = FLAGS.iter().find(|flag| flag.letter == letter) else {
                return self.unknown(&letter.to_string(), place);
            };
            let rest = &word.text[at + letter.len_utf8()..];
            let value = (flag.takes != Takes::Nothing && !rest.is_empty())
                .then(|| Word { text: rest.to_owned(), at: Span { start: place.end, ..word.at } });
            let is_last = value.is_some();
            self.meant(Meaning::Flag(flag), place, value);
            if is_last {
                return;
            }
        }
    }

    fn meant(&mut self, meaning: Meaning, at: Span, value: Option<Word>) {
        let value = match (meaning.takes(), value) {
            (Takes::Nothing, Some(value)) => {
                let message = format!("--{} takes no value", meaning.name());
                let diagnostic = Diagnostic::new(value.at, "value", &value.text, message);
                return self.reading.diagnostics.push(diagnostic.remedy("leave it out"));
            }
            (Takes::One(_), None) => self.take(),
            (Takes::Maybe(_), None) if meaning.wants_next() && self.next_is_no_option() => {
                self.take()
            }
            (_, value) => value,
        };
        let empty = value.as_ref().is_none_or(|value| value.text.is_empty());
        if let (Takes::One(takes), true) = (meaning.takes(), empty) {
            let name = meaning.name();
            let diagnostic = Diagnostic::new(at, "value", name, format!("--{name} needs a value"));
            return self
                .reading
                .diagnostics
                .push(diagnostic.remedy(format!("write --{name}={takes}")));
        }
        match meaning {
            Meaning::Flag(flag) => self.flag(flag, at, value),
            Meaning::Option(option) => self.assign(option.name, at, value),
        }
    }

    fn flag(&mut self, flag: &'static Flag, at: Span, value: Option<Word>) {
        if let Some(why) = flag.refused {
            let message = format!("--{} cannot be done", flag.name);
            let diagnostic = Diagnostic::new(at, "refused", flag.name, message);
            self.reading.diagnostics.push(diagnostic.remedy(why));
        }
        self.reading.ast.flags.push(Given { name: flag.name, at, value });
    }

    fn assign(&mut self, name: &'static str, at: Span, value: Option<Word>) {
        let value = value.map(|value| self.replaced(value));
        let ast = &mut self.reading.ast;
        let block = Block { origin: Origin::CommandLine, assignments: Vec::new() };
        if let ("name", Some(section)) = (name, &value) {
            self.into = if is_global(&section.text) { Into::Globals } else { Into::Section };
            match self.into {
                Into::Globals => ast.globals.push(Block {
                    // fio shows it among the options of all jobs.
                    assignments: vec![Assignment { name: Word { text: name.into(), at }, value }],
                    ..block
                }),
                Into::Section => ast.sections.push(Section {
                    name: section.clone(),
                    globals: 0..ast.globals.len(),
                    own: block,
                    begins_file: false,
                }),
            }
            return;
        }
        let name = Word { text: name.to_owned(), at };
        let into = match self.into {
            Into::Globals => {
                if ast.globals.is_empty() {
                    ast.globals.push(block);
                }
                ast.globals.last_mut()
            }
            Into::Section => ast.sections.last_mut().map(|section| &mut section.own),
        };
        if let Some(into) = into {
            into.assignments.push(Assignment { name, value });
        }
    }

    /// The shell has replaced variables already; keywords are candor's.
    fn replaced(&mut self, value: Word) -> Word {
        match expand::keywords(&value.text, self.reading.environment) {
            Ok(text) => Word { text, ..value },
            Err(refused) => {
                let diagnostic =
                    Diagnostic::new(value.at, "arithmetic", &value.text, refused.message);
                self.reading.diagnostics.push(diagnostic.remedy(refused.remedy));
                value
            }
        }
    }
}
