//! Reading of the command line and the file of options.

use std::ffi::OsString;

use candor_plan::path_text::text_of;

use super::rows::{CONFIG_FILE, OFF, PLAIN_PATHS, TABLE, requested_text};
use super::s3::Hidden;
use super::{Instead, Options, credentials, rows};
use crate::paths::{Paths, Scheme};
use crate::{grammar, paths};
use candor_front::{
    Assignment, Diagnostic, Environment, Given, Grammar, Item, Scope, Span, Spelling, Table, Takes,
    Texts, ValueKind, Word, enter,
};

const GRAMMAR: Grammar = Grammar {
    long_behind_one_dash: false,
    equals_behind_letters: true,
    unknown: "--help-all lists all options",
};

/// Characters of a wrong line that an error shows.
const LINE_SHOWN_MAX: usize = 60;
/// Remedy for an unknown name.
const LIST: &str = "see elbencho --help-all";

/// A command line as read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The options.
    pub options: Options,
    /// Request for a text instead of a benchmark.
    pub instead: Option<Instead>,
    /// The given options, with their positions.
    pub given: Given,
    /// The command line, and the file of options.
    pub texts: Texts,
    /// All errors, in the order found; with any, nothing runs.
    pub errors: Vec<Diagnostic>,
    /// Values that are secrets.
    hidden: Vec<Hidden>,
}

impl Scope for Reading {
    type Kind = rows::Value;
    const TOOL: &'static str = "elbencho";
    const TABLE: Table<rows::Value> = TABLE;

    fn given(&self) -> &Given {
        &self.given
    }

    fn at(&self) -> Span {
        Span { text: 0, start: 0, end: 0 }
    }

    fn name(&self) -> &str {
        "elbencho"
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }
}

/// Reads a command line, the program's name first, and the file of options that it names.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    let mut reading = Reading::default();
    let words = enter(&mut reading.texts, argv);
    let spellings: Vec<Spelling> = TABLE.spellings().collect();
    let mut operands = Vec::new();
    for item in candor_front::read(&words, &spellings, GRAMMAR) {
        match item {
            Item::Option { name, at, value } => {
                reading.option(Word { text: name.to_owned(), at }, value);
            }
            Item::Operand(word) => operands.push(word),
            Item::Wrong(diagnostic) => reading.errors.push(diagnostic),
        }
    }
    reading.config_file(environment);
    reading.hosts(environment);
    let schemes = reading.paths(&operands);
    let Reading { options, given, errors, .. } = &mut reading;
    errors.extend(credentials::read(options, given, &schemes, environment));
    reading.errors.extend(TABLE.refusals(&reading.options, &reading.given, |_| false));
    reading.options.command = credentials::shown(words, &reading.hidden);
    reading
}

/// True for an option with an optional value.
fn is_switch(name: &Word) -> bool {
    TABLE.find(&name.text).is_some_and(|row| matches!(row.kind.takes(), Takes::Maybe(_)))
}

impl Reading {
    /// True for a switch that is given and on.
    fn is_on(&self, switch: &str) -> bool {
        self.given.get(switch).is_some_and(|given| given.value.as_deref() != Some(OFF))
    }

    fn wrong(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    /// Reads an option of the command line. An option is given once; a switch that is off gives way
    /// to the same switch that is on.
    fn option(&mut self, name: Word, value: Option<Word>) {
        let earlier = TABLE.find(&name.text).and_then(|row| self.given.get(row.name));
        let earlier = earlier.map(|given| given.value.clone());
        let is_off =
            |value: Option<&str>| value.is_some_and(|text| grammar::switch(text) == Ok(false));
        match earlier {
            Some(_) if is_switch(&name) && is_off(value.as_ref().map(|word| &*word.text)) => {}
            Some(before) if !is_switch(&name) || !is_off(before.as_deref()) => self.twice(&name),
            _ => self.assign(name, value),
        }
    }

    fn twice(&mut self, name: &Word) {
        let first = TABLE.find(&name.text).map_or("", |row| row.name);
        let message = format!("--{first} is given more than once");
        let twice = Diagnostic::new(name.at, "repeat", first, message);
        self.wrong(twice.remedy("give it once"));
    }

    fn assign(&mut self, name: Word, value: Option<Word>) {
        let takes = TABLE.find(&name.text).map(|row| row.kind.takes());
        let mut assignment = Assignment { name, value };
        if let (Some(Takes::Maybe(_)), Some(value)) = (takes, &mut assignment.value) {
            match grammar::switch(&value.text) {
                Ok(on) => value.text = on.to_string(),
                Err(refused) => {
                    let wrong = assignment.refused(&assignment.name.text, &refused);
                    return self.wrong(wrong);
                }
            }
        }
        match TABLE.assign(&assignment, &mut self.options, LIST) {
            Ok(assigned) => {
                let name = assigned.row.name;
                self.given.insert(name, assigned.given);
                if credentials::is_secret(name) {
                    credentials::hide(&mut self.given, name);
                    self.hidden.extend(assignment.value.map(|word| Hidden(word.text)));
                }
                self.instead = self.instead.or(requested_text(name).filter(|_| self.is_on(name)));
            }
            Err(diagnostic) => self.wrong(*diagnostic),
        }
    }

    /// Reads the file of options; the command line takes precedence.
    fn config_file(&mut self, environment: &mut dyn Environment) {
        let named = self.given.get(CONFIG_FILE).and_then(|given| given.value.clone());
        let Some(file) = named else { return };
        let text = match environment.file(&file) {
            Ok(bytes) => text_of(&bytes),
            Err(why) => {
                let message = format!("{file} cannot be read: {why}");
                let at = self.given.at(CONFIG_FILE).unwrap_or(self.at());
                return self.wrong(Diagnostic::new(at, "config", &file, message));
            }
        };
        let by_words: Vec<&'static str> = self.given.iter().map(|(name, _)| name).collect();
        let number = self.texts.add(file, text.clone());
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.config_line(line, Span { text: number, start, end: start }, &by_words);
            start += line.len();
        }
    }

