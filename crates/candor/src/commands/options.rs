//! `candor options TOOL`: what becomes of every option of another tool.

use candor_front::Coverage;
use clap::{Arg, ArgMatches, Command};

use super::foreign::Tool;
use super::tools::{self, TOOLS};
use crate::{commands, exit};

/// The command line.
pub fn command() -> Command {
    let tools = TOOLS.iter().map(|tool| tool.name()).collect::<Vec<_>>();
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
        Some(tool) => commands::printed(&tool.matrix()),
        // The parser lets no other word through.
        None => exit::USAGE,
    }
}

/// First lines of [`summary`].
pub const SUMMARY_HEAD: &str =
    "| tool | command | options that work | page |\n| --- | --- | --- | --- |\n";

/// Tools with an example, the number of their options that work, and their page: the README's
/// table.
pub fn summary() -> String {
    let line = |tool: &&Tool| {
        let (name, example, page) = (tool.name(), tool.about.example, tool.page_name());
        let Coverage { works, listed } = (tool.about.coverage)();
        format!("| {name} | `{example}` | {works} of {listed} | [{name}](docs/{page}) |\n")
    };
    SUMMARY_HEAD.to_owned() + &TOOLS.iter().map(line).collect::<String>()
}
