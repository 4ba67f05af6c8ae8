//! Reading of a command line.

use std::ffi::OsString;

use candor_front::{
    Answer, Assignment, Diagnostic, Diagnostics, Environment, Given, Grammar, Item, Span, Spelling,
    Texts, Word, enter,
};

use super::help::{self, REFUSED};
use super::rows::{SECRETS, VARIABLES, table};
use super::{Command, Options};
use crate::values::{HostEntry, hosts};

const GRAMMAR: Grammar = Grammar {
    long_behind_one_dash: true,
    equals_behind_letters: false,
    unknown: "`warp COMMAND --help` lists all",
};

/// Options that print a text instead of a run.
const HELP: &[Spelling] = &[
    Spelling { name: "help", letter: Some('h'), takes: candor_front::Takes::Nothing },
    Spelling { name: "help-all", letter: None, takes: candor_front::Takes::Nothing },
    Spelling { name: "version", letter: None, takes: candor_front::Takes::Nothing },
];

/// Reads a command line, the program's name first.
///
/// # Errors
/// Text instead of a run, or all mistakes.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Result<Options, Answer> {
    let mut texts = Texts::default();
    let words = enter(&mut texts, argv);
    let mut items = candor_front::read(&words, &spellings(), GRAMMAR);
    match head(&mut items) {
        Ok(Head::Text(text)) => Err(Answer::Text(text)),
        Ok(Head::Command(command)) => Reader::new(command, texts).finish(items, environment),
        Err(wrong) => Err(Answer::Refused(vec![*wrong], texts)),
    }
}

/// The spellings of all commands. A name means the same in each.
fn spellings() -> Vec<Spelling> {
    let mut all = HELP.to_vec();
    for command in Command::ALL {
        for spelling in table(*command).spellings() {
            if !all.iter().any(|known| known.name == spelling.name) {
                all.push(spelling);
            }
        }
    }
    all
}

enum Head {
    Text(String),
    Command(Command),
}

/// Takes the command out of the words.
fn head(items: &mut Vec<Item>) -> Result<Head, Box<Diagnostic>> {
    let at = items.iter().position(|item| matches!(item, Item::Operand(_)));
    let mut name = at.map(|at| items.remove(at));
    if matches!(&name, Some(Item::Operand(word)) if word.text == "help") {
        let at = items.iter().position(|item| matches!(item, Item::Operand(_)));
        name = at.map(|at| items.remove(at));
        items.push(Item::Option {
            name: "help",
            at: Span { text: 0, start: 0, end: 0 },
            value: None,
        });
    }
    let Some(Item::Operand(word)) = name else {
        // Options before a command that is missing explain why more than its absence does.
        let wrong = items.iter().find_map(|item| match item {
            Item::Wrong(wrong) => Some(Box::new(wrong.clone())),
            _ => None,
        });
        return wrong.map_or_else(|| Ok(Head::Text(help::help())), Err);
    };
    if let Some(at) = items.iter().position(is_text) {
        let Item::Option { name, .. } = items.remove(at) else { unreachable!("an option") };
        return match name {
            "version" => Ok(Head::Text(help::version())),
            "help-all" => command(&word).map(|command| Head::Text(help::help_all_of(command))),
            _ => command(&word).map(|command| Head::Text(help::help_of(command))),
        };
    }
    command(&word).map(Head::Command)
}

fn is_text(item: &Item) -> bool {
    matches!(item, Item::Option { name: "help" | "help-all" | "version", .. })
}

fn command(word: &Word) -> Result<Command, Box<Diagnostic>> {
    let found = Command::CHOICES.iter().position(|choice| choice.word == word.text);
    if let Some(at) = found {
        return Ok(Command::ALL[at]);
    }
    if let Some(refused) = REFUSED.iter().find(|refused| refused.name == word.text) {
        let message = format!("warp {} is not done: {}", refused.name, refused.why);
        return Err(Box::new(Diagnostic::new(word.at, "command", &word.text, message)));
    }
    let message = format!("`{}` is no command of warp", word.text);
    let unknown = Diagnostic::new(word.at, "command", &word.text, message);
    let known = Command::CHOICES.iter().map(|choice| choice.word);
    Err(Box::new(unknown.nearest(known).remedy("`warp --help` lists all")))
}

