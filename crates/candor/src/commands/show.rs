//! `candor show REPORT`: a stored report as the run printed it, or as its screen showed it.

use clap::{ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::output;
use crate::{commands, exit, live, parse, stored};

const ABOUT: &str = "Show a stored report, as the run that made it printed it";

const LONG_ABOUT: &str = "\
Show a stored report, as the run that made it printed it.

The judgement is the one that was made then. candor judge makes it again, by the rules of today.";

/// Options of the screen.
struct Draft {
    live: bool,
    speed: f64,
}

const GROUPS: &[Group<Draft>] = &[Group {
    title: "Screen",
    flags: &[
        Flag {
            long: "live",
            takes: Takes::Nothing,
            help: "Play the run again on the screen that showed it live, until q ends it; the text \
                   follows",
            fields: &[],
            set: |draft, _| put(&mut draft.live, Ok(true)),
        },
        Flag {
            long: "speed",
            takes: Takes::One("FACTOR"),
            help: "With --live, so many times as fast as it ran: 0.5, 10 [default: 1]",
            fields: &[],
            set: |draft, text| match parse::decimal(text)? {
                factor if (0.001..=1e6).contains(&factor) => put(&mut draft.speed, Ok(factor)),
                _ => Err(format!("{text} is not between 0.001 and 1000000")),
            },
        },
    ],
}];

/// The command line.
pub fn command() -> Command {
    Command::new("show")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(stored::arg())
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_REPORTS))
        .mut_arg("speed", |arg| arg.requires("live"))
        .after_help(exit::HELP)
}

/// Prints the report, and gives the exit code.
pub fn main(matches: &ArgMatches, line: CommandLine) -> u8 {
    let mut draft = Draft { live: false, speed: 1.0 };
    commands::stored(
        matches,
        line,
        (GROUPS, &mut draft),
        candor_record::read,
        |report, output, draft| {
            if draft.live { live::replay(report, output, draft.speed) } else { Ok(()) }
        },
    )
}
