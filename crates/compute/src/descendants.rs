//! Processes that outlive the programs that start them. They end with the run, also
//! after they have left their session (`setsid`).
//!
//! The kernel gives such a process this one as its parent once its own is gone
//! (`PR_SET_CHILD_SUBREAPER`). A variable in its environment names the run; a process that has
//! cleared its environment shows by its session. No control group is needed for that, which only
//! root may make.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Variable that names the runs to which a process belongs.
const VARIABLE: &str = "CANDOR_RUN";
/// Longest time for killed processes to end; those that a device holds take longer.
const END_MAX: Duration = Duration::from_secs(2);
/// Time between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Processes that descend from programs of a run.
#[derive(Debug)]
pub struct Descendants {
    /// Value of the variable: names of runs around this one, then its own.
    value: OsString,
    name: String,
}

impl Descendants {
    /// Descendants of programs to be started. From now on this process is the parent of those that
    /// lose theirs; where the kernel refuses that, they have another one, and stay.
    pub fn adopt() -> Descendants {
        let own = rustix::process::getpid();
        let _ = rustix::process::set_child_subreaper(Some(own));
        // The keys of the hasher are random.
        let name = format!("/{own}-{:016x}", RandomState::new().hash_one(VARIABLE));
        let mut value = std::env::var_os(VARIABLE).unwrap_or_default();
        value.push(&name);
        Descendants { value, name }
    }

    /// The variable that programs get in their environment.
    pub fn variable(&self) -> (&'static str, &OsStr) {
        (VARIABLE, &self.value)
    }

    /// Kills those whose parent is this process, except its own children; true once none is left.
    /// Each that ends may leave others.
    pub fn kill(&self, children: &[u32]) -> bool {
        let own = rustix::process::getpid();
        let mut none = true;
        for pid in processes().filter(|pid| !children.contains(pid)) {
            let Some(pid) = Pid::from_raw(pid as i32).filter(|pid| self.is_orphan(*pid, own))
            else {
                continue;
            };
            // Nobody else waits for it, so that its number is still its own.
            none = false;
            let _ = kill_process(pid, Signal::KILL);
            reap(pid);
        }
        none
    }

    /// Kills all of them, and waits for their ends.
    pub fn end(&self, children: &[u32]) {
        let until = Instant::now() + END_MAX;
        while !self.kill(children) && Instant::now() < until {
            thread::sleep(LOOK_AGAIN);
        }
    }

    fn is_orphan(&self, pid: Pid, parent: Pid) -> bool {
        // A zombie has no environment: it is killed and waited for at once, below.
        stat_of(pid).is_some_and(|stat| {
            stat.parent == parent.as_raw_nonzero().get() && self.names(pid, stat.session)
        })
    }

    fn names(&self, pid: Pid, session: i32) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        let value = variables
            .find_map(|variable| variable.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="));
        match value {
            Some(value) => contains(value, self.name.as_bytes()),
            // The first process of a container is the parent of foreign orphans, too.
            None if own().is_init() => false,
            // This process starts no other program in a session of its own.
            None => stat_of(own()).is_some_and(|own| session != own.session),
        }
    }
}

fn own() -> Pid {
    rustix::process::getpid()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Waits for the end of a process that was killed.
fn reap(pid: Pid) {
    let until = Instant::now() + END_MAX;
    while matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None)) && Instant::now() < until {
        thread::sleep(LOOK_AGAIN);
    }
}

/// Numbers of all processes.
fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        std::str::from_utf8(entry.file_name().as_bytes()).ok()?.parse::<u32>().ok()
    })
}

/// Numbers that the kernel has for a process; 0 is one outside of this container.
struct Stat {
    parent: i32,
    session: i32,
}

fn stat_of(pid: Pid) -> Option<Stat> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program may have blanks.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |field: usize| fields.get(field)?.parse().ok();
    Some(Stat { parent: number(1)?, session: number(3)? })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// The number that a program writes once it has left its session.
    fn orphan(descendants: &Descendants, folder: &std::path::Path, before: &str) -> u32 {
        let file = folder.join("pid");
        let script = format!(
            "{before} setsid sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 334' & \
             while ! test -e pid; do sleep 0.01; done"
        );
        let (name, value) = descendants.variable();
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env(name, value).current_dir(folder).stdin(Stdio::null());
        assert!(command.status().expect("sh starts").success());
        let pid = fs::read_to_string(file).expect("its number");
        pid.trim().parse().expect("a number")
    }

    #[test]
    fn those_that_left_their_session_are_killed() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let (one, other) = (Descendants::adopt(), Descendants::adopt());
        let pid = orphan(&one, folder.path(), "");
        let is_there = || fs::exists(format!("/proc/{pid}")).expect("looked");
        other.end(&[]);
        assert!(is_there(), "it is of another run");
        one.end(&[pid]);
        assert!(is_there(), "it is a child of this process itself");
        one.end(&[]);
        assert!(!is_there());
    }
    #[test]
    fn those_that_cleared_their_environment_are_killed() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let own = Descendants::adopt();
        let mut child = Command::new("sleep").arg("334").env_clear().spawn().expect("sleep starts");
        let pid = orphan(&own, folder.path(), "env -i");
        own.end(&[]);
        assert!(!fs::exists(format!("/proc/{pid}")).expect("looked"));
        assert!(child.try_wait().expect("looked").is_none(), "it is in this session");
        child.kill().and_then(|()| child.wait()).expect("ended");
    }
}
