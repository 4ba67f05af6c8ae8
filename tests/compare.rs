//! `candor compare`: runs beside each other.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Ran, Scratch, candor, comparison_violations, quiet_host, shared_host};

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
            let of = &mut phase["measurements"][0]["operations"]["read"];
            of["ops_per_s"] = json!(rate * (1.0 + 0.001 * nth as f64));
            of["bytes_per_s"] = json!(4096.0 * rate * (1.0 + 0.001 * nth as f64));
        }
    }
    fs::write(&file, report.to_string()).expect("written");
    file
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
        (&[&file, &file, "--fail-if", "speed < -5%"], 2, "is no figure"),
        (&[&file, &file, "--fail-if", "iops < 5%"], 2, "fails where nothing changes"),
    ] {
        let ran = compare(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{words:?}: {}", ran.err);
    }
}
