//! Results of candor called as elbencho: files that others read, and live figures.

use std::fs;

use rustix::process::Signal;

use crate::support::elbencho::{Elbencho, last};
use crate::support::shared_host;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn result_files_grow_by_a_line_for_each_phase_and_are_summarized() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    let outside = |name: &str| elbencho.scratch.outside(name);
    let (csv, json, table) = (outside("r.csv"), outside("r.json"), outside("r.txt"));
    let tree = elbencho.scratch.path("tree");
    fs::create_dir(&tree).expect("a directory");
    let sizes = ["-t", "2", "-n", "3", "-N", "5", "-s", "8k", "-b", "4k", "--label", "a,b"];
    let phases = ["-d", "-w", "--stat", "-r", "-F", "-D"];
    let files = ["--csvfile", &csv, "--jsonfile", &json, "--resfile", &table];
    let words = [&phases[..], &sizes, &files, &[&tree]].concat();
    for _ in 0..2 {
        let ran = elbencho.run_words(&words);
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
    let summary = text(&elbencho.run_words(&["summarize", &csv]).stdout);
    assert!(summary.starts_with("MKDIRS (2 runs): label=a b, path type=dir, "), "{summary}");
    // A file with other columns stays as it is.
    fs::write(&csv, "a,b\n").expect("written");
    let refused = elbencho.run_words(&words);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("has 2 columns and results have 55"));
    assert_eq!(fs::read_to_string(&csv).expect("CSV"), "a,b\n");
}

#[test]
fn live_figures_take_stdout() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    let file = elbencho.scratch.path("file");
    fs::write(&file, vec![7; 8 << 20]).expect("a file");
    let words = [
        &["-r", "-t", "2", "-b", "64k", "--infloop", "--timelimit", "1", "--liveint", "200"][..],
        &["--livecsv", "stdout", "--livecsvex", "--live1n", &file],
    ];
    let ran = elbencho.run_words(&words.concat());
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{err}");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][..5], ["ISO Date", "Label", "Phase", "RuntimeMS", "Rank"], "{out}");
    assert!(rows.iter().all(|row| row.len() == 18), "only CSV stands on stdout: {out}");
    let totals: Vec<&Vec<&str>> = rows.iter().filter(|row| row[4] == "Total").collect();
    assert!((4..=6).contains(&totals.len()), "one for each 200 ms: {out}");
    let bytes = |row: &[&str]| row[7].parse::<u64>().expect("a number");
    assert!(totals.windows(2).all(|pair| bytes(pair[0]) < bytes(pair[1])), "{out}");
    // Lines of workers follow the line of all, with the same time.
    let ranks: Vec<&str> = rows[1..].iter().map(|row| row[4]).collect();
    assert_eq!(ranks[..6], ["Total", "0", "1", "Total", "0", "1"], "{out}");
    let workers = rows[1..].chunks(3).take_while(|rows| rows.len() == 3 && rows[1][4] == "0");
    for of in workers {
        assert!(of.iter().all(|row| row[..4] == of[0][..4] && row[6] == "100"), "{out}");
        assert!(of[1..].iter().all(|row| bytes(row) > 0 && row[10] == "0"), "{out}");
    }
    assert!(
        err.lines().any(|line| line.starts_with("READ: ") && line.contains(" IOPS; ")),
        "{err}"
    );
    assert!(err.contains("OPERATION   RESULT TYPE"), "the table goes to stderr: {err}");
}

#[test]
fn an_interrupt_keeps_the_phases_before_it_in_all_results() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    let outside = |name: &str| elbencho.scratch.outside(name);
    let (csv, json, table) = (outside("r.csv"), outside("r.json"), outside("r.txt"));
    let files = format!("--csvfile {csv} --jsonfile {json} --resfile {table}");
    // The reads would take 20 seconds.
    let line = "-d -w --stat -r -F -t 2 -n 1 -N 20 -s 4k --limitread 4k --live1n --liveint 100";
    let mut running = elbencho.spawn(&format!("{line} {files} tree"));
    running.wait_for_rows("STAT ");
    // Each row stands everywhere before the next phase has ended.
    for file in [&csv, &json, &table] {
        let so_far = fs::read_to_string(file).expect(file);
        assert!(so_far.contains("STAT") && !so_far.contains("RMFILES"), "{so_far}");
    }
    running.wait_for("READ: ");
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("interrupted during `READ`"), "{}", ran.err);
    assert_eq!(last(&ran.out, "WRITE", "Files total"), "40");
    let phases = ["MKDIRS", "WRITE", "STAT", "READ"];
    let of_csv = fs::read_to_string(&csv).expect("CSV");
    let named = of_csv.lines().skip(1).map(|line| line.split(',').nth(16).expect("a field"));
    assert_eq!(named.collect::<Vec<_>>(), phases);
    let of_json = fs::read_to_string(&json).expect("JSON");
    assert_eq!(of_json.lines().count(), phases.len());
    let of_table = fs::read_to_string(&table).expect("a table");
    assert_eq!(last(&of_table, "STAT", "Files total"), "40");
}

#[test]
fn a_failing_phase_keeps_the_phases_before_it() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    fs::create_dir(elbencho.path("tree")).expect("a directory");
    let csv = elbencho.scratch.outside("r.csv");
    let ran = elbencho.run(&format!("-d --stat --csvfile {csv} -n 2 -N 1 -s 4k tree"));
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(last(&text(&ran.stdout), "MKDIRS", "Dirs total"), "2");
    assert!(!text(&ran.stdout).contains("STAT"), "{}", text(&ran.stdout));
    assert_eq!(fs::read_to_string(&csv).expect("CSV").lines().count(), 2);
}

#[test]
fn a_result_file_that_cannot_be_written_is_told_before_anything_runs() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    for option in ["--resfile", "--csvfile", "--jsonfile", "--livecsv"] {
        let ran = elbencho.run(&format!("-w -s 4k {option} none/r f"));
        assert_eq!((ran.status.code(), text(&ran.stdout)), (Some(1), String::new()), "{option}");
        assert!(text(&ran.stderr).contains("none/r cannot be"), "{}", text(&ran.stderr));
    }
    assert_eq!(elbencho.scratch.entries(), Vec::<String>::new());
}

#[test]
fn a_live_line_that_is_asked_for_needs_no_terminal() {
    let (_host, elbencho) = (shared_host(), Elbencho::new());
    elbencho.table("-w -s 1m f");
    let line = "-r -b 4k --infloop --timelimit 1 --liveint 200";
    let told = text(&elbencho.run(&format!("{line} --live1 f")).stderr);
    assert!(told.contains("\r\x1b[KREAD: ") && told.contains(" IOPS; "), "{told:?}");
    assert_eq!(text(&elbencho.run(&format!("{line} f")).stderr), "");
}
