//! The commands, one file each.

pub mod agent;
pub mod align;
pub mod bucket;
pub mod cache;
pub mod chart;
pub mod check;
pub mod compare;
pub mod completions;
pub mod convert;
pub mod devices;
pub mod explain;
pub mod fleet;
pub mod foreign;
pub mod history;
pub mod inspect;
pub mod judge;
pub mod man;
pub mod options;
pub mod run;
pub mod scenario;
pub mod show;
pub mod suggest;
pub mod tools;
pub mod trace;
pub mod tree;
pub mod watch;

use std::path::PathBuf;

use candor_fleet::FleetOptions;
use candor_plan::{Source, path_of};
use candor_record::{Event, Report};
use candor_run::{Control, HostOptions, RunError};

use clap::ArgMatches;

use self::foreign::Place;
use self::foreign::lead::{Led, lead};
use crate::exporter::RunExporter;
use crate::flag::{self, CommandLine, Group};
use crate::hosts::Hosts;
use crate::output::{self, Output};
use crate::streamer::Streamer;
use crate::{exit, live, screen, stored};

/// Has something run while its events are shown and served, shows what it gave, and gives the exit
/// code.
fn run_and_finish(
    output: &Output,
    source: &Source,
    run: impl FnOnce(&Control, &mut (dyn FnMut(&Event) + Send)) -> Result<Report, RunError>,
) -> u8 {
    let mut exporter = match RunExporter::open(output) {
        Ok(exporter) => exporter,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let mut streamer = match Streamer::open(output) {
        Ok(streamer) => streamer,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let control = candor_run::interrupts();
    let result = {
        // Dropped before results are printed, for it gives the terminal back.
        let mut progress = live::progress(output);
        run(&control, &mut |event| {
            exporter.take(event);
            streamer.take(event);
            progress(event);
        })
    };
    streamer.close(&result);
    let code = finish(result, source, output);
    exporter.close(&control);
    code
}

/// The place where a plan or a series runs: the hosts that were named, else this one. The exit code
/// where another process leads these, or where they cannot be led.
fn place(hosts: &Hosts, host: HostOptions) -> Result<(Place, Option<Led>), u8> {
    if *hosts == Hosts::default() {
        return Ok((Place::Here(host), None));
    }
    match lead(hosts) {
        Ok(Some(led)) => {
            let HostOptions { force, block_trace, .. } = host;
            let options = FleetOptions { force, block_trace, ..led.options.clone() };
            Ok((Place::Fleet(led.identity.clone(), options), Some(led)))
        }
        Ok(None) => Err(exit::RAN),
        Err(sentence) => {
            screen::error(&sentence);
            Err(exit::USAGE)
        }
    }
}

/// Shows what a run gave, and turns it into an exit code.
fn finish(result: Result<Report, RunError>, source: &Source, output: &Output) -> u8 {
    let mut report = match result {
        Ok(report) => report,
        Err(error) => return fail(&error, source, output),
    };
    suggest::complete(&mut report);
    let delivered = output.deliver(&mut report);
    if !output.no_history {
        crate::history::keep(&report);
    }
    // Also for who reads JSON, or nothing but the exit code.
    if let Some(sentence) = &report.cut_short {
        screen::cut_short(sentence);
    }
    match exit_code(delivered) {
        exit::RAN => output.exit_code(exit::of(&report), &report),
        code => code,
    }
}

/// How much of a stored report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The same amount as the run printed.
    AsPrinted,
    /// All of it.
    Whole,
}

/// How a stored report is read and shown, and the flags that the command has for it.
struct Reading<T: 'static> {
    flags: &'static [Group<T>],
    read: fn(&str) -> Result<Report, String>,
    form: Form,
}

/// Shows a stored report, and returns the exit code. `draft` receives the flags of the command, and
/// `first` runs before the report is shown.
fn stored<T>(
    matches: &ArgMatches,
    mut line: CommandLine,
    reading: &Reading<T>,
    draft: &mut T,
    first: impl FnOnce(&Report, &Output, &T) -> Result<(), String>,
) -> u8 {
    let mut output = match flags(output::OF_REPORTS, reading.flags, matches, &mut line, draft) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let file = matches.get_one::<String>("REPORT").map(String::as_str).unwrap_or_default();
    let shown = stored::load(file, reading.read).and_then(|mut report| {
        first(&report, &output, draft)?;
        output.verbose |=
            reading.form == Form::Whole || report.command.iter().any(|word| word == "--verbose");
        output.deliver(&mut report)?;
        Ok(output.exit_code(exit::RAN, &report))
    });
    shown.unwrap_or_else(|sentence| exit_code(Err(sentence)))
}

/// Reads the flags of a command into `draft`, and those that say where results go; tells what of
/// them makes no sense, and looks whether results can be written. The exit code where nothing can
/// be done.
fn flags<T>(
    shared: &[Group<Output>],
    own: &[Group<T>],
    matches: &ArgMatches,
    line: &mut CommandLine,
    draft: &mut T,
) -> Result<Output, u8> {
    let mut output = Output::default();
    let mut problems = flag::apply(shared, matches, line, &mut output);
    problems.extend(flag::apply(own, matches, line, draft));
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, output.color);
        return Err(exit::USAGE);
    }
    output.prepare().map_err(|sentence| {
        screen::error(&sentence);
        exit::USAGE
    })?;
    Ok(output)
}

/// The paths that a command is given.
fn paths(matches: &ArgMatches) -> Vec<PathBuf> {
    matches.get_many::<String>("PATH").into_iter().flatten().map(|text| path_of(text)).collect()
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
pub fn printed(text: &str) -> u8 {
    exit_code(screen::data(text))
}

/// Turns success into an exit code, or tells what went wrong.
fn exit_code(result: Result<(), String>) -> u8 {
    match result {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}
