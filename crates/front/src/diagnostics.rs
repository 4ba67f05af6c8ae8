//! Everything that a front end has to say on the way from text to plan.

use std::collections::HashSet;

use candor_record::Note;

use super::{Diagnostic, Given, Span, Table, Texts, ValueKind};

/// A part of the user's text that options were given in: a section of a job file, a command line.
pub trait Scope {
    /// The values of the tool's options.
    type Kind: ValueKind;
    /// The tool, as its users call it.
    const TOOL: &'static str;
    /// The options that the tool has.
    const TABLE: Table<Self::Kind>;

    /// The options that were given.
    fn given(&self) -> &Given;
    /// Where the part begins.
    fn at(&self) -> Span;
    /// The name.
    fn name(&self) -> &str;
    /// The texts that places point into.
    fn texts(&self) -> &Texts;
}

/// Errors and notes, each once: what several jobs say in the same words stands there once.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// The errors, in the order found.
    pub errors: Vec<Diagnostic>,
    /// The same, to be looked up: each of ten thousand files may have one.
    known: HashSet<Diagnostic>,
    /// The notes, in the order found.
    pub notes: Vec<Note>,
}

impl Diagnostics {
    /// Adds an error, unless it is known.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.known.insert(diagnostic.clone()) {
            self.errors.push(diagnostic);
        }
    }

    /// Adds a note, unless it is known.
    pub fn add_note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Refuses an option as it is set, for a reason beyond its row in the table.
    pub fn refuse<S: Scope>(&mut self, from: &S, option: &str, why: &str) {
        let mut diagnostic = S::TABLE.refusal(from.given(), option, why);
        diagnostic.at = diagnostic.at.or(Some(from.at()));
        self.push(diagnostic);
    }

    /// Reports that an option, or where it is not given the scope, is wrong.
    pub fn wrong<S: Scope>(&mut self, from: &S, option: &str, message: String, remedy: &str) {
        self.wrong_known_as(from, option, message, "", remedy);
    }

    /// The same, and the tool's own message in addition, because scripts search for it.
    pub fn wrong_known_as<S: Scope>(
        &mut self,
        from: &S,
        option: &str,
        message: String,
        known_as: &str,
        remedy: &str,
    ) {
        let given = from.given().get(option);
        let at = given.map_or(from.at(), |given| given.at);
        let row = S::TABLE.find(option);
        let word = given.and_then(|given| given.value.as_deref()).unwrap_or(from.name());
        let word = row.map_or(word, |row| row.shown(word));
        let rule = row.map_or("option", |row| row.name);
        let diagnostic = Diagnostic::new(at, rule, word, message).remedy(remedy);
        self.push(diagnostic.known_as(S::TOOL, known_as));
    }

    /// Notes that an option is done a little differently, for a reason beyond its row in the
    /// table.
    pub fn note<S: Scope>(&mut self, from: &S, option: &str, did: &str, why: &str) {
        self.add_note(S::TABLE.note(from.given(), from.texts(), option, did, why));
    }
}
