//! A hand-built run on objects.

use candor_plan::objects::{OBJECT, OPERATIONS, PUT_PART};
use candor_plan::work::Operation;
use candor_plan::{Bucket, Job, Objects, Phase, Plan};
use candor_record::http::*;
use candor_record::*;

use super::{Judged, latency, phase, report, stats};

fn row(name: &str) -> &'static Operation {
    OPERATIONS.iter().find(|row| row.name == name).expect("a row of the table")
}

/// Counts of an operation over ten seconds.
fn op(row: &Operation, ops_per_s: f64, size: u64, median_ns: u64) -> OpStats {
    let (name, figure) = (row.name.into(), row.figure);
    OpStats { name, figure, ..stats(ops_per_s, size, median_ns) }
}

/// Attempts of an operation, whose answers had these statuses.
fn attempts(name: &str, statuses: &[(u16, u64)], median_ns: u64) -> HttpOp {
    let statuses =
        statuses.iter().map(|(status, answers)| StatusCount { status: *status, answers: *answers });
    let statuses: Vec<StatusCount> = statuses.collect();
    let attempts = statuses.iter().map(|of| of.answers).sum();
    HttpOp {
        name: name.into(),
        attempts,
        statuses,
        good_bytes: 3_000_000_000,
        sent_bytes: 3_002_000_000,
        received_bytes: 1_000_000,
        wait: latency(4000, 1000),
        send: latency(4000, median_ns / 8),
        first_byte: latency(4000, median_ns / 2),
        transfer: latency(4000, median_ns / 4),
        attempt: latency(4000, median_ns),
        ..HttpOp::default()
    }
}

fn peer(address: &str, median_ns: u64) -> Peer {
    Peer {
        address: address.into(),
        endpoint: "https://s3.example:9000".into(),
        connections: 8,
        attempts: 600,
        bytes: 1_500_000_000,
        first_byte: latency(4000, median_ns),
        servers: vec!["ExampleStore".into()],
        ..Peer::default()
    }
}

/// Requests of one job.
fn http(operations: Vec<HttpOp>) -> HttpStats {
    HttpStats {
        operations,
        peers: vec![Peer { is_local: true, ..peer("10.0.0.1:9000", 1_000_000) }],
        endpoints: vec![EndpointFacts {
            url: "https://s3.example:9000".into(),
            addresses: vec!["10.0.0.1:9000".into()],
        }],
        connections: ConnectionStats {
            opened_before: 16,
            connect: latency(16, 200_000),
            ..ConnectionStats::default()
        },
        in_flight_ns: 158_000_000_000,
        in_flight_max: 16,
        in_flight_seen: 16,
        form: RequestForm {
            payload: "UNSIGNED-PAYLOAD".into(),
            versioning: Some("enabled".into()),
            ..RequestForm::default()
        },
        ..HttpStats::default()
    }
}

fn measured(job: &str, operations: Vec<OpStats>, http: HttpStats) -> Measurement {
    Measurement {
        job: job.into(),
        workers: 1,
        elapsed_ns: 10_000_000_000,
        operations,
        engine: EngineUsed { name: "http".into(), ..EngineUsed::default() },
        ended: Ended::Time,
        http: Some(Box::new(http)),
        ..Measurement::default()
    }
}

