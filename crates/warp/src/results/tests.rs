use candor_plan::objects::ObjectOp;
use candor_record::http::{ObjectStats, Peer};
use candor_record::{FirstDone, Histogram, IoFailure, OpSample, OpStats};

use super::*;
use crate::text;

const SECOND: u64 = 1_000_000_000;

/// A row with as many operations of 1 ms.
fn row(op: ObjectOp, ops: u64, bytes: u64) -> OpStats {
    let mut histogram = Histogram::new();
    (0..ops).for_each(|_| histogram.record(1_000_000));
    let latency = Latency::from_histogram(histogram);
    OpStats { ops, bytes, latency, ..OpStats::of(op.operation()) }
}

fn sample(second: u64, length_ns: u64, rows: &[OpStats]) -> Sample {
    let operations = rows.iter().map(|row| OpSample {
        name: row.name.clone(),
        ops: row.ops,
        bytes: row.bytes,
        ..OpSample::default()
    });
    let at_ns = (second - 1) * SECOND + length_ns;
    Sample { at_ns, length_ns, operations: operations.collect() }
}

fn record(measured: Measurement) -> PhaseRecord {
    PhaseRecord { measurements: vec![measured], ..PhaseRecord::default() }
}

fn options(command: Command) -> Options {
    Options { command_line: "warp x".to_owned(), ..Options::defaults(command) }
}

#[test]
fn samples_become_segments_and_servers_become_hosts() {
    let get = row(ObjectOp::Get, 100, 100 << 20);
    let error = IoFailure {
        op: Some("get".to_owned()),
        path: "b/key".to_owned(),
        offset: 0,
        errno: 2,
        message: "gone".to_owned(),
        count: 1,
    };
    let [a, b] = [("http://a", 3), ("http://b", 1)].map(|(endpoint, share)| Peer {
        endpoint: endpoint.to_owned(),
        bytes: share << 20,
        attempts: share,
        ..Peer::default()
    });
    let http = HttpStats { peers: vec![a, b], ..HttpStats::default() };
    let full = sample(1, SECOND, &[row(ObjectOp::Get, 40, 40 << 20)]);
    let measured = Measurement {
        workers: 2,
        elapsed_ns: 3 * SECOND,
        samples: vec![
            full.clone(),
            Sample { at_ns: 2 * SECOND, ..full.clone() },
            Sample { at_ns: 2_500_000_000, length_ns: SECOND / 2, ..full },
        ],
        first_done: Some(FirstDone { at_ns: 3 * SECOND, ..FirstDone::default() }),
        operations: vec![OpStats { failed: 1, ..get }],
        errors: vec![error],
        http: Some(Box::new(http)),
        start_unix_ms: Some(1000),
        ..Measurement::default()
    };
    let results = of(&options(Command::Get), &record(measured));
    insta::assert_snapshot!(text::results(&results, true));
    assert_eq!(results.ops[0].segments[1].start_ns, 2_000_000_000);
    assert_eq!((results.total.requests, results.ops[0].bytes), (101, 100 << 20));
}

#[test]
fn keys_of_lists_and_batches_are_objects() {
    let (deletes, lists) = (row(ObjectOp::DeleteMany, 10, 0), row(ObjectOp::List, 10, 0));
    for (command, row) in [(Command::Delete, deletes), (Command::List, lists)] {
        let objects = ObjectStats { keys_deleted: 250, keys: 250, ..ObjectStats::default() };
        let http = HttpStats { objects, ..HttpStats::default() };
        let measured = Measurement {
            workers: 1,
            samples: vec![sample(1, SECOND, std::slice::from_ref(&row))],
            operations: vec![row],
            http: Some(Box::new(http)),
            ..Measurement::default()
        };
        let results = of(&options(command), &record(measured));
        let report = &results.ops[0];
        assert_eq!((report.objects, report.rate().map(|rate| rate.objects)), (250, Some(250.0)));
    }
}

#[test]
fn a_mix_has_its_operations_and_their_total() {
    let rows =
        [row(ObjectOp::Get, 4, 4096), row(ObjectOp::Put, 2, 2048), row(ObjectOp::Head, 1, 0)];
    let one = sample(1, SECOND, &rows);
    let options = options(Command::Mixed);
    let rate = rate(&options, &one);
    assert_eq!((rate.bytes, rate.objects), (6144.0, 7.0));
    let measured = Measurement {
        workers: 1,
        elapsed_ns: SECOND,
        samples: vec![one],
        operations: rows.to_vec(),
        ..Measurement::default()
    };
    let results = of(&options, &record(measured.clone()));
    let names: Vec<&str> = results.ops.iter().map(|op| &*op.op).collect();
    assert_eq!((names, results.total.requests), (vec!["GET", "PUT", "STAT"], 7));
    assert!(results.is_mixed());
    let mut only = options;
    only.analysis.op = Some("PUT".to_owned());
    assert_eq!(of(&only, &record(measured)).ops.len(), 1);
    assert_eq!(of(&only, &PhaseRecord::default()).ops, []);
}
