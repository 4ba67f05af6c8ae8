//! candor called as `ior`, `mdtest`, `md-workbench` and `vdbench`, with command lines and parameter
//! files as their users write them: `ranks/*.cases` and `ranks/vdbench/*.cases`.
//!
//! What must come of each was written down from descriptions of the tools, not from candor's code.

mod corpus;
mod facts;
mod readers;

use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use corpus::Case;
use facts::Outcome;

use crate::support::{Ran, Running, Scratch, random_file, shared_host};

/// Cases that run at a time: most of them wait for a clock.
const AT_A_TIME: usize = 8;

/// Set it to run only cases whose place or title has this text.
const ONLY: &str = "CANDOR_CASES";

/// Tools that cases call by name.
const TOOLS: [&str; 4] = ["ior", "mdtest", "md-workbench", "vdbench"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ranks")
}

/// Cases of these files, by name.
fn cases(files: &[&str]) -> Vec<Case> {
    files.iter().flat_map(|file| corpus::read(&folder().join(file))).collect()
}

/// Cases of all files about vdbench.
fn vdbench_cases() -> Vec<Case> {
    let entries = fs::read_dir(folder().join("vdbench")).expect("the folder of cases").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.iter().flat_map(|file| corpus::read(file)).collect()
}

/// Runs the commands of a case in a directory of its own; sentences on what differs.
fn differences(case: &Case) -> Vec<String> {
    let scratch = Scratch::new();
    let dir = PathBuf::from(scratch.dir());
    for tool in TOOLS {
        symlink(env!("CARGO_BIN_EXE_candor"), scratch.outside(tool)).expect("a link");
    }
    for (name, text) in &case.files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let text = text.replace("{dir}", &scratch.dir()).replace("{cr}", "\r");
        fs::write(path, text).expect("a file of the case");
    }
    let mut found = Vec::new();
    for command in &case.commands {
        let words: Vec<String> =
            command.words.iter().map(|word| word.replace("{dir}", &scratch.dir())).collect();
        let head = format!("{}: {}: $ {}", command.place, case.title, command.words.join(" "));
        if let Some(helped) = help(&dir, &words) {
            found.extend(helped.err().map(|error| format!("{head}\n    {error}")));
            continue;
        }
        let ran = catch_unwind(AssertUnwindSafe(|| run(&scratch, case.ranks, &words)));
        let Ok(ran) = ran else {
            found.push(format!("{head}\n    it hangs"));
            continue;
        };
        let outcome = Outcome { case, ran: &ran, dir: &dir };
        found.extend(outcome.differences(command).map(|line| format!("{head}\n    {line}")));
    }
    found
}

fn run(scratch: &Scratch, ranks: u32, words: &[String]) -> Ran {
    let program = match words[0].as_str() {
        "candor" => env!("CARGO_BIN_EXE_candor").to_owned(),
        tool => scratch.outside(tool),
    };
    let mut command = Command::new(program);
    command.args(&words[1..]).current_dir(scratch.dir());
    for variable in ["CANDOR_FORCE", "CANDOR_RANKS", "CANDOR_HTML", "CANDOR_JSON"] {
        command.env_remove(variable);
    }
    // Quick tests make their files where temporary ones belong.
    let temporary = scratch.outside("temporary");
    fs::create_dir_all(&temporary).expect("a folder");
    command.env("CANDOR_VERDICT", "stderr").env("TMPDIR", temporary);
    if ranks != 1 {
        command.env("CANDOR_RANKS", ranks.to_string());
    }
    Running::start(&mut command, Stdio::null()).wait()
}

/// Does what a case prepares by itself; none if the words call a program.
fn help(dir: &Path, words: &[String]) -> Option<std::io::Result<()>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse().expect("a number");
    match words[..] {
        ["mkdir", name] => Some(fs::create_dir_all(dir.join(name))),
        ["make", name, bytes] => {
            random_file(&dir.join(name).to_string_lossy(), number(bytes));
            Some(Ok(()))
        }
        ["flip", name, offset] => Some(flip(&dir.join(name), number(offset))),
        ["copy", from, to] => Some(fs::copy(dir.join(from), dir.join(to)).map(drop)),
        _ => None,
    }
}

/// Inverts a byte.
fn flip(path: &Path, offset: u64) -> std::io::Result<()> {
    let file = fs::OpenOptions::new().read(true).write(true).open(path)?;
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset)?;
    file.write_all_at(&[!byte[0]], offset)
}

/// Runs cases, several at a time, and tells of all that differ.
fn compare(cases: &[Case]) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let chosen = |case: &&Case| case.place.contains(&only) || case.title.contains(&only);
    let chosen: Vec<&Case> = cases.iter().filter(chosen).collect();
    let _host = shared_host();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(case) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let differences = match (&case.open, differences(case)) {
                        (None, differences) => differences,
                        (Some(_), differences) if !differences.is_empty() => Vec::new(),
                        (Some(why), _) => {
                            let Case { place, title, .. } = case;
                            vec![format!("{place}: {title}: it holds now, and was open: {why}")]
                        }
                    };
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.extend(differences);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort();
    let (wrong, all) = (found.len(), chosen.len());
    assert!(found.is_empty(), "{wrong} facts of {all} cases differ:\n{}", found.join("\n"));
}

/// Commands of these tools: all, those that are refused, and those that run for real.
fn counts(cases: &[Case], tools: &[&str]) -> (usize, usize, usize) {
    let commands = cases.iter().flat_map(|case| &case.commands);
    let commands: Vec<_> =
        commands.filter(|command| tools.iter().any(|tool| command.calls(tool))).collect();
    let refused = commands.iter().filter(|command| command.is_refused()).count();
    let real = commands.iter().filter(|command| !command.is_refused() && !command.is_dry());
    (commands.len(), refused, real.count())
}

#[test]
fn the_corpus_is_large_enough() {
    let lines = cases(&["ior.cases", "mdtest.cases"]);
    let (ior, mdtest) = (counts(&lines, &["ior"]), counts(&lines, &["mdtest"]));
    assert!(ior.0 + mdtest.0 >= 150, "{ior:?} {mdtest:?}");
    assert!(ior.2 >= 60 && mdtest.2 >= 60, "{ior:?} {mdtest:?}");
    let bench = cases(&["md-workbench.cases"]);
    assert!(bench.len() >= 15 && counts(&bench, &["md-workbench"]).2 >= 15, "{}", bench.len());
    let files = vdbench_cases();
    let vdbench = counts(&files, &["vdbench"]);
    assert!(files.len() >= 150 && vdbench.2 >= 60, "{} {vdbench:?}", files.len());
}

#[test]
fn command_lines_of_ior_do_what_they_say() {
    compare(&cases(&["ior.cases"]));
}

#[test]
fn command_lines_of_mdtest_do_what_they_say() {
    compare(&cases(&["mdtest.cases"]));
}

#[test]
fn command_lines_of_md_workbench_do_what_they_say() {
    compare(&cases(&["md-workbench.cases"]));
}

#[test]
fn parameter_files_of_vdbench_do_what_they_say() {
    compare(&vdbench_cases());
}
