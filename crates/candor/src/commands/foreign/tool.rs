//! Everything that candor needs to know about a tool.

use std::ffi::OsString;

use candor_front::Coverage;
use clap::{Arg, Command};

use super::conversion::{Converter, Writer};

/// A tool whose command line candor accepts.
pub struct Tool {
    /// Name: of a link to candor, of the command, and of `candor options NAME`.
    pub name: &'static str,
    /// Entry in candor's list of commands; none if another command includes it.
    pub command: Option<fn() -> Command>,
    /// Runs a command line, the program's name first, and returns the exit code.
    pub main: fn(&[OsString]) -> u8,
    /// Engines and options with their support, as Markdown.
    pub matrix: fn() -> String,
    /// Number of options that work.
    pub coverage: fn() -> Coverage,
    /// Documentation.
    pub page: Page,
    /// A command line of candor for the README.
    pub example: &'static str,
    /// Makes a plan of a command line, if that is possible.
    pub converter: Option<Converter>,
    /// Writes a plan as a job file of the tool.
    pub writer: Option<Writer>,
    /// Runs write a report where `CANDOR_JSON` says.
    pub has_report: bool,
}

/// Documentation of a tool.
pub enum Page {
    /// `docs/NAME.md` is [`Tool::matrix`].
    Derived,
    /// A page below `docs/`, written by hand.
    Written(&'static str),
}

impl Tool {
    /// The page below `docs/`.
    pub fn page_name(&self) -> String {
        match self.page {
            Page::Derived => format!("{}.md", self.name),
            Page::Written(name) => name.to_owned(),
        }
    }
}

/// The arguments of a tool's entry: the tool's own reader gets them unchanged.
pub fn arguments() -> Arg {
    Arg::new("WORDS").num_args(0..).allow_hyphen_values(true).trailing_var_arg(true)
}
