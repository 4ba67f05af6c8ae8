//! Agents that are started by ssh, and end with it; the key of this user, copied by ssh.
//!
//! ssh is the user's own, with its keys and its configuration. The token goes through its standard
//! input, for words and variables are seen by others; when that input ends, so does the agent.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use candor_fleet::{Identity, new_token};
use candor_plan::shell::quoted;
use rustix::process::{Pid, Signal, kill_process_group};

/// Called where no command is named. In a process group of its own ssh cannot ask for a password,
/// or whether a host's key is right: the terminal would stop it.
/// The name of a host comes after the end of its options.
const SSH: &str = "ssh -o BatchMode=yes --";
/// Exit code of ssh where it did not get to the host.
const NOT_REACHED: i32 = 255;
/// Exit codes of shells that cannot start a program, or find none.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// Longest time for an agent to come up, its copy included.
const START_MAX: Duration = Duration::from_secs(60);
/// Longest time for agents to end, once their input has: ssh to a host that is gone never does.
const END_MAX: Duration = Duration::from_secs(10);
/// Longest wait for each word that a process has said before its end.
const LATE_MAX: Duration = Duration::from_millis(500);
/// Time between two looks at a process.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Most lines of a process that went wrong which are told.
const LINES_MAX: usize = 20;

/// Script that puts the key from its standard input into its place, whole and for its user alone. A
/// key that is there is kept next to it, for hosts that still have it.
const TAKE_KEY: &str = "set -e; umask 077; d=\"${XDG_CONFIG_HOME:-$HOME/.config}/candor\"; \
    k=\"$d/fleet.key\"; mkdir -p \"$d\"; n=\"$k.new.$$\"; cat > \"$n\"; \
    if [ -L \"$k\" ] || [ -d \"$k\" ]; then rm \"$n\"; echo \"$k is no file\" >&2; exit 1; fi; \
    r=new; if [ -e \"$k\" ]; then if cmp -s \"$n\" \"$k\"; then r=same; else r=replaced; \
    mv \"$k\" \"$k.old\"; fi; fi; mv \"$n\" \"$k\"; echo \"candor key: $r\" >&2";

/// Outcome of a copy of the key of this user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCopied {
    /// The user had no key there.
    New,
    /// Another key was there, and is next to it now.
    Replaced,
    /// The key was there already.
    Same,
}

/// How agents are started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ssh {
    /// The command; ssh, unless another is named.
    pub command: Option<String>,
    /// Copy this program to the hosts first.
    pub copies: bool,
}

/// Agents on hosts. Dropped, they end.
pub struct Agents {
    /// Keys of this run alone.
    pub identity: Identity,
    /// Addresses in the order of the hosts.
    pub addresses: Vec<String>,
    processes: Vec<(Child, Option<ChildStdin>)>,
}

impl Drop for Agents {
    fn drop(&mut self) {
        for (_, stdin) in &mut self.processes {
            // The agent sees the end of its input.
            *stdin = None;
        }
        let until = Instant::now() + END_MAX;
        for (child, _) in &mut self.processes {
            end(child, until);
        }
    }
}

