//! Agents that are started by ssh, and end with it.
//!
//! ssh is the user's own, with its keys and its configuration. The token goes through its standard
//! input, for words and variables are seen by others; when that input ends, so does the agent.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use candor_fleet::{Identity, new_token};
use candor_plan::shell::quoted;

/// Longest time for an agent to come up, its copy included.
const START_MAX: Duration = Duration::from_secs(60);

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
        for (child, _) in &mut self.processes {
            let _ = child.wait();
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
        let started: Vec<_> = thread::scope(|scope| {
            let starts: Vec<_> =
                hosts.iter().map(|host| scope.spawn(|| self.agent(host, &token))).collect();
            starts.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let mut agents = Agents { identity, addresses: Vec::new(), processes: Vec::new() };
        for (host, started) in hosts.iter().zip(started) {
            let started = started.unwrap_or_else(|_| Err("it could not be waited for".into()));
            let (child, stdin, port) = started.map_err(|why| format!("{host}: {why}"))?;
            let name = host.rsplit('@').next().unwrap_or(host);
            agents.addresses.push(format!("{name}:{port}"));
            agents.processes.push((child, Some(stdin)));
        }
        Ok(agents)
    }

    fn command(&self, host: &str) -> Command {
        let program = self.command.as_deref().unwrap_or("ssh");
        let mut words = program.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("ssh"));
        command.args(words).arg(host);
        // A Ctrl-C is the coordinator's, which sees its agents off.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// The program on a host, copied there if that is wished.
    fn program(&self, host: &str) -> Result<String, String> {
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
        let copied = self.command(host).arg(script).stdin(file).output();
        let copied = copied.map_err(|why| format!("ssh cannot be started: {why}"))?;
        match copied.status.success() {
            true => Ok(format!("\"{there}\"")),
            false => Err(format!(
                "candor could not be copied there: {}",
                String::from_utf8_lossy(&copied.stderr).trim()
            )),
        }
    }

    /// Starts one agent; its process, its input and its port.
    fn agent(&self, host: &str, token: &str) -> Result<(Child, ChildStdin, u16), String> {
        let program = self.program(host)?;
        let mut command = self.command(host);
        command.arg(format!("exec {program} agent --by-ssh --listen 0"));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|why| format!("ssh cannot be started: {why}"))?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let (Some(mut stdin), Some(stderr)) = (stdin, stderr) else {
            return Err("ssh has no pipes".into());
        };
        stdin.write_all(format!("{token}\n").as_bytes()).map_err(|why| why.to_string())?;
        let (sender, lines) = mpsc::channel();
        // Read to its end, so that the agent's log never blocks it.
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut said = Vec::new();
        loop {
            let Ok(line) = lines.recv_timeout(START_MAX) else {
                let _ = child.kill();
                let _ = child.wait();
                let why = if said.is_empty() { "no agent came up".into() } else { said.join("; ") };
                return Err(why);
            };
            let port = line.rsplit_once("listens on ").and_then(|(_, at)| at.rsplit_once(':'));
            match port.and_then(|(_, port)| port.parse().ok()) {
                Some(port) => return Ok((child, stdin, port)),
                None => said.push(line),
            }
        }
    }
}
