//! Reports of several hosts, read by commands: recordings of real kernels side by side.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Scratch, candor};

/// A recording as one phase.
fn recorded(name: &str) -> Value {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/tests/recorded");
    let text = fs::read_to_string(format!("{dir}/{name}.json")).expect(name);
    serde_json::from_str(&text).expect(name)
}

/// A report in which each host did what one recording says. The sum is that of the first one: only
/// hosts are looked at here.
fn joined(names: &[&str]) -> Value {
    let mut report = recorded(names[0]);
    let hosts = names.iter().enumerate().map(|(index, name)| {
        let of = recorded(name);
        let mut host = of["phases"][0]["hosts"][0].clone();
        host["host"] = json!(format!("node-{index}"));
        host["measurements"] = of["phases"][0]["measurements"].clone();
        host["member"] = json!({
            "index": index, "address": format!("10.0.0.{index}"), "clock_offset_ns": 0,
            "clock_error_ns": 50_000, "round_trip_ns": 100_000, "started_late_ns": 0,
            "storage_of": 0, "kernel_of": index,
        });
        host
    });
    report["phases"][0]["hosts"] = hosts.collect();
    report["phases"][0]["follow_ups"] = json!([]);
    report
}

#[test]
fn a_report_of_several_hosts_is_judged_shown_and_written() {
    let scratch = Scratch::new();
    let [json, page, csv] =
        ["report.json", "page.html", "hosts.csv"].map(|name| scratch.path(name));
    let report = joined(&["evicted-read", "cached-read", "evicted-read"]);
    fs::write(&json, report.to_string()).expect("written");
    let judged = candor(&["judge", &json]);
    assert!(judged.out.contains("Not the storage's number"), "{}", judged.out);
    assert!(judged.out.contains("A21") && judged.out.contains("node-1 read "), "{}", judged.out);
    assert!(judged.out.contains("Hosts, sequential read 1 MiB"), "{}", judged.out);
    let rows = judged.out.lines().filter(|line| line.trim_start().starts_with("node-"));
    assert!(rows.count() >= 3, "{}", judged.out);
    let words = ["judge", &json, "--html", &page];
    assert_eq!(candor(&words).code, Some(0));
    let text = fs::read_to_string(&page).expect("a page");
    assert!(text.contains("<h3>Hosts, sequential read 1 MiB</h3>"), "no table of hosts");
    assert!(text.contains("node-0, node-2"), "facts of like hosts stand together");
    let words = ["judge", &json, "--csv", &csv, "--csv-of", "hosts"];
    assert_eq!(candor(&words).code, Some(0));
    let text = fs::read_to_string(&csv).expect("a table");
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.lines().nth(2).is_some_and(|line| line.contains(",node-1,1,")), "{text}");
    assert!(text.lines().nth(2).is_some_and(|line| line.ends_with("wrong")), "{text}");
}
