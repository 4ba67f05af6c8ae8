//! `candor fleet keys DIR`, `candor fleet token`: what hosts of a fleet know each other by.

use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_fleet::{Identity, new_token};
use clap::{Arg, ArgMatches, Command};

use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Make the keys by which hosts of a fleet know each other.

candor fleet keys DIR makes a folder of keys, to be copied to all hosts: whoever has it can start \
runs on their agents. The authority that signed them is not kept, so nobody can make more of the \
same fleet. candor fleet token prints a token that does the same in $CANDOR_TOKEN or a file \
(--token-file), for launchers that pass variables to all hosts.";

/// Days for which keys are valid, where nothing else is said.
const DAYS: &str = "365";

/// The command line.
pub fn command() -> Command {
    let days = Arg::new("days").long("days").value_name("N").default_value(DAYS);
    let keys = Command::new("keys")
        .about("Make a folder of keys")
        .arg(Arg::new("DIR").required(true).help("Folder that gets the keys"))
        .arg(days.help("Days for which they are valid"));
    Command::new("fleet")
        .about("Make the keys by which hosts of a fleet know each other")
        .long_about(LONG_ABOUT)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(keys)
        .subcommand(Command::new("token").about("Print a new token"))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches) -> u8 {
    let made = match matches.subcommand() {
        Some(("keys", matches)) => keys(matches),
        _ => new_token().map(|token| token + "\n").map_err(|error| error.to_string()),
    };
    match made {
        Ok(text) => commands::printed(&text),
        Err(sentence) => {
            screen::error(&sentence);
            exit::USAGE
        }
    }
}

fn keys(matches: &ArgMatches) -> Result<String, String> {
    let days = matches.get_one::<String>("days").map_or(DAYS, String::as_str);
    let valid = match days.parse::<u64>() {
        Ok(days @ 1..=36500) => Duration::from_secs(days * 24 * 3600),
        _ => return Err(format!("`{days}` is no number of days; give 1 to 36500")),
    };
    let folder: PathBuf = matches.get_one::<String>("DIR").map(PathBuf::from).unwrap_or_default();
    let identity = Identity::generate(valid).map_err(|error| error.to_string())?;
    identity.write(&folder).map_err(|error| error.to_string())?;
    let fingerprint = identity.fingerprint().map_err(|error| error.to_string())?;
    Ok(told(&folder, days, &fingerprint))
}

fn told(folder: &Path, days: &str, fingerprint: &str) -> String {
    let shown = candor_plan::shell::quoted(&folder.to_string_lossy());
    format!(
        "keys for {days} days are in {shown}; copy the folder to all hosts, then there:\n  \
         candor agent --keys {shown} --allow DIR\nand here:\n  \
         candor run --keys {shown} --hosts HOST,HOST PLAN\n\
         SHA-256 of their authority: {fingerprint}\n"
    )
}
