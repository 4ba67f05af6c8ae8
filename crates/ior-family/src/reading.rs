//! Reading of the words of a command line into the options of a tool of the family.

use std::ffi::OsString;
use std::fmt::Debug;

use candor_record::Note;

use super::{rows, words};
use candor_front::{
    Answer, Diagnostic, Environment, Given, Plain, Scope, Span, Table, Texts, enter, ranks,
};

/// Options of a tool of the family.
pub trait Tool: Clone + Debug + Default + 'static {
    /// Name of the tool.
    const NAME: &'static str;
    /// Table of its options.
    const TABLE: Table<Plain<Self>>;

    /// Stores the number of ranks, and the command line with the program's name first.
    fn begin(&mut self, ranks: u32, command: Vec<String>);
}

/// Request for a text instead of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
}

/// A command line as read.
#[derive(Debug, Default)]
pub struct Reading<T: Tool> {
    /// The options.
    pub options: T,
    /// Request for a text instead of a run.
    pub instead: Option<Instead>,
    /// The options that the command line sets, with their positions.
    pub given: Given,
    /// The command line.
    pub texts: Texts,
    /// Notes on parts of the command line without effect.
    pub notes: Vec<Note>,
    /// All errors, in the order found; with any, nothing runs.
    pub errors: Vec<Diagnostic>,
}

impl<T: Tool> Reading<T> {
    /// Notes on the options of a run with these options, and on the command line.
    pub fn all_notes(&self, options: &T) -> Vec<Note> {
        let mut notes = T::TABLE.notes(options, &self.given, &self.texts);
        notes.extend(self.notes.iter().cloned());
        notes
    }
}

impl<T: Tool> Scope for Reading<T> {
    type Kind = Plain<T>;
    const TOOL: &'static str = T::NAME;
    const TABLE: Table<Self::Kind> = T::TABLE;

    fn given(&self) -> &Given {
        &self.given
    }

    fn at(&self) -> Span {
        Span { text: 0, start: 0, end: 0 }
    }

    fn name(&self) -> &str {
        T::NAME
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }
}

impl<T: Tool> Reading<T> {
    /// The command line, if it runs anything.
    ///
    /// # Errors
    /// The help, or the faults.
    pub fn to_run(self, help: fn() -> String) -> Result<Reading<T>, Answer> {
        match self.instead {
            Some(Instead::Help) => Err(Answer::Text(help())),
            None if self.errors.is_empty() => Ok(self),
            None => Err(Answer::Refused(self.errors, self.texts)),
        }
    }
}

/// Reads a command line, the program's name first.
pub fn read<T: Tool>(argv: &[OsString], environment: &mut dyn Environment) -> Reading<T> {
    let mut reading = Reading::<T>::default();
    let mut argv = argv.to_vec();
    let ranks = ranks::take(&mut argv, environment);
    let entered = enter(&mut reading.texts, &argv);
    let ranks = ranks.unwrap_or_else(|wrong| {
        reading.errors.push(*wrong);
        0
    });
    let command = entered.iter().map(|word| word.text.clone()).collect();
    reading.options.begin(ranks, command);
    let read = words::read(&entered, T::NAME, &T::TABLE, &mut reading.options);
    reading.given = read.given;
    reading.errors.extend(read.wrong);
    let skipped = read.skipped.iter();
    reading.notes =
        skipped.map(|letters| words::skipped_note(T::NAME, letters, &reading.texts)).collect();
    reading.errors.extend(T::TABLE.refusals(&reading.options, &reading.given, |_| false));
    reading.instead = reading.given.has(rows::HELP).then_some(Instead::Help);
    reading
}
