//! From words to a run.

use std::ffi::OsString;

use super::Options;
use super::rows::{Draft, TABLE, Value};
use crate::ior_family::words;
use crate::kit::{Diagnostic, Environment, Given, Scope, Span, Table, Texts, enter, ranks};

/// Remedy for an unknown name.
const LIST: &str = "see md-workbench --help";

/// Request for a text instead of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The help.
    Help,
}

/// A command line as read.
#[derive(Debug, Default)]
pub struct Reading {
    /// The options.
    pub options: Options,
    /// Request for a text instead of a run.
    pub instead: Option<Instead>,
    /// The options that were given, with their places.
    pub given: Given,
    /// The command line.
    pub texts: Texts,
    /// The faults, in the order found; with any, nothing runs.
    pub errors: Vec<Diagnostic>,
}

impl Scope for Reading {
    type Kind = Value;
    const TOOL: &'static str = "md-workbench";
    const TABLE: Table<Value> = TABLE;

    fn given(&self) -> &Given {
        &self.given
    }

    fn at(&self) -> Span {
        Span { text: 0, start: 0, end: 0 }
    }

    fn name(&self) -> &str {
        "md-workbench"
    }

    fn texts(&self) -> &Texts {
        &self.texts
    }
}

/// Reads a command line, the program's name first.
pub fn read(argv: &[OsString], environment: &mut dyn Environment) -> Reading {
    let mut reading = Reading::default();
    let mut argv = argv.to_vec();
    let ranks = ranks::take(&mut argv, environment);
    let (entered, wrong) = enter(&mut reading.texts, &argv);
    reading.errors = wrong;
    let mut draft = Draft::default();
    match ranks {
        Ok(ranks) => draft.options.ranks = ranks,
        Err(wrong) => reading.errors.push(*wrong),
    }
    let wrong = words::read(&entered, &TABLE, &mut draft, (&mut reading.given, LIST));
    reading.errors.extend(wrong);
    reading.errors.extend(TABLE.refusals(&draft, &reading.given, |_| false));
    reading.options = draft.options;
    reading.options.command = entered.into_iter().map(|word| word.text).collect();
    reading.instead = draft.instead;
    reading
}
