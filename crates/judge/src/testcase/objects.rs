//! Honest requests for the objects of a remote server.

use candor_plan::objects::{ObjectOp, Objects};
use candor_plan::work::Figure;
use candor_plan::{Bucket, Work};
use candor_record::facts::Facts;
use candor_record::http::*;
use candor_record::*;

use super::{TestCase, Workload, latency};

impl TestCase {
    /// Ten seconds of one operation on objects of some bytes, each once and checked, at one remote
    /// server that the counters of TCP saw.
    pub fn on_objects(op: ObjectOp, bytes: u64, depth: u32, ops_per_s: f64) -> TestCase {
        let mut case = Workload { bs: bytes, depth, ops_per_s, ..Workload::default() }.case();
        let objects = Objects { op, depth, buckets: vec!["bucket".into()], ..Objects::default() };
        let job = &mut case.plan.phases[0].jobs[0];
        (job.targets, job.work) = (Vec::new(), Work::Objects(Box::new(objects)));
        case.plan.targets.clear();
        let endpoints = vec!["http://192.0.2.7:7070".into()];
        case.plan.buckets = vec![Bucket { bucket: "data".into(), endpoints, ..Bucket::default() }];
        case.host.facts = Facts { host: case.host.facts.host.clone(), ..Facts::default() };
        for snapshot in [&mut case.host.before, &mut case.host.after] {
            (snapshot.devices, snapshot.cache) = (Vec::new(), None);
        }
        let row = op.operation();
        let measured = case.measured();
        for stats in &mut measured.operations {
            (stats.name, stats.figure) = (row.name.into(), row.figure);
            stats.bytes *= u64::from(row.figure != Figure::Names);
        }
        for sample in measured.samples.iter_mut().flat_map(|sample| &mut sample.operations) {
            (sample.name, sample.figure) = (row.name.into(), row.figure);
        }
        measured.http = Some(Box::new(requests(&measured.operations[0], depth)));
        case
    }

    /// The requests of its job.
    pub fn http(&mut self) -> &mut HttpStats {
        self.measured().http.as_mut().expect("requests")
    }

    /// The attempts of its first operation.
    pub fn attempts(&mut self) -> &mut HttpOp {
        &mut self.http().operations[0]
    }

    /// The work of its job.
    pub fn objects(&mut self) -> &mut Objects {
        match &mut self.plan.phases[0].jobs[0].work {
            Work::Objects(objects) => objects,
            other => panic!("{other:?}"),
        }
    }
}

fn requests(stats: &OpStats, depth: u32) -> HttpStats {
    let (ops, mean_ns) = (stats.ops, stats.latency.as_ref().map_or(0.0, |of| of.mean_ns));
    let heads = ops * 400;
    let sends = stats.figure == Figure::Write;
    let (sent, received) = if sends { (stats.bytes, 0) } else { (0, stats.bytes) };
    let op = HttpOp {
        name: stats.name.clone(),
        attempts: ops,
        statuses: vec![StatusCount { status: 200, answers: ops }],
        good_bytes: stats.bytes,
        sent_bytes: sent + heads,
        received_bytes: received + heads,
        wait: Some(latency(ops, mean_ns * 0.001)),
        send: Some(latency(ops, mean_ns * 0.2)),
        first_byte: Some(latency(ops, mean_ns * 0.5)),
        transfer: Some(latency(ops, mean_ns * 0.299)),
        attempt: Some(latency(ops, mean_ns)),
        ..HttpOp::default()
    };
    let address = "192.0.2.7:7070".to_owned();
    let url = format!("http://{address}");
    let peer = Peer {
        address: address.clone(),
        endpoint: url.clone(),
        connections: depth.into(),
        attempts: ops,
        bytes: stats.bytes,
        first_byte: Some(latency(ops, mean_ns * 0.5)),
        servers: vec!["versitygw".into()],
        ..Peer::default()
    };
    let reads = if stats.figure == Figure::Read { ops } else { 0 };
    HttpStats {
        operations: vec![op],
        peers: vec![peer],
        endpoints: vec![EndpointFacts { url, addresses: vec!["192.0.2.7".into()] }],
        connections: ConnectionStats { opened_before: depth.into(), ..ConnectionStats::default() },
        tcp: Some(TcpStats {
            connections: depth.into(),
            busy_us: 9_000_000,
            bytes_acked: sent + heads,
            bytes_sent: sent + heads,
            bytes_received: received + heads,
            rtt_us: 200.0,
            rtt_min_us: 150.0,
            ..TcpStats::default()
        }),
        clock: Some(ClockSkew { answers: ops, min_s: -0.4, max_s: 0.6 }),
        in_flight_ns: u64::from(depth) * 9_900_000_000,
        in_flight_max: depth.into(),
        in_flight_seen: depth.into(),
        objects: ObjectStats {
            reads,
            distinct_reads: reads,
            checked_reads: reads,
            first_read: (reads > 0).then(|| latency(reads, mean_ns)),
            age_s: (reads > 0).then_some(AgeRange { min_s: 86_400.0, max_s: 90_000.0 }),
            distinct_bytes: stats.bytes,
            prefixes: 64,
            ..ObjectStats::default()
        },
        form: RequestForm { payload: "UNSIGNED-PAYLOAD".into(), ..RequestForm::default() },
        ..HttpStats::default()
    }
}