    /// Reads the file of hosts, and limits the number of hosts.
    fn hosts(&mut self, environment: &mut dyn Environment) {
        let has_text = |option| {
            let value = self.given.get(option).and_then(|given| given.value.as_deref());
            value.is_some_and(|text| !text.is_empty())
        };
        let named_by = ["hostsfile", "hosts"].into_iter().find(|option| has_text(option));
        let hosts = &mut self.options.hosts;
        let mut wrong = None;
        if let Some(file) = hosts.file.as_ref().filter(|file| !file.is_empty()) {
            let text = environment.file(file).map(|bytes| text_of(&bytes));
            let named = text.map_err(|why| why.to_string()).and_then(|text| {
                let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
                let listed = lines.map(|line| grammar::hosts(line).map_err(|no| no.message));
                listed.collect::<Result<Vec<_>, _>>()
            });
            match named {
                Ok(named) => hosts.list.extend(named.into_iter().flatten()),
                Err(why) => wrong = Some(("hostsfile", format!("{file} cannot be read: {why}"))),
            }
        }
        if let Some(option) = named_by.filter(|_| hosts.list.is_empty() && wrong.is_none()) {
            let what = hosts.file.as_deref().unwrap_or("the list");
            wrong = Some((option, format!("{what} names no host")));
        }
        // Without hosts, the limit has no effect.
        if let Some(count) = hosts.count.filter(|_| !hosts.list.is_empty()) {
            if count > hosts.list.len() {
                let message = format!("{count} hosts are more than the {} named", hosts.list.len());
                wrong = Some(("numhosts", message));
            }
            hosts.list.truncate(count);
        }
        if let Some((option, message)) = wrong {
            let at = self.given.at(option).unwrap_or(self.at());
            self.wrong(Diagnostic::new(at, "hosts", option, message));
        }
    }

    fn config_line(&mut self, line: &str, at: Span, by_words: &[&str]) {
        let written = line.split('#').next().unwrap_or_default();
        let content = written.trim();
        if content.is_empty() {
            return;
        }
        let start = at.start + (written.len() - written.trim_start().len());
        let place = |from: usize, text: &str| {
            let from = start + from;
            Word { text: text.to_owned(), at: Span { start: from, end: from + text.len(), ..at } }
        };
        let Some((name, value)) = content.split_once('=') else {
            let mut begin: String = content.chars().take(LINE_SHOWN_MAX).collect();
            if begin.len() < content.len() {
                begin.push('…');
            }
            let message = format!("`{begin}` is no line of long-option=value");
            let wrong = Diagnostic::new(place(0, content).at, "config", content, message);
            return self.wrong(wrong.remedy("write an equals sign and a value"));
        };
        let value_from = name.len() + 1 + (value.len() - value.trim_start().len());
        let (name, value) = (name.trim_end(), value.trim());
        let row = TABLE.find(name).map(|row| row.name);
        if row.is_some_and(|row| by_words.contains(&row)) {
            return;
        }
        let name = place(0, name);
        if row.is_some_and(|row| self.given.has(row)) {
            return self.twice(&name);
        }
        // A switch without a value is on.
        let value =
            Some(place(value_from, value)).filter(|_| !(value.is_empty() && is_switch(&name)));
        self.assign(name, value);
    }

    /// Reads the operands: each contains one path, or several with separators. Returns their
    /// schemes.
    fn paths(&mut self, operands: &[Word]) -> Vec<Scheme> {
        let plain = self.is_on(PLAIN_PATHS);
        let mut schemes = Vec::new();
        for word in operands {
            match paths::expand(&word.text, plain) {
                Ok(Paths { scheme, paths }) => {
                    schemes.push(scheme);
                    self.options.paths.extend(paths);
                }
                Err(refused) => {
                    let Word { text, at } = word;
                    let wrong = Diagnostic::new(*at, "path", text, refused.message);
                    self.wrong(wrong.remedy(refused.remedy));
                }
            }
        }
        schemes
    }
}
