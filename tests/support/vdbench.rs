//! candor under the name of vdbench.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use super::Scratch;

/// candor under the name of vdbench, and a directory for its files.
pub struct Vdbench {
    link: String,
    /// The directory.
    pub scratch: Scratch,
}

impl Vdbench {
    /// With an empty directory.
    pub fn new() -> Vdbench {
        let scratch = Scratch::new();
        let link = scratch.outside("vdbench");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Vdbench { link, scratch }
    }

    /// The command of a line.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.link);
        command.args(line.split_whitespace()).current_dir(self.scratch.dir());
        command.stdin(Stdio::null());
        for variable in ["CANDOR_VERDICT", "CANDOR_FORCE", "CANDOR_VDBENCH_LAYOUT"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a line.
    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("vdbench starts")
    }

    /// Runs a parameter file, which goes well; gives standard output.
    pub fn file(&self, text: &str, options: &str) -> String {
        let ran = self.of_file(text, options);
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((told.as_str(), ran.status.code()), ("", Some(0)), "{text}");
        String::from_utf8(ran.stdout).expect("text")
    }

    /// Runs a parameter file.
    pub fn of_file(&self, text: &str, options: &str) -> Output {
        fs::write(self.scratch.path("parm"), text).expect("a parameter file");
        self.run(&format!("-f parm {options}"))
    }

    /// A page of the directory `output`.
    pub fn page(&self, name: &str) -> String {
        let path = self.scratch.path(&format!("output/{name}.html"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Rows of the flatfile: the named columns.
    pub fn flat(&self, columns: &[&str]) -> Vec<Vec<String>> {
        let text = self.page("flatfile");
        let names = text.lines().find(|line| line.trim_start().starts_with("tod "));
        let names: Vec<&str> = names.expect("names").split_whitespace().collect();
        let at = |column: &&str| names.iter().position(|name| name == column).expect("a column");
        let at: Vec<usize> = columns.iter().map(at).collect();
        let rows = text.lines().skip_while(|line| !line.trim_start().starts_with("tod ")).skip(1);
        rows.filter(|line| !line.trim().is_empty())
            .map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                at.iter().map(|at| words[*at].to_owned()).collect()
            })
            .collect()
    }
}
