//! The command line, by the rules of `getopt_long_only`.

use std::ffi::OsString;

use super::clients::Clients;
use super::{Ast, Block, Given, Names, Origin, Reading, Section, expand, is_global};
use candor_front::{Assignment, Diagnostic, Grammar, Item, Span, Spelling, Word};

const GRAMMAR: Grammar = Grammar {
    long_behind_one_dash: true,
    equals_behind_letters: false,
    unknown: "--cmdhelp lists all options",
};

/// Reads the words, and returns the job files that they name.
pub(super) fn read(reading: &mut Reading<'_>, argv: &[OsString], names: &Names) -> Vec<Word> {
    let words = candor_front::enter(&mut reading.ast.texts, argv);
    let spellings: Vec<Spelling> = names.flags.iter().chain(&names.options).copied().collect();
    let mut reader = Reader { reading, into: Into::Globals };
    let mut clients = Clients::default();
    for item in candor_front::read(&words, &spellings, GRAMMAR) {
        match item {
            Item::Option { name, at, value } => {
                clients.close();
                if let ("client", Some(word)) = (name, &value) {
                    reader.client(&mut clients, word);
                }
                let is_flag = names.flags.iter().any(|flag| flag.name == name);
                if is_flag {
                    reader.reading.ast.flags.push(Given { name, at, value });
                } else {
                    reader.assign(name, at, value);
                }
            }
            Item::Operand(file) => clients.file(file),
            Item::Wrong(diagnostic) => reader.reading.diagnostics.push(diagnostic),
        }
    }
    let (clients, files) = clients.end(&mut reading.diagnostics);
    reading.ast.clients = clients;
    if !reading.ast.clients.is_empty() {
        let wrong = options_beside_clients(&reading.ast);
        reading.diagnostics.extend(wrong);
    }
    files
}

/// fio sends job files to its clients, and drops the rest.
fn options_beside_clients(ast: &Ast) -> Option<Diagnostic> {
    let own = ast.sections.iter().map(|section| &section.own);
    let mut assignments = ast.globals.iter().chain(own).flat_map(|block| &block.assignments);
    let named = ast.sections.first().map(|section| ("name", section.name.at));
    let other = assignments.next().map(|first| (first.name.text.as_str(), first.name.at));
    let (name, at) = other.or(named)?;
    let message = format!("--{name} is an option of jobs, which clients have from job files only");
    Some(Diagnostic::new(at, "client", name, message).remedy("write it into the job file"))
}

/// Destination of job options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Globals,
    Section,
}

struct Reader<'a, 'w> {
    reading: &'a mut Reading<'w>,
    into: Into,
}

impl Reader<'_, '_> {
    fn client(&mut self, clients: &mut Clients, word: &Word) {
        if let Err(refused) = clients.add(word, self.reading.environment) {
            let diagnostic = Diagnostic::new(word.at, "client", &word.text, refused.message);
            self.reading.diagnostics.push(diagnostic.remedy(refused.remedy));
        }
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
