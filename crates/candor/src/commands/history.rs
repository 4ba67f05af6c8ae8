//! `candor history`: finished runs, listed, tagged, set beside each other over time.

mod filter;
mod manage;
mod table;
mod trend;

use std::time::SystemTime;

use candor_history::{History, Index, RunId};
use clap::{Arg, ArgMatches, Command};

use self::filter::FILTER;
use super::{Form, Reading};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::history::{PREFIX, of_user};
use crate::{commands, exit, output, parse, screen, stored};

const ABOUT: &str = "Finished runs: list, tag, show, trends, import, export, prune, repair";

const LONG_ABOUT: &str = "\
Finished runs: list, tag, show, trends, import, export, prune, repair.

Runs of candor check, run, tree and scenario enter the history by themselves, unless --no-history \
is given; other tools' results enter by candor history import. Without an action the newest runs \
are listed. A run goes by its number, and wherever a report is read by history:NUMBER, as in \
candor compare history:41 history:42, or by history:TAG if no other run has the tag.";

/// The argument that names a report.
const REPORT: &str = "REPORT";

/// Runs that are listed unless told otherwise.
const LISTED: u64 = 20;

/// Options of a list.
struct ListOptions {
    last: u64,
}

const LIST: &[Group<ListOptions>] = &[Group {
    title: "List",
    flags: &[Flag {
        long: "last",
        takes: Takes::One("N"),
        help: "List the newest N that match [default: 20]",
        fields: &[],
        set: |options, text| put(&mut options.last, parse::number(text)),
    }],
}];

/// The command line.
pub fn command() -> Command {
    let listing = |command: Command| {
        command.args(flag::args(FILTER)).args(flag::args(LIST)).args(flag::args(output::OF_LOOKS))
    };
    listing(Command::new("history"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .args_conflicts_with_subcommands(true)
        .subcommand(listing(Command::new("list")).about("List runs, the newest first"))
        .subcommand(
            Command::new("show")
                .about("Show the report of a run, as candor show does")
                .arg(report_arg())
                .args(flag::args(output::OF_REPORTS)),
        )
        .subcommand(trend::command())
        .subcommands(manage::commands())
        .subcommand(table::command())
        .after_help(exit::HELP)
}

fn run_arg() -> Arg {
    Arg::new("RUN").required(true).help("Number of the run")
}

/// The same, as reports are named.
fn report_arg() -> Arg {
    let number = |text: &str| text.strip_prefix(PREFIX).unwrap_or(text).parse::<RunId>();
    run_arg().id(REPORT).value_name("RUN").value_parser(move |text: &str| match number(text) {
        Ok(run) => Ok(format!("{PREFIX}{run}")),
        Err(_) => Err("it is no number of a run; candor history lists them"),
    })
}

/// Does it, and gives the exit code.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    match matches.subcommand() {
        Some(("show", matches)) => show(matches, line),
        Some(("trend", matches)) => trend::main(matches, line),
        Some(("tag", matches)) => manage::tag(matches, true),
        Some(("untag", matches)) => manage::tag(matches, false),
        Some(("import", matches)) => manage::import(matches),
        Some(("prune", matches)) => manage::prune(matches, line),
        Some(("repair", _)) => manage::repair(),
        Some(("export", matches)) => table::main(matches, line),
        Some((_, matches)) => list(matches, line),
        None => list(matches, line),
    }
}

fn list(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = ListOptions { last: LISTED };
    let read = filter::read(matches, &mut line).and_then(|filter| {
        let output = commands::flags(output::OF_LOOKS, LIST, matches, &mut line, &mut options)?;
        Ok((filter, output))
    });
    let (filter, output) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    let listed = with_index(|_, index| index.list(&filter, options.last));
    let shown = listed.and_then(|list| {
        output.show(
            || candor_show::json::history(&list),
            |style| candor_show::history::list(&list, style),
        )
    });
    commands::exit_code(shown)
}

/// A report is shown as any other, other tools' results as a table.
fn show(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let name = matches.get_one::<String>(REPORT).map(String::as_str).unwrap_or_default();
    // Whatever is wrong with the run is told where it is shown.
    if !stored::is_of_another_tool(name) {
        return commands::stored(
            matches,
            line,
            &Reading { flags: &[], read: candor_record::read, form: Form::AsPrinted },
            &mut (),
            |_, _, ()| Ok(()),
        );
    }
    match commands::flags(output::OF_REPORTS, &[], matches, &mut line, &mut ()) {
        Ok(output) => commands::exit_code(commands::show::results_of(name, &output, false)),
        Err(code) => code,
    }
}

/// Does something with the index, telling on stderr what had to be done before.
fn with_index<T>(
    act: impl Fn(&History, &mut Index) -> Result<T, candor_history::Error>,
) -> Result<T, String> {
    let history = of_user()?;
    history.with_index(&mut tell, |index| act(&history, index)).map_err(|why| why.to_string())
}

/// Tells on stderr what was done with the history.
fn tell(sentence: &str) {
    screen::tell(&format!("candor: {sentence}\n"));
}

/// This moment in ms since 1970.
fn now_unix_ms() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // 292 million years fit.
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
