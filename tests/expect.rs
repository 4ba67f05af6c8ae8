//! `--expect`: conditions on results, with lines, a field of the report and exit codes.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Ran, Report, Scratch, candor, quiet_host};

/// A report of a run that needs no device, with a rate of 1000/s and that verdict.
fn report(scratch: &Scratch, name: &str, verdict: &str) -> String {
    let file = scratch.outside(name);
    let ran = candor(&["run", "--engine", "null", "--ops", "50000", "--quiet", "--json", &file]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = fs::read_to_string(&file).expect("a report");
    let mut report: Value = serde_json::from_str(&text).expect("JSON");
    report["judgement"]["verdict"] = json!(verdict);
    report["judgement"]["phases"][0]["verdict"] = json!(verdict);
    report["phases"][0]["measurements"][0]["operations"]["read"]["ops_per_s"] = json!(1000.0);
    fs::write(&file, report.to_string()).expect("written");
    file
}

/// The text on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn show(file: &str, conditions: &[&str], more: &[&str]) -> Ran {
    let expected = conditions.iter().flat_map(|condition| ["--expect", condition]);
    candor(
        &["show", file].into_iter().chain(expected).chain(more.iter().copied()).collect::<Vec<_>>(),
    )
}

#[test]
fn each_condition_has_a_line_and_the_worst_decides_the_exit_code() {
    let scratch = Scratch::new();
    let file = report(&scratch, "believed.json", "ok");
    let ran = show(&file, &["iops > 900", "read p99 < 10s"], &[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let line = "  met: iops > 900. The rate of read is 1000 IOPS, limit 900 IOPS.\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    assert!(ran.out.contains("  met: read p99 < 10s. The p99 latency of read is "), "{}", ran.out);

    let stored = scratch.outside("stored.json");
    let ran = show(&file, &["iops > 900", "iops > 2k/s"], &["--json", &stored]);
    assert_eq!(ran.code, Some(9), "{}", ran.err);
    let line = "  not met: iops > 2k/s. The rate of read is 1000 IOPS, limit 2000 IOPS.\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    assert!(ran.err.ends_with("candor: expected iops > 2k/s: not met\n"), "{}", ran.err);
    let report = Report::read(&stored).expect("a report");
    assert_eq!(report.violations(), Vec::<String>::new());
    let expected = &report.list("/expectations")[1];
    assert_eq!(expected["result"], "not_met");
    assert_eq!((&expected["value"], &expected["limit"]), (&json!(1000.0), &json!(2000.0)));

    // The report keeps the lines; a later exit code is that of the later conditions.
    let again = candor(&["show", &stored]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(again.out.contains(line), "{}", again.out);

    // A percentile that no table shows by default, and one that the samples do not carry.
    assert_eq!(show(&file, &["p75 < 10s"], &[]).code, Some(0));
    let unknown = show(&file, &["p99.9999 < 10s"], &[]);
    assert_eq!(unknown.code, Some(10), "{}", unknown.out);
    assert!(unknown.out.contains("undecided: p99.9999 < 10s. "), "{}", unknown.out);
    // A missed condition weighs more than an unknown one.
    assert_eq!(show(&file, &["p99.9999 < 10s", "iops > 2k"], &[]).code, Some(9));
}

#[test]
fn a_figure_that_is_not_the_storages_never_meets_a_condition() {
    let scratch = Scratch::new();
    for verdict in ["unverified", "wrong"] {
        let file = report(&scratch, &format!("{verdict}.json"), verdict);
        for condition in ["iops > 1", "iops > 1m"] {
            let ran = show(&file, &[condition], &[]);
            assert_eq!(ran.code, Some(10), "{condition}: {}", ran.out);
            assert!(words(&ran.out).contains("not the storage's number"), "{}", ran.out);
            assert_eq!(show(&file, &[condition], &["--require", "caution"]).code, Some(6));
        }
    }
    // A new judgement is followed by a new answer.
    let stored = scratch.outside("kept.json");
    let doubted = report(&scratch, "doubted.json", "wrong");
    assert_eq!(show(&doubted, &["iops > 1"], &["--json", &stored]).code, Some(10));
    assert!(candor(&["show", &stored]).out.contains("undecided: iops > 1. "));
    let judged = candor(&["judge", &stored]);
    assert!(judged.out.contains("  met: iops > 1. "), "{}", judged.out);
}

#[test]
fn a_run_of_the_page_cache_meets_nothing() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.path("own");
    // The file was written just before, and is read from the page cache.
    let read = ["run", "--target", &file, "--size", "64m", "--rw", "read", "--bs", "1m", "--quiet"];
    let ran = candor(&[&read[..], &["--expect", "bandwidth > 1MB/s"]].concat());
    assert_eq!(ran.code, Some(10), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("\nExpectations\n  undecided: bandwidth > 1MB/s. "), "{}", ran.out);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let scratch = Scratch::new();
    let file = scratch.path("f");
    let run = ["run", "--target", &file, "--size", "1m", "--rw", "write", "--quiet"];
    for (condition, part) in [
        ("p99 < 10", "write a number with ns, us, ms"),
        ("iops < -5%", "candor compare --fail-if"),
        ("comit > 2k/s", "did you mean commit?"),
        ("other: p99 < 10ms", "no phase is named `other`; the phases are: sequential write 4 KiB"),
    ] {
        let ran = candor(&[&run[..], &["--expect", condition]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{condition}: {}", ran.err);
        assert!(ran.err.contains(part), "{condition}: {}", ran.err);
    }
    assert!(!std::path::Path::new(&file).exists());
    let of_fio = scratch.outside("fio.json");
    fs::write(&of_fio, include_str!("../crates/readers/tests/results/fio-plus.json"))
        .expect("written");
    let ran = candor(&["show", &of_fio, "--expect", "iops > 1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("--expect needs a report of candor"), "{}", ran.err);
}
