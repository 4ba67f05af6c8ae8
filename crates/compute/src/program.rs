//! Runs a program instead of issuing I/O.
//!
//! The first operation starts it; each further one looks after it for a while. When the job ends,
//! the program is asked to end too, and is killed where it does not.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use candor_plan::Program as Plan;

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

/// How long one look takes: until the end of the job is noticed.
const LOOK: Duration = Duration::from_millis(50);
/// Time between looks at whether it has ended, once it was asked to.
const WAIT: Duration = Duration::from_millis(2);

/// The engine.
pub struct Program {
    plan: Plan,
    running: Option<Child>,
    ended: Option<ExitStatus>,
    /// Why it did not start, where that is no failure.
    missing: Option<io::Error>,
}

impl Program {
    /// Nothing runs yet.
    pub fn new(plan: &Plan) -> Program {
        Program { plan: plan.clone(), running: None, ended: None, missing: None }
    }

    fn start(&self) -> io::Result<Child> {
        let (name, words) = self.plan.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stream = |path: &Option<PathBuf>| match path {
            Some(path) => File::create(path).map(Stdio::from),
            None => Ok(Stdio::inherit()),
        };
        let mut command = Command::new(name);
        command.args(words).stdin(Stdio::null());
        command.stdout(stream(&self.plan.output)?).stderr(stream(&self.plan.errors)?).spawn()
    }

    /// Starts it: the outcome of the first operation.
    fn begin(&mut self) -> Outcome {
        match self.start() {
            Ok(child) => self.running = Some(child),
            Err(error) if self.plan.optional => {
                self.tell(&error);
                self.missing = Some(error);
            }
            Err(error) => return Outcome::error(error.raw_os_error().unwrap_or(libc::EIO)),
        }
        Outcome::Done(0)
    }

    /// Says where its standard error would have gone why it did not start. Where that cannot be
    /// written either, the features of the engine still have it.
    fn tell(&self, error: &io::Error) {
        let name = self.plan.command.first().map_or("", String::as_str);
        let line = format!("{name}: {error}\n");
        let _ = match &self.plan.errors {
            Some(path) => std::fs::write(path, line),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }

    /// Looks after it for a while; true while it is to be looked after.
    fn look(&mut self) -> bool {
        thread::sleep(LOOK);
        if let (Some(child), None) = (&mut self.running, &self.ended) {
            self.ended = child.try_wait().ok().flatten();
        }
        let over = self.ended.is_some() || self.missing.is_some();
        !(over && self.plan.until_end)
    }

    /// Asks it to end, waits for that, and kills it where it goes on.
    fn stop(&mut self) {
        let Some(child) = &mut self.running else { return };
        let until = Instant::now() + Duration::from_nanos(self.plan.grace.0);
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // It is not waited for yet, so that its number is still its own. Where it has ended
            // already, there is nobody to be asked.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(WAIT);
        }
        // Both fail only where it has ended and was waited for.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Call for Program {
    fn call(&mut self, _: &Slot) -> Outcome {
        let begun = self.running.is_some() || self.missing.is_some();
        match begun {
            false => self.begin(),
            true if self.look() => Outcome::Done(0),
            true => Outcome::Over,
        }
    }

    fn features(&self) -> Vec<String> {
        let ended = self.ended.iter().map(|status| format!("the program ended: {status}"));
        let missing =
            self.missing.iter().map(|error| format!("the program did not start: {error}"));
        ended.chain(missing).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stop();
    }
}
