//! candor under the name of IOR.

use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::Scratch;

/// candor under the name of IOR, and a directory for its files.
pub struct Ior {
    link: String,
    /// The directory.
    pub scratch: Scratch,
}

impl Ior {
    /// With an empty directory.
    pub fn new() -> Ior {
        let scratch = Scratch::new();
        let link = scratch.outside("ior");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Ior { link, scratch }
    }

    /// The command of a line.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.link);
        command.args(line.split(' ')).current_dir(self.scratch.dir()).stdin(Stdio::null());
        for variable in ["CANDOR_VERDICT", "CANDOR_FORCE", "CANDOR_RANKS", "IOR_FAKE_NODES"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs a line, in which paths are below the scratch folder.
    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().expect("ior starts")
    }

    /// The output of a line that goes well.
    pub fn text(&self, line: &str) -> String {
        let ran = self.run(line);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((said, ran.status.code()), (String::new(), Some(0)), "{line}");
        String::from_utf8(ran.stdout).expect("text")
    }

    /// The document of a line that goes well.
    pub fn json(&self, line: &str) -> Value {
        let text = self.text(&format!("{line} -O summaryFormat=JSON"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// A path below the scratch folder.
    pub fn path(&self, name: &str) -> String {
        self.scratch.path(name)
    }
}

/// Rules of the findings of a phase in a document.
pub fn rules(document: &Value, phase: &str) -> Vec<String> {
    let findings = document["candor"]["findings"].as_array().cloned().unwrap_or_default();
    let of = findings.iter().filter(|finding| finding["phase"] == phase);
    of.map(|finding| finding["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The cells of the rows of the table that begin with this word.
pub fn rows(text: &str, access: &str) -> Vec<Vec<String>> {
    let table = text.split("Summary of all tests").next().unwrap_or_default();
    let lines = table.lines().filter(|line| line.split_whitespace().next() == Some(access));
    lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}
