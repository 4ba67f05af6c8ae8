//! candor under the name of mdtest, or of md-workbench.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::Scratch;

/// candor under the name of mdtest or md-workbench, and a directory for its trees.
pub struct Mdtest {
    link: String,
    /// The directory.
    pub scratch: Scratch,
}

impl Mdtest {
    /// With an empty directory.
    pub fn new() -> Mdtest {
        Mdtest::called("mdtest")
    }

    /// With an empty directory, under that name.
    pub fn called(name: &str) -> Mdtest {
        let scratch = Scratch::new();
        let link = scratch.outside(name);
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Mdtest { link, scratch }
    }

    /// Runs a line with so many ranks, in the scratch folder.
    pub fn run(&self, ranks: u32, line: &str) -> Output {
        let mut command = Command::new(&self.link);
        command.args(line.split(' ').filter(|word| !word.is_empty()));
        command.current_dir(self.scratch.dir()).stdin(Stdio::null());
        command.env("CANDOR_RANKS", ranks.to_string()).env_remove("CANDOR_VERDICT");
        command.output().expect("it starts")
    }

    /// The directory in which lines run.
    pub fn dir(&self) -> PathBuf {
        self.scratch.dir().into()
    }

    /// The output of a line that goes well.
    pub fn text(&self, ranks: u32, line: &str) -> String {
        let ran = self.run(ranks, line);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((said, ran.status.code()), (String::new(), Some(0)), "{line}");
        String::from_utf8(ran.stdout).expect("text")
    }
}

/// Names below a directory, directories with a slash behind.
pub fn below(directory: &Path) -> Vec<String> {
    let (mut names, mut left) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(&path).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            names.push(if path.is_dir() { name + "/" } else { name });
            left.extend(path.is_dir().then_some(path));
        }
    }
    names.sort();
    names
}

/// The columns of a row of the last block.
pub fn row(text: &str, name: &str) -> [f64; 4] {
    let line = text.lines().rfind(|line| line.starts_with(&format!("   {name} ")));
    let line = line.unwrap_or_else(|| panic!("{name}: {text}"));
    let cells: Vec<f64> = line[name.len() + 3..]
        .split_whitespace()
        .map(|cell| cell.parse().unwrap_or_else(|_| panic!("{line}")))
        .collect();
    cells.try_into().unwrap_or_else(|_| panic!("{line}"))
}