struct Reader {
    options: Options,
    given: Given,
    texts: Texts,
    diagnostics: Diagnostics,
}

impl Reader {
    fn new(command: Command, texts: Texts) -> Reader {
        let options = Options::defaults(command);
        Reader { options, given: Given::default(), texts, diagnostics: Diagnostics::default() }
    }

    fn finish(
        mut self,
        items: Vec<Item>,
        environment: &mut dyn Environment,
    ) -> Result<Options, Answer> {
        self.options.command_line = command_line(self.options.command, &items);
        self.variables(environment);
        for item in items {
            match item {
                Item::Option { name, at, value } => {
                    self.assign(&Assignment { name: Word { text: name.to_owned(), at }, value });
                }
                Item::Operand(word) => self.operand(word),
                Item::Wrong(wrong) => self.diagnostics.push(wrong),
            }
        }
        let table = table(self.options.command);
        let refusals = table.refusals(&self.options, &self.given, |_| false);
        refusals.into_iter().for_each(|refusal| self.diagnostics.push(refusal));
        self.options.notes = table.notes(&self.options, &self.given, &self.texts);
        self.read_hosts(environment);
        self.check();
        if self.diagnostics.errors.is_empty() {
            Ok(self.options)
        } else {
            Err(Answer::Refused(self.diagnostics.errors, self.texts))
        }
    }

    fn variables(&mut self, environment: &dyn Environment) {
        let table = table(self.options.command);
        for variable in VARIABLES.iter().filter(|of| table.find(of.option).is_some()) {
            let value = environment.variable(variable.name).filter(|value| !value.is_empty());
            let Some(value) = value else { continue };
            let text = self.texts.add(variable.name, value.clone());
            let at = Span { text, start: 0, end: value.len() };
            let name = Word { text: variable.option.to_owned(), at };
            self.assign(&Assignment { name, value: Some(Word { text: value, at }) });
        }
    }

    fn assign(&mut self, assignment: &Assignment) {
        let command = self.options.command;
        let table = table(command);
        if table.find(&assignment.name.text).is_none() {
            let name = &assignment.name;
            let message = format!("warp {} has no option `{}`", command.word(), name.text);
            let unknown = Diagnostic::new(name.at, "option", &name.text, message);
            return self.diagnostics.push(unknown.remedy("remove it"));
        }
        match table.assign(assignment, &mut self.options, "") {
            Ok(mut assigned) => {
                if SECRETS.contains(&assigned.row.name) {
                    assigned.given.value = Some(HIDDEN.to_owned());
                }
                self.given.insert(assigned.row.name, assigned.given);
            }
            Err(wrong) => self.diagnostics.push(*wrong),
        }
    }

    /// A word that is no option: a file of the commands that read files.
    fn operand(&mut self, word: Word) {
        if !self.options.command.is_benchmark() {
            return self.options.files.push(word.text);
        }
        let command = self.options.command.word();
        let message = format!("warp {command} takes options only, and `{}` is none", word.text);
        let wrong = Diagnostic::new(word.at, "operand", &word.text, message);
        self.diagnostics.push(wrong.remedy("write --NAME=VALUE"));
    }

    /// Replaces `file:NAME` by the hosts of the file.
    fn read_hosts(&mut self, environment: &mut dyn Environment) {
        let servers = std::mem::take(&mut self.options.connection.hosts);
        self.options.connection.hosts = self.hosts_of("host", servers, environment);
        let clients = std::mem::take(&mut self.options.connection.clients);
        self.options.connection.clients = self.hosts_of("warp-client", clients, environment);
    }

    fn hosts_of(
        &mut self,
        option: &str,
        entries: Vec<HostEntry>,
        environment: &mut dyn Environment,
    ) -> Vec<HostEntry> {
        let mut found = Vec::new();
        for entry in entries {
            let HostEntry::File(file) = &entry else {
                found.push(entry);
                continue;
            };
            match hosts_in(file, environment) {
                Ok(hosts) => found.extend(hosts),
                Err(why) => self.wrong(option, &why, "name a file with a host on each line"),
            }
        }
        found
    }

