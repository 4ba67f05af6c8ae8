//! `candor options TOOL`: what becomes of every option of another tool.

use candor_dialects::kit::Coverage;
use clap::{Arg, ArgMatches, Command};

use super::tools::{self, TOOLS};
use crate::{commands, exit};

/// The command line.
pub fn command() -> Command {
    let tools = TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>();
    Command::new("options")
        .about("Print which options of another tool are supported, and how")
        .arg(Arg::new("TOOL").value_parser(tools).help("The tool [default: numbers of all tools]"))
}

/// Prints the matrix, and gives the exit code.
pub fn main(matches: &ArgMatches) -> u8 {
    let Some(name) = matches.get_one::<String>("TOOL") else {
        return commands::printed(&summary());
    };
    match tools::find(name) {
        Some(tool) => commands::printed(&(tool.matrix)()),
        // The parser lets no other word through.
        None => exit::USAGE,
    }
}

/// How many options of each tool have an effect, as Markdown.
pub fn summary() -> String {
    let line = |tool: &tools::Tool| {
        let Coverage { works, listed } = (tool.coverage)();
        format!("| {} | {works} of {listed} |\n", tool.name)
    };
    let lines: String = TOOLS.iter().map(line).collect();
    format!("| tool | options that have an effect |\n| --- | --- |\n{lines}")
}
