//! `candor compare A B…`: results of runs beside those of the first.

mod rounds;

use candor_compare::FailIf;
use candor_record::comparison::CheckResult;
use candor_record::results::Results;
use candor_show::{comparison, json};
use clap::{Arg, ArgAction, ArgMatches, Command};

use self::rounds::{Failure, Words};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::output;
use crate::{commands, exit, parse, screen, stored, version};

const ABOUT: &str = "Compare runs: changes, their certainty, and whether the comparison is fair";

const LONG_ABOUT: &str = "\
Compare runs with the first of them, the baseline.

Each figure gets its change, the interval that the change lies in, and whether the change is \
real: by the repeats of the runs where there are enough (--repeats 5 of candor run), else by the \
intervals within single runs and an assumption about how far runs differ. Differences of plan \
and environment that make the comparison unfair come first. Results of fio and elbencho are \
read, too.

With --run, each RUN is a command of candor in quotes. The commands run in turn (A B A B …), so \
that a drift of the host touches all of them alike, and each round counts as a repeat: candor \
compare --run 'run --target /data/f --rw randread --depth 4 --seconds 10' 'run --target /data/f \
--rw randread --depth 8 --seconds 10'. Plan and storage are meant to differ then.";

/// Options of the command.
#[derive(Default)]
struct CompareOptions {
    options: candor_compare::Options,
    runs_commands: bool,
    rounds: Option<u32>,
}

/// Rounds of `--run`.
const ROUNDS: u32 = 5;

/// Help of `--across`.
pub const ACROSS: &str = "Conditions that the comparison is about, which are meant to differ: \
                          filesystem, scheduler, kernel, …, or plan, host, storage for all of a part";

/// Takes the conditions of an `--across`.
pub fn across(options: &mut candor_compare::Options, text: &str) {
    options.across.extend(text.split(',').map(|word| word.trim().to_owned()));
}

/// Options of the command.
const GROUPS: &[Group<CompareOptions>] = &[Group {
    title: "Comparison",
    flags: &[
        Flag {
            long: "fail-if",
            takes: Takes::Many("CONDITION"),
            help: "Exit 7 if the change exceeds the limit, 8 if the data cannot decide: \"iops < \
                   -5%\", \"PHASE/JOB: p99 > 10%\"; figures are iops, bandwidth, mean, p50, p99, \
                   …",
            fields: &[],
            set: |draft, text| {
                draft.options.fail_if.push(FailIf::parse(text)?);
                Ok(())
            },
        },
        Flag {
            long: "across",
            takes: Takes::Many("NAME[,NAME…]"),
            help: ACROSS,
            fields: &[],
            set: |draft, text| {
                across(&mut draft.options, text);
                Ok(())
            },
        },
        Flag {
            long: "run",
            takes: Takes::Nothing,
            help: "Each RUN is a command of candor in quotes; run them in turn, then compare",
            fields: &[],
            set: |draft, _| put(&mut draft.runs_commands, Ok(true)),
        },
        Flag {
            long: "rounds",
            takes: Takes::One("N"),
            help: "With --run, run each command N times [default: 5]",
            fields: &[],
            set: |draft, text| match parse::number(text)? {
                rounds @ 2..=1000 => put_some(&mut draft.rounds, Ok(rounds)),
                _ => Err(format!("`{text}` is not between 2 and 1000 rounds")),
            },
        },
    ],
}];

const EXIT_CODES: &str = "Exit codes:
  0    it compared; the result reports whether a change is real
  1    a run could not be read, or a command of --run failed
  2    the command line is invalid
  7    a change exceeds --fail-if
  8    the data cannot decide whether a change exceeds --fail-if";

/// The command line.
pub fn command() -> Command {
    let run = Arg::new("RUN").required(true).action(ArgAction::Append).num_args(2..);
    let help = "With --run commands of candor; else two reports or more, as --json writes them, \
                directories of runs, or results of fio or elbencho; the first is the baseline";
    Command::new("compare")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(run.help(help))
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_COMPARISONS))
        .mut_arg("rounds", |arg| arg.requires("run"))
        .after_help(EXIT_CODES)
}

/// Compares, and gives the exit code.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut draft = CompareOptions::default();
    draft.options.candor_version = version::short();
    let output =
        match commands::flags(output::OF_COMPARISONS, GROUPS, matches, &mut line, &mut draft) {
            Ok(output) => output,
            Err(code) => return code,
        };
    let given: Vec<&String> = matches.get_many::<String>("RUN").into_iter().flatten().collect();
    let runs = if draft.runs_commands {
        in_turn(&given, &mut draft)
    } else {
        let read = |file: &&String| Ok(((*file).clone(), stored::results(file)?));
        let read: Result<Vec<_>, String> = given.iter().map(read).collect();
        read.map_err(Failure::Failed)
    };
    let runs = match runs {
        Ok(runs) => runs,
        Err(Failure::Interrupted(code)) => return code,
        Err(Failure::Failed(sentence)) => return commands::exit_code(Err(sentence)),
        Err(Failure::Usage(sentence)) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let options = draft.options;
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

/// Runs the commands in turn. They are meant to differ in what they run and on which storage.
fn in_turn(
    given: &[&String],
    draft: &mut CompareOptions,
) -> Result<Vec<(String, Results)>, Failure> {
    let commands = given.iter().map(|text| Words::parse(text)).collect::<Result<Vec<_>, _>>();
    let runs = rounds::run(&commands.map_err(Failure::Usage)?, draft.rounds.unwrap_or(ROUNDS))?;
    draft.options.across.extend(["plan", "storage"].map(str::to_owned));
    Ok(runs)
}