impl Ssh {
    /// Starts an agent on each host.
    ///
    /// # Errors
    /// The first host on which that fails, with what ssh or the agent says.
    pub fn start(&self, hosts: &[String]) -> Result<Agents, String> {
        let token = new_token().map_err(|error| error.to_string())?;
        let identity = Identity::of_token(&token).map_err(|error| error.to_string())?;
        let until = Instant::now() + START_MAX;
        let started: Vec<_> = thread::scope(|scope| {
            let starts = hosts.iter().map(|host| {
                let named = thread::Builder::new().name("candor/ssh".into());
                named.spawn_scoped(scope, || self.agent(host, &token, until))
            });
            let starts: Vec<_> = starts.collect();
            let joined = |thread: io::Result<thread::ScopedJoinHandle<'_, _>>| match thread {
                Ok(thread) => thread.join(),
                Err(error) => Ok(Err(format!("it gets no thread: {error}"))),
            };
            starts.into_iter().map(joined).collect()
        });
        let mut agents = Agents { identity, addresses: Vec::new(), processes: Vec::new() };
        let mut wrong = None;
        for (host, started) in hosts.iter().zip(started) {
            match started.unwrap_or_else(|_| Err("it could not be waited for".into())) {
                Ok((child, stdin, port)) => {
                    agents.addresses.push(address(host, port));
                    agents.processes.push((child, Some(stdin)));
                }
                // Those that came up end with this value.
                Err(why) => _ = wrong.get_or_insert_with(|| format!("{host}: {why}")),
            }
        }
        wrong.map_or(Ok(agents), Err)
    }

    /// Copies the key of this user to a host.
    ///
    /// # Errors
    /// The key is not there afterwards, with the words of ssh or of the host.
    pub fn copy_key(&self, host: &str, key: &str) -> Result<KeyCopied, String> {
        let until = Instant::now() + START_MAX;
        let mut command = self.command(host);
        command.arg(format!("sh -c {}", quoted(TAKE_KEY))).stdin(Stdio::piped());
        let (mut child, log) = self.started(&mut command)?;
        // Where no process takes it, the words of ssh say why.
        child.stdin.take().into_iter().for_each(|mut stdin| {
            let _ = stdin.write_all(format!("{}\n", key.trim()).as_bytes());
        });
        let status = end(&mut child, until);
        let said: Vec<String> = late(&log).collect();
        let copied = said.iter().find_map(|line| match line.trim() {
            "candor key: new" => Some(KeyCopied::New),
            "candor key: replaced" => Some(KeyCopied::Replaced),
            "candor key: same" => Some(KeyCopied::Same),
            _ => None,
        });
        copied
            .filter(|_| status.is_some_and(|status| status.success()))
            .ok_or_else(|| self.failed(host, "the key could not be copied there", status, &said))
    }

    fn words(&self) -> &str {
        self.command.as_deref().unwrap_or(SSH)
    }

    fn command(&self, host: &str) -> Command {
        let mut words = self.words().split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("ssh"));
        command.args(words).arg(word(host));
        // A Ctrl-C is the coordinator's, which sees its agents off.
        command.process_group(0).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// The program on a host, copied there if that is wished.
    fn program(&self, host: &str, until: Instant) -> Result<String, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        if !self.copies {
            return Ok(quoted(&own.to_string_lossy()));
        }
        let there = format!("$HOME/.cache/candor/candor-{}", env!("CARGO_PKG_VERSION"));
        // A run that goes on keeps the file that it was started from; hosts may share a home.
        let script = format!(
            "mkdir -p \"$HOME/.cache/candor\" && cat > \"{there}.$$\" && chmod 700 \
             \"{there}.$$\" && mv \"{there}.$$\" \"{there}\""
        );
        let file = File::open(&own).map_err(|why| format!("{}: {why}", own.display()))?;
        let (mut child, log) = self.started(self.command(host).arg(script).stdin(file))?;
        match end(&mut child, until) {
            Some(status) if status.success() => Ok(format!("\"{there}\"")),
            status => {
                let said: Vec<String> = late(&log).collect();
                Err(self.failed(host, "candor could not be copied there", status, &said))
            }
        }
    }

    /// Starts one agent; its process, its input and its port.
    fn agent(
        &self,
        host: &str,
        token: &str,
        until: Instant,
    ) -> Result<(Child, ChildStdin, u16), String> {
        let program = self.program(host, until)?;
        let mut command = self.command(host);
        let listen = quoted(listen(host));
        command.arg(format!("exec {program} agent --by-ssh --listen {listen}"));
        let (mut child, log) = self.started(command.stdin(Stdio::piped()))?;
        let Some(mut stdin) = child.stdin.take() else { return Err("ssh has no pipes".into()) };
        // Where nobody takes it, the process has ended, and its words say why.
        let _ = stdin.write_all(format!("{token}\n").as_bytes());
        let mut said = Vec::new();
        while Instant::now() < until {
            match log.recv_timeout(LOOK_AGAIN) {
                Ok(line) => match port(&line) {
                    Some(port) => return Ok((child, stdin, port)),
                    None => said.push(line),
                },
                // A connection that ssh shares keeps the log open, whatever became of this one.
                Err(RecvTimeoutError::Timeout) if matches!(child.try_wait(), Ok(None)) => {}
                Err(_) => break,
            }
        }
        drop(stdin);
        let status = end(&mut child, until);
        said.extend(late(&log));
        Err(self.failed(host, "no agent came up", status, &said))
    }

    /// Starts a process, and reads its log to the end, so that this never blocks it.
    fn started(&self, command: &mut Command) -> Result<(Child, Receiver<String>), String> {
        let child = command.spawn();
        let mut child =
            child.map_err(|why| format!("`{}` cannot be started: {why}", self.words()))?;
        let (sender, log) = mpsc::channel();
        let stderr = child.stderr.take();
        let reading = thread::Builder::new().name("candor/ssh".into()).spawn(move || {
            let lines = stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).split(b'\n'));
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
        });
        if let Err(error) = reading {
            end(&mut child, Instant::now());
            return Err(format!("`{}` gets no thread: {error}", self.words()));
        }
        Ok((child, log))
    }

    /// Why nothing came of a process that has ended, or was ended when its time was over.
    fn failed(&self, host: &str, what: &str, ended: Option<ExitStatus>, said: &[String]) -> String {
        let try_it = format!("`{} {} true`", self.words(), word(host));
        let within = match ended {
            Some(_) => String::new(),
            None => format!(" within {} s", START_MAX.as_secs()),
        };
        let said: Vec<&str> = said.iter().take(LINES_MAX).map(String::as_str).collect();
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
        let remedy = match ended.map(|status| status.code()) {
            None => format!("; see what {try_it} waits for"),
            Some(Some(NOT_REACHED)) => format!("; {try_it} must go through without a question"),
            Some(Some(code)) if NO_PROGRAM.contains(&code) && !self.copies => {
                "; --ssh-copy brings candor there".into()
            }
            Some(_) => String::new(),
        };
        format!("{what}{within}{said}{remedy}")
    }
}

