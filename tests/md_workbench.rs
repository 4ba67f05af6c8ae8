//! candor called as md-workbench: names on disk, lines, failures, files beside the results.

use std::fs;

use crate::support::mdtest::{Mdtest, below};
use crate::support::{quiet_host, shared_host};

fn md_workbench() -> Mdtest {
    Mdtest::called("md-workbench")
}

/// Names of all sets and objects of these numbers, sorted.
fn names(ranks: u64, sets: u64, numbers: std::ops::Range<u64>) -> Vec<String> {
    let mut all = Vec::new();
    for (rank, set) in (0..ranks).flat_map(|rank| (0..sets).map(move |set| (rank, set))) {
        all.push(format!("{rank}_{set}/"));
        all.extend(numbers.clone().map(|number| format!("{rank}_{set}/file-{number}")));
    }
    all.sort();
    all
}

/// Lines of a phase.
fn lines<'t>(text: &'t str, phase: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.starts_with(&format!("{phase} process max:"))).collect()
}

#[test]
fn the_window_moves_on_and_holds_as_many_objects() {
    let _host = shared_host();
    let bench = md_workbench();
    let common = "-D 2 -P 6 -I 3 -R 2 -S 100 -G 7 -o sets --run-info-file status";
    let sets = bench.dir().join("sets");
    let text = bench.text(3, &format!("-1 {common}"));
    assert_eq!(lines(&text, "precreate").len(), 1, "{text}");
    assert!(text.contains("dsets: 6 objects:36 "), "{text}");
    assert_eq!(below(&sets), names(3, 2, 0..6));
    let position = || fs::read_to_string(bench.scratch.path("status")).expect("a status");
    assert_eq!(position(), "pos: 0\n");
    let text = bench.text(3, &format!("-2 -X {common}"));
    let moved = lines(&text, "benchmark");
    assert_eq!(moved.len(), 2, "{text}");
    for line in moved {
        assert!(line.contains(" objects:18 ") && line.contains(" (0 errs) read("), "{line}");
        let figures = [" read(", " stat(", " create(", " delete("].map(|name| line.find(name));
        assert!(figures.is_sorted() && figures[0].is_some(), "{line}");
    }
    assert_eq!(below(&sets), names(3, 2, 6..12), "as many, and all are new");
    assert_eq!(position(), "pos: 6\n");
    // Objects may be looked at as well, which moves nothing.
    let text = bench.text(3, &format!("-2 --read-only -X {common}"));
    assert!(!text.contains(" create(") && text.contains(" read("), "{text}");
    assert_eq!((below(&sets), position()), (names(3, 2, 6..12), "pos: 6\n".to_owned()));
    let text = bench.text(3, &format!("-3 {common}"));
    assert!(text.contains("objects:36 dsets: 6 "), "{text}");
    assert!(!sets.exists(), "nothing is left");
}

#[test]
fn a_whole_run_leaves_nothing() {
    let _host = shared_host();
    let bench = md_workbench();
    let text = bench.text(2, "-D 3 -P 20 -I 10");
    assert!(text.starts_with("Args: ") && text.contains("\nMD-Workbench total objects: 300 "));
    assert_eq!([1, 3, 1], ["precreate", "benchmark", "cleanup"].map(|of| lines(&text, of).len()));
    assert!(text.contains("\nTotal runtime: "), "{text}");
    assert_eq!(below(&bench.dir()), Vec::<String>::new());
    let quiet = bench.text(1, "-q -D 1 -P 5 -I 5 -R 1 -S 0");
    assert!(quiet.starts_with("precreate process") && quiet.lines().count() == 3, "{quiet}");
}

#[test]
fn failures_are_no_work() {
    let _host = shared_host();
    let bench = md_workbench();
    let lost = bench.run(2, "-2 -D 2 -P 4 -I 2 -R 1 -o nothing --start-item 1");
    assert_eq!(lost.status.code(), Some(1));
    let text = String::from_utf8_lossy(&lost.stdout);
    assert!(text.contains("rate:0.0 iops/s objects:0 rate:0.0 obj/s"), "{text}");
    assert!(text.contains(" (32 errs!!!)"), "4 operations on 8 objects: {text}");
    assert!(String::from_utf8_lossy(&lost.stderr).contains("No such file"), "{lost:?}");
    assert!(!bench.dir().join("nothing").exists());
    let unknown = bench.run(1, "-2 -o nothing --run-info-file none");
    let sentence = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(1));
    assert!(sentence.contains("none cannot be read"), "{sentence}");
    // Sets that are there already end a run, unless that is of no interest.
    let twice = "-1 -D 1 -P 2 -o twice";
    bench.text(1, twice);
    let again = bench.run(1, twice);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stdout).contains("errs!!!"), "{again:?}");
    let going_on = bench.run(1, &format!("{twice} --ignore-precreate-errors"));
    let text = String::from_utf8_lossy(&going_on.stdout);
    assert!(text.contains("dsets: 0 objects:2 "), "{text}");
}

