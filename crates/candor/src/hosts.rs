//! Hosts of a run as users name them, and the keys of their agents.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_fleet::{FleetOptions, Identity, UserKey, with_port};
use candor_plan::{PathText, path_of};

use crate::flag::{Flag, Group, Takes, put, put_some};
use crate::parse;
use crate::ssh::Ssh;

/// Most hosts of a run.
const HOSTS_MAX: usize = 100_000;

/// Help of `--keys`.
pub const KEYS_HELP: &str = "Take keys from a folder of `candor fleet keys DIR` [default: \
                             $CANDOR_KEYS, ~/.config/candor/keys, or the key of this user, \
                             ~/.config/candor/fleet.key]";
/// Help of `--token-file`.
pub const TOKEN_HELP: &str = "Take the key from a file with a token of `candor fleet token`; \
                              $CANDOR_TOKEN holds the token itself";

/// Shortest and longest `--host-timeout`.
const TIMEOUTS: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(3600);

/// The words that name hosts, and the way to them.
pub const FLAGS: &[Group<Hosts>] = &[Group {
    title: "Hosts",
    flags: &[
        Flag {
            long: "hosts",
            takes: Takes::Many("HOST,…"),
            help: "Run it on these hosts together, each with all workers of each job, or its share \
                   of the ranks; on each waits a `candor agent`: node[1-8], 10.0.0.2:4730",
            fields: &["hosts"],
            set: |hosts, text| hosts.add(text),
        },
        Flag {
            long: "hosts-file",
            takes: Takes::One("FILE"),
            help: "The same, one or more on each line; # begins a comment",
            fields: &["hosts"],
            set: |hosts, text| hosts.add_file(text),
        },
        Flag {
            long: "keys",
            takes: Takes::One("DIR"),
            help: KEYS_HELP,
            fields: &[],
            set: |hosts, text| put_some(&mut hosts.keys.folder, Ok(path_of(text))),
        },
        Flag {
            long: "token-file",
            takes: Takes::One("FILE"),
            help: TOKEN_HELP,
            fields: &[],
            set: |hosts, text| put_some(&mut hosts.keys.token_file, Ok(path_of(text))),
        },
        Flag {
            long: "launched",
            takes: Takes::Nothing,
            help: "Run it on the hosts on which srun, mpirun, mpiexec or an indexed job of \
                   Kubernetes has started this command line, one process on each",
            fields: &["hosts"],
            set: |hosts, _| put(&mut hosts.launched, Ok(true)),
        },
        Flag {
            long: "hosts-wait",
            takes: Takes::One("SECONDS"),
            help: "Wait up to SECONDS for agents to come up or to end another run [default: 5]",
            fields: &[],
            set: |hosts, text| {
                let wait = parse::seconds(text).map(|time| Duration::from_nanos(time.0));
                put_some(&mut hosts.wait, wait)
            },
        },
        Flag {
            long: "host-timeout",
            takes: Takes::One("SECONDS"),
            help: "End the run if a host is silent for SECONDS; a closed connection ends it at \
                   once [default: 20]",
            fields: &[],
            set: |hosts, text| put_some(&mut hosts.timeout, timeout(text)),
        },
        Flag {
            long: "ssh",
            takes: Takes::Maybe("COMMAND"),
            help: "Start the agents by ssh, or by COMMAND HOST WORDS; they serve what the plan \
                       names, need no keys, and end with the run",
            fields: &[],
            set: |hosts, text| {
                let ssh = hosts.ssh.get_or_insert_default();
                ssh.command = Some(text.to_owned()).filter(|command| !command.is_empty());
                Ok(())
            },
        },
        Flag {
            long: "ssh-copy",
            takes: Takes::Nothing,
            help: "Start them by ssh, and copy this program to the hosts first, to \
                   ~/.cache/candor; else it is called there by the path that it has here",
            fields: &[],
            set: |hosts, _| put(&mut hosts.ssh.get_or_insert_default().copies, Ok(true)),
        },
    ],
}];

