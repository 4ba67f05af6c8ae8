//! `candor options TOOL`: what becomes of every option of another tool.

use clap::{Arg, ArgMatches, Command};

use super::tools::{self, TOOLS};
use crate::{commands, exit};

/// The command line.
pub fn command() -> Command {
    let tools = TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>();
    Command::new("options")
        .about("Print which options of another tool are supported, and how")
        .arg(Arg::new("TOOL").required(true).value_parser(tools).help("The tool"))
}

/// Prints the matrix, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let tool = matches.get_one::<String>("TOOL").and_then(|name| tools::find(name));
    match tool {
        Some(tool) => commands::printed(&(tool.matrix)()),
        // The parser lets no other word through.
        None => exit::USAGE,
    }
}
