//! Agents on this host, and runs that they do together.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{Ran, Report, Running, Scratch, candor};

/// An agent. Killed when dropped, which ends its run.
pub struct Agent {
    /// The process of the agent.
    pub running: Running,
    /// Address with the port.
    pub address: String,
}

impl Agent {
    /// One on a free port of the loopback, with these keys and words.
    pub fn start(keys: &str, words: &[&str]) -> Agent {
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(["agent", "--keys", keys, "--listen", "127.0.0.1:0"]).args(words);
        Agent::of(&mut command)
    }

    /// The one that a command starts.
    pub fn of(command: &mut Command) -> Agent {
        let mut running = Running::start(command, Stdio::null());
        running.wait_for(" listens on ");
        running.wait_for("\n");
        let log = running.err_so_far();
        let line = log.lines().find_map(|line| line.split_once(" listens on "));
        let address = line.map(|(_, address)| address.to_owned());
        Agent { running, address: address.expect("an address") }
    }

    /// Process number.
    pub fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// The lines of its log.
    pub fn log(&self) -> Vec<String> {
        self.running.err_so_far().lines().map(str::to_owned).collect()
    }

    /// The process of its run.
    pub fn run_process(&self) -> Option<u32> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).ok()?.flatten();
        let mut children =
            tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
        children.find_map(|line| line.split_whitespace().next()?.parse().ok())
    }

    /// Most memory that it has had, in bytes.
    pub fn memory_max(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()));
        let status = status.expect("the agent lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.expect("a figure in kB") * 1024
    }
}

/// Agents with the same keys.
pub struct Fleet {
    /// Keys, and what the agents serve.
    pub scratch: Scratch,
    /// Folder of the keys.
    pub keys: String,
    /// The agents.
    pub agents: Vec<Agent>,
}

impl Fleet {
    /// So many that serve the scratch directory.
    pub fn new(count: usize) -> Fleet {
        let scratch = Scratch::new();
        let dir = scratch.dir();
        Fleet::serving(scratch, count, &["--allow", &dir])
    }

    /// So many with these words.
    pub fn serving(scratch: Scratch, count: usize, words: &[&str]) -> Fleet {
        let keys = keys(&scratch, "keys");
        let agents = (0..count).map(|_| Agent::start(&keys, words)).collect();
        Fleet { scratch, keys, agents }
    }

    /// Words of a run on all of them.
    pub fn words<'a>(&'a self, hosts: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        [&["run", "--no-live", "--keys", &self.keys, "--hosts", hosts], words].concat()
    }

    /// Their addresses, with commas between them.
    pub fn hosts(&self) -> String {
        let addresses: Vec<&str> = self.agents.iter().map(|at| at.address.as_str()).collect();
        addresses.join(",")
    }

    /// Runs with these words on all of them.
    pub fn run(&self, words: &[&str]) -> Ran {
        candor(&self.words(&self.hosts(), words))
    }

    /// Runs with these words on all of them, and reads the report.
    pub fn measured(&self, words: &[&str]) -> (Ran, Report) {
        super::measured(&self.scratch, &self.words(&self.hosts(), words))
    }

    /// Waits until no agent has a run and nothing is left in the scratch directory.
    pub fn wait_until_clean(&self, limit: Duration) {
        let began = Instant::now();
        loop {
            let left = self.scratch.entries();
            let runs: Vec<u32> = self.agents.iter().filter_map(Agent::run_process).collect();
            if left.is_empty() && runs.is_empty() {
                return;
            }
            assert!(began.elapsed() < limit, "left after {limit:?}: {left:?}, processes {runs:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// New keys beside the scratch directory.
pub fn keys(scratch: &Scratch, name: &str) -> String {
    let folder = scratch.outside(name);
    let made = candor(&["fleet", "keys", &folder]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    folder
}

/// A new token.
pub fn new_token() -> String {
    candor(&["fleet", "token"]).out.trim().to_owned()
}