/// Waits for a process until that moment, and then kills it; its status where it ended by itself.
fn end(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => thread::sleep(LOOK_AGAIN),
            Ok(None) => break,
            Err(_) => return None,
        }
    }
    // It leads a group of its own: whatever it has started ends with it.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
    None
}

/// Lines that are still on their way when a process has ended.
fn late(log: &Receiver<String>) -> impl Iterator<Item = String> + '_ {
    std::iter::from_fn(|| log.recv_timeout(LATE_MAX).ok()).take(LINES_MAX)
}

/// The port in the line by which an agent says that it is there.
fn port(line: &str) -> Option<u16> {
    let (_, at) = line.rsplit_once("listens on ")?;
    at.rsplit_once(':')?.1.parse().ok()
}

/// A host's name without its user, and without the brackets of IPv6.
fn bare(host: &str) -> &str {
    let name = host.rsplit('@').next().unwrap_or(host);
    let within = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    within.unwrap_or(name)
}

/// A host as ssh takes it: brackets belong to an address with a port, and it knows none.
fn word(host: &str) -> String {
    let name = bare(host);
    host.replace(&format!("[{name}]"), name)
}

/// True for an address of IPv6, which has several colons.
fn is_v6(name: &str) -> bool {
    name.matches(':').count() > 1
}

/// Where an agent listens so that its host's name leads to it; port 0 takes a free one.
fn listen(host: &str) -> &'static str {
    if is_v6(bare(host)) { "[::]:0" } else { "0" }
}

