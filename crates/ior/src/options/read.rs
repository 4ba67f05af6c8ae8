//! Reading of a command line, and of the script that it names, into tests.

use std::ffi::OsString;

use candor_record::Note;

use super::reader::{NOWHERE, Reader, Test};
use super::rows::{DIRECTIVES, HELP, SCRIPT, TABLE, Value};
use super::words::{self, Written};
use super::{Instead, OutputOptions, script};
use candor_front::{Diagnostic, Environment, Given, Scope, Span, Table, Texts, Word, enter, ranks};
use candor_ior_family::words::skipped_note;

/// Variables that split one host into several nodes.
const FAKE_NODES: &str = "IOR_FAKE_NODES";
const FAKE_TASKS_PER_NODE: &str = "IOR_FAKE_TASK_PER_NODES";

/// Nodes that one host simulates, from the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FakeNodes {
    /// Number of nodes.
    pub nodes: Option<u32>,
    /// Tasks on each.
    pub tasks_per_node: Option<u32>,
}

/// A command line as read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The tests, in order.
    pub tests: Vec<Test>,
    /// The command line, without the number of ranks.
    pub command: Vec<String>,
    /// Number of ranks.
    pub ranks: u32,
    /// Nodes that this host simulates, or the real nodes.
    pub fake: FakeNodes,
    /// The ranks run on several hosts.
    pub on_several_hosts: bool,
    /// The script with the tests.
    pub script: Option<String>,
    /// Request for a text instead of tests.
    pub instead: Option<Instead>,
    /// The command line, and the script.
    pub texts: Texts,
    /// Notes on parts of the command line without effect, or with a hidden one.
    pub notes: Vec<Note>,
    /// All errors, in the order found; with any, nothing runs.
    pub errors: Vec<Diagnostic>,
}

impl Reading {
    /// A test with the texts of its positions.
    pub fn scope<'a>(&'a self, test: &'a Test) -> TestScope<'a> {
        TestScope { test, texts: &self.texts }
    }

    /// Output options of all tests: the options of the last test.
    pub fn output(&self) -> OutputOptions {
        self.tests.last().map(|test| test.options.output.clone()).unwrap_or_default()
    }
}

/// A test with the texts of its positions.
pub struct TestScope<'a> {
    /// The test.
    pub test: &'a Test,
    texts: &'a Texts,
}

impl Scope for TestScope<'_> {
    type Kind = Value;
    const TOOL: &'static str = "IOR";
    const TABLE: Table<Value> = TABLE;

    fn given(&self) -> &Given {
        &self.test.given
    }

    fn at(&self) -> Span {
        self.test.at
    }

    fn name(&self) -> &str {
        "ior"
    }

    fn texts(&self) -> &Texts {
        self.texts
    }
}

/// Reads a command line, the program's name first, and the script that it names.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    let mut argv = argv.to_vec();
    let taken = ranks::take(&mut argv, environment);
    let mut reading = Reading { ranks: 1, ..Reading::default() };
    let words = enter(&mut reading.texts, &argv);
    match taken {
        Ok(ranks) => reading.ranks = ranks,
        Err(wrong) => reading.errors.push(*wrong),
    }
    reading.fake = fake_nodes(environment, &mut reading.errors);
    reading.command = words.iter().map(|word| word.text.clone()).collect();
    let mut reader = Reader::default();
    let read = words::written(&words);
    for written in read.written {
        match written {
            Ok(written) if written.name == DIRECTIVES => reader.directives(&written),
            Ok(Written { name, at, value }) => reader.assign(name, at, value),
            Err(diagnostic) => reader.errors.push(*diagnostic),
        }
    }
    for value in &read.keeping {
        reader.assign("keepFile", value.at, None);
    }
    reading.notes.extend(read.keeping.iter().map(|value| kept_note(value, &reading.texts)));
    let skipped = read.skipped.iter();
    reading.notes.extend(skipped.map(|letters| skipped_note("IOR", letters, &reading.texts)));
    reading.errors.append(&mut reader.errors);
    reading.instead = reader.given.has(HELP).then_some(Instead::Help);
    reading.script = reader.given.get(SCRIPT).and_then(|script| script.value.clone());
    let (tests, errors) = match &reading.script {
        Some(file) => {
            let at = reader.given.at(SCRIPT).unwrap_or(NOWHERE);
            let file = Word { text: file.clone(), at };
            script::read(&file, reader, environment, &mut reading.texts)
        }
        None => (vec![reader.test(NOWHERE)], Vec::new()),
    };
    reading.tests = tests;
    reading.errors.extend(errors);
    let mut refused = Vec::new();
    for Test { options, given, .. } in &reading.tests {
        for refusal in TABLE.refusals(options, given, |_| false) {
            // Tests inherit options, and therefore errors.
            if !refused.contains(&refusal) {
                refused.push(refusal);
            }
        }
    }
    reading.errors.extend(refused);
    reading
}

/// The note on a value whose `k` IOR reads twice.
fn kept_note(value: &Word, texts: &Texts) -> Note {
    Note {
        asked: value.text.clone(),
        did: "files stay at the end".into(),
        why:
            "IOR reads the k of a value that directly follows its letter as -k, too; leave a blank \
              between them"
                .into(),
        place: Some(texts.location(value.at)),
    }
}

fn fake_nodes(environment: &dyn Environment, errors: &mut Vec<Diagnostic>) -> FakeNodes {
    let mut number = |name: &str| {
        let text = environment.variable(name).filter(|text| !text.is_empty())?;
        let number = text.parse().ok().filter(|number| *number > 0);
        if number.is_none() {
            let message = format!("{name} is `{text}`, which is no number from 1 on");
            errors.push(Diagnostic::nowhere("nodes", message).remedy("unset it, or give a number"));
        }
        number
    };
    FakeNodes { nodes: number(FAKE_NODES), tasks_per_node: number(FAKE_TASKS_PER_NODE) }
}
