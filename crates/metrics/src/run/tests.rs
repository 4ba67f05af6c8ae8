use std::collections::BTreeMap;

use candor_plan::work::{BlocksOp, Figure};
use candor_record::http::{
    AttemptFailure, ConnectionStats, FailureClass, HttpOp, HttpStats, StatusCount,
};
use candor_record::{
    Confidence, DeviceSample, Finding, Histogram, HostSample, JobSample, Latency, Measurement,
    OpSample, OpStats, PhaseRecord, PrepareStep, ReadBack, Sample, Severity, Verdict,
};

use super::*;
use crate::Format;

const SECOND: u64 = 1_000_000_000;

fn started(phase: &str) -> Event {
    let phase = phase.to_owned();
    Event::PhaseStarted {
        phase,
        index: 0,
        search_step: false,
        expected_ns: Some(2 * SECOND),
        ceilings: Vec::new(),
    }
}

/// An interval with that many reads of 4 KiB, of 1 ms each.
fn sampled(phase: &str, in_ramp: bool, ops: u64) -> Event {
    let read = OpSample {
        name: "read".into(),
        figure: Figure::Read,
        ops,
        bytes: ops * 4096,
        latency_sum_ns: ops * 1_000_000,
        latency_ns_p50: Some(900_000),
        ..OpSample::default()
    };
    let sample = Sample { at_ns: SECOND, length_ns: SECOND, operations: vec![read] };
    let device = DeviceSample {
        device: "sda".into(),
        reads: ops,
        bytes_read: ops * 4096,
        in_flight: 3,
        utilisation: 0.75,
        ..DeviceSample::default()
    };
    let host = HostSample {
        host: "here".into(),
        length_ns: SECOND,
        cpu_busy: Some(0.25),
        devices: vec![device],
        ..HostSample::default()
    };
    let samples = vec![JobSample { job: "job \"a\"".into(), sample, workers: Vec::new() }];
    Event::Sampled { phase: phase.into(), in_ramp, samples, hosts: vec![host] }
}

/// The end of a phase with that many reads, of which some read back, and none that failed but one.
fn done(phase: &str, ops: u64, back: u64) -> Event {
    let reads = |ops: u64| {
        let mut histogram = Histogram::new();
        (0..ops).for_each(|_| histogram.record(1_000_000));
        let latency = Latency::from_histogram(histogram);
        let bytes = ops * 4096;
        let (ops_per_s, bytes_per_s) = (ops as f64 / 2.0, bytes as f64 / 2.0);
        let read = OpStats::of(BlocksOp::Read.operation());
        OpStats { ops, bytes, failed: 1, ops_per_s, bytes_per_s, latency, ..read }
    };
    let back = ReadBack { reads: reads(back), ..ReadBack::default() };
    let measurement = Measurement {
        job: "job \"a\"".into(),
        operations: vec![reads(ops)],
        read_back: (back.reads.ops > 0).then_some(back),
        ..Measurement::default()
    };
    let record =
        PhaseRecord { name: phase.into(), measurements: vec![measurement], ..Default::default() };
    Event::PhaseDone { record: Box::new(record) }
}

fn found() -> Event {
    let finding = Finding {
        rule: "A1".into(),
        title: "page cache answered".into(),
        severity: Severity::Wrong,
        confidence: Confidence::Certain,
        when: None,
        job: None,
        limits: None,
        measures: None,
        sentence: "It did.".into(),
        lost_share_max: None,
        evidence: Vec::new(),
        consequences: Vec::new(),
        advice: String::new(),
        changes: Vec::new(),
        next: None,
    };
    Event::Found { phase: "one".into(), finding: Box::new(finding) }
}

