//! The commands, one file each.

pub mod align;
pub mod cache;
pub mod check;
pub mod convert;
pub mod explain;
pub mod fio;
pub mod foreign;
pub mod inspect;
pub mod judge;
pub mod options;
pub mod run;
pub mod show;
pub mod tools;
pub mod watch;

use candor_plan::{Problem, Source};
use candor_record::Report;
use candor_run::RunError;

use clap::ArgMatches;

use crate::flag::{self, CommandLine};
use crate::output::{self, Output};
use crate::{exit, screen, stored};

/// Shows what a run gave, and turns it into an exit code.
fn finish(result: Result<Report, RunError>, source: &Source, output: &Output) -> u8 {
    let report = match result {
        Ok(report) => report,
        Err(error) => return fail(&error, source, output),
    };
    let delivered = output.deliver(&report);
    // Also for who reads JSON, or nothing but the exit code.
    if let Some(sentence) = &report.cut_short {
        screen::cut_short(sentence);
    }
    match delivered {
        Ok(()) => exit::of(&report),
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}

/// Shows a stored report, read in that way, and gives the exit code.
fn stored(
    matches: &ArgMatches,
    mut line: CommandLine,
    read: fn(&str) -> Result<Report, String>,
) -> u8 {
    let mut output = Output::default();
    let problems = flag::apply(output::OF_LOOKS, matches, &mut line, &mut output);
    if let Err(code) = ready(&problems, &line, &mut output) {
        return code;
    }
    let file = matches.get_one::<String>("REPORT").map(String::as_str).unwrap_or_default();
    match stored::load(file, read).and_then(|report| output.deliver(&report)) {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}

/// Tells what of the words makes no sense, and looks whether results can be written; the exit code
/// where nothing can be done.
fn ready(problems: &[Problem], line: &CommandLine, output: &mut Output) -> Result<(), u8> {
    if !problems.is_empty() {
        screen::problems(problems, &line.source, output.color);
        return Err(exit::USAGE);
    }
    output.prepare().map_err(|sentence| {
        screen::error(&sentence);
        exit::USAGE
    })
}

/// Tells why nothing ran.
fn fail(error: &RunError, source: &Source, output: &Output) -> u8 {
    match error.problems() {
        [] => screen::error(&error.to_string()),
        problems => screen::problems(problems, source, output.color),
    }
    error.exit_code()
}

/// The kernel's name of a device that `--force` insists on, given as `sda` or as `/dev/sda`.
fn device_name(forced: &str) -> String {
    forced.strip_prefix("/dev/").unwrap_or(forced).to_owned()
}

/// Prints data, and turns success into an exit code.
fn printed(text: &str) -> u8 {
    match screen::data(text) {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}
