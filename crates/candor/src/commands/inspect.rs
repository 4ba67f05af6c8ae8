//! `candor inspect PATH…`: what lies under paths, without any load but one accounting probe each.

use std::io::Read;
use std::path::{Path, PathBuf};

use candor_record::Facts;
use candor_run::RunError;
use candor_show::json;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes};
use crate::output::{self, Output};
use crate::{commands, exit, screen};

const ABOUT: &str = "Show what lies under a path: filesystem, devices, links, limits";

const LONG_ABOUT: &str = "\
Show what lies under a path: filesystem, devices, links, limits.

Nothing is measured or changed. One small read is made to see whether the kernel's counters can \
vouch for this storage; it is the only I/O.

With --record, everything the kernel answered is kept in a text file, and --replay shows it \
again on any other host: for those who help from far away, and for tests.";

/// No host has more to tell; whoever names a disk by mistake should not wait for its end.
const BUNDLE_BYTES_MAX: u64 = 64 << 20;

/// Options of the command.
#[derive(Default)]
struct Draft {
    record: Option<PathBuf>,
    replay: Option<PathBuf>,
}

const GROUPS: &[Group<Draft>] = &[Group {
    title: "Other hosts",
    flags: &[
        Flag {
            long: "record",
            takes: Takes::One("FILE"),
            help: "Keep what the kernel answered in FILE; without a PATH, about all devices",
            fields: &[],
            set: |draft, text| {
                draft.record = Some(text.into());
                Ok(())
            },
        },
        Flag {
            long: "replay",
            takes: Takes::One("FILE"),
            help: "Show the host on which FILE was recorded, instead of this one",
            fields: &[],
            set: |draft, text| {
                draft.replay = Some(text.into());
                Ok(())
            },
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
            path.required_unless_present_any(["record", "replay"])
                .conflicts_with("replay")
                .help("Directories, files or block devices"),
        )
        .args(flag::args(GROUPS))
        .mut_arg("replay", |replay| replay.conflicts_with("record"))
        .args(flag::args(output::OF_LOOKS))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let (mut output, mut draft) = (Output::default(), Draft::default());
    let mut problems = flag::apply(output::OF_LOOKS, matches, &mut line, &mut output);
    problems.extend(flag::apply(GROUPS, matches, &mut line, &mut draft));
    if let Err(code) = commands::ready(&problems, &line, &mut output) {
        return code;
    }
    let paths = matches.get_many::<String>("PATH").into_iter().flatten();
    let paths: Vec<PathBuf> = paths.map(PathBuf::from).collect();
    let shown = match facts(&paths, &draft) {
        Ok(facts) => facts.and_then(|facts| show(&facts, &output)),
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    match shown {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}

/// The facts; a sentence where a bundle cannot be read or written.
fn facts(paths: &[PathBuf], draft: &Draft) -> Result<Result<Facts, String>, RunError> {
    if let Some(file) = &draft.replay {
        return Ok(replayed(file));
    }
    let Some(file) = &draft.record else { return candor_run::inspect(paths).map(Ok) };
    let (facts, bundle) = candor_run::record(paths)?;
    let written = std::fs::write(file, bundle.to_string());
    Ok(written
        .map(|()| facts)
        .map_err(|error| format!("{} cannot be written: {error}", file.display())))
}

fn replayed(file: &Path) -> Result<Facts, String> {
    let mut text = Vec::new();
    std::fs::File::open(file)
        .and_then(|file| file.take(BUNDLE_BYTES_MAX).read_to_end(&mut text))
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let text = String::from_utf8_lossy(&text);
    candor_run::replay(&text).map_err(|why| format!("{} is no bundle: {why}", file.display()))
}

fn show(facts: &Facts, output: &Output) -> Result<(), String> {
    let json = json::facts(facts).map_err(|error| error.to_string())?;
    match output.deliver_json(&json)? {
        true => Ok(()),
        false => screen::facts(facts, output.color),
    }
}
