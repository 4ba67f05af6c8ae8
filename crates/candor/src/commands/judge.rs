//! `candor judge REPORT`: a stored report, judged again.

use candor_record::Report;
use clap::{ArgMatches, Command};

use super::{Form, Reading};
use crate::flag::{self, CommandLine};
use crate::output;
use crate::{commands, exit, expectations, stored};

const ABOUT: &str = "Re-evaluate a stored report with the current rules";

const LONG_ABOUT: &str = "\
Re-evaluate a stored report with the current rules.

A report contains measurements and kernel counters, which a newer candor can evaluate with its \
own rules. The new judgement is printed; --json writes the report with it.";

/// The command line.
pub fn command() -> Command {
    Command::new("judge")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(stored::arg())
        .args(flag::args(output::OF_REPORTS))
        .after_help(exit::HELP)
}

/// Prints the report with its new judgement, and gives the exit code.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    commands::stored(
        matches,
        line,
        &Reading { flags: &[], read: judged_again, form: Form::Whole },
        &mut (),
        |_, _, ()| Ok(()),
    )
}

fn judged_again(text: &str) -> Result<Report, String> {
    let mut report = candor_record::read_unjudged(text)?;
    report.judgement = candor_judge::judge_again(&report);
    report.expectations = expectations::check_again(&report);
    commands::suggest::complete(&mut report);
    Ok(report)
}
