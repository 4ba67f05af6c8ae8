//! From the words of a command line to the options of a tool of the family.

use std::ffi::OsString;
use std::fmt::Debug;

use candor_record::Note;

use super::words;
use candor_front::{
    Diagnostic, Environment, Given, Plain, Scope, Span, Table, Texts, enter, ranks,
};

/// A tool of the family.
pub trait Tool: Clone + Debug + Default + 'static {
    /// The options, as they were given.
    type Options: Clone + Debug + Default + 'static;
    /// The name.
    const NAME: &'static str;
    /// Remedy for an unknown name.
    const LIST: &'static str;
    /// The table of its options.
    const TABLE: Table<Plain<Draft<Self::Options>>>;

    /// Notes the number of ranks, and the command line, the program's name first.
    fn begin(options: &mut Self::Options, ranks: u32, command: Vec<String>);
}

/// Request for a text instead of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
}

/// The options so far, and what asks for something else than a run.
#[derive(Clone, Debug, Default)]
pub struct Draft<O> {
    /// The options.
    pub options: O,
    /// Request for a text.
    pub instead: Option<Instead>,
}

impl<O> Draft<O> {
    /// With these options, and nothing else.
    pub fn of(options: O) -> Draft<O> {
        Draft { options, instead: None }
    }
}

/// A command line as read.
#[derive(Debug, Default)]
pub struct Reading<T: Tool> {
    /// The options.
    pub options: T::Options,
    /// Request for a text instead of a run.
    pub instead: Option<Instead>,
    /// The options that were given, with their places.
    pub given: Given,
    /// The command line.
    pub texts: Texts,
    /// Parts of the command line without effect.
    pub notes: Vec<Note>,
    /// The faults, in the order found; with any, nothing runs.
    pub errors: Vec<Diagnostic>,
}

impl<T: Tool> Scope for Reading<T> {
    type Kind = Plain<Draft<T::Options>>;
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
    let mut draft = Draft::<T::Options>::default();
    let command = entered.iter().map(|word| word.text.clone()).collect();
    T::begin(&mut draft.options, ranks, command);
    let read = words::read(&entered, &T::TABLE, &mut draft, (&mut reading.given, T::LIST));
    reading.errors.extend(read.wrong);
    let note = |letters| words::skipped_note(T::NAME, letters, &reading.texts);
    reading.notes = read.skipped.iter().map(note).collect();
    reading.errors.extend(T::TABLE.refusals(&draft, &reading.given, |_| false));
    (reading.options, reading.instead) = (draft.options, draft.instead);
    reading
}
