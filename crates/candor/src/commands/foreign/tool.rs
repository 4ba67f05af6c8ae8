//! The entry of a tool in candor's list of tools.

use std::ffi::OsString;

use candor_front::{About, RANKS};
use clap::{Arg, Command};

use super::conversion::{Converter, Writer};
use super::ranks;

/// A tool whose command line candor accepts.
pub struct Tool {
    /// Description.
    pub about: &'static About,
    /// Entry in candor's list of commands.
    pub entry: Entry,
    /// Runs a command line, the program's name first, and returns the exit code.
    pub main: fn(&[OsString]) -> u8,
    /// Documentation.
    pub page: Page,
    /// Makes a plan of a command line, if that is possible.
    pub converter: Option<Converter>,
    /// Writes a plan as a job file of the tool.
    pub writer: Option<Writer>,
    /// Runs write a report where `CANDOR_JSON` says.
    pub has_report: bool,
}

/// Entry of a tool in candor's list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Absent: another command includes the tool.
    Absent,
    /// The tool's own options.
    Own,
    /// Options of candor for ranks and hosts, then the tool's own.
    Ranked,
}

/// Documentation of a tool.
pub enum Page {
    /// `docs/NAME.md` is [`Tool::matrix`].
    Derived,
    /// A page below `docs/`, written by hand.
    Written(&'static str),
}

impl Tool {
    /// The name.
    pub fn name(&self) -> &'static str {
        self.about.name
    }

    /// The page below `docs/`.
    pub fn page_name(&self) -> String {
        match self.page {
            Page::Derived => format!("{}.md", self.name()),
            Page::Written(name) => name.to_owned(),
        }
    }

    /// Options with their support, as Markdown.
    pub fn matrix(&self) -> String {
        (self.about.page)().replace(RANKS, &ranks::page(self.name()))
    }

    /// The command line, for completions, help and manual pages; the tool parses its own arguments.
    pub fn command(&self) -> Option<Command> {
        let About { name, summary, help, .. } = *self.about;
        let command = Command::new(name).about(summary).disable_help_flag(true);
        let command = match help() {
            help if help.is_empty() => command,
            help => command.after_help(help),
        };
        match self.entry {
            Entry::Absent => None,
            Entry::Own => Some(command.arg(arguments())),
            Entry::Ranked => Some(command.args(ranks::args()).arg(arguments())),
        }
    }
}

/// The arguments of a tool's entry, for the tool's own reader.
fn arguments() -> Arg {
    Arg::new("WORDS").num_args(0..).allow_hyphen_values(true).trailing_var_arg(true)
}
