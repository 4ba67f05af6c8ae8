//! What is asked of a run from beside it: results so far, after each interval, by a signal or by a
//! file; its end, by a trigger.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_dialects::fio::flags::{Flags, Trigger};
use candor_run::Asks;

use crate::screen;

/// How often signal and clock are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// How often files are.
const LOOK_FOR_FILES: Duration = Duration::from_millis(250);
/// The file in the folder for temporary ones that asks for results; it is removed.
const STATUS_FILE: &str = "fio-dump-status";

/// A thread that asks; it ends with this.
pub struct Asker {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Asker {
    /// Begins to look.
    pub fn start(flags: &Flags, asks: Arc<Asks>) -> Asker {
        candor_run::install_report_handler();
        let done = Arc::new(AtomicBool::new(false));
        let mut looking = Looking {
            asks,
            began: Instant::now(),
            interval: flags.status_interval.map(|time| Duration::from_nanos(time.0)),
            told: 0,
            status_file: std::env::temp_dir().join(STATUS_FILE),
            trigger: flags.trigger.clone(),
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
        let thread = thread::Builder::new().name("asker".into()).spawn(look).ok();
        Asker { done, thread }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.done.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What is looked at, and what was asked.
struct Looking {
    asks: Arc<Asks>,
    began: Instant,
    interval: Option<Duration>,
    /// Intervals that were asked for.
    told: u128,
    status_file: PathBuf,
    trigger: Trigger,
    files_looked_at: Instant,
}

impl Looking {
    fn look(&mut self) {
        let elapsed = self.began.elapsed();
        let over = self.interval.map_or(0, |time| elapsed.as_nanos() / time.as_nanos().max(1));
        let mut asked = candor_run::asked_by_signal() || over > self.told;
        self.told = over;
        let timeout = self.trigger.timeout.map(|time| Duration::from_nanos(time.0));
        let mut pulled = timeout.is_some_and(|time| elapsed >= time);
        if self.files_looked_at.elapsed() >= LOOK_FOR_FILES {
            self.files_looked_at = Instant::now();
            asked |= take_away(&self.status_file);
            pulled |= self.trigger.file.as_deref().is_some_and(take_away);
        }
        if asked {
            self.asks.how_far.store(true, Relaxed);
        }
        if pulled && !self.asks.end.swap(true, Relaxed) {
            pull(&self.trigger);
        }
    }
}

/// True where the file was there; it is there no longer.
fn take_away(file: &Path) -> bool {
    std::fs::remove_file(file).is_ok()
}

/// Runs the command of a trigger, which shows what it says itself.
fn pull(trigger: &Trigger) {
    let Some(command) = &trigger.command else { return };
    let ran = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).status();
    if let Err(error) = ran {
        screen::tell(&format!("fio: the trigger `{command}` cannot be run: {error}\n"));
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;

    fn looking(dir: &Path) -> Looking {
        Looking {
            asks: Arc::default(),
            began: Instant::now(),
            interval: None,
            told: 0,
            status_file: dir.join("status"),
            trigger: Trigger::default(),
            files_looked_at: Instant::now(),
        }
    }

    #[test]
    fn files_ask_once_and_go() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut looking = looking(dir.path());
        looking.trigger.file = Some(dir.path().join("trigger"));
        let asked = |looking: &mut Looking| {
            looking.files_looked_at = Instant::now().checked_sub(LOOK_FOR_FILES).expect("uptime");
            looking.look();
            let (asks, how_far) = (&looking.asks, looking.asks.how_far.swap(false, Relaxed));
            (how_far, asks.end.load(Relaxed))
        };
        assert_eq!(asked(&mut looking), (false, false));
        std::fs::write(dir.path().join("status"), "").expect("written");
        assert_eq!(asked(&mut looking), (true, false));
        assert_eq!(asked(&mut looking), (false, false));
        std::fs::write(dir.path().join("trigger"), "").expect("written");
        assert_eq!(asked(&mut looking), (false, true));
        assert!(!dir.path().join("trigger").exists());
    }

    #[test]
    fn intervals_and_timeouts() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut looking = looking(dir.path());
        looking.interval = Some(Duration::from_secs(3600));
        looking.trigger.timeout = Some(Nanos::from_secs(3600));
        looking.look();
        assert!(!looking.asks.how_far.load(Relaxed) && !looking.asks.end.load(Relaxed));
        looking.interval = Some(Duration::from_nanos(1));
        looking.trigger.timeout = Some(Nanos(1));
        looking.look();
        assert!(looking.asks.how_far.load(Relaxed) && looking.asks.end.load(Relaxed));
    }
}