/// Hosts that run a plan together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Addresses, in the order of their numbers.
    pub list: Vec<String>,
    /// Keys.
    pub keys: Keys,
    /// Longest wait for agents.
    pub wait: Option<Duration>,
    /// Silence after which a host is lost.
    pub timeout: Option<Duration>,
    /// A launcher has started this process on all hosts.
    pub launched: bool,
    /// Agents are started by ssh.
    pub ssh: Option<Ssh>,
}

impl Hosts {
    /// Looks whether the words about hosts go together.
    ///
    /// # Errors
    /// They do not, or name no host; in a sentence.
    pub fn check(&self) -> Result<(), String> {
        if !self.is_given() && *self != Hosts::default() {
            return Err(
                "no host is named; name them with --hosts, or remove the words about them".into()
            );
        }
        if let (true, Some(first)) = (self.launched, self.list.first()) {
            return Err(format!(
                "--launched takes the hosts of the launcher, and host {first} is named as well; \
                 remove --launched, or --hosts and --hosts-file"
            ));
        }
        let wrong = match &self.ssh {
            Some(_) if self.launched => {
                "--launched takes agents that the launcher has started, and --ssh would start \
                 others; remove one of them"
            }
            Some(_) if self.keys.are_named() => {
                "agents that ssh starts get keys of this run alone, and others are named; remove \
                 --keys and --token-file, or --ssh"
            }
            _ => return Ok(()),
        };
        Err(wrong.into())
    }

    /// Options of the fleet that these words set, without its hosts.
    pub fn options(&self) -> FleetOptions {
        let default = FleetOptions::default();
        let wait = self.wait.unwrap_or(default.wait);
        let host_timeout = self.timeout.unwrap_or(default.host_timeout);
        FleetOptions { wait, host_timeout, ..default }
    }

    /// True where some were named.
    pub fn is_given(&self) -> bool {
        !self.list.is_empty() || self.launched
    }

    /// Adds hosts of a list with commas, in which brackets hold ranges.
    ///
    /// # Errors
    /// It is none.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let hosts = expand(text)?;
        let mut known: HashSet<String> = self.list.iter().map(|host| with_port(host)).collect();
        if let Some(twice) = hosts.iter().find(|host| !known.insert(with_port(host))) {
            let agent = with_port(twice);
            return Err(if agent == **twice {
                format!("host {twice} is named twice")
            } else {
                format!("host {twice} is named twice: its agent is {agent}")
            });
        }
        self.list.extend(hosts);
        match self.list.len() {
            0 => Err("no host is named".into()),
            1..=HOSTS_MAX => Ok(()),
            count => Err(format!("{count} hosts are more than {HOSTS_MAX}")),
        }
    }

    /// Adds hosts of a file.
    ///
    /// # Errors
    /// It cannot be read, or a line of it is no list.
    pub fn add_file(&mut self, path: &str) -> Result<(), String> {
        let text = fs::read_to_string(path_of(path)).map_err(|why| format!("{path}: {why}"))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            for word in line.split_whitespace() {
                self.add(word).map_err(|why| format!("{path}:{}: {why}", number + 1))?;
            }
        }
        if self.is_given() { Ok(()) } else { Err(format!("{path} names no host")) }
    }
}

/// Sources of keys that a command line names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// `--keys`.
    pub folder: Option<PathBuf>,
    /// `--token-file`.
    pub token_file: Option<PathBuf>,
    /// elbencho's `--svcpwfile`.
    pub password_file: Option<PathBuf>,
}

/// The source of keys that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// A folder of `candor fleet keys`.
    Folder(PathBuf),
    /// A file with a token.
    TokenFile(PathBuf),
    /// The token in the environment.
    Token(String),
    /// A file with a password, of any length.
    PasswordFile(PathBuf),
    /// The key of this user, made where there is none.
    User(UserKey),
}

