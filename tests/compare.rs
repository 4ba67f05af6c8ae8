//! `candor compare`: runs beside each other.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Ran, Running, Scratch, candor, comparison_violations, quiet_host, shared_host,
};

/// Repeats of a short run that needs no device, and whose numbers were made believable.
fn report(scratch: &Scratch, name: &str, more: &[&str], rate: Option<f64>) -> String {
    let file = scratch.outside(name);
    let words = ["run", "--engine", "null", "--target", &scratch.path("f"), "--size", "1m"];
    let rest = ["--time", "50ms", "--repeats", "5", "--no-follow-ups", "--quiet", "--json", &file];
    let ran = candor(&[&words[..], &rest, more].concat());
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let text = fs::read_to_string(&file).expect("a report");
    let mut report: Value = serde_json::from_str(&text).expect("JSON");
    report["judgement"]["verdict"] = json!("ok");
    for phase in report["judgement"]["phases"].as_array_mut().expect("phases") {
        phase["verdict"] = json!("ok");
    }
    for (nth, phase) in report["phases"].as_array_mut().expect("phases").iter_mut().enumerate() {
        // What others do on the host of the test is no part of it.
        phase["hosts"][0]["after"] = phase["hosts"][0]["before"].clone();
        phase["measurements"][0]["per_worker"][0]["run_wait_ns"] = json!(0);
        if let Some(rate) = rate {
            set_rate(phase, rate * (1.0 + 0.001 * nth as f64));
        }
    }
    fs::write(&file, report.to_string()).expect("written");
    file
}

fn set_rate(phase: &mut Value, rate: f64) {
    let of = &mut phase["measurements"][0]["operations"]["read"];
    (of["ops_per_s"], of["bytes_per_s"]) = (json!(rate), json!(4096.0 * rate));
}

fn compare(words: &[&str]) -> Ran {
    candor(&[&["compare"], words].concat())
}