/// The address of an agent on a host.
fn address(host: &str, port: u16) -> String {
    match bare(host) {
        name if is_v6(name) => format!("[{name}]:{port}"),
        name => format!("{name}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(command: &str) -> Ssh {
        Ssh { command: Some(command.into()), copies: false }
    }

    /// Words behind the program.
    fn words(ssh: &Ssh, host: &str) -> String {
        let command = ssh.command(host);
        let args = command.get_args().map(|word| word.display().to_string());
        args.collect::<Vec<_>>().join(" ")
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(100)
    }

    #[test]
    fn agents_are_reached_where_they_listen() {
        for (host, listens, reached, word) in [
            ("node1", "0", "node1:41234", "node1"),
            ("me@node1", "0", "node1:41234", "me@node1"),
            ("10.0.0.2", "0", "10.0.0.2:41234", "10.0.0.2"),
            ("fd00::1", "[::]:0", "[fd00::1]:41234", "fd00::1"),
            ("[fd00::1]", "[::]:0", "[fd00::1]:41234", "fd00::1"),
            ("me@fd00::1", "[::]:0", "[fd00::1]:41234", "me@fd00::1"),
            ("me@[fd00::1]", "[::]:0", "[fd00::1]:41234", "me@fd00::1"),
        ] {
            assert_eq!((listen(host), address(host, 41234).as_str()), (listens, reached), "{host}");
            assert_eq!(words(&by("rsh -l x"), host), format!("-l x {word}"));
        }
        let line = "2026-01-01T00:00:00.000Z candor agent 0.1.0 listens on ";
        for at in ["0.0.0.0:7", "[::]:7"] {
            assert_eq!(port(&format!("{line}{at}")), Some(7));
        }
        assert_eq!((port("Last login: today"), port("it listens on nothing")), (None, None));
    }

    #[test]
    fn only_ssh_itself_is_told_to_ask_nothing() {
        assert_eq!(words(&Ssh::default(), "a"), "-o BatchMode=yes -- a");
        assert_eq!(words(&by("ssh"), "a"), "a");
    }

    #[test]
    fn a_process_that_does_not_end_is_killed() {
        let start = |word: &str| {
            let mut command = Command::new("sleep");
            command.arg(word).process_group(0).spawn().expect("sleep")
        };
        let began = Instant::now();
        let mut long = start("600");
        assert_eq!(end(&mut long, soon()), None);
        let short = end(&mut start("0"), Instant::now() + END_MAX).expect("it ends by itself");
        assert!(short.success() && began.elapsed() < END_MAX);
        assert!(long.try_wait().expect("a status").is_some(), "it was killed, and waited for");
    }

    #[test]
    fn agents_come_up_and_end_with_their_input() {
        // The host is what this shell does, and the agent's words are its $0.
        let host = "echo candor agent listens on 0.0.0.0:7 >&2; cat";
        let started = by("sh -c").agent(host, "token", Instant::now() + START_MAX);
        let (mut child, stdin, port) = started.expect("an agent");
        assert_eq!((port, child.try_wait().expect("a status")), (7, None));
        drop(stdin);
        assert!(end(&mut child, Instant::now() + END_MAX).is_some_and(|status| status.success()));
    }

    #[test]
    fn the_key_is_copied_whole_and_a_link_stays() {
        let home = tempfile::tempdir().expect("a folder");
        let config = home.path().join("config");
        let key = candor_fleet::UserKey::below(&config);
        // The host is what this shell does with the last of its words.
        let script = "for word; do :; done; XDG_CONFIG_HOME=$0 eval \"$word\"";
        let path = home.path().join("rsh");
        let text = format!("#!/bin/sh\nexec sh -c '{script}' {} \"$@\"\n", config.display());
        std::fs::write(&path, text).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, mode).expect("a program");
        let ssh = by(&path.to_string_lossy());
        let [one, other] = [new_token(), new_token()].map(|token| token.expect("random"));
        let there = || key.read().expect("a key").expect("a key").text();
        for (token, copied) in
            [(&one, KeyCopied::New), (&one, KeyCopied::Same), (&other, KeyCopied::Replaced)]
        {
            assert_eq!(ssh.copy_key("a", token), Ok(copied));
            assert_eq!(there(), *token);
        }
        let old = std::fs::read_to_string(key.path.with_file_name("fleet.key.old"));
        assert_eq!(old.expect("kept").trim(), one);
        let names = std::fs::read_dir(config.join("candor")).expect("listed").count();
        assert_eq!(names, 2, "drafts are left");
        std::fs::remove_file(&key.path).expect("removed");
        let elsewhere = home.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &key.path).expect("linked");
        let wrong = ssh.copy_key("a", &one).expect_err("a link");
        assert!(wrong.contains("is no file") && !elsewhere.exists(), "{wrong}");
        let wrong = by("sh -c").copy_key("exit 255", &one).expect_err("no host");
        assert!(wrong.contains("must go through without a question"), "{wrong}");
    }

    #[test]
    fn an_agent_that_does_not_come_up_is_told_with_a_remedy() {
        let wrong = |ssh: &str, host: &str, until: Instant| {
            by(ssh).agent(host, "token", until).expect_err("no agent")
        };
        let in_time = || Instant::now() + START_MAX;
        for (host, why) in [
            ("echo no key >&2; exit 255", ": no key; `sh -c echo no key"),
            ("echo no such file >&2; exit 127", ": no such file; --ssh-copy brings candor there"),
            ("echo wrong >&2; exit 2", ": wrong"),
            ("exit 2", ""),
        ] {
            let wrong = wrong("sh -c", host, in_time());
            assert!(wrong.starts_with(&format!("no agent came up{why}")), "{wrong}");
        }
        let missing = wrong("/nonexistent/ssh", "a", in_time());
        assert!(missing.starts_with("`/nonexistent/ssh` cannot be started: "), "{missing}");
        // Names of hosts are files to it, and it waits for ever.
        let late = wrong("tail -f /dev/null", "a", soon());
        assert!(late.starts_with("no agent came up within 60 s"), "{late}");
        assert!(late.ends_with("; see what `tail -f /dev/null a true` waits for"), "{late}");
        let copying = Ssh { copies: true, ..by("tail -f /dev/null") };
        let late = copying.agent("a", "token", soon()).expect_err("no copy");
        assert!(late.starts_with("candor could not be copied there within 60 s"), "{late}");
    }
}
