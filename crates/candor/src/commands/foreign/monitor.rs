//! Commands to a run from beside it: interim results, after each interval or by a file; the end, by
//! a trigger.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_plan::path_text::word_of;
use candor_run::{Command as RunCommand, Control};

use crate::screen;

/// Interval between two looks at the clock.
const LOOK: Duration = Duration::from_millis(10);
/// Interval between two looks for files.
const LOOK_FOR_FILES: Duration = Duration::from_millis(250);

/// Requests that a run takes.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    /// Results so far, after each such time.
    pub interval: Option<Duration>,
    /// A file that asks for results so far by being there; it is removed.
    pub status_file: Option<PathBuf>,
    /// Conditions that end the run before its time.
    pub trigger: Trigger,
    /// SIGUSR1 requests results so far; otherwise it interrupts the run.
    pub on_usr1: bool,
}

impl Requests {
    /// Control of a run: signals interrupt it, or request results so far.
    pub fn control(&self) -> Control {
        if self.on_usr1 { candor_run::interrupts_and_interims() } else { candor_run::interrupts() }
    }
}

/// Conditions that end a run before its time, and the command that is run then.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    /// A value that ends the run once it is true.
    pub flag: Option<Arc<AtomicBool>>,
    /// A file that ends the run by being there; it is removed.
    pub file: Option<PathBuf>,
    /// The time after which the run ends.
    pub timeout: Option<Duration>,
    /// A command for the shell.
    pub command: Option<String>,
}

/// A thread that watches for requests; it ends with this.
pub struct Monitor {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Monitor {
    /// Begins to look.
    pub fn start(tool: &'static str, requests: Requests, control: Control) -> Monitor {
        let done = Arc::new(AtomicBool::new(false));
        let mut looking = Looking {
            tool,
            control,
            requests,
            began: Instant::now(),
            intervals: 0,
            files_looked_at: Instant::now(),
        };
        let over = done.clone();
        let look = move || {
            while !over.load(Relaxed) {
                looking.look();
                thread::sleep(LOOK);
            }
        };
        // Without it nobody can ask; the run itself is sound.
        let thread = thread::Builder::new().name("candor/monitor".into()).spawn(look).ok();
        Monitor { done, thread }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The monitor's state: everything it looks at, and the intervals that have passed.
struct Looking {
    tool: &'static str,
    control: Control,
    requests: Requests,
    began: Instant,
    /// Intervals that have passed.
    intervals: u128,
    files_looked_at: Instant,
}

impl Looking {
    fn look(&mut self) {
        let elapsed = self.began.elapsed();
        let Requests { interval, status_file, trigger, .. } = &self.requests;
        let over = interval.map_or(0, |time| elapsed.as_nanos() / time.as_nanos().max(1));
        let mut wants_interim = over > self.intervals;
        self.intervals = over;
        let mut pulled = trigger.timeout.is_some_and(|time| elapsed >= time)
            || trigger.flag.as_ref().is_some_and(|flag| flag.load(Relaxed));
        if self.files_looked_at.elapsed() >= LOOK_FOR_FILES {
            self.files_looked_at = Instant::now();
            wants_interim |= status_file.as_deref().is_some_and(take_away);
            pulled |= trigger.file.as_deref().is_some_and(take_away);
        }
        if wants_interim {
            self.control.send(RunCommand::Interim);
        }
        if pulled && !self.control.send(RunCommand::End) {
            pull(self.tool, trigger);
        }
    }
}

/// True where the file was there; it is there no longer.
fn take_away(file: &Path) -> bool {
    std::fs::remove_file(file).is_ok()
}

/// Runs the command of a trigger, which shows what it says itself.
fn pull(tool: &str, trigger: &Trigger) {
    let Some(command) = &trigger.command else { return };
    let ran = Command::new("sh").arg("-c").arg(word_of(command)).stdin(Stdio::null()).status();
    if let Err(error) = ran {
        screen::tell(&format!("{tool}: the trigger `{command}` cannot be run: {error}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looking(dir: &Path) -> Looking {
        let status_file = Some(dir.join("status"));
        Looking {
            tool: "tool",
            control: Control::default(),
            requests: Requests { status_file, ..Requests::default() },
            began: Instant::now(),
            intervals: 0,
            files_looked_at: Instant::now(),
        }
    }

    #[test]
    fn files_ask_once_and_go() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut looking = looking(dir.path());
        looking.requests.trigger.file = Some(dir.path().join("trigger"));
        let taken = |looking: &mut Looking| {
            looking.files_looked_at = Instant::now().checked_sub(LOOK_FOR_FILES).expect("uptime");
            looking.look();
            (looking.control.takes_interim(), looking.control.is_ended())
        };
        assert_eq!(taken(&mut looking), (false, false));
        std::fs::write(dir.path().join("status"), "").expect("written");
        assert_eq!(taken(&mut looking), (true, false));
        assert_eq!(taken(&mut looking), (false, false));
        std::fs::write(dir.path().join("trigger"), "").expect("written");
        assert_eq!(taken(&mut looking), (false, true));
        assert!(!dir.path().join("trigger").exists());
    }

    #[test]
    fn intervals_and_timeouts() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut looking = looking(dir.path());
        looking.requests.interval = Some(Duration::from_secs(3600));
        looking.requests.trigger.timeout = Some(Duration::from_secs(3600));
        looking.look();
        assert!(!looking.control.takes_interim() && !looking.control.is_ended());
        looking.requests.interval = Some(Duration::from_nanos(1));
        looking.requests.trigger.timeout = Some(Duration::from_nanos(1));
        looking.look();
        assert!(looking.control.takes_interim() && looking.control.is_ended());
    }

    #[test]
    fn flags_end_a_run() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut looking = looking(dir.path());
        let flag = Arc::<AtomicBool>::default();
        looking.requests.trigger.flag = Some(flag.clone());
        looking.look();
        assert!(!looking.control.is_ended());
        flag.store(true, Relaxed);
        looking.look();
        assert!(looking.control.is_ended());
    }
}
