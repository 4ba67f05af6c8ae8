//! Job files with a mistake each: place, word, remedy and exit code.
//!
//! `mistakes.txt` has a line for each: what fio 3.33 makes of it, the file, and what candor says.
//! fio either refuses it as well, or takes it for something else without a word.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fio::fio;
use crate::support::{Scratch, skip};

/// Set it to write what candor says instead of comparing it.
const BLESS: &str = "CANDOR_BLESS";

struct Mistake {
    refused_by_fio: bool,
    /// With `\n` for line ends.
    file: String,
    told: String,
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fio/mistakes.txt")
}

fn mistakes() -> Vec<Mistake> {
    let text = std::fs::read_to_string(table()).expect("the table");
    fn one(line: &str) -> Mistake {
        let mut columns = line.splitn(3, " | ");
        let mut next = || columns.next().unwrap_or_default().to_owned();
        let refused_by_fio = match next().as_str() {
            "refused" => true,
            "misread" => false,
            other => panic!("`{other}` is not what fio does"),
        };
        Mistake { refused_by_fio, file: next(), told: next() }
    }
    text.lines().map(one).collect()
}

fn write(scratch: &Scratch, mistake: &Mistake) {
    let text = mistake.file.replace("\\n", "\n");
    std::fs::write(scratch.path("job.fio"), format!("{text}\n")).expect("a job file");
}

#[test]
fn every_mistake_is_reported_with_its_place() {
    let scratch = Scratch::new();
    let mistakes = mistakes();
    assert!(mistakes.len() >= 60);
    let bless = std::env::var_os(BLESS).is_some();
    let (mut wrong, mut lines) = (Vec::new(), String::new());
    for mistake in &mistakes {
        write(&scratch, mistake);
        let ran = fio(&scratch, &["--parse-only", "job.fio"]);
        let told = ran.err.lines().next().unwrap_or_default();
        let told = told.strip_prefix("fio: ").unwrap_or(told);
        let word = if mistake.refused_by_fio { "refused" } else { "misread" };
        lines.push_str(&format!("{word} | {} | {told}\n", mistake.file));
        let placed = told.starts_with("job.fio:1:") || told.starts_with("job.fio:2:");
        if (told != mistake.told && !bless) || ran.code != Some(1) || !ran.out.is_empty() || !placed
        {
            wrong.push(format!("{}\n  {told}\n  {}", mistake.file, mistake.told));
        }
    }
    if bless {
        std::fs::write(table(), lines).expect("the table is written");
    }
    assert!(wrong.is_empty(), "{}\n{BLESS}=1 writes what is said now", wrong.join("\n"));
}

#[test]
fn fio_refuses_or_misreads_each_of_them() {
    if !Path::new("/usr/bin/fio").exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    let mut wrong = Vec::new();
    // fio sleeps for most of its start.
    for some in mistakes().chunks(8) {
        let all: Vec<_> = some
            .iter()
            .map(|mistake| {
                let scratch = Scratch::new();
                write(&scratch, mistake);
                let mut fio = Command::new("/usr/bin/fio");
                fio.args(["--parse-only", "job.fio"]).current_dir(scratch.dir());
                let fio = fio.stdout(std::process::Stdio::null());
                let child = fio.stderr(std::process::Stdio::null()).spawn().expect("fio starts");
                (mistake, scratch, child)
            })
            .collect();
        for (mistake, _scratch, mut child) in all {
            let code = child.wait().expect("fio ends").code();
            if (code == Some(1)) != mistake.refused_by_fio {
                wrong.push(format!("{} ends with {code:?}", mistake.file));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