#[test]
fn flipped_bytes_are_found() {
    let _host = shared_host();
    let bench = md_workbench();
    for packet in ["t", "o", "i", "r"] {
        let common = format!("-D 2 -P 4 -I 4 -R 1 -G 7 --dataPacketType {packet} -o {packet}");
        bench.text(2, &format!("-1 {common}"));
        let file = bench.dir().join(format!("{packet}/1_1/file-2"));
        let mut bytes = fs::read(&file).expect("the object");
        assert_eq!(bytes.len(), 3901);
        bytes[2000] ^= 1;
        fs::write(&file, bytes).expect("written");
        let ran = bench.run(2, &format!("-2 -X {common}"));
        assert_eq!(ran.status.code(), Some(1), "{packet}");
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(text.contains(" objects:15 ") && text.contains(" (1 errs!!!)"), "{text}");
        assert!(text.contains("ERROR: 1 objects that benchmark read are not"), "{text}");
        bench.text(2, &format!("-3 {common}"));
    }
}

#[test]
fn a_stonewall_carries_all_to_the_same_object() {
    let _host = shared_host();
    let bench = md_workbench();
    let common = "-D 2 -P 3000 -R 1 -S 10 -o sets -q";
    bench.text(2, &format!("-1 {common}"));
    let text = bench.text(2, &format!("-2 -I 3000000 -w 1 -W {common}"));
    let reached = text.split_once("s (").and_then(|(_, rest)| rest.split_once(" iter)"));
    let reached: u64 = reached.expect("a line").0.parse().expect("a number");
    assert!(reached > 0 && reached < 3_000_000, "{text}");
    assert!(text.contains(&format!(" objects:{} ", reached * 4)), "{text}");
    let status = fs::read_to_string(bench.dir().join("md-workbench.status")).expect("a status");
    assert_eq!(status, format!("pos: {reached}\n"));
    assert_eq!(below(&bench.dir().join("sets")), names(2, 2, reached..reached + 3000));
    bench.text(2, &format!("-3 {common}"));
    assert!(!bench.dir().join("sets").exists());
}

#[test]
fn waiting_times_slow_a_process_down() {
    let _host = quiet_host();
    let bench = md_workbench();
    let text = bench.text(1, "-D 2 -P 200 -I 200 -R 1 -T -q");
    let benchmarks = lines(&text, "benchmark");
    assert_eq!(benchmarks.len(), 8, "{text}");
    assert!(benchmarks[7].contains(" waiting_factor:4.00"), "{text}");
    fn rate(line: &str) -> f64 {
        let rate = line.split_once("rate:").and_then(|(_, rest)| rest.split_once(' '));
        rate.expect("a rate").0.parse().expect("a number")
    }
    let [free, waiting] = [0, 7].map(|nth| rate(benchmarks[nth]));
    assert!(waiting < free / 2.0, "{free} {waiting}");
}

#[test]
fn figures_go_to_files() {
    let _host = shared_host();
    let bench = md_workbench();
    let line = "-D 2 -P 8 -I 4 -R 2 -L lat --summary-format=JSON --summary-file all.json";
    let shown = bench.text(2, line);
    assert_eq!(lines(&shown, "benchmark").len(), 2, "{shown}");
    let read = |name: &str| fs::read_to_string(bench.scratch.path(name)).expect(name);
    for (name, count) in [("0-precreate", 16), ("1-read", 8), ("1-create", 8), ("2-cleanup", 16)] {
        let text = read(&format!("lat-0.00-{name}.csv"));
        assert_eq!(text.lines().count(), 1 + count, "{name}: {text}");
        assert!(text.starts_with("time,runtime\n"), "{text}");
    }
    let document: serde_json::Value = serde_json::from_str(&read("all.json")).expect("JSON");
    let phases = document["phases"].as_array().expect("phases");
    assert_eq!(phases.len(), 4);
    assert_eq!(phases[2]["operations"]["create"]["count"].as_u64(), Some(16));
    assert_eq!(document["position_after"].as_u64(), Some(8));
    let all = bench.text(2, "-1 -D 2 -P 8 -L all --latency-all --summary-format CSV -o x");
    assert!(all.starts_with("phase,iteration,"), "{all}");
    assert_eq!(read("all-0.00-0-precreate-all.csv").lines().count(), 1 + 32);
    let names = below(&bench.dir());
    assert!(!names.iter().any(|name| name.ends_with(".jsonl")), "{names:?}");
}

#[test]
fn a_command_line_becomes_a_plan() {
    let plan =
        crate::support::candor(&["convert", "md-workbench", "-D", "2", "-I", "5", "-w", "3"]);
    assert_eq!(plan.code, Some(0), "{}", plan.err);
    for part in ["rank_step = 1", "items_across = true", "first = 10", "wear_out", "furthest"] {
        assert!(plan.out.contains(part), "{part}: {}", plan.out);
    }
}
