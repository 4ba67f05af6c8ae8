//! Commands that run before and after jobs.

use std::io;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use candor_plan::path_text::{path_of, word_of};
use candor_plan::{Hook, Job};
use candor_record::{IoFailure, Note};

/// A command that failed.
pub struct Failed {
    /// The number that came with it.
    pub at: usize,
    /// The failure.
    pub failure: IoFailure,
    /// The hook is allowed to fail.
    pub may: bool,
}

impl Failed {
    /// The note about a command that may fail; `did` says what became of its job.
    pub fn note(&self, did: &str) -> Note {
        let asked = "a command that may fail".to_owned();
        Note { asked, did: did.to_owned(), why: self.failure.message.clone(), place: None }
    }
}

/// Runs hooks of several jobs at the same time; those that failed.
pub fn run<'a>(hooks: impl Iterator<Item = (usize, &'a Job, &'a Hook)>) -> Vec<Failed> {
    thread::scope(|scope| {
        let started: Vec<_> = hooks
            .map(|(at, job, hook)| {
                let named = thread::Builder::new().name("candor/hook".into());
                (at, job, hook, named.spawn_scoped(scope, || run_one(hook)))
            })
            .collect();
        let mut failed = Vec::new();
        for (at, job, hook, thread) in started {
            let result = thread.and_then(|thread| {
                thread.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")))
            });
            if let Some(failure) = failure(job, hook, result) {
                failed.push(Failed { at, failure, may: hook.may_fail });
            }
        }
        failed
    })
}

fn run_one(hook: &Hook) -> io::Result<ExitStatus> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(word_of(&hook.command)).stdin(Stdio::null());
    match &hook.output {
        Some(path) => {
            let file = candor_files::stream(&path_of(path))?;
            command.stderr(file.try_clone()?).stdout(file);
        }
        None => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
    }
    command.status()
}

fn failure(job: &Job, hook: &Hook, result: io::Result<ExitStatus>) -> Option<IoFailure> {
    let why = match &result {
        Ok(status) if status.success() => return None,
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    Some(IoFailure {
        op: None,
        path: String::new(),
        offset: 0,
        errno: result.err().and_then(|error| error.raw_os_error()).unwrap_or(libc::ECANCELED),
        message: format!("the command `{}` of `{}` failed: {why}", hook.command, job.name),
        count: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_and_failures_are_reported() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let output = dir.path().join("said.txt").display().to_string();
        let hook = |command: &str| Hook {
            command: command.into(),
            output: Some(output.clone()),
            may_fail: false,
        };
        let job = Job::default();
        let both = hook("echo out; echo err >&2");
        assert!(run([(7, &job, &both)].into_iter()).is_empty());
        assert_eq!(std::fs::read_to_string(&output).expect("kept"), "out\nerr\n");
        let bad = Hook { output: None, may_fail: true, ..hook("exit 3") };
        let failed = run([(0, &job, &both), (7, &job, &bad)].into_iter());
        assert_eq!(failed.len(), 1);
        assert!(failed[0].at == 7 && failed[0].may);
        assert!(failed[0].note("left out").why.contains("exit status: 3"));
        let nowhere = Hook { output: Some("/proc/nowhere".into()), ..hook("true") };
        let failed = run([(1, &job, &nowhere)].into_iter());
        assert_eq!((failed[0].failure.errno, failed[0].may), (libc::ENOENT, false));
    }

    #[test]
    fn they_run_at_the_same_time() {
        let job = Job::default();
        let all = tempfile::tempdir().expect("a folder");
        // Each goes on when all four are there, and gives up after a long while.
        let command = format!(
            "cd {}; touch $$; for i in $(seq 1000); do [ $(ls | wc -l) = 4 ] && exit; sleep 0.02; \
             done; exit 1",
            all.path().display()
        );
        let hook = Hook { command, ..Hook::default() };
        assert!(run((0..4).map(|at| (at, &job, &hook))).is_empty());
    }
}
