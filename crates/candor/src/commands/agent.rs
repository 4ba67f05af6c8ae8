//! `candor agent`: serves runs of a coordinator on this host.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use candor_fleet::{
    Allowed, Chore, Identity, Listening, PORT, Reach, ServeOptions, SessionCommand,
};
use candor_plan::path_of;
use candor_plan::path_text::word_of;
use candor_record::fmt::visible;
use clap::{Arg, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::hosts::{self, Keys};
use crate::{exit, screen};

const ABOUT: &str = "Serve runs on this host, for `candor run --hosts` elsewhere";

const LONG_ABOUT: &str = "\
Serve runs on this host, for `candor run --hosts` elsewhere.

Clients need the key of this user, which the first start makes (`candor fleet keys --to HOST` \
copies it), a folder of keys, or a token. The agent serves all files of this user, but no device \
in use; --allow and --write-device narrow it to the paths that they name. An agent has one run \
at a time, in a separate process; the run ends, and its files are removed, when its coordinator \
is lost. SIGINT and SIGTERM end the agent and its run.";

/// Options of an agent.
#[derive(Debug, Default)]
struct AgentOptions {
    listen: Option<SocketAddr>,
    allowed: Allowed,
    keys: Keys,
    once: bool,
}

const GROUPS: &[Group<AgentOptions>] = &[Group {
    title: "Agent",
    flags: &[
        Flag {
            long: "allow",
            takes: Takes::Many("PATH"),
            help: "Serve only the files below PATH, or this file or device; may be given \
                   several times [default: all files of this user]",
            fields: &[],
            set: |draft, text| {
                let path = path_of(text);
                if path.exists() {
                    draft.allowed.paths.push(path);
                } else {
                    return Err(format!("`{text}` does not exist"));
                }
                Ok(())
            },
        },
        Flag {
            long: "write-device",
            takes: Takes::Many("DEVICE"),
            help: "Serve this block device, and let runs write it: its data is lost",
            fields: &[],
            set: |draft, text| {
                draft.allowed.paths.push(path_of(text));
                draft.allowed.written_devices.push(path_of(text));
                Ok(())
            },
        },
        Flag {
            long: "allow-programs",
            takes: Takes::Nothing,
            help: "Let runs start programs and commands, as this user",
            fields: &[],
            set: |draft, _| put(&mut draft.allowed.programs, Ok(true)),
        },
        Flag {
            long: "allow-host-settings",
            takes: Takes::Nothing,
            help: "Let runs change I/O schedulers, raise priorities, and occupy memory",
            fields: &[],
            set: |draft, _| put(&mut draft.allowed.host_settings, Ok(true)),
        },
        Flag {
            long: "listen",
            takes: Takes::One("[ADDRESS:]PORT"),
            help: "Where to wait for coordinators; port 0 takes a free one [default: 0.0.0.0:4730]",
            fields: &[],
            set: |draft, text| put_some(&mut draft.listen, address(text)),
        },
        Flag {
            long: "keys",
            takes: Takes::One("DIR"),
            help: hosts::KEYS_HELP,
            fields: &[],
            set: |draft, text| put_some(&mut draft.keys.folder, Ok(path_of(text))),
        },
        Flag {
            long: "token-file",
            takes: Takes::One("FILE"),
            help: hosts::TOKEN_HELP,
            fields: &[],
            set: |draft, text| put_some(&mut draft.keys.token_file, Ok(path_of(text))),
        },
        Flag {
            long: "once",
            takes: Takes::Nothing,
            help: "End with the first run",
            fields: &[],
            set: |draft, _| put(&mut draft.once, Ok(true)),
        },
    ],
}];

/// This program, also where its file was replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Word by which an agent starts the process of a run.
const SESSION: &str = "run-process";

/// Word by which it says that nothing is kept from it.
const EVERYTHING: &str = "run-everything";

/// Word by which it names the file with its password.
const PASSWORD: &str = "password-file";

/// Word by which ssh starts an agent, with a token on its standard input.
const BY_SSH: &str = "by-ssh";

/// Serves everything that its user could do there by ssh as well, until the input ends.
fn by_ssh(listen: Option<SocketAddr>) -> u8 {
    let mut token = String::new();
    if let Err(error) = io::stdin().read_line(&mut token) {
        screen::error(&format!("no token on standard input: {error}"));
        return exit::USAGE;
    }
    let served = Identity::of_token(&token).map_err(|error| error.to_string());
    let served = served.and_then(|identity| {
        let session = session_of_everything(token.trim());
        let listen = listen.unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)));
        let listening = Listening::on(listen).map_err(|error| error.to_string())?;
        let loopback = if listen.is_ipv6() { "[::1]" } else { "127.0.0.1" };
        let own = format!("{loopback}:{}", listening.port());
        let quitter = identity.clone();
        let input = std::thread::Builder::new().name("candor/input".into()).spawn(move || {
            // Whatever comes, the end of the input is the end of the connection.
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            candor_fleet::tell(&quitter, &[own], Chore::Quit)
        });
        input.map_err(|error| format!("no thread reads standard input: {error}"))?;
        let allowed = Allowed { reach: Reach::Everything, ..Allowed::default() };
        let options = ServeOptions { session, allowed, once: false, user_key: None };
        candor_fleet::serve(listening, &identity, options, log).map_err(|error| error.to_string())
    });
    match served {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::USAGE
        }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let whole = match text.parse::<u16>() {
        Ok(port) => format!("0.0.0.0:{port}"),
        Err(_) => text.to_owned(),
    };
    let mut found = whole.to_socket_addrs().map_err(|why| format!("{text}: {why}"))?;
    found.next().ok_or_else(|| format!("{text} is no address"))
}

