//! `candor fleet keys` and `candor fleet token`: keys of agents and coordinators.

use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_fleet::{Identity, new_token};
use candor_plan::PathText;
use candor_plan::path_of;
use clap::{Arg, ArgMatches, Command};

use crate::hosts::{self, Hosts};
use crate::ssh::{KeyCopied, Ssh};
use crate::{commands, exit, screen};

const LONG_ABOUT: &str = "\
Create TLS keys for agents and coordinators, or copy the key of this user.

The first command of a user that needs a key makes one, ~/.config/candor/fleet.key: services and \
clients of one user on one host, or on hosts that share the home directory, need nothing else. \
candor fleet keys --to HOST copies that key to other hosts by ssh. candor fleet keys DIR makes a \
folder of keys apart from it, to be copied to all hosts. candor fleet token prints a token that does \
the same in $CANDOR_TOKEN or a file (--token-file), for launchers that pass variables to all hosts.";

/// Names the hosts that get the key.
const TO: &str = "to";
/// Names the command that reaches them.
const SSH: &str = "ssh";

/// Days for which keys are valid, where nothing else is said.
const DAYS: &str = "365";

/// The command line.
pub fn command() -> Command {
    let days = Arg::new("days").long("days").value_name("N").default_value(DAYS);
    let to = Arg::new(TO).long(TO).value_name("HOST,…").num_args(1..);
    let to = to.help("Copy the key of this user to these hosts by ssh: node[1-8]");
    let by = Arg::new(SSH).long(SSH).value_name("COMMAND").requires(TO);
    let folder = Arg::new("DIR").required_unless_present(TO).conflicts_with(TO);
    let keys = Command::new("keys")
        .about("Make a folder of keys, or copy the key of this user")
        .arg(folder.help("Folder that gets the keys"))
        .arg(days.help("Days for which they are valid"))
        .arg(to)
        .arg(by.help("Call COMMAND HOST WORDS instead of ssh"));
    Command::new("fleet")
        .about("Create TLS keys for agents and coordinators")
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
        Some(("keys", matches)) if matches.contains_id(TO) => copied(matches),
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
    let folder: PathBuf =
        matches.get_one::<String>("DIR").map(|text| path_of(text)).unwrap_or_default();
    let identity = Identity::generate(valid).map_err(|error| error.to_string())?;
    identity.write(&folder).map_err(|error| error.to_string())?;
    let fingerprint = identity.fingerprint().map_err(|error| error.to_string())?;
    Ok(told(&folder, days, &fingerprint))
}

/// Copies the key of this user to hosts.
fn copied(matches: &ArgMatches) -> Result<String, String> {
    let words = |id: &str| matches.get_many::<String>(id).into_iter().flatten();
    let mut hosts = Hosts::default();
    words(TO).try_for_each(|text| hosts.add(text))?;
    let key = hosts::user_key()?.read_or_make().map_err(|error| error.to_string())?.text();
    let ssh = Ssh { command: words(SSH).next().cloned(), copies: false };
    let (mut text, mut wrong) = (String::new(), Vec::new());
    for host in &hosts.list {
        match ssh.copy_key(host, &key) {
            Ok(KeyCopied::New) => text += &format!("{host}: has the key of this user\n"),
            Ok(KeyCopied::Same) => text += &format!("{host}: had it already\n"),
            Ok(KeyCopied::Replaced) => {
                text += &format!("{host}: has it; the earlier key there is fleet.key.old\n");
            }
            Err(why) => wrong.push(format!("{host}: {why}")),
        }
    }
    if wrong.is_empty() { Ok(text) } else { Err(text + &wrong.join("; ")) }
}

fn told(folder: &Path, days: &str, fingerprint: &str) -> String {
    let shown = candor_plan::shell::quoted(&folder.text());
    format!(
        "keys for {days} days are in {shown}; copy the folder to all hosts, then there:\n  \
         candor agent --keys {shown} --allow DIR\nand here:\n  \
         candor run --keys {shown} --hosts HOST,HOST PLAN\n\
         SHA-256 of their authority: {fingerprint}\n"
    )
}