fn text(metrics: &RunMetrics) -> String {
    let text = Format::OpenMetrics.write(&metrics.registry());
    // The clock is not part of the test.
    let lines = text.lines().filter(|line| !line.starts_with("candor_phase_start_timestamp_"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Every sample by its name and labels.
fn values(metrics: &RunMetrics) -> BTreeMap<String, f64> {
    let text = text(metrics);
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            (name.to_owned(), value.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn each_host_has_values_of_its_own() {
    let mut metrics = RunMetrics::default();
    let mut event = sampled("one", false, 10);
    let Event::Sampled { hosts, .. } = &mut event else { panic!("an interval") };
    hosts.push(HostSample { host: "there".into(), cpu_busy: Some(0.5), ..hosts[0].clone() });
    metrics.take(&event);
    let values = values(&metrics);
    for (host, busy) in [("here", 0.25), ("there", 0.5)] {
        assert_eq!(values[&format!("candor_cpu_busy_ratio{{host=\"{host}\"}}")], busy);
        let reads = format!(
            "candor_device_operations_total{{host=\"{host}\",device=\"sda\",direction=\"read\"}}"
        );
        assert_eq!(values[&reads], 10.0, "{values:#?}");
    }
}

#[test]
fn a_run_from_its_start_to_its_end() {
    let mut metrics = RunMetrics::default();
    let step = PrepareStep::LayOut;
    let preparing = |phase: &str, bytes_done| Event::Preparing {
        phase: phase.into(),
        step,
        what: "/data/file".into(),
        bytes_done,
        bytes_total: 1 << 20,
    };
    let (verdict, headline) = (Verdict::Wrong, String::new());
    let judged = Event::PhaseJudged { phase: "one".into(), verdict, headline };
    let events = [
        Event::RunStarted { name: "nightly".into(), phases: 2, expected_ns: None },
        preparing("one", 1 << 20),
        started("one"),
        sampled("one", true, 7),
        sampled("one", false, 1000),
        sampled("one", false, 1000),
        judged,
        found(),
        done("one", 2003, 0),
        preparing("two", 4096),
        started("two"),
        sampled("two", false, 10),
        Event::RunDone { verdict, interrupted: false },
    ];
    events.iter().for_each(|event| metrics.take(event));
    insta::assert_snapshot!(text(&metrics));
    let classic = Format::Classic.write(&metrics.registry());
    let clock = classic.lines().filter(|line| line.starts_with("candor_phase_start_timestamp_"));
    let clock: Vec<&str> = clock.collect();
    assert_eq!(clock.len(), 2);
    let lines = classic.lines().filter(|line| !clock.contains(line));
    insta::assert_snapshot!("classic", lines.collect::<Vec<_>>().join("\n"));
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/how-to/prometheus.md");
    let page = std::fs::read_to_string(page).expect("the page");
    for name in classic.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(page.contains(&format!("`{name}`")), "the page does not name {name}");
    }
}

#[test]
fn counters_are_the_reports_and_never_go_back() {
    let mut metrics = RunMetrics::default();
    let of = |metrics: &RunMetrics, name: &str| {
        let labels = r#"{phase="one",job="job \"a\"",operation="read"}"#;
        values(metrics)[&format!("{name}{labels}")]
    };
    metrics.take(&started("one"));
    metrics.take(&sampled("one", false, 600));
    assert_eq!(of(&metrics, "candor_operations_total"), 600.0);
    // Samples count the reads that read back; a last piece of the phase had none.
    metrics.take(&done("one", 500, 150));
    assert_eq!(of(&metrics, "candor_operations_total"), 650.0);
    assert_eq!(of(&metrics, "candor_bytes_total"), 650.0 * 4096.0);
    assert_eq!(of(&metrics, "candor_operation_time_seconds_total"), 0.65);
    assert_eq!(of(&metrics, "candor_failed_operations_total"), 1.0);
    assert_eq!(of(&metrics, "candor_result_operations_per_second"), 250.0, "not read back");
    // A repeat goes on from there.
    metrics.take(&started("one"));
    metrics.take(&sampled("one", false, 100));
    assert_eq!(of(&metrics, "candor_operations_total"), 750.0);
    metrics.take(&done("one", 90, 0));
    assert_eq!(of(&metrics, "candor_operations_total"), 750.0, "never back");
}

#[test]
fn steps_of_a_search_are_counted_and_are_no_results() {
    let mut metrics = RunMetrics::default();
    let Event::PhaseDone { mut record } = done("step", 10, 0) else { panic!("a phase ended") };
    record.search_step = true;
    metrics.take(&Event::PhaseDone { record });
    let text = text(&metrics);
    assert!(text.contains("candor_operations_total{phase=\"step\""), "{text}");
    assert!(!text.contains("candor_result_operations_per_second{"), "{text}");
}

#[test]
fn http_requests_are_counted_by_status_and_class() {
    let mut first_byte = Histogram::new();
    (0..4).for_each(|_| first_byte.record(2_000_000));
    let ok = StatusCount { status: 200, answers: 4 };
    let put = HttpOp {
        name: "put".into(),
        attempts: 7,
        retries: 2,
        statuses: vec![ok, StatusCount { status: 503, answers: 2 }],
        first_byte: Latency::from_histogram(first_byte),
        ..HttpOp::default()
    };
    let throttled = AttemptFailure {
        op: "put".into(),
        class: FailureClass::Throttled,
        attempts: 2,
        ..AttemptFailure::default()
    };
    let http = HttpStats {
        operations: vec![put],
        failures: vec![throttled],
        connections: ConnectionStats { opened: 3, ..ConnectionStats::default() },
        ..HttpStats::default()
    };
    let measurement =
        Measurement { job: "job".into(), http: Some(Box::new(http)), ..Measurement::default() };
    let record =
        PhaseRecord { name: "one".into(), measurements: vec![measurement], ..Default::default() };
    let mut metrics = RunMetrics::default();
    metrics.take(&Event::PhaseDone { record: Box::new(record) });
    let text = text(&metrics);
    let lines = text.lines().filter(|line| line.starts_with("candor_http"));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
