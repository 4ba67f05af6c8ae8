//! The schema in the documentation is what is written, and notices what is not.

use std::collections::BTreeSet;

use candor_record::Report;
use candor_record::facts::*;
use candor_record::requests::*;
use candor_record::*;
use serde_json::{Value, json};

use super::*;
use crate::sample;

/// Set it to write the schema instead of comparing it.
const BLESS: &str = "CANDOR_BLESS";

fn json(report: &Report) -> Value {
    serde_json::from_str(&crate::json::report(report).unwrap()).unwrap()
}

/// Next to nothing: at every level, what may be absent is absent, and lists are empty.
fn lean() -> Report {
    let state = State {
        arrays: vec![ArrayState::default()],
        temperatures: vec![Temperature::default()],
        ..State::default()
    };
    let full_of_nothing =
        Snapshot { cache: Some(CacheState::default()), state, ..Snapshot::default() };
    let phases = [&Snapshot::default(), &full_of_nothing].map(lean_phase);
    let finding = sample::finding("A1", Severity::Remark, "");
    let judged = PhaseJudgement {
        findings: vec![Finding { limits: Some(sample::sata()), ..finding }],
        ceilings: vec![Ceiling::default()],
        limited_by: Some(Limit::PageCache),
        ..PhaseJudgement::default()
    };
    let judged = vec![None, Some(PhaseJudgement::default()), Some(judged)];
    let note = Note { asked: String::new(), did: String::new(), why: String::new(), place: None };
    Report {
        phases: [vec![PhaseRecord::default()], phases.to_vec()].concat(),
        judgement: Judgement { phases: judged, ..Judgement::default() },
        notes: vec![note],
        ..Report::default()
    }
}

fn lean_facts() -> Facts {
    let file = |direct| FileFacts { direct, ..FileFacts::default() };
    let files = vec![file(DirectIo::Unknown), file(DirectIo::Unsupported)];
    let link = Link {
        kind: String::new(),
        negotiated: Fact::default(),
        possible: None,
        ceiling_bytes_per_s: 0,
        arithmetic: String::new(),
        ..Link::default()
    };
    let remote = Some(Remote { link: Some(link.clone()), ..Remote::default() });
    let device = DeviceFacts {
        loop_backing: Some(LoopBacking::default()),
        way: vec![link.clone()],
        link: Some(link),
        array: Some(ArrayFacts::default()),
        mapping: Some(Mapping::default()),
        nvme: Some(NvmeFacts::default()),
        scsi: Some(ScsiFacts::default()),
        remote: remote.clone(),
        ..DeviceFacts::default()
    };
    let unknown = Some(Remote::default());
    let far = DeviceFacts { remote: unknown.clone(), ..DeviceFacts::default() };
    let io = vec![Fact::new(IoLimit::default(), "io.max")];
    let cgroup = CgroupFacts { io, ..CgroupFacts::default() };
    Facts {
        targets: vec![
            TargetFacts::default(),
            TargetFacts { files, remote, ..TargetFacts::default() },
            TargetFacts { remote: unknown, ..TargetFacts::default() },
        ],
        devices: vec![DeviceFacts::default(), device, far],
        host: HostFacts { cgroup, ..HostFacts::default() },
        ..Facts::default()
    }
}

fn lean_phase(snapshot: &Snapshot) -> PhaseRecord {
    let host = HostRecord {
        facts: lean_facts(),
        before: snapshot.clone(),
        after: snapshot.clone(),
        after_flush: Some(snapshot.clone()),
        during: vec![snapshot.clone()],
        idle: Some(IdleWindow { before: snapshot.clone(), after: snapshot.clone() }),
        requests: Some(RequestStats {
            requests: vec![Requests::default()],
            ..RequestStats::default()
        }),
        memory_copy: Some(MemoryCopy::default()),
        ..HostRecord::default()
    };
    PhaseRecord {
        measurements: vec![Measurement::default(), lean_measurement(), reading_back()],
        hosts: vec![HostRecord::default(), host],
        follow_ups: vec![
            FollowUp::default(),
            lean_follow_up(snapshot),
            FollowUp { measurement: reading_back(), ..FollowUp::default() },
        ],
        ..PhaseRecord::default()
    }
}

