use candor_plan::work::Figure;
use candor_record::results::{Area, Condition, DeviceInterval, DeviceResults, LatencyResults};

use super::*;

#[test]
fn results_of_another_tool_are_told_with_what_is_not_known() {
    let latency = LatencyResults {
        mean_ns: Some(503_633.8),
        percentiles: vec![(50.0, 187_392), (99.0, 4_489_216)],
        ..LatencyResults::default()
    };
    let read = OpResults {
        operation: "read".into(),
        ops_per_s: Some(199.9),
        bytes_per_s: Some(818_790.0),
        latency: Some(latency),
        ..OpResults::default()
    };
    let sync = OpResults {
        operation: "fsync".into(),
        figure: Figure::Flush,
        ops: Some(21),
        ..OpResults::default()
    };
    let job =
        JobResults { job: "reader".into(), operations: vec![read, sync], ..Default::default() };
    let interval = |length_s: u64, reads| DeviceInterval {
        length_ns: length_s * 1_000_000_000,
        reads_per_s: reads,
        utilisation: Some(0.25),
        queue_mean: Some(1.79),
        ..DeviceInterval::default()
    };
    let intervals = vec![interval(1, Some(100.0)), interval(3, Some(500.0))];
    let device = DeviceResults { host: "vm".into(), device: "vda".into(), intervals };
    let phase = PhaseResults {
        name: "reader".into(),
        repeat: 1,
        jobs: vec![job],
        devices: vec![device],
        ..PhaseResults::default()
    };
    let tool = Condition { area: Area::Tool, name: "latency".into(), ..Condition::default() };
    let results = Results {
        tool: "fio-3.33".into(),
        name: "run".into(),
        started: Some("2026-11-23T18:08:43Z".into()),
        conditions: vec![Condition { value: "fio's clat".into(), ..tool }],
        phases: vec![phase],
        ..Results::default()
    };
    insta::assert_snapshot!(text(&results, &Style::default()), @r"
    run: results of fio-3.33, started 2026-11-23T18:08:43Z
    Not judged: cache use and limits are unknown.

    phase      job     operation  ops/s  bandwidth    mean     p50      p99
    reader #2  reader  read         200   819 kB/s  504 µs  187 µs  4.49 ms
    reader #2  reader  fsync          -          -       -       -        -

    device     intervals  reads/s  writes/s  requests/s  read  written  queue  busy
    vda on vm  2              400         -           -     -        -   1.79  25 %

    latency: fio's clat
    ");
    let bare = text(&Results { name: "run".into(), ..Results::default() }, &Style::default());
    assert_eq!(bare.matches('\n').count(), 2, "no tables: {bare}");
}
