//! `candor show REPORT`: a stored report as the run printed it.

use clap::{ArgMatches, Command};

use crate::flag::{self, CommandLine};
use crate::output;
use crate::{commands, exit, stored};

const ABOUT: &str = "Show a stored report, as the run that made it printed it";

const LONG_ABOUT: &str = "\
Show a stored report, as the run that made it printed it.

The judgement is the one that was made then. candor judge makes it again, by the rules of today.";

/// The command line.
pub fn command() -> Command {
    Command::new("show")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(stored::arg())
        .args(flag::args(output::OF_REPORTS))
        .after_help(exit::HELP)
}

/// Prints the report, and gives the exit code.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    commands::stored(matches, line, candor_record::read)
}
