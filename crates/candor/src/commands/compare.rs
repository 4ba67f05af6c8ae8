//! `candor compare A B…`: results of runs beside those of the first.

use candor_compare::FailIf;
use candor_record::comparison::CheckResult;
use candor_show::{comparison, json};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes};
use crate::output;
use crate::{commands, exit, screen, stored, version};

const ABOUT: &str =
    "Compare runs: which figures changed, how certain that is, and whether it is fair";

const LONG_ABOUT: &str = "\
Compare runs with the first of them, the baseline.

Each figure gets its change, the interval that the change lies in, and whether the change is real: by \
the repeats of the runs where there are enough (--repeats 5 of candor run), else by the intervals \
within single runs and an assumption about how far runs differ. Differences of plan and environment \
that make the comparison unfair are told first. Results of fio and elbencho are read, too.";

/// Help of `--across`.
pub const ACROSS: &str = "Conditions that the comparison is about, which are meant to differ: \
                          filesystem, scheduler, kernel, …, or plan, host, storage for all of a part";

/// Takes the conditions of an `--across`.
pub fn across(options: &mut candor_compare::Options, text: &str) {
    options.across.extend(text.split(',').map(|word| word.trim().to_owned()));
}

/// Options of the command.
const GROUPS: &[Group<candor_compare::Options>] = &[Group {
    title: "Comparison",
    flags: &[
        Flag {
            long: "fail-if",
            takes: Takes::Many("CONDITION"),
            help: "Exit with 7 where a change is shown to go beyond it, with 8 where nobody can \
                   tell: \"iops < -5%\", \"PHASE/JOB: p99 > 10%\"; figures are iops, bandwidth, \
                   mean, p50, p99, …",
            fields: &[],
            set: |options, text| {
                options.fail_if.push(FailIf::parse(text)?);
                Ok(())
            },
        },
        Flag {
            long: "across",
            takes: Takes::Many("NAME[,NAME…]"),
            help: ACROSS,
            fields: &[],
            set: |options, text| {
                across(options, text);
                Ok(())
            },
        },
    ],
}];

const EXIT_CODES: &str = "\
Exit codes:
  0    it compared; whether a change is real stands in the result
  1    a run could not be read
  2    the command line makes no sense
  7    a change beyond --fail-if was shown
  8    nobody can tell whether there is a change beyond --fail-if";

/// The command line.
pub fn command() -> Command {
    let run = Arg::new("RUN").required(true).action(ArgAction::Append).num_args(2..);
    let help = "Two reports or more, as --json writes them, directories of runs, or results of fio \
                or elbencho; the first is the baseline";
    Command::new("compare")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(run.help(help))
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_COMPARISONS))
        .after_help(EXIT_CODES)
}

/// Compares, and gives the exit code.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = candor_compare::Options {
        candor_version: version::short(),
        ..candor_compare::Options::default()
    };
    let output =
        match commands::flags(output::OF_COMPARISONS, GROUPS, matches, &mut line, &mut options) {
            Ok(output) => output,
            Err(code) => return code,
        };
    let files = matches.get_many::<String>("RUN").into_iter().flatten();
    let read = |file: &String| Ok((file.clone(), stored::results(file)?));
    let runs: Vec<_> = match files.map(read).collect::<Result<_, String>>() {
        Ok(runs) => runs,
        Err(sentence) => return commands::exit_code(Err(sentence)),
    };
    let compared = match candor_compare::compare(&runs, &options) {
        Ok(compared) => compared,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let shown =
        output.show(|| json::comparison(&compared), |style| comparison::text(&compared, style));
    let shown = shown.and_then(|()| output.page(|| Ok(candor_html::comparison(&compared))));
    match (commands::exit_code(shown), compared.checked()) {
        (exit::RAN, CheckResult::Failed) => exit::CHANGED,
        (exit::RAN, CheckResult::Undecided) => exit::UNDECIDED,
        (code, _) => code,
    }
}
