//! Plans of `examples/` run, each small and short, fit the published schema, and leave nothing.

use std::fs;
use std::path::PathBuf;

use crate::support::{Scratch, measured, plan_violations, shared_host};

/// Amounts and times of the plans, and smaller ones for the test.
const SMALLER: [(&str, &str); 8] = [
    ("\"4g\"", "\"8m\""),
    ("\"1g\"", "\"1m\""),
    ("\"256m\"", "\"1m\""),
    ("items = 1000,", "items = 20,"),
    ("\"10m\"", "\"300ms\""),
    ("time = \"20s\"", "time = \"300ms\""),
    ("time = \"30s\"", "time = \"300ms\""),
    ("path = \"", "path = \"DIR/"),
];

/// Name and text of each plan.
fn plans() -> Vec<(String, String)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut plans = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().display().to_string();
        if name.ends_with(".toml") {
            assert!(index.contains(&format!("]({name})")), "{name} is not listed");
            plans.push((name, fs::read_to_string(entry.path()).unwrap()));
        }
    }
    assert_eq!(plans.len(), 6);
    plans
}

#[test]
fn every_example_runs_and_leaves_nothing() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for (name, text) in plans() {
        let text = SMALLER.iter().fold(text, |text, (now, then)| text.replace(now, then));
        let plan = scratch.outside(&name);
        fs::write(&plan, text.replace("DIR", &scratch.dir())).unwrap();
        let (ran, report) = measured(&scratch, &["run", &plan, "--no-follow-ups"]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(!report.list("/phases").is_empty(), "{name}");
        assert_eq!(scratch.entries(), [""; 0], "{name}");
    }
}

#[test]
fn every_example_fits_the_published_schema() {
    for (name, text) in plans() {
        let plan: serde_json::Value = toml::from_str(&text).unwrap();
        assert_eq!(plan_violations(&plan), [""; 0], "{name}");
    }
}
