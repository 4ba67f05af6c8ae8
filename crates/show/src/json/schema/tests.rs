//! The schema in the documentation is what is written, and notices what is not.

use candor_record::Report;
use candor_record::facts::*;
use candor_record::*;
use serde_json::{Value, json};

use super::*;
use crate::sample;

/// Set it to write the schema instead of comparing it.
const BLESS: &str = "CANDOR_BLESS";

fn json(report: &Report) -> Value {
    serde_json::from_str(&crate::json::report(report).unwrap()).unwrap()
}

/// Next to nothing: what may be absent is absent.
fn lean() -> Report {
    Report {
        facts: Facts {
            targets: vec![TargetFacts {
                files: vec![
                    FileFacts::default(),
                    FileFacts { direct: DirectIo::Unsupported, ..FileFacts::default() },
                ],
                filesystem: Some(Filesystem::default()),
                canary: Some(Canary::default()),
                ..TargetFacts::default()
            }],
            devices: vec![DeviceFacts::default()],
            host: HostFacts {
                cgroup: CgroupFacts {
                    io: vec![Fact::new(IoLimit::default(), "io.max")],
                    ..CgroupFacts::default()
                },
                ..HostFacts::default()
            },
            ..Facts::default()
        },
        phases: vec![PhaseReport {
            measurements: vec![Measurement::default()],
            findings: vec![sample::finding("A1", Weight::Remark, "")],
            ceilings: vec![Ceiling::default()],
            ..PhaseReport::default()
        }],
        ..Report::default()
    }
}

#[test]
fn the_documented_schema_is_what_is_written() {
    let schema = generate::schema(&[json(&sample::full()), json(&lean())]);
    let text = crate::json::pretty::print(&schema.to_string());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report-schema.json");
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(path, &text).unwrap();
        return;
    }
    assert!(
        text == SCHEMA,
        "the report has changed: look whether REPORT_VERSION must be raised, then run \
         `{BLESS}=1 cargo test -p candor-show` and describe the change in docs/report.md"
    );
}

#[test]
fn reports_are_valid() {
    let series = sample::report("so it is.", sample::series());
    for report in [sample::full(), lean(), series, Report::default()] {
        assert_eq!(violations(&json(&report)).unwrap(), Vec::<String>::new());
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let mut document = json(&sample::full());
    document["report_version"] = json!("1");
    document["verdict"] = json!("perhaps");
    document["phases"][0]["measurements"][0].as_object_mut().unwrap().remove("job");
    document["phases"][0]["surprise"] = json!(1);
    assert_eq!(
        violations(&document).unwrap(),
        [
            "report_version is string, not integer",
            "phases[0].measurements[0] lacks `job`",
            "phases[0].surprise is not described",
            "verdict is \"perhaps\", which is none of the words it can be",
        ]
    );
}

/// A report that was written is read back the same.
#[test]
fn a_report_survives_its_json() {
    let report = sample::full();
    let read: Report = serde_json::from_str(&crate::json::report(&report).unwrap()).unwrap();
    assert_eq!(read, report);
}
