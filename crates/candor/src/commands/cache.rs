//! `candor cache status|evict|warm PATH…`: what of files is in the page cache, getting it out,
//! getting it in.

use candor_record::CacheAction;
use candor_show::{cached, json};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine};
use crate::output;
use crate::{commands, exit};

const ABOUT: &str = "Show, drop or load cached pages of files, and verify the result";

const LONG_ABOUT: &str = "\
Show, drop or load cached pages of files, and verify the result.

A directory means all files below it, without other filesystems mounted there. The result is \
verified: pages that remain or are missing are reported with their cause, exit 1.";

/// Each thing to do: its word, itself, what it is for.
const ACTIONS: [(&str, CacheAction, &str); 3] = [
    ("status", CacheAction::Status, "Show size, bytes in memory, dirty and being written"),
    ("evict", CacheAction::Evict, "Write what is dirty, drop everything, and look again"),
    ("warm", CacheAction::Warm, "Read everything, and look again"),
];

/// The command line.
pub fn command() -> Command {
    Command::new("cache")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(ACTIONS.map(|(word, _, about)| {
            let path = Arg::new("PATH").required(true).action(ArgAction::Append);
            Command::new(word)
                .about(about)
                .arg(path.num_args(1..).help("Files, directories or block devices"))
                .args(flag::args(output::OF_LOOKS))
                .after_help(exit::HELP)
        }))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let chosen = matches.subcommand().and_then(|(chosen, matches)| {
        let (_, action, _) = ACTIONS.into_iter().find(|(word, ..)| *word == chosen)?;
        Some((action, matches))
    });
    // The parser lets no other word through.
    let Some((action, matches)) = chosen else { return exit::USAGE };
    let output = match commands::flags(output::OF_LOOKS, &[], matches, &mut line, &mut ()) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let control = candor_run::interrupts();
    let found = match candor_run::cached(&commands::paths(matches), action, &control) {
        Ok(found) => found,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    let shown = output.show(|| json::cached(&found), |style| cached::text(&found, style));
    match (found.interrupted, found.is_done()) {
        _ if shown.is_err() => commands::exit_code(shown),
        (true, _) => candor_run::interrupt_exit_code().unwrap_or(exit::TROUBLE),
        (_, true) => exit::RAN,
        (_, false) => exit::TROUBLE,
    }
}