impl KeySource {
    /// The keys.
    ///
    /// # Errors
    /// The keys cannot be read, made or used, in a sentence.
    pub fn identity(&self) -> Result<Identity, String> {
        let read =
            |file: &Path| fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.text()));
        let of_file = |file: &Path, why: candor_fleet::KeyError| format!("{}: {why}", file.text());
        match self {
            KeySource::Folder(folder) => Identity::read(folder).map_err(|why| why.to_string()),
            KeySource::TokenFile(file) => {
                Identity::of_token(&read(file)?).map_err(|why| of_file(file, why))
            }
            KeySource::Token(token) => {
                Identity::of_token(token).map_err(|why| format!("CANDOR_TOKEN: {why}"))
            }
            KeySource::PasswordFile(file) => {
                let text = read(file)?;
                let password = text.lines().next().unwrap_or_default();
                Identity::of_password(password).map_err(|why| of_file(file, why))
            }
            KeySource::User(key) => {
                let secret = key.read_or_make().map_err(|why| why.to_string())?;
                Identity::of_user(&secret).map_err(|why| why.to_string())
            }
        }
    }

    /// The key file of this user, where that is the source.
    pub fn user_key(&self) -> Option<UserKey> {
        match self {
            KeySource::User(key) => Some(key.clone()),
            _ => None,
        }
    }
}

impl Keys {
    /// True where the command line names them.
    pub fn are_named(&self) -> bool {
        *self != Keys::default()
    }

    /// The words that name them.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        let named = [
            ("--keys", &self.folder),
            ("--token-file", &self.token_file),
            (PASSWORD_FILE, &self.password_file),
        ];
        named
            .into_iter()
            .filter_map(|(word, path)| Some([OsString::from(word), path.clone()?.into_os_string()]))
            .flatten()
    }

    /// The source that counts: the command line, then the environment, then the user's key.
    ///
    /// # Errors
    /// The user has no place for a key, in a sentence.
    pub fn source(&self) -> Result<KeySource, String> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(folder) = &self.folder {
            return Ok(KeySource::Folder(folder.clone()));
        }
        if let Some(file) = &self.token_file {
            return Ok(KeySource::TokenFile(file.clone()));
        }
        if let Some(file) = &self.password_file {
            return Ok(KeySource::PasswordFile(file.clone()));
        }
        if let Some(token) = set("CANDOR_TOKEN") {
            return Ok(KeySource::Token(token.text()));
        }
        if let Some(folder) = set("CANDOR_KEYS") {
            return Ok(KeySource::Folder(folder.into()));
        }
        let key = user_key()?;
        // A folder of keys next to it is there for all hosts of the user.
        match key.path.with_file_name("keys") {
            folder if folder.is_dir() => Ok(KeySource::Folder(folder)),
            _ => Ok(KeySource::User(key)),
        }
    }

    /// The keys.
    ///
    /// # Errors
    /// The keys cannot be read, made or used, in a sentence.
    pub fn identity(&self) -> Result<Identity, String> {
        self.source()?.identity()
    }
}

/// Word of an agent's process for a file with a password.
pub const PASSWORD_FILE: &str = "--password-file";

/// The place of the key of this user.
///
/// # Errors
/// The environment names no directory, in a sentence.
pub fn user_key() -> Result<UserKey, String> {
    let directory = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        // A relative path would be another key in each directory.
        value.filter(|directory| directory.is_absolute())
    };
    let config =
        directory("XDG_CONFIG_HOME").or_else(|| directory("HOME").map(|home| home.join(".config")));
    let config = config.ok_or_else(|| candor_fleet::KeyError::NoHome.to_string())?;
    Ok(UserKey::below(&config))
}

fn timeout(text: &str) -> Result<Duration, String> {
    let timeout = Duration::from_nanos(parse::seconds(text)?.0);
    if TIMEOUTS.contains(&timeout) {
        Ok(timeout)
    } else {
        Err(format!("`{text}` is no time for a host to be silent; give 1 to 3600 s"))
    }
}

/// Names of a list with commas; brackets hold numbers and ranges: `node[01-03,7]`.
fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    let mut depth = 0_i32;
    let words = text.split(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    for word in words.filter(|word| !word.is_empty()) {
        all.extend(ranges(word)?);
        if all.len() > HOSTS_MAX {
            return Err(format!("`{text}` names more than {HOSTS_MAX} hosts"));
        }
    }
    Ok(all)
}

