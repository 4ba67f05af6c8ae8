//! candor under the name of elbencho.

use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use super::{Running, Scratch};

/// candor under the name of elbencho, and a directory for its paths.
pub struct Elbencho {
    link: String,
    /// The directory.
    pub scratch: Scratch,
}

impl Elbencho {
    /// With an empty directory.
    pub fn new() -> Elbencho {
        let scratch = Scratch::new();
        let link = scratch.outside("elbencho");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Elbencho { link, scratch }
    }

    /// The command of these words.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.link);
        command.args(words).current_dir(self.scratch.dir()).stdin(Stdio::null());
        command.env_remove("CANDOR_VERDICT").env_remove("CANDOR_FORCE");
        command
    }

    /// Runs these words.
    pub fn run_words(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("elbencho starts")
    }

    /// Runs a line, in which paths are below the scratch folder.
    pub fn run(&self, line: &str) -> Output {
        self.run_words(&line.split(' ').collect::<Vec<_>>())
    }

    /// Starts a line.
    pub fn spawn(&self, line: &str) -> Running {
        Running::start(&mut self.command(&line.split(' ').collect::<Vec<_>>()), Stdio::null())
    }

    /// The table of a line that goes well.
    pub fn table(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((stderr(&ran), ran.status.code()), (String::new(), Some(0)), "{line}");
        String::from_utf8(ran.stdout).expect("text")
    }

    /// A path below the scratch folder.
    pub fn path(&self, name: &str) -> String {
        self.scratch.path(name)
    }
}

/// The text on stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The last column of a row of a phase.
pub fn last(table: &str, phase: &str, row: &str) -> String {
    let from = table.find(&format!("\n{phase} ")).unwrap_or_else(|| panic!("{phase}: {table}"));
    let rows = table[from..].split("---").next().unwrap_or_default();
    let line = rows.lines().find(|line| line.contains(row));
    let line = line.unwrap_or_else(|| panic!("{row} of {phase}: {table}"));
    line.split_whitespace().last().unwrap_or_default().to_owned()
}
