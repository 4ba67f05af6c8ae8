//! Starting candor, with a limit on how long it may take.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Report, Scratch, skip};

/// Nothing that tests ask for takes so long; what does hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// A user who owns nothing, and the group of that name.
pub const NOBODY: u32 = 65534;

/// Outcome of a run of candor.
pub struct Ran {
    /// Exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Text on stdout.
    pub out: String,
    /// Text on stderr.
    pub err: String,
    /// How long it took.
    pub wall: Duration,
}

/// Candor while it runs. Killed when dropped.
pub struct Running {
    child: Child,
    out: File,
    err: File,
    began: Instant,
}

impl Running {
    /// Starts a command that is or becomes candor.
    pub fn start(command: &mut Command, stdin: Stdio) -> Running {
        let out = tempfile::tempfile().expect("a temporary file");
        let err = tempfile::tempfile().expect("a temporary file");
        let stdio = |file: &File| Stdio::from(file.try_clone().expect("a second handle"));
        command.stdin(stdin).stdout(stdio(&out)).stderr(stdio(&err));
        let began = Instant::now();
        let child = command.spawn().expect("candor starts");
        Running { child, out, err, began }
    }

    /// The process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("candor still runs");
    }

    /// The text on stderr until now.
    pub fn err_so_far(&self) -> String {
        content(&self.err)
    }

    /// Waits until it has written a line to stdout: then it is at work.
    pub fn wait_for_a_line(&mut self) {
        self.wait_for_rows("\n");
    }

    /// Waits until this stands on stdout.
    pub fn wait_for_rows(&mut self, rows: &str) {
        while !content(&self.out).contains(rows) {
            let early = self.child.try_wait().expect("candor can be waited for").is_some();
            assert!(!early, "candor ended early:\n{}", self.err_so_far());
            assert!(self.began.elapsed() < LIMIT, "never wrote {rows}:\n{}", self.err_so_far());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until it has said this on stderr, or has ended; true if it said it.
    pub fn says(&mut self, said: &str) -> bool {
        while !self.err_so_far().contains(said) {
            if self.child.try_wait().expect("candor can be waited for").is_some() {
                return false;
            }
            assert!(self.began.elapsed() < LIMIT, "never said `{said}`:\n{}", self.err_so_far());
            std::thread::sleep(Duration::from_millis(10));
        }
        true
    }

    /// Waits until it has said this on stderr.
    pub fn wait_for(&mut self, said: &str) {
        assert!(self.says(said), "candor ended early:\n{}", self.err_so_far());
    }

    /// True once it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("candor can be waited for").is_some()
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Ran {
        loop {
            if let Some(status) = self.child.try_wait().expect("candor can be waited for") {
                let wall = self.began.elapsed();
                let (out, err) = (content(&self.out), content(&self.err));
                return Ran { code: status.code(), out, err, wall };
            }
            assert!(self.began.elapsed() < LIMIT, "candor hangs:\n{}", content(&self.err));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended long ago; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All of it; the position, which the child shares, stays where it is. Not all need be UTF-8.
fn content(file: &File) -> String {
    let length = file.metadata().expect("a file has a length").len();
    let mut bytes = vec![0; usize::try_from(length).expect("output fits into memory")];
    file.read_exact_at(&mut bytes, 0).expect("a file can be read");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Starts candor with these words.
pub fn spawn(words: &[&str]) -> Running {
    Running::start(Command::new(env!("CARGO_BIN_EXE_candor")).args(words), Stdio::null())
}

/// Runs candor with these words.
pub fn candor(words: &[&str]) -> Ran {
    spawn(words).wait()
}

/// Runs candor with these words and this text on its stdin.
pub fn candor_reading(words: &[&str], stdin: &str) -> Ran {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(stdin.as_bytes()).expect("a file can be written");
    file.rewind().expect("a file can be rewound");
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    Running::start(command.args(words), Stdio::from(file)).wait()
}

/// Starts candor as a user who owns nothing; none where that user may not even see the program.
pub fn spawn_as_nobody(words: &[&str]) -> Option<Running> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(words).uid(NOBODY).gid(NOBODY).env("HOME", "/");
    match command.stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
        Ok(mut child) => {
            // Whether it starts is all that was asked.
            let _ = child.kill();
            let _ = child.wait();
            Some(Running::start(&mut command, Stdio::null()))
        }
        Err(error) => {
            skip(&format!("another user cannot run candor: {error}"));
            None
        }
    }
}

/// Runs candor as that user, who may open so many files and no more; none as above.
pub fn nobody_with_files(files: u32, words: &[&str]) -> Option<Ran> {
    let program = env!("CARGO_BIN_EXE_candor");
    let limited = format!("ulimit -n {files} && exec \"$0\" \"$@\"");
    drop(spawn_as_nobody(&["--version"])?);
    let mut command = Command::new("sh");
    command.args(["-c", &limited, program]).args(words).uid(NOBODY).gid(NOBODY).env("HOME", "/");
    Some(Running::start(&mut command, Stdio::null()).wait())
}

/// `candor run` of this on this, which has to end well.
pub fn run(scratch: &Scratch, target: &str, words: &str) -> Report {
    let mut all = vec!["run", "--target", target];
    all.extend(words.split(' '));
    let (ran, report) = measured(scratch, &all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    report
}

/// Runs candor with these words and `--json`, and reads the report.
pub fn measured(scratch: &Scratch, words: &[&str]) -> (Ran, Report) {
    let json = scratch.outside("report.json");
    let ran = candor(&[words, &["--json", &json, "--verbose"]].concat());
    let report = Report::read(&json).unwrap_or_else(|| panic!("no report:\n{}", ran.err));
    (ran, report)
}

/// Where `cargo xtask setup` puts programs that only tests need: below the target folder.
pub fn tools_folder() -> PathBuf {
    let target = std::env::current_exe().expect("the test's own path");
    target.ancestors().nth(3).expect("target/PROFILE/deps").join("tools")
}

/// Python programs among them.
pub fn python_folder() -> PathBuf {
    tools_folder().join("python/bin")
}