fn ranges(word: &str) -> Result<Vec<String>, String> {
    // An address of IPv6 has colons in its brackets.
    let opened = word
        .split_once('[')
        .filter(|(_, rest)| !rest.split(']').next().is_some_and(|within| within.contains(':')));
    let Some((front, rest)) = opened else {
        // A program that gets the name as a word must not take it for an option.
        let is_name = !word.starts_with('-')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]%@".contains(c));
        return if is_name {
            Ok(vec![word.into()])
        } else {
            Err(format!("`{word}` is no name of a host"))
        };
    };
    let no_range = || format!("`{word}` is no range of hosts; write node[1-8,12]");
    let (list, back) = rest.split_once(']').ok_or_else(no_range)?;
    let mut names = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| no_range());
        let (first, last) = (number(from)?, number(to)?);
        if first > last || last - first >= HOSTS_MAX as u32 {
            return Err(no_range());
        }
        let width = from.len();
        for number in first..=last {
            names.extend(ranges(&format!("{front}{number:0width$}{back}"))?);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_listed_and_ranges_keep_their_zeros() {
        let names = |text: &str| expand(text).map(|names| names.join(" "));
        let cases = [
            ("a,b:1611", "a b:1611"),
            ("node[09-11]", "node09 node10 node11"),
            ("n[1-2,5]x:7,m", "n1x:7 n2x:7 n5x:7 m"),
            ("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"),
            ("[fe80::1]:4730,fe80::2", "[fe80::1]:4730 fe80::2"),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text).as_deref(), Ok(expected));
        }
        for text in ["n[3-1]", "n[1-", "n[a-b]", "n[1-999999]", "a b", "$(x)", "-h", "a,-oX"] {
            assert!(names(text).is_err(), "{text}");
        }
        let mut hosts = Hosts::default();
        hosts.add("a,b").expect("two");
        assert!(hosts.add("c,a").expect_err("twice").contains("host a is named twice"));
        assert!(hosts.add("c,c").expect_err("twice").contains("host c is named twice"));
        let twice = hosts.add("b:4730").expect_err("twice");
        assert!(twice.contains("host b:4730 is named twice"), "{twice}");
        let twice = hosts.add("d:4730,d").expect_err("twice");
        assert_eq!(twice, "host d is named twice: its agent is d:4730");
        assert_eq!(hosts.add("d:1611,d"), Ok(()));
    }

    #[test]
    fn words_about_hosts_that_contradict_each_other_are_refused() {
        let of = |words: &[(&str, &str)]| {
            let mut hosts = Hosts::default();
            for (long, value) in words {
                let flag = FLAGS[0].flags.iter().find(|flag| flag.long == *long).expect("a flag");
                (flag.set)(&mut hosts, value).expect("a value");
            }
            hosts.check()
        };
        let (named, launched, ssh) = (("hosts", "a,b"), ("launched", ""), ("ssh", ""));
        let (keys, token, wait) = (("keys", "k"), ("token-file", "t"), ("hosts-wait", "9"));
        for good in [&[named, keys, token, wait][..], &[launched, keys, wait], &[named, ssh, wait]]
        {
            assert_eq!(of(good), Ok(()));
        }
        for (words, why) in [
            (&[wait][..], "no host is named"),
            (&[ssh, keys], "no host is named"),
            (&[launched, named], "--launched takes the hosts of the launcher, and host a is named"),
            (&[launched, ("ssh-copy", "")], "--launched takes agents that the launcher has"),
            (&[named, ssh, keys], "agents that ssh starts get keys of this run alone"),
            (&[named, ssh, token], "agents that ssh starts get keys of this run alone"),
        ] {
            let wrong = of(words).expect_err("they contradict each other");
            assert!(wrong.starts_with(why) && wrong.contains("; "), "{wrong}");
        }
    }

    #[test]
    fn named_keys_are_words_again() {
        let keys =
            Keys { folder: Some("k".into()), token_file: Some("t".into()), password_file: None };
        let words: Vec<OsString> = keys.words().collect();
        assert_eq!(words, ["--keys", "k", "--token-file", "t"]);
        assert_eq!(Keys::default().words().count(), 0);
    }
}