/// Uploads in parts, some of which the server throttles.
pub(crate) fn put() -> Measurement {
    let parts = &OPERATIONS[PUT_PART as usize];
    let object = &OPERATIONS[OBJECT as usize];
    let operations = vec![
        op(row("create_upload"), 10.0, 0, 2_000_000),
        op(row("complete_upload"), 10.0, 0, 3_000_000),
        op(parts, 60.0, 5 << 20, 20_000_000),
        op(object, 10.0, 30 << 20, 200_000_000),
    ];
    let throttled = AttemptFailure {
        op: "put_part".into(),
        class: FailureClass::Throttled,
        status: Some(503),
        code: "SlowDown".into(),
        message: "Reduce your request rate".into(),
        retry_after_s: Some(1),
        attempts: 93,
        final_attempts: 3,
        ..AttemptFailure::default()
    };
    let reset = AttemptFailure {
        class: FailureClass::Reset,
        status: None,
        code: String::new(),
        retry_after_s: None,
        attempts: 2,
        final_attempts: 0,
        ..throttled.clone()
    };
    let mut http = http(vec![
        attempts("create_upload", &[(200, 100)], 2_000_000),
        HttpOp { retries: 92, ..attempts("put_part", &[(200, 600), (503, 93)], 20_000_000) },
        attempts("complete_upload", &[(200, 100)], 3_000_000),
    ]);
    http.peers.push(Peer { failed: 95, ..peer("10.0.0.2:9000", 4_000_000) });
    http.failures = vec![throttled, reset];
    http.connections = ConnectionStats {
        opened: 4,
        paid: 4,
        paid_mean_ns: 30_000_000.0,
        closed_by_server: 2,
        stale: 1,
        lookup: latency(4, 400_000),
        tls: latency(20, 5_000_000),
        tls_version: Some("TLSv1.3 TLS_AES_128_GCM_SHA256".into()),
        unverified: true,
        ..http.connections
    };
    http.form.checksum = Some("crc64nvme in a trailer".into());
    http.form.storage_class = Some("STANDARD".into());
    http.form.storage_class_requested = Some("ONEZONE_IA".into());
    http.form.expect_continue = true;
    http.objects.open_uploads = Some(1);
    http.objects.aborted_uploads = 3;
    (http.hash_ns, http.tls_ns) = (1_200_000_000, 3_400_000_000);
    http.clock = Some(ClockSkew { answers: 800, min_s: 30.2, max_s: 31.1 });
    measured("put", operations, http)
}

/// Reads, with the facts that only reads have.
pub(crate) fn get() -> Measurement {
    let mut http = http(vec![attempts("get", &[(206, 4000)], 5_000_000)]);
    http.objects = ObjectStats {
        reads: 4000,
        distinct_reads: 100,
        later_reads: latency(3900, 4_000_000),
        age_s: Some(AgeRange { min_s: 2.0, max_s: 14.0 }),
        distinct_bytes: 3 << 30,
        part_bytes: Some(5 << 20),
        ranges: 4000,
        ranges_across_parts: 700,
        checked_reads: 4000,
        mismatches: 1,
        ..ObjectStats::default()
    };
    http.tcp = Some(TcpStats {
        connections: 16,
        busy_us: 2_000_000,
        receive_window_limited_us: 100_000,
        bytes_sent: 1_000_000,
        bytes_retransmitted: 20_000,
        rtt_us: 180.0,
        rtt_min_us: 90.0,
        delayed_acks: Some(40),
        ..TcpStats::default()
    });
    http.between = Between { via: 3, example: Some("via: 1.1 cache".into()), ..Between::default() };
    measured("get", vec![op(row("get"), 400.0, 4 << 20, 5_000_000)], http)
}

/// A list and deletes of several objects at once.
pub(crate) fn names() -> [Measurement; 2] {
    let mut list = http(vec![attempts("list", &[(200, 101)], 40_000_000)]);
    list.objects = ObjectStats {
        pages: 101,
        keys: 100_001,
        keys_expected: Some(100_000),
        keys_twice: 1,
        ..ObjectStats::default()
    };
    let mut delete = http(vec![attempts("delete_many", &[(200, 100)], 90_000_000)]);
    delete.objects.keys_deleted = 100_000;
    let [of_list, of_delete] = [("list", 40_000_000), ("delete_many", 90_000_000)]
        .map(|(name, median_ns)| vec![op(row(name), 10.0, 0, median_ns)]);
    [measured("list", of_list, list), measured("delete", of_delete, delete)]
}

/// A run of four phases.
pub(crate) fn run() -> Report {
    let [list, delete] = names();
    let phases = [("put", put()), ("get", get()), ("list", list), ("delete", delete)];
    let phases = phases.map(|(name, measured)| {
        let mut phase: Judged = phase(name, measured);
        phase.judged.ceilings.clear();
        phase
    });
    let mut report = report("correct.", phases.to_vec());
    let bucket = Bucket { bucket: "training".into(), ..Bucket::default() };
    report.plan = Plan { buckets: vec![bucket], ..Plan::default() };
    for (nth, phase) in report.phases.iter_mut().enumerate() {
        phase.hosts[0].facts = facts::Facts::default();
        phase.phase = nth;
        let objects = Objects { buckets: vec!["bucket".into()], ..Objects::default() };
        let name = phase.measurements[0].job.clone();
        let job = Job { name, work: objects.into(), ..Job::default() };
        report.plan.phases.push(Phase { jobs: vec![job], ..Phase::default() });
    }
    report
}