fn lean_follow_up(snapshot: &Snapshot) -> FollowUp {
    let (before, after) = (snapshot.clone(), snapshot.clone());
    FollowUp { measurement: lean_measurement(), before, after, ..FollowUp::default() }
}

fn reading_back() -> Measurement {
    let verify = Some(VerifyStats::default());
    Measurement { read_back: Some(ReadBack::default()), verify, ..Measurement::default() }
}

/// Whatever a measurement can have, and nothing in it.
fn lean_measurement() -> Measurement {
    let latency = Some(Latency {
        count: 0,
        min_ns: 0,
        mean_ns: 0.0,
        stddev_ns: 0.0,
        max_ns: 0,
        percentiles: Vec::new(),
        histogram: Histogram::new(),
    });
    let stats = OpStats {
        latency: latency.clone(),
        submission: latency.clone(),
        completion: latency.clone(),
        from_intended: latency.clone(),
        by_priority: vec![
            OfPriority { latency: latency.clone(), completion: latency, ..OfPriority::default() },
            OfPriority::default(),
        ],
        ..OpStats::default()
    };
    let error = IoFailure {
        op: None,
        path: String::new(),
        offset: 0,
        errno: 0,
        message: String::new(),
        count: 0,
    };
    Measurement {
        operations: vec![
            OpStats { name: "read".into(), ..stats.clone() },
            OpStats { name: "write".into(), ..OpStats::default() },
        ],
        read_back: Some(ReadBack {
            reads: OpStats { name: "read_back".into(), ..stats },
            ..ReadBack::default()
        }),
        depths: Some(Depths::default()),
        steady: Some(SteadyState::default()),
        per_worker: vec![WorkerStats::default()],
        errors: vec![error],
        verify: Some(VerifyStats {
            last_writes: Some(LastWrites::default()),
            ..VerifyStats::default()
        }),
        ..Measurement::default()
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

/// A report is read without what may be absent, and with lists that are empty; the schema has to
/// allow the same.
#[test]
fn whatever_may_be_absent_or_empty_is_allowed() {
    let full = json(&sample::full());
    let mut wrong = BTreeSet::new();
    for place in places(&full, "") {
        for nothing in [Value::Null, json!([])] {
            let mut document = full.clone();
            *document.pointer_mut(&place).unwrap() = nothing;
            if serde_json::from_value::<Report>(document.clone()).is_ok() {
                wrong.extend(violations(&document).unwrap());
            }
        }
    }
    assert_eq!(wrong, BTreeSet::new());
}

/// Pointers to everything in a document but the plan; of each list, to its beginning.
fn places(value: &Value, at: &str) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => (0..3).zip(list).map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let inner = inner.into_iter().map(|(key, value)| (format!("{at}/{key}"), value));
    let inner = inner.filter(|(place, _)| place != "/plan");
    inner.flat_map(|(place, value)| [places(value, &place), vec![place]].concat()).collect()
}

/// Of what may be absent or empty, the samples show what stands there otherwise.
#[test]
fn the_schema_knows_everything() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let unknown = |part: &Value| match part["type"].as_str() {
        Some("null") => true,
        Some("array") => part["items"].is_null(),
        _ => false,
    };
    let places = places(&schema, "").into_iter();
    let unknown: Vec<_> = places.filter(|at| unknown(schema.pointer(at).unwrap())).collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let mut document = json(&sample::full());
    document["report_version"] = json!("1");
    document["judgement"]["verdict"] = json!("perhaps");
    document["phases"][0]["measurements"][0].as_object_mut().unwrap().remove("job");
    document["phases"][0]["surprise"] = json!(1);
    assert_eq!(
        violations(&document).unwrap(),
        [
            "report_version is string, not integer",
            "phases[0].measurements[0] lacks `job`",
            "phases[0].surprise is not described",
            "judgement.verdict is \"perhaps\", which is none of the words it can be",
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
