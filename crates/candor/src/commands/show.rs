//! `candor show REPORT`: a stored report as the run printed it, or results of another tool.

use candor_show::{json, results};
use clap::{ArgMatches, Command};

use crate::flag::{self, CommandLine};
use crate::output;
use crate::{commands, exit, stored};

const ABOUT: &str = "Show a stored report, as the run that made it printed it";

const LONG_ABOUT: &str = "\
Show a stored report, as the run that made it printed it.

The judgement is the one that was made then. candor judge makes it again, by the rules of today.

Results of fio (JSON, logs), elbencho (CSV, JSON), iostat (-o JSON) and sar (sadf -j -- -d) are \
shown as a table, with --json FILE in the form that all tools' results come down to. Nobody judged \
them.";

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
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let file = matches.get_one::<String>("REPORT").map(String::as_str).unwrap_or_default();
    if !stored::is_of_another_tool(file) {
        return commands::stored(matches, line, candor_record::read);
    }
    let output = match commands::flags(output::OF_REPORTS, &[], matches, &mut line, &mut ()) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let shown = stored::results(file).and_then(|found| {
        output.refuse_what_needs_a_report(&format!("{file} has results of {}", found.tool))?;
        output.show(json::results(&found), |style| results::text(&found, style))
    });
    commands::exit_code(shown)
}
