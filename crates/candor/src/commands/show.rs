//! `candor show REPORT`: a stored report as the run printed it, or as its screen showed it; results
//! of another tool as a table.

use candor_show::{json, results};
use clap::{ArgMatches, Command};

use super::{Form, Reading};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::output::{self, Output};
use crate::{commands, exit, live, parse, stored};

const ABOUT: &str = "Show a stored report as the run printed it";

const LONG_ABOUT: &str = "\
Show a stored report as the run printed it.

--verbose prints all of it. The judgement is the stored one; candor judge makes a new one with \
the current rules.

Results of fio (JSON, logs), elbencho (CSV, JSON), iostat (-o JSON) and sar (sadf -j -- -d) are \
shown as a table, with --json FILE in candor's common form of results. They have no verdict.";

/// Options of the screen.
struct ShowOptions {
    live: bool,
    speed: f64,
}

const GROUPS: &[Group<ShowOptions>] = &[Group {
    title: "Screen",
    flags: &[
        Flag {
            long: "live",
            takes: Takes::Nothing,
            help: "Play the run again on the screen that showed it live, until q ends it; the text \
                   follows",
            fields: &[],
            set: |options, _| put(&mut options.live, Ok(true)),
        },
        Flag {
            long: "speed",
            takes: Takes::One("FACTOR"),
            help: "With --live, replay N times as fast as the run: 0.5, 10 [default: 1]",
            fields: &[],
            set: |options, text| match parse::decimal(text)? {
                factor if (0.001..=1e6).contains(&factor) => put(&mut options.speed, Ok(factor)),
                _ => Err(format!("{text} is not between 0.001 and 1000000")),
            },
        },
    ],
}];

/// The command line.
pub fn command() -> Command {
    Command::new("show")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(stored::arg())
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_REPORTS))
        .mut_arg("speed", |arg| arg.requires("live"))
        .after_help(exit::HELP)
}

/// Prints the report, and gives the exit code.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    let mut options = ShowOptions { live: false, speed: 1.0 };
    let file = matches.get_one::<String>("REPORT").map(String::as_str).unwrap_or_default();
    if stored::is_of_another_tool(file) {
        return foreign(file, matches, line, &mut options);
    }
    commands::stored(
        matches,
        line,
        &Reading { flags: GROUPS, read: candor_record::read, form: Form::AsPrinted },
        &mut options,
        |report, output, options| {
            if options.live { live::replay(report, output, options.speed) } else { Ok(()) }
        },
    )
}

/// Prints results of another tool, and gives the exit code.
fn foreign(
    file: &str,
    matches: &ArgMatches,
    mut line: CommandLine,
    options: &mut ShowOptions,
) -> u8 {
    let output = match commands::flags(output::OF_REPORTS, GROUPS, matches, &mut line, options) {
        Ok(output) => output,
        Err(code) => return code,
    };
    commands::exit_code(results_of(file, &output, options.live || options.speed != 1.0))
}

/// Shows results of another tool, which have no live screen.
///
/// # Errors
/// They cannot be read, or something is wanted that only a report has; a sentence.
pub fn results_of(file: &str, output: &Output, is_live: bool) -> Result<(), String> {
    let found = stored::results(file)?;
    let theirs = format!("{file} has results of {}", found.tool);
    if is_live {
        return Err(format!("--live needs a report of candor, and {theirs}"));
    }
    output.refuse_what_needs_a_report(&theirs)?;
    output.show(|| json::results(&found), |style| results::text(&found, style))
}
