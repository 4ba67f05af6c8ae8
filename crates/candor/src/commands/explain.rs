//! `candor explain RULE`: what a rule finds, how, and from which numbers on.

use candor_record::Explanation;
use candor_show::{Style, json, rules};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine};
use crate::output;
use crate::{commands, exit};

const ABOUT: &str = "Explain a rule: what it finds, and its thresholds with source and reason";

const LONG_ABOUT: &str = "\
Explain a rule: what it finds, and its thresholds with source and reason.

A rule is named as in a report, such as A1. Without a name, all rules are listed.";

/// The command line.
pub fn command() -> Command {
    let names = candor_judge::explanations().into_iter().map(|known| known.rule);
    let rules = Arg::new("RULE")
        .action(ArgAction::Append)
        .value_parser(PossibleValuesParser::new(names))
        .ignore_case(true)
        .hide_possible_values(true)
        .help("Rules, as reports name them; none lists all");
    Command::new("explain")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(rules)
        .args(flag::args(output::OF_LOOKS))
        .after_help(exit::HELP)
}

/// Prints what was asked for, and gives the exit code.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let output = match commands::flags(output::OF_LOOKS, &[], matches, &mut line, &mut ()) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let all = candor_judge::explanations();
    let names: Vec<&String> = matches.get_many("RULE").into_iter().flatten().collect();
    let named = |name: &&String| all.iter().find(|rule| rule.rule.eq_ignore_ascii_case(name));
    let some: Vec<&Explanation> = names.iter().filter_map(named).collect();
    let meant = if names.is_empty() { all.iter().collect() } else { some };
    let text = |style: &Style| {
        if names.is_empty() { rules::list(&all, style) } else { rules::full(&meant, style) }
    };
    commands::exit_code(output.show(|| json::rules(&meant), text))
}