/// The command line.
pub fn command() -> Command {
    let session = Arg::new(SESSION).long(SESSION).action(clap::ArgAction::SetTrue).hide(true);
    let everything = Arg::new(EVERYTHING).long(EVERYTHING).action(clap::ArgAction::SetTrue);
    let everything = everything.hide(true).requires(SESSION);
    let password = Arg::new(PASSWORD).long(PASSWORD).hide(true).requires(SESSION);
    let by_ssh = Arg::new(BY_SSH).long(BY_SSH).action(clap::ArgAction::SetTrue).hide(true);
    Command::new("agent")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .args(flag::args(GROUPS))
        .arg(session)
        .arg(everything)
        .arg(by_ssh)
        .arg(password)
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut draft = AgentOptions::default();
    let problems = flag::apply(GROUPS, matches, &mut line, &mut draft);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, screen::Color::default());
        return exit::USAGE;
    }
    draft.keys.password_file = matches.get_one::<String>(PASSWORD).map(|text| path_of(text));
    if matches.get_flag(BY_SSH) {
        return by_ssh(draft.listen);
    }
    draft.allowed = if matches.get_flag(EVERYTHING) {
        Allowed { reach: Reach::Everything, ..draft.allowed }
    } else {
        reaching(draft.allowed)
    };
    let served = if matches.get_flag(SESSION) { serve_run(draft) } else { serve(draft, &line) };
    match served {
        Ok(()) => exit::RAN,
        Err(sentence) => {
            screen::error(&sentence);
            exit::USAGE
        }
    }
}

/// Serves until a signal comes.
fn serve(draft: AgentOptions, line: &CommandLine) -> Result<(), String> {
    let source = draft.keys.source()?;
    let identity = source.identity()?;
    let mut words: Vec<OsString> = line.words().iter().skip(1).map(|word| word_of(word)).collect();
    words.push(format!("--{SESSION}").into());
    let listen = draft.listen.unwrap_or(SocketAddr::from(([0, 0, 0, 0], PORT)));
    let session = SessionCommand { program: OWN_PROGRAM.into(), words, ..Default::default() };
    let (allowed, user_key) = (draft.allowed, source.user_key());
    let options = ServeOptions { session, allowed, once: draft.once, user_key };
    let served = Listening::on(listen)
        .and_then(|listening| candor_fleet::serve(listening, &identity, options, log));
    served.map_err(|error| error.to_string())
}

/// The process of a run.
fn serve_run(draft: AgentOptions) -> Result<(), String> {
    let run = std::env::var(candor_fleet::RUN_VARIABLE).unwrap_or_default();
    let log = move |text: &str| log(&format!("{run}: {text}"));
    let keys = draft.keys;
    let identity = Box::new(move || keys.identity());
    let (input, output) = (io::stdin(), io::stdout());
    let served = candor_fleet::serve_run(draft.allowed, identity, input, output, log);
    match served.map_err(|error| error.to_string())? {
        None => Ok(()),
        Some(why) => Err(why),
    }
}

/// Paths that an agent serves: all of its user where none is named.
pub fn reaching(allowed: Allowed) -> Allowed {
    let reach = if allowed.paths.is_empty() { Reach::User } else { Reach::Named };
    Allowed { reach, ..allowed }
}

/// Program and words of the process of a run that serves these paths, devices among them to be
/// written too.
pub fn session_words(paths: &[PathBuf], keys: &Keys) -> SessionCommand {
    let program = OWN_PROGRAM.into();
    let mut words: Vec<OsString> = vec!["agent".into(), format!("--{SESSION}").into()];
    for path in paths {
        let is_device = path.metadata().is_ok_and(|found| found.file_type().is_block_device());
        words.push(if is_device { "--write-device" } else { "--allow" }.into());
        words.push(path.into());
    }
    words.extend(keys.words());
    SessionCommand { program, words, ..SessionCommand::default() }
}

/// The same for an agent that a launcher has started with the words of its user: it serves what
/// these name.
pub fn session_of_everything(token: &str) -> SessionCommand {
    let program = OWN_PROGRAM.into();
    let words = ["agent".into(), format!("--{SESSION}").into(), format!("--{EVERYTHING}").into()];
    // Words are for all to see, variables for this user only.
    let variables = vec![("CANDOR_TOKEN".into(), token.into())];
    SessionCommand { program, words: words.into(), variables }
}

/// The same, where all agents have keys: those that were named, else those of the environment.
pub fn session_of_everything_by(keys: &Keys) -> SessionCommand {
    let mut session = session_of_everything("");
    session.variables.clear();
    session.words.extend(keys.words());
    session
}

/// One line of the agent's log, with the time; no name in it can end it or hide in it.
pub fn log(line: &str) {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
    // Nobody may be left to read it.
    let _ = writeln!(io::stderr(), "{now} {}", visible(line));
}
