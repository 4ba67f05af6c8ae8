//! `candor inspect PATH`: what lies under a path, without any load but one proving read.

use std::path::Path;

use candor_show::json;
use clap::{Arg, ArgMatches, Command};

use crate::flag::{self, CommandLine};
use crate::output::{self, Output};
use crate::{commands, exit, screen};

const ABOUT: &str = "Show what lies under a path: filesystem, devices, links, limits";

const LONG_ABOUT: &str = "\
Show what lies under a path: filesystem, devices, links, limits.

Nothing is measured or changed. One small read is made to see whether the kernel's counters can \
vouch for this storage; it is the only I/O.";

/// The command line.
pub fn command() -> Command {
    Command::new("inspect")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(Arg::new("PATH").required(true).help("Directory, file or block device"))
        .args(flag::args(output::OF_LOOKS))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut output = Output::default();
    let problems = flag::apply(output::OF_LOOKS, matches, &mut line, &mut output);
    if let Err(code) = commands::ready(&problems, &line, &mut output) {
        return code;
    }
    let path = matches.get_one::<String>("PATH").map(String::as_str).unwrap_or_default();
    let facts = match candor_run::inspect(Path::new(path)) {
        Ok(facts) => facts,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    let shown =
        json::facts(&facts).map_err(|error| error.to_string()).and_then(|json| {
            match output.deliver_json(&json)? {
                true => Ok(()),
                false => screen::facts(&facts, output.color),
            }
        });
    match shown {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::TROUBLE
        }
    }
}
