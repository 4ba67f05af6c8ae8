//! `candor inspect [PATH…]`: what lies under paths, without any load but one accounting probe each.

use std::io::Read;
use std::path::{Path, PathBuf};

use candor_files::Use;
use candor_plan::{PathText, path_of};
use candor_record::Facts;
use candor_run::RunError;
use candor_show::json;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::output;
use crate::{commands, exit};

const ABOUT: &str = "Show what lies under a path: filesystem, devices, links, limits";

const LONG_ABOUT: &str = "\
Show what lies under a path: filesystem, devices, links, limits. Without a path, show the list \
of `candor devices`, and whether Linux counts a read of each.

Nothing is measured. One small read is made to see whether the kernel's counters can vouch for \
this storage. Of a file or a device it is the only I/O; in a directory a file of 1 MiB is \
written for it and removed, and the output reports it.

With --record, everything the kernel answered is kept in a text file, and --replay shows it \
again on any other host: for those who help from far away, and for tests.";

/// No host has more to tell; whoever names a disk by mistake should not wait for its end.
const BUNDLE_BYTES_MAX: u64 = 64 << 20;

/// Options of the command.
#[derive(Default)]
struct InspectOptions {
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
}

const GROUPS: &[Group<InspectOptions>] = &[Group {
    title: "Other hosts",
    flags: &[
        Flag {
            long: "record",
            takes: Takes::One("FILE"),
            help: "Keep what the kernel answered in FILE; without a PATH, about all devices",
            fields: &[],
            set: |options, text| put_some(&mut options.record, Ok(path_of(text))),
        },
        Flag {
            long: "replay",
            takes: Takes::One("FILE"),
            help: "Show the host on which FILE was recorded, instead of this one",
            fields: &[],
            set: |options, text| put_some(&mut options.replay, Ok(path_of(text))),
        },
    ],
}];

/// The command line.
pub fn command() -> Command {
    let path = Arg::new("PATH").action(ArgAction::Append);
    Command::new("inspect")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(
            path.conflicts_with("replay")
                .help("Directories, files or block devices [default: a line for each device]"),
        )
        .args(flag::args(GROUPS))
        .mut_arg("replay", |replay| replay.conflicts_with("record"))
        .args(flag::args(output::OF_LOOKS))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = InspectOptions::default();
    let output = match commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut options) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let paths = commands::paths(matches);
    let text = if paths.is_empty() && options.replay.is_none() {
        candor_show::facts::list
    } else {
        candor_show::facts::text
    };
    match facts(&paths, &options) {
        Ok(facts) => commands::exit_code(
            facts
                .and_then(|facts| output.show(|| json::facts(&facts), |style| text(&facts, style))),
        ),
        Err(error) => commands::fail(&error, &line.source, &output),
    }
}

/// The facts; a sentence where a bundle cannot be read or written.
fn facts(paths: &[PathBuf], options: &InspectOptions) -> Result<Result<Facts, String>, RunError> {
    if let Some(file) = &options.replay {
        return Ok(replayed(file));
    }
    let Some(file) = &options.record else { return candor_run::inspect(paths).map(Ok) };
    for path in paths {
        if let Err(refusal) = candor_files::uses(path, Use::Input) {
            return Ok(Err(format!("{}: {refusal}", path.text())));
        }
    }
    if let Err(error) = candor_files::prepare(file) {
        return Ok(Err(format!("{} cannot be written: {error}", file.text())));
    }
    let (facts, bundle) = candor_run::record(paths)?;
    let written = candor_files::replace(file, bundle.to_string());
    Ok(written
        .map(|()| facts)
        .map_err(|error| format!("{} cannot be written: {error}", file.text())))
}

fn replayed(file: &Path) -> Result<Facts, String> {
    let mut text = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(BUNDLE_BYTES_MAX).read_to_end(&mut text))
        .map_err(|error| format!("{} cannot be read: {error}", file.text()))?;
    let text = String::from_utf8_lossy(&text);
    candor_run::replay(&text).map_err(|why| format!("{} is no bundle: {why}", file.text()))
}
