//! Engine that runs a program and issues no I/O.
//!
//! The first operation starts the program; each further one waits a while for its exit. At the
//! end of the job the program gets SIGTERM, and SIGKILL if it does not exit.

use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use candor_plan::Program as Plan;
use candor_plan::path_text::word_of;
use candor_record::ProgramEnd;

use candor_engine::issue::Call;
use candor_engine::operation::{Outcome, Slot};

use crate::descendants::Descendants;

/// Length of one wait, and so the delay until the worker sees the end of the job.
const WAIT: Duration = Duration::from_millis(50);
/// Interval between two checks whether the program has exited.
const EXIT_CHECK_INTERVAL: Duration = Duration::from_millis(2);

/// Processes that descend from the programs of this process; none before the first program.
static DESCENDANTS: OnceLock<Descendants> = OnceLock::new();
/// Programs that run.
static CHILDREN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn children() -> MutexGuard<'static, Vec<u32>> {
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the processes that outlive their programs.
pub fn end_descendants() {
    if let Some(descendants) = DESCENDANTS.get() {
        // No program starts or ends meanwhile.
        let children = children();
        descendants.end(&children);
    }
}

/// How the programs of a job ended, over all of its workers.
#[derive(Default)]
pub struct ProgramEnds(Mutex<Option<ProgramEnd>>);

impl ProgramEnds {
    /// The end so far: one that failed, where one did.
    pub fn get(&self) -> Option<ProgramEnd> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, status: ExitStatus) {
        let code = status.code().map(ProgramEnd::Exited);
        let Some(end) = code.or(status.signal().map(ProgramEnd::Killed)) else { return };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none_or(ProgramEnd::is_success) {
            *known = Some(end);
        }
    }
}

/// Engine of a program.
pub struct Program {
    plan: Plan,
    running: Option<Child>,
    ended: Option<ExitStatus>,
    /// The same for the job: an end that failed stays.
    end_of_job: Arc<ProgramEnds>,
    /// Reason why the program did not start, where that is no failure.
    missing: Option<io::Error>,
}

impl Program {
    /// Engine before its first operation: nothing runs yet.
    pub fn new(plan: &Plan, end_of_job: Arc<ProgramEnds>) -> Program {
        Program { plan: plan.clone(), running: None, ended: None, end_of_job, missing: None }
    }

    fn start(&self) -> io::Result<Child> {
        let (name, words) = self.plan.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let stream = |path: &Option<PathBuf>| match path {
            Some(path) => candor_files::stream(path).map(Stdio::from),
            None => Ok(Stdio::inherit()),
        };
        let (variable, value) = DESCENDANTS.get_or_init(Descendants::adopt).variable();
        let mut command = Command::new(word_of(name));
        command
            .args(words.iter().map(|word| word_of(word)))
            .stdin(Stdio::null())
            .env(variable, value);
        command.stdout(stream(&self.plan.output)?).stderr(stream(&self.plan.errors)?);
        let mut children = children();
        let child = command.spawn()?;
        children.push(child.id());
        Ok(child)
    }

    /// Starts the program; returns the outcome of the first operation.
    fn begin(&mut self) -> Outcome {
        match self.start() {
            Ok(child) => self.running = Some(child),
            Err(error) if self.plan.optional => {
                self.report_failure(&error);
                self.missing = Some(error);
            }
            Err(error) => return Outcome::error(error.raw_os_error().unwrap_or(libc::EIO)),
        }
        Outcome::Done(0)
    }

    /// Writes to the file of standard error why the program did not start. If that fails too, the
    /// features of the engine still report it.
    fn report_failure(&self, error: &io::Error) {
        let name = self.plan.command.first().map_or("", String::as_str);
        let line = format!("{name}: {error}\n");
        let _ = match &self.plan.errors {
            Some(path) => candor_files::replace(path, line),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }

    /// Waits for a while; false once the program has ended and the job is to end with it.
    fn wait(&mut self) -> bool {
        let until = Instant::now() + WAIT;
        // The time of a job that ends with its program is the program's, not that of a wait.
        while let (Some(child), None) = (&mut self.running, &self.ended) {
            self.ended = child.try_wait().ok().flatten();
            if self.ended.is_some() || Instant::now() >= until {
                break;
            }
            thread::sleep(EXIT_CHECK_INTERVAL);
        }
        if !self.plan.until_end {
            thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        if let Some(status) = self.ended {
            self.end_of_job.add(status);
        }
        let over = self.ended.is_some() || self.missing.is_some();
        !(over && self.plan.until_end)
    }

    /// Sends SIGTERM, waits for the exit, and sends SIGKILL if the program does not exit.
    fn stop(&mut self) {
        let Some(child) = &mut self.running else { return };
        let until = Instant::now() + Duration::from_nanos(self.plan.grace.0);
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // The child was not reaped yet, so its number is still its own. SIGTERM fails only if
            // it has exited.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(EXIT_CHECK_INTERVAL);
        }
        // Both fail only if the child has exited and was reaped.
        let _ = child.kill();
        let mut children = children();
        let _ = child.wait();
        children.retain(|known| *known != child.id());
    }
}

impl Call for Program {
    fn call(&mut self, _: &Slot) -> Outcome {
        let begun = self.running.is_some() || self.missing.is_some();
        if !begun {
            self.begin()
        } else if self.wait() {
            Outcome::Done(0)
        } else {
            Outcome::Over
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
