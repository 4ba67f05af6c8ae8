//! `candor options fio`: what becomes of every option of another tool.

use candor_dialects::fio::help;
use clap::{Arg, Command};

use crate::commands;

/// The command line.
pub fn command() -> Command {
    Command::new("options")
        .about("Print which options of another tool are supported, and how")
        .arg(Arg::new("TOOL").required(true).value_parser(["fio"]).help("The tool"))
}

/// Prints the matrix, and gives the exit code.
pub fn main() -> u8 {
    commands::printed(&format!("# Engines and options of fio\n\n{}", help::matrix()))
}
