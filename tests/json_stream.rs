//! `--json-stream`: lines of a run for programs; and what `show` prints of it afterwards.

use std::fs;

use serde_json::Value;

use crate::support::{Scratch, candor, shared_host, stream_violations};

fn lines(text: &str) -> Vec<Value> {
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON on each line")).collect();
    for line in &lines {
        assert_eq!(stream_violations(line), [""; 0], "{line}");
    }
    lines
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["line"].as_str()).collect()
}

#[test]
fn a_run_is_a_line_a_second_between_start_and_end() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let target = scratch.path("f");
    let words = ["run", "--target", &target, "--size", "4m", "--rw", "randread", "--seconds", "3"];
    let ran = candor(&[&words[..], &["--no-follow-ups", "--json-stream", "-"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let lines = lines(&ran.out);
    let kinds = kinds(&lines);
    assert_eq!((kinds[0], kinds[1], kinds[kinds.len() - 1]), ("start", "phase", "end"));
    assert_eq!(kinds[kinds.len() - 2], "result", "{kinds:?}");
    let intervals: Vec<&Value> = lines.iter().filter(|line| line["line"] == "interval").collect();
    assert!((2..=4).contains(&intervals.len()), "{kinds:?}");
    let read = &intervals[1]["jobs"][0]["operations"][0];
    assert_eq!(read["operation"], "read");
    assert!(read["ops_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{read}");
    assert!(read["latency_ns_p50"].as_u64().is_some_and(|ns| ns > 0), "{read}");
    let length = intervals[1]["jobs"][0]["length_s"].as_f64().expect("a length");
    assert!((0.5..=1.5).contains(&length), "{length}");
    assert_eq!(lines[lines.len() - 1]["interrupted"], false);
}

#[test]
fn a_file_has_the_lines_too_and_a_failure_ends_them() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let stream = scratch.outside("lines");
    let null = ["run", "--engine", "null", "--ops", "5000", "--quiet"];
    let ran = candor(&[&null[..], &["--json-stream", &stream]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("IOPS"), "{}", ran.out);
    let written = lines(&fs::read_to_string(&stream).expect("lines"));
    assert_eq!(kinds(&written)[0], "start");
    assert_eq!(written[written.len() - 1]["line"], "end");

    let none = scratch.path("none");
    let ran = candor(&["run", "--target", &none, "--rw", "randread", "--json-stream", &stream]);
    assert_ne!(ran.code, Some(0));
    let written = lines(&fs::read_to_string(&stream).expect("lines"));
    let last = written.last().expect("a line");
    assert!(last["line"] == "end" && last["error"].is_string(), "{last}");

    let ran = candor(&[&null[..], &["--json", "-", "--json-stream", "-"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("cannot both have stdout"), "{}", ran.err);
}

#[test]
fn show_prints_what_the_run_printed() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let target = scratch.path("f");
    let json = scratch.outside("report.json");
    let tree = scratch.path("tree");
    let block = ["run", "--target", &target, "--size", "2m", "--no-follow-ups"];
    for words in [
        [&block[..], &["--rw", "randread", "--passes", "1"]].concat(),
        [&block[..], &["--rw", "randrw", "--ops", "500", "--percentiles", "50,75"]].concat(),
        [&block[..], &["--rw", "read", "--repeats", "3"]].concat(),
        [&block[..], &["--rw", "randread", "--depth", "1,4", "--ops", "500"]].concat(),
        [&block[..], &["--rw", "write", "--verbose", "--expect", "iops > 1"]].concat(),
        vec!["tree", &tree, "--files", "20", "--no-follow-ups"],
    ] {
        let ran = candor(&[&words[..], &["--json", &json, "--quiet"]].concat());
        assert!(!ran.out.is_empty(), "{}", ran.err);
        let shown = candor(&["show", &json]);
        assert_eq!(shown.out, ran.out, "{words:?}");
    }
}

#[test]
fn seconds_and_time_take_the_same_values() {
    let scratch = Scratch::new();
    let target = scratch.path("f");
    let plan = |flag: &str, value: &str| {
        let words = ["run", "--target", &target, "--size", "1m", flag, value, "--dry-run"];
        let ran = candor(&words);
        assert_eq!(ran.code, Some(0), "{flag} {value}: {}", ran.err);
        ran.out
    };
    for (value, written) in [("90", "90s"), ("90s", "90s"), ("1m30s", "90s"), ("1.5", "1500ms")] {
        for flag in ["--seconds", "--time"] {
            let plan = plan(flag, value);
            assert!(plan.contains(&format!("\"{written}\"")), "{flag} {value}: {plan}");
        }
    }
    for words in [
        ["check", "/nowhere", "--seconds", "1.5"],
        ["check", "/nowhere", "--seconds", "2m"],
        ["align", "/nowhere", "--seconds", "1.5"],
        ["tree", "/nowhere/x", "--seconds", "2m"],
    ] {
        let ran = candor(&words);
        assert!(!ran.err.contains("is no time"), "{words:?}: {}", ran.err);
    }
    for words in [["check", "/nowhere", "--seconds", "0"], ["check", "/nowhere", "--seconds", "x"]]
    {
        let ran = candor(&words);
        assert!(ran.code == Some(2) && ran.err.contains("is no time"), "{}", ran.err);
    }
}
