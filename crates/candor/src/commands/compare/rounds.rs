//! `candor compare --run`: commands of candor that run in turn, so that a drift of the host touches
//! all of them alike.

use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};

use candor_plan::PathText;
use candor_plan::shell::quoted;
use candor_record::results::Results;

use crate::commands::tools::TOOLS;
use crate::{exit, screen, stored};

/// Commands that write a report by `--json`.
const OWN: [&str; 4] = ["run", "check", "tree", "scenario"];
/// Lines of a failed command that its sentence quotes.
const QUOTED_LINES: usize = 3;

/// Tools whose commands write a report by a variable.
fn tools_with_report() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(|tool| tool.has_report).map(|tool| tool.name())
}

/// A command of candor, without the program's name.
#[derive(Debug, PartialEq)]
pub struct Words(Vec<String>);

/// Why there is nothing to compare.
#[derive(Debug)]
pub enum Failure {
    /// The words make no sense.
    Usage(String),
    /// A command failed.
    Failed(String),
    /// The user interrupted the rounds, with this exit code.
    Interrupted(u8),
}

impl Words {
    /// Reads a command as a shell splits it into words.
    ///
    /// # Errors
    /// A sentence with the part that is wrong.
    pub fn parse(text: &str) -> Result<Words, String> {
        let mut words = split(text)?;
        if words.first().is_some_and(|first| first == "candor") {
            words.remove(0);
        }
        let known = || OWN.into_iter().chain(tools_with_report()).collect::<Vec<_>>().join(", ");
        match words.first().map(String::as_str) {
            Some(first)
                if OWN.contains(&first) || tools_with_report().any(|tool| tool == first) => {}
            Some(first) => {
                return Err(format!(
                    "`{first}` is no command with a report; --run takes {}",
                    known()
                ));
            }
            None => return Err(format!("a command is empty; --run takes {}", known())),
        }
        let taken = ["--json", "--dry-run"].into_iter().find(|flag| {
            words.iter().any(|word| word == flag || word.starts_with(&format!("{flag}=")))
        });
        match taken {
            Some(flag) => Err(format!("`{text}`: --run reads the report itself; leave out {flag}")),
            None => Ok(Words(words)),
        }
    }

    /// The command as a user types it.
    fn text(&self) -> String {
        let words: Vec<String> = self.0.iter().map(|word| quoted(word)).collect();
        format!("candor {}", words.join(" "))
    }

    /// Runs it once; the report goes into the directory.
    fn run(&self, directory: &Path) -> Result<Results, Failure> {
        let failed = |why: String| Failure::Failed(why);
        let report = directory.join("report.json");
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let mut log = tempfile::tempfile().map_err(|error| failed(error.to_string()))?;
        let stderr = log.try_clone().map_err(|error| failed(error.to_string()))?;
        let mut command = Command::new(program);
        command.args(&self.0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        if OWN.contains(&self.0[0].as_str()) {
            command.arg("--json").arg(&report).args(["--quiet", "--no-history"]);
        } else {
            command.env("CANDOR_JSON", &report);
        }
        let status = command.status().map_err(|error| failed(error.to_string()))?;
        if let Some(code) = candor_run::interrupt_exit_code() {
            return Err(Failure::Interrupted(code));
        }
        let has_report =
            [exit::RAN, exit::GOAL_UNMET, exit::UNBELIEVED, exit::NOT_MET, exit::CANNOT_TELL];
        if !status.code().is_some_and(|code| has_report.iter().any(|of| i32::from(*of) == code)) {
            let mut told = String::new();
            let _ = log.rewind().and_then(|()| log.read_to_string(&mut told));
            let lines: Vec<&str> = told.lines().filter(|line| !line.trim().is_empty()).collect();
            let last = &lines[lines.len().saturating_sub(QUOTED_LINES)..];
            return Err(failed(format!("{status}: {}", last.join("\n"))));
        }
        stored::results(&report.text()).map_err(failed)
    }
}

/// Runs the commands in turn (A B A B …) and gives the results of each, its rounds as repeats.
///
/// # Errors
/// A command failed, which the sentence names, or the user interrupted.
pub fn run(commands: &[Words], rounds: u32) -> Result<Vec<(String, Results)>, Failure> {
    let control = candor_run::interrupts();
    let mut all: Vec<Vec<Results>> = commands.iter().map(|_| Vec::new()).collect();
    for round in 1..=rounds {
        for (nth, (command, results)) in commands.iter().zip(&mut all).enumerate() {
            let label = candor_compare::label(nth);
            screen::tell(&format!("Round {round} of {rounds}, {label}: {}\n", command.text()));
            let directory = tempfile::Builder::new().prefix("candor-compare.").tempdir();
            let directory = directory.map_err(|error| Failure::Failed(error.to_string()))?;
            let ran = command.run(directory.path()).map_err(|failure| match failure {
                Failure::Failed(why) => Failure::Failed(format!(
                    "round {round} of {rounds} of {label} failed: `{}`: {why}",
                    command.text()
                )),
                other => other,
            })?;
            results.push(ran);
            if control.is_stopped() {
                let code = candor_run::interrupt_exit_code().unwrap_or(exit::TROUBLE);
                return Err(Failure::Interrupted(code));
            }
        }
    }
    let joined = all
        .into_iter()
        .zip(commands)
        .filter_map(|(rounds, command)| Some((command.text(), candor_compare::joined(rounds)?)));
    Ok(joined.collect())
}

/// Words as a shell splits them; signs that need a shell are refused.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err(format!("`{text}` has a {letter} without its partner")),
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => word.extend(letters.next()),
                        Some('$' | '`') if letter == '"' => return Err(needs_shell(text, '$')),
                        Some(other) => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            '|' | '&' | ';' | '<' | '>' | '$' | '`' | '*' | '?' => {
                return Err(needs_shell(text, letter));
            }
            '~' if word.is_none() => return Err(needs_shell(text, letter)),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

fn needs_shell(text: &str, sign: char) -> String {
    format!(
        "`{text}`: --run starts candor without a shell, and `{sign}` needs one; quote it, or write \
         its value"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let words = |text: &str| Words::parse(text).map(|words| words.0.join("|"));
        assert_eq!(
            words("candor run --target '/a b' --bs 4k"),
            Ok("run|--target|/a b|--bs|4k".into())
        );
        assert_eq!(words("run  --x=\"a 'b'\"c \\$d ''"), Ok("run|--x=a 'b'c|$d|".into()));
        assert_eq!(words("fio a.fio"), Ok("fio|a.fio".into()));
        for (text, part) in [
            ("", "a command is empty"),
            ("candor show x.json", "`show` is no command with a report"),
            ("run 'x", "without its partner"),
            ("run --target ~/x", "`~` needs one"),
            ("run --target $X", "`$` needs one"),
            ("run --target x > y", "`>` needs one"),
            ("run --json=x", "leave out --json"),
            ("check . --json x", "leave out --json"),
        ] {
            let error = Words::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
