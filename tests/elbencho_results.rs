//! Results of candor called as elbencho: files that others read, and live figures.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};

use crate::support::{Scratch, alone};

struct Elbencho {
    link: String,
    scratch: Scratch,
}

impl Elbencho {
    fn new() -> Elbencho {
        let scratch = Scratch::new();
        let link = scratch.outside("elbencho");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Elbencho { link, scratch }
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.link);
        command.args(words).stdin(Stdio::null()).env_remove("CANDOR_VERDICT");
        command.output().expect("elbencho starts")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn result_files_grow_by_a_line_for_each_phase_and_are_summarized() {
    let (_alone, elbencho) = (alone(), Elbencho::new());
    let outside = |name: &str| elbencho.scratch.outside(name);
    let (csv, json, table) = (outside("r.csv"), outside("r.json"), outside("r.txt"));
    let tree = elbencho.scratch.path("tree");
    fs::create_dir(&tree).expect("a directory");
    let sizes = ["-t", "2", "-n", "3", "-N", "5", "-s", "8k", "-b", "4k", "--label", "a,b"];
    let phases = ["-d", "-w", "--stat", "-r", "-F", "-D"];
    let files = ["--csvfile", &csv, "--jsonfile", &json, "--resfile", &table];
    let words = [&phases[..], &sizes, &files, &[&tree]].concat();
    for _ in 0..2 {
        let ran = elbencho.run(&words);
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    }
    let lines: Vec<String> =
        fs::read_to_string(&csv).expect("CSV").lines().map(String::from).collect();
    assert_eq!(lines.len(), 1 + 2 * 6, "{lines:?}");
    assert!(lines.iter().all(|line| line.split(',').count() == 55), "{lines:?}");
    let column = |name: &str, line: &str| {
        let at = lines[0].split(',').position(|column| column == name).expect(name);
        line.split(',').nth(at).expect("a field").to_owned()
    };
    let of = |operation: &str, name: &str| {
        let found = lines[1..].iter().find(|line| column("operation", line) == operation);
        column(name, found.expect(operation))
    };
    assert_eq!(of("MKDIRS", "entries [last]"), "6");
    assert_eq!(of("WRITE", "entries [last]"), "30");
    assert_eq!(of("READ", "label"), "a b");
    assert_eq!(of("RMFILES", "entries [last]"), "30");
    let documents = fs::read_to_string(&json).expect("JSON");
    let names: Vec<String> = documents
        .lines()
        .map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            value["phase_type"].as_str().expect("a name").to_owned()
        })
        .collect();
    assert_eq!(names[..6], ["MKDIRS", "WRITE", "STAT", "READ", "RMFILES", "RMDIRS"]);
    let table = fs::read_to_string(&table).expect("a table");
    assert_eq!(table.lines().filter(|line| line.starts_with("OPERATION ")).count(), 2, "{table}");
    let summary = text(&elbencho.run(&["summarize", &csv]).stdout);
    assert!(summary.starts_with("MKDIRS (2 runs): label=a b, path type=dir, "), "{summary}");
    // A file with other columns stays as it is.
    fs::write(&csv, "a,b\n").expect("written");
    let refused = elbencho.run(&words);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("has 2 columns and results have 55"));
    assert_eq!(fs::read_to_string(&csv).expect("CSV"), "a,b\n");
}

#[test]
fn live_figures_take_stdout_and_files() {
    let (_alone, elbencho) = (alone(), Elbencho::new());
    let file = elbencho.scratch.path("file");
    fs::write(&file, vec![7; 8 << 20]).expect("a file");
    let json = elbencho.scratch.outside("live.json");
    let words = [
        &["-r", "-t", "2", "-b", "64k", "--infloop", "--timelimit", "1", "--liveint", "200"][..],
        &["--livecsv", "stdout", "--livecsvex", "--livejson", &json, "--live1n", &file],
    ];
    let ran = elbencho.run(&words.concat());
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{err}");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["ISO Date", "Label", "Phase", "RuntimeMS", "Rank"], "{out}");
    assert!(rows.iter().all(|row| row.len() == 18), "only CSV stands on stdout: {out}");
    let totals: Vec<&Vec<&str>> = rows.iter().filter(|row| row[4] == "Total").collect();
    assert!((4..=6).contains(&totals.len()), "one for each 200 ms: {out}");
    let bytes = |row: &[&str]| row[7].parse::<u64>().expect("a number");
    assert!(totals.windows(2).all(|pair| bytes(pair[0]) < bytes(pair[1])), "{out}");
    for rank in ["0", "1"] {
        let of_worker = rows.iter().filter(|row| row[4] == rank && bytes(row) > 0);
        assert!(of_worker.count() >= 2, "{out}");
    }
    let documents = fs::read_to_string(&json).expect("JSON");
    assert_eq!(documents.lines().count(), totals.len(), "{documents}");
    let first: serde_json::Value =
        serde_json::from_str(documents.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["Phase"], "READ");
    assert!(
        err.lines().any(|line| line.starts_with("READ: ") && line.contains(" IOPS; ")),
        "{err}"
    );
    assert!(err.contains("OPERATION   RESULT TYPE"), "the table goes to stderr: {err}");
}
