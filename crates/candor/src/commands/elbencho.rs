//! `candor elbencho …`, and the binary called as `elbencho`: elbencho's phases, tables and exit
//! codes.
//!
//! Its users mean what they write, so nothing asks for consent; only a device that is mounted or
//! held is not written, unless `CANDOR_FORCE=1` insists.

mod files;
mod host;
mod live;
mod run;

use std::ffi::OsString;

use candor_dialects::elbencho::options::{self, HelpPart, Instead, Reading, TABLE};
use candor_dialects::elbencho::plan;
use clap::{Arg, Command};

use self::host::ThisHost;
use super::foreign::Complaints;
use super::foreign::host::HostEnvironment;
use crate::commands;

/// First word that shows result files in place of a benchmark.
const SUMMARIZE: &str = "summarize";

/// Whatever goes wrong.
const WRONG: u8 = 1;

/// Complaints on stderr.
const COMPLAINTS: Complaints<'_> = Complaints { tool: "elbencho", file: None };

/// The command line, for the help; the words themselves never pass through it.
pub fn command() -> Command {
    Command::new("elbencho")
        .about("Run elbencho's command lines, with its phases, tables and exit codes")
        .disable_help_flag(true)
        .after_help(options::help(HelpPart::Overview))
        .arg(Arg::new("WORDS").num_args(0..).allow_hyphen_values(true).trailing_var_arg(true))
}

/// Options, and what candor makes of them.
pub fn matrix() -> String {
    format!(
        "# Options of elbencho\n\n\
         `candor elbencho …`, or candor called as `elbencho`, takes them. A page of its own has the \
         [results](elbencho-results.md).\nThe tables are derived from the program; a test keeps \
         them so.\n\n\
         Phases run in a fixed order, as elbencho's do: directories are made, files are written, \
         looked up, read and removed,\ndirectories are removed. Nothing asks for consent: a file \
         that is there is written over by `-w`. A device that is mounted or in\nuse is not \
         written, unless `CANDOR_FORCE=1` is set. The exit code is 0, also where a time limit \
         ended a phase, and 1\nwhere anything failed. The verdict follows the table on a terminal, \
         or goes where `CANDOR_VERDICT` says.\n\n{}",
        TABLE.matrix()
    )
}

/// Does what a command line asks for, the program's name first, and gives the exit code.
pub fn main(argv: &[OsString]) -> u8 {
    if let [_, first, files @ ..] = argv
        && first == SUMMARIZE
        && !files.is_empty()
    {
        return files::summarize(files);
    }
    let reading = options::read(argv, &mut HostEnvironment);
    match reading.instead {
        Some(Instead::Help(part)) => commands::printed(&options::help(part)),
        Some(Instead::Version) => commands::printed(&version()),
        None => benchmark(&reading),
    }
}

fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "elbencho (candor {version}), with the options of elbencho 3.1\n\
         Features: libaio mmap\nNot included: S3 CUDA cuFile HDFS service network\n"
    )
}

fn benchmark(reading: &Reading) -> u8 {
    if !reading.errors.is_empty() {
        COMPLAINTS.diagnostics(&reading.errors, &reading.texts);
        return WRONG;
    }
    match plan::lower(reading, &ThisHost) {
        Ok(lowered) if lowered.setup.asked.run.dry_run => {
            commands::printed(&plan::totals(&lowered.setup))
        }
        Ok(lowered) => run::main(reading, &lowered),
        Err(errors) => {
            COMPLAINTS.diagnostics(&errors, &reading.texts);
            WRONG
        }
    }
}