    fn wrong(&mut self, option: &str, message: &str, remedy: &str) {
        let mut wrong = Diagnostic::nowhere("value", message);
        wrong.at = self.given.at(option);
        self.diagnostics.push(wrong.remedy(remedy));
    }

    /// Values that do not fit together.
    fn check(&mut self) {
        let (work, load) = (self.options.work.clone(), self.options.load.clone());
        let shares = work.get_share + work.stat_share + work.put_share + work.delete_share;
        if self.options.command == Command::Mixed && shares <= 0.0 {
            self.wrong("get-distrib", "all weights are 0", "give one operation a weight");
        }
        if work.delete_share > work.put_share {
            let (delete, put) = (work.delete_share, work.put_share);
            let message = format!("delete-distrib {delete} exceeds put-distrib {put}");
            self.wrong("delete-distrib", &message, "upload as many objects as are deleted");
        }
        if work.range_bytes > load.object_size.smallest() {
            let bytes = work.range_bytes;
            let message = format!("range-size {bytes} exceeds the size of the smallest object");
            self.wrong("range-size", &message, "give a smaller --range-size");
        }
        if work.max_keys > 1000 || work.batch > 1000 {
            let option = if work.batch > 1000 { "batch" } else { "max-keys" };
            self.wrong(option, &format!("{option} exceeds 1000, the limit of S3"), "give 1000");
        }
        if work.parts > 10_000 {
            self.wrong("parts", "parts exceeds 10000, the limit of S3", "give 10000");
        }
        self.check_files();
    }

    fn check_files(&mut self) {
        let (command, count) = (self.options.command, self.options.files.len());
        let fits = match command {
            Command::Analyze => count == 1,
            Command::Compare => count == 2,
            Command::Merge => count >= 2,
            _ => return,
        };
        if !fits {
            let message = format!("warp {} got {count} files", command.word());
            let usage = format!("write {}", help::usage(command));
            self.diagnostics.push(Diagnostic::nowhere("files", message).remedy(usage));
        }
    }
}

impl Options {
    /// The options of a command line with the command only.
    pub fn defaults(command: Command) -> Options {
        let mut options = Options { command, ..Options::default() };
        for row in table(command).rows().filter(|row| !row.default.is_empty()) {
            if let Err(refused) = row.apply(&mut options, Some(row.default)) {
                unreachable!("default of {}: {}", row.name, refused.message);
            }
        }
        options
    }
}

/// Text in place of a secret.
const HIDDEN: &str = "*REDACTED*";

/// The command line with its options in order, without secrets.
fn command_line(command: Command, items: &[Item]) -> String {
    let mut line = format!("warp {}", command.word());
    for item in items {
        match item {
            Item::Option { name, .. } if SECRETS.contains(name) => {
                line.push_str(&format!(" --{name}={HIDDEN}"));
            }
            Item::Option { name, value: Some(value), .. } => {
                line.push_str(&format!(" --{name}={}", value.text));
            }
            Item::Option { name, value: None, .. } => line.push_str(&format!(" --{name}")),
            Item::Operand(word) => line.push_str(&format!(" {}", word.text)),
            Item::Wrong(_) => {}
        }
    }
    line
}

/// The hosts in a file: one or more on each line, with comments from `#` on.
fn hosts_in(file: &str, environment: &mut dyn Environment) -> Result<Vec<HostEntry>, String> {
    let bytes = environment.file(file).map_err(|error| format!("{file}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{file}: holds no text (UTF-8)"))?;
    let mut found = Vec::new();
    for (nth, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let entries = hosts(line).map_err(|no| format!("{file}:{}: {}", nth + 1, no.message))?;
        if entries.iter().any(|entry| matches!(entry, HostEntry::File(_))) {
            return Err(format!("{file}:{}: a list of hosts cannot name another file", nth + 1));
        }
        found.extend(entries);
    }
    if found.is_empty() { Err(format!("{file}: holds no host")) } else { Ok(found) }
}
