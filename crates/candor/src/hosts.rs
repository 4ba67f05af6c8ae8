//! Hosts of a run as users name them, and the keys by which these let us in.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_fleet::{FleetOptions, Identity};

use crate::commands::foreign::launch::{self, Launch, Part};
use crate::flag::{Flag, Group, Takes, put, put_some};
use crate::parse;
use crate::ssh::{Agents, Ssh};

/// Most hosts of a run.
const HOSTS_MAX: usize = 100_000;

/// Help of `--keys`.
pub const KEYS_HELP: &str = "Folder of keys, made by `candor fleet keys` and copied to all hosts \
                             [default: $CANDOR_KEYS, else ~/.config/candor/keys]";
/// Help of `--token-file`.
pub const TOKEN_HELP: &str = "File with a token that all hosts have, instead of keys; so does \
                              $CANDOR_TOKEN with the token itself";

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
            set: |hosts, text| put_some(&mut hosts.keys.folder, Ok(text.into())),
        },
        Flag {
            long: "token-file",
            takes: Takes::One("FILE"),
            help: TOKEN_HELP,
            fields: &[],
            set: |hosts, text| put_some(&mut hosts.keys.token_file, Ok(text.into())),
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
            help: "Wait so long for agents that are not there yet [default: 5]",
            fields: &[],
            set: |hosts, text| {
                let wait = parse::seconds(text).map(|time| Duration::from_nanos(time.0));
                put_some(&mut hosts.wait, wait)
            },
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
    /// Agents that are not there yet are waited for so long.
    pub wait: Option<Duration>,
    /// A launcher has started this process on all hosts.
    pub launched: bool,
    /// Agents are started by ssh.
    pub ssh: Option<Ssh>,
}

/// Hosts that can be led: their agents wait.
pub struct Led {
    /// Keys.
    pub identity: Identity,
    /// Addresses of agents, and how they are reached.
    pub options: FleetOptions,
    _own: Own,
}

/// Agents that were started for this run, and end with it.
#[derive(Default)]
struct Own {
    _agents: Option<Agents>,
    _launch: Option<Box<Launch>>,
}

impl Hosts {
    /// Starts the agents that this run is to start, and gives the keys of all; none where another
    /// process leads them.
    ///
    /// # Errors
    /// The words contradict each other, there are no keys, or an agent could not be started; in a
    /// sentence.
    pub fn lead(&self) -> Result<Option<Led>, String> {
        self.check()?;
        let wait = self.wait();
        let led = |identity, hosts, own| {
            let options = FleetOptions { hosts, wait, ..FleetOptions::default() };
            Some(Led { identity, options, _own: own })
        };
        if self.launched {
            return match launch::part(&self.keys)? {
                Part::Over => Ok(None),
                Part::Alone => Err("no launcher is known that has started this process among \
                                    others; remove --launched"
                    .into()),
                Part::Leads(launch) => {
                    let (identity, hosts) = (launch.identity.clone(), launch.options.hosts.clone());
                    Ok(led(identity, hosts, Own { _launch: Some(launch), ..Own::default() }))
                }
            };
        }
        let Some(ssh) = &self.ssh else {
            return Ok(led(self.keys.identity()?, self.list.clone(), Own::default()));
        };
        let agents = ssh.start(&self.list)?;
        let (identity, hosts) = (agents.identity.clone(), agents.addresses.clone());
        Ok(led(identity, hosts, Own { _agents: Some(agents), ..Own::default() }))
    }

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

    /// Time for which agents that are not there yet are waited for.
    pub fn wait(&self) -> Duration {
        self.wait.unwrap_or(FleetOptions::default().wait)
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
        let mut known: HashSet<&String> = self.list.iter().collect();
        if let Some(twice) = hosts.iter().find(|host| !known.insert(host)) {
            return Err(format!("host {twice} is named twice"));
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
        let text = fs::read_to_string(path).map_err(|why| format!("{path}: {why}"))?;
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            for word in line.split_whitespace() {
                self.add(word).map_err(|why| format!("{path}:{}: {why}", number + 1))?;
            }
        }
        match self.is_given() {
            true => Ok(()),
            false => Err(format!("{path} names no host")),
        }
    }
}

/// Where keys come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// `--keys`.
    pub folder: Option<PathBuf>,
    /// `--token-file`.
    pub token_file: Option<PathBuf>,
}

impl Keys {
    /// True where the command line names them.
    pub fn are_named(&self) -> bool {
        *self != Keys::default()
    }

    /// The words that name them.
    pub fn words(&self) -> impl Iterator<Item = OsString> {
        let named = [("--keys", &self.folder), ("--token-file", &self.token_file)];
        let words = |(word, path): (&str, &Option<PathBuf>)| {
            Some([OsString::from(word), path.clone()?.into_os_string()])
        };
        named.into_iter().filter_map(words).flatten()
    }

    /// The keys.
    ///
    /// # Errors
    /// There are none, in a sentence.
    pub fn identity(&self) -> Result<Identity, String> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let of_folder = |folder: &Path| Identity::read(folder).map_err(|error| error.to_string());
        let of_token =
            |token: &str| Identity::of_token(token.trim()).map_err(|error| error.to_string());
        if let Some(folder) = &self.folder {
            return of_folder(folder);
        }
        if let Some(file) = &self.token_file {
            let token = fs::read_to_string(file);
            return of_token(&token.map_err(|why| format!("{}: {why}", file.display()))?);
        }
        if let Some(token) = set("CANDOR_TOKEN") {
            return of_token(&token.to_string_lossy());
        }
        if let Some(folder) = set("CANDOR_KEYS") {
            return of_folder(Path::new(&folder));
        }
        let home = set("HOME").map(|home| Path::new(&home).join(".config/candor/keys"));
        match home.filter(|folder| folder.is_dir()) {
            Some(folder) => of_folder(&folder),
            None => Err("there are no keys for a fleet; make them with `candor fleet keys DIR`, \
                         copy DIR to all hosts and name it with --keys DIR"
                .into()),
        }
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
        let is_name = word.chars().all(|c| c.is_ascii_alphanumeric() || "-._:[]%@".contains(c));
        return match is_name {
            true => Ok(vec![word.into()]),
            false => Err(format!("`{word}` is no name of a host")),
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
        for text in ["n[3-1]", "n[1-", "n[a-b]", "n[1-999999]", "a b", "$(x)"] {
            assert!(names(text).is_err(), "{text}");
        }
        let mut hosts = Hosts::default();
        hosts.add("a,b").expect("two");
        assert!(hosts.add("c,a").expect_err("twice").contains("host a is named twice"));
        assert!(hosts.add("c,c").expect_err("twice").contains("host c is named twice"));
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
        let keys = Keys { folder: Some("k".into()), token_file: Some("t".into()) };
        let words: Vec<OsString> = keys.words().collect();
        assert_eq!(words, ["--keys", "k", "--token-file", "t"]);
        assert_eq!(Keys::default().words().count(), 0);
    }
}
