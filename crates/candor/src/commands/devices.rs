//! `candor devices`: the block devices of this host, a line each.

use clap::{ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::{commands, exit, output};

const ABOUT: &str = "List the block devices of this host, a line each";

const LONG_ABOUT: &str = "\
List the block devices of this host, a line each: kind, size, who uses it (mount points, swap, \
devices built on it), model, the narrowest link on the way to it, and I/O scheduler.

Nothing is read from the devices themselves: `candor inspect` reads from each, to see whether \
Linux counts it, and `candor inspect NAME` shows all of one. Partitions count with their disk.";

/// Options of the command.
#[derive(Default)]
struct DevicesOptions {
    all: bool,
}

const GROUPS: &[Group<DevicesOptions>] = &[Group {
    title: "Devices",
    flags: &[Flag {
        long: "all",
        takes: Takes::Nothing,
        help: "Also RAM disks, and devices without a size, such as loops without a file",
        fields: &[],
        set: |options, _| put(&mut options.all, Ok(true)),
    }],
}];

/// The command line.
pub fn command() -> Command {
    Command::new("devices")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_LOOKS))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = DevicesOptions::default();
    let output = match commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut options) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let facts = candor_run::list_devices(options.all);
    let text = |style: &_| candor_show::facts::list(&facts, style);
    commands::exit_code(output.show(|| candor_show::json::facts(&facts), text))
}