#[test]
fn a_change_is_found_by_repeats_and_has_exit_codes() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let one = report(&scratch, "one.json", &[], Some(1000.0));
    let other = report(&scratch, "other.json", &["--seed", "2"], Some(970.0));
    let ran = compare(&[&one, &other, "--fail-if", "iops < -2%"]);
    assert_eq!(ran.code, Some(7), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("IOPS of read -3.0 % (from -3."), "{}", ran.out);
    assert!(ran.out.contains("Also different: seed"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    assert_eq!(compare(&[&one, &other, "--fail-if", "iops < -10%"]).code, Some(0));
    assert_eq!(compare(&[&one, &other, "--fail-if", "p99.999 > 10%"]).code, Some(8));
    assert_eq!(compare(&[&one, &other]).code, Some(0));

    let json = compare(&[&one, &one, "--json", "-"]);
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(comparison_violations(&json), [""; 0]);
    let change = &json["changes"][0];
    assert_eq!((&change["fairness"], &change["differences"]), (&json!("fair"), &json!([])));
    let outcomes = change["figures"].as_array().expect("figures");
    assert!(outcomes.iter().all(|figure| figure["outcome"] == "not_shown"), "{change}");
}

#[test]
fn other_work_is_told_first_and_is_no_pass() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let one = report(&scratch, "one.json", &["--depth", "4"], None);
    let other = report(&scratch, "other.json", &["--depth", "8"], None);
    let ran = compare(&[&one, &other, "--fail-if", "iops < -90%"]);
    assert_eq!(ran.code, Some(8), "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("B is not the same work as A (depth: 4 → 8)"), "{}", ran.out);
    let ran = compare(&[&one, &other, "--across", "depth"]);
    assert!(ran.out.contains("as intended"), "{}", ran.out);
    assert!(!ran.out.contains("not the same work"), "{}", ran.out);
}

#[test]
fn mistakes_end_in_a_sentence() {
    let scratch = Scratch::new();
    let (file, none) = (scratch.path("x.json"), scratch.path("none.json"));
    fs::write(&file, "{}").expect("written");
    for (words, code, part) in [
        (&[file.as_str()][..], 2, "RUN"),
        (&[&file, &file], 1, "x.json"),
        (&[&none, &none], 1, "cannot be read"),
        (&[&file, &file, "--fail-if", "speed < -5%"], 2, "is not a metric"),
        (&[&file, &file, "--fail-if", "iops < 5%"], 2, "fails where nothing changes"),
    ] {
        let ran = compare(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{words:?}: {}", ran.err);
    }
}

/// A run that needs no device.
const NULL: &str = "run --engine null --target f --size 1m --ops 2000 --no-follow-ups";

fn candor_in(directory: &str, temporary: &str, words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(words).current_dir(directory).env("TMPDIR", temporary);
    Running::start(&mut command, Stdio::null()).wait()
}

#[test]
fn commands_run_in_turn() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let json = scratch.outside("comparison.json");
    let temporary = scratch.outside("temporary");
    fs::create_dir_all(&temporary).expect("a directory");
    let other = format!("candor {NULL} --depth 8");
    let words = ["compare", "--run", NULL, &other, "--rounds", "3", "--json", &json];
    let ran = candor_in(&scratch.dir(), &temporary, &words);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let told: Vec<&str> =
        ran.err.lines().map(|line| line.split(':').next().unwrap_or("")).collect();
    let rounds = ["Round 1 of 3, A", "Round 1 of 3, B", "Round 2 of 3, A"];
    assert_eq!((told.len(), &told[..3]), (6, &rounds[..]), "{}", ran.err);
    let json: Value =
        serde_json::from_str(&fs::read_to_string(&json).expect("JSON")).expect("JSON");
    assert_eq!(comparison_violations(&json), [""; 0]);
    let change = &json["changes"][0];
    let basis = &change["figures"][0]["basis"]["repeats"];
    assert_eq!((&basis["baseline"], &basis["run"]), (&json!(3), &json!(3)), "{change}");
    assert_ne!(change["fairness"], "other_work", "the commands are meant to differ");
    assert_eq!(fs::read_dir(&temporary).expect("a directory").count(), 0, "reports are removed");

    // The second command fails in its first round.
    let wrong = format!("{NULL} --size 3m --target /nowhere/x/f --rw write --engine sync");
    let words = ["compare", "--run", NULL, &wrong];
    let ran = candor_in(&scratch.dir(), &temporary, &words);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(ran.err.contains("round 1 of 5 of B failed: `candor run"), "{}", ran.err);
    for (words, part) in [
        (["compare", "--run", NULL, "show x"], "`show` is no command with a report"),
        (["compare", "--run", NULL, "run --json x"], "leave out --json"),
        (["compare", "--run", NULL, "run --target $X"], "without a shell"),
    ] {
        let ran = candor(&words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        assert!(ran.err.contains(part), "{}", ran.err);
    }
}

#[test]
fn better_and_worse_are_said_of_the_storage_alone() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let one = report(&scratch, "one.json", &[], Some(1000.0));
    // The same run with other rates: latencies of two short runs differ where the host is busy.
    let text = fs::read_to_string(&one).expect("a report");
    let mut cached: Value = serde_json::from_str(&text).expect("JSON");
    for (nth, phase) in cached["phases"].as_array_mut().expect("phases").iter_mut().enumerate() {
        set_rate(phase, 2000.0 + 2.0 * nth as f64);
    }
    let other = scratch.outside("other.json");
    fs::write(&other, cached.to_string()).expect("written");
    let better = compare(&[&one, &other]);
    assert!(better.out.starts_with("B is better than A: "), "{}", better.out);
    for phase in cached["judgement"]["phases"].as_array_mut().expect("phases") {
        phase["verdict"] = json!("wrong");
    }
    fs::write(&other, cached.to_string()).expect("written");
    let ran = compare(&[&one, &other]);
    assert!(
        ran.out.starts_with("Not comparable: what B measured is not the storage"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("better") && !ran.out.contains("worse"), "{}", ran.out);
}
