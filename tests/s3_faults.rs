//! Faults between candor and a server: each is counted in its own class, and nothing hangs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::s3::runs::{
    Failed, Outcome, bucket, done, failed_ops, failures, http, keys, mismatches, ops, phase,
    phase_until, run, start,
};
use crate::support::s3::{Fault, FaultProxy, Fleet, Options, Request, Server, boto};
use crate::support::{Scratch, shared_host, skip};

/// versitygw; a skip where it is missing.
fn versitygw(scratch: &Scratch) -> Option<Server> {
    Server::versitygw(scratch, &Options::default()).map_err(|reason| skip(&reason)).ok()
}

/// True for a read of this object.
fn reads(request: &Request, key: &str) -> bool {
    request.method == "GET" && request.target.split('?').next() == Some(&format!("/data/{key}"))
}

/// A proxy with this fault in the first `count` reads of the object `f2`.
fn proxy_of(server: &Server, fault: Fault, count: usize) -> FaultProxy {
    let seen = AtomicUsize::new(0);
    FaultProxy::start(server.address(), move |request| {
        let hits = reads(request, "f2") && seen.fetch_add(1, Ordering::Relaxed) < count;
        if hits { fault } else { Fault::Pass }
    })
}

/// Six objects, and one read of each.
fn six(endpoint: &str, stop: &str, work: &str) -> String {
    let checksum = "checksum = { algorithm = \"crc32c\" }";
    let lines = format!("{}\nconnections.answer_timeout = \"1s\"", keys(6, "20k"));
    let put = phase("put", &format!("op = \"put\", {checksum}"));
    bucket(endpoint, &lines) + &put + &phase_until("get", stop, &format!("op = \"get\", {work}"))
}

/// A fault of one read, and its class.
struct Case {
    fault: Fault,
    class: &'static str,
    /// A second attempt can succeed.
    repeats: bool,
}

const CASES: &[Case] = &[
    Case { fault: Fault::SlowDown { retry_after_s: None }, class: "throttled", repeats: true },
    Case { fault: Fault::SlowDown { retry_after_s: Some(1) }, class: "throttled", repeats: true },
    Case { fault: Fault::TooManyRequests, class: "throttled", repeats: true },
    Case { fault: Fault::InternalError, class: "server", repeats: true },
    Case { fault: Fault::ResetInBody, class: "reset", repeats: true },
    Case { fault: Fault::ShortBody { missing: 100 }, class: "short_body", repeats: true },
    Case {
        fault: Fault::LateFirstByte { delay: Duration::from_millis(1500) },
        class: "timeout",
        repeats: true,
    },
    Case { fault: Fault::WrongChecksum, class: "checksum", repeats: false },
    Case { fault: Fault::FlippedByte, class: "checksum", repeats: false },
    Case { fault: Fault::NotFound, class: "missing", repeats: false },
    Case { fault: Fault::Moved { region: "eu-west-1" }, class: "redirect", repeats: false },
];

#[test]
fn each_fault_is_counted_in_its_class() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    for Case { fault, class, repeats } in CASES {
        for attempts in [1, 4] {
            let proxy = proxy_of(&server, *fault, 1);
            let work = format!("check_checksum = true, retry = {{ attempts = {attempts} }}");
            let plan = six(&proxy.endpoint(), "stop.continue_on_error = true", &work);
            let outcome = run(&scratch, &plan);
            let (report, about) = (outcome.report(), format!("{fault:?}, {attempts} attempts"));
            let fails = u64::from(attempts == 1 || !repeats);
            let expected = Failed { attempts: 1, finals: fails, permitted: 0 };
            assert_eq!(failures(report, 1, class), expected, "{about}: {}", http(report, 1));
            let all = http(report, 1)["failures"].as_array().map(Vec::len);
            assert_eq!(all, Some(1), "{about}");
            let counts = (ops(report, 1, "get"), failed_ops(report, 1, "get"));
            assert_eq!(counts, (6 - fails, fails), "{about}");
            let get = &http(report, 1)["operations"]["get"];
            let retries = 1 - fails;
            assert_eq!(
                (&get["attempts"], &get["retries"]),
                (&(6 + retries).into(), &retries.into())
            );
            assert_eq!(proxy.faults(), 1, "{about}");
            if *fault == (Fault::SlowDown { retry_after_s: Some(1) }) && attempts == 4 {
                assert!(outcome.ran.wall >= Duration::from_secs(1), "{:?}", outcome.ran.wall);
                assert_eq!(http(report, 1)["failures"][0]["retry_after_s"], 1);
            }
        }
    }
}

#[test]
fn a_fault_ends_the_run_with_the_servers_sentence() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let cases = [
        (Fault::SlowDown { retry_after_s: None }, "SlowDown: injected"),
        (Fault::NotFound, "NoSuchKey: injected"),
        (Fault::InternalError, "InternalError: injected"),
        (Fault::Moved { region: "eu-west-1" }, "eu-west-1"),
        (Fault::ShortBody { missing: 100 }, "20380 of 20480 bytes"),
        (Fault::LateFirstByte { delay: Duration::from_millis(1500) }, "within 1s"),
    ];
    for (fault, words) in cases {
        let proxy = proxy_of(&server, fault, 1);
        let outcome = run(&scratch, &six(&proxy.endpoint(), "", ""));
        outcome.failed(words);
        assert!(outcome.ran.err.contains("get of `f2`"), "{}", outcome.ran.err);
        assert_eq!(failed_ops(outcome.report(), 1, "get"), 1, "{fault:?}");
        assert!(left(&server).is_empty(), "objects remain after {fault:?}");
    }
}

/// Objects that the server has.
fn left(server: &Server) -> Vec<std::path::PathBuf> {
    crate::support::s3::runs::files(server.data())
}

#[test]
fn missing_objects_are_permitted_on_request() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let missing = "keys.members = { objects = [{ name = \"f0\", size = \"8k\" }, \
                   { name = \"gone\", size = \"8k\" }] }";
    let some = bucket(&server.endpoint(), &format!("{}\nkeep = true", keys(1, "8k")));
    done(&scratch, &(some + &phase("put", "op = \"put\", verify = {}")));
    let get = phase("get", "op = \"get\", verify = {}");
    let get = bucket(&server.endpoint(), &format!("{missing}\nkeep = true")) + &get;
    run(&scratch, &get).failed("gone");
    let report = done(&scratch, &get.replace("verify = {}", "verify = {}, missing_ok = true"));
    assert_eq!(failures(&report, 0, "missing"), Failed { attempts: 1, finals: 0, permitted: 1 });
    assert_eq!(ops(&report, 0, "get"), 2);
    let get = report.number("/phases/0/measurements/0/operations/get/bytes");
    assert_eq!(get, 8192.0, "a missing object has no bytes");
    assert_eq!(mismatches(&report, 0), 0, "nothing was read");
}

#[test]
fn resets_and_silent_ends_of_kept_connections_are_stale() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    for (fault, close_each, stale, class) in [
        (Fault::CloseAfter, false, 1, None),
        (Fault::ResetBeforeAnswer, false, 1, None),
        (Fault::AnnounceClose, false, 0, None),
        (Fault::ResetBeforeAnswer, true, 0, Some("reset")),
    ] {
        let proxy = proxy_of(&server, fault, 1);
        let plan = six(&proxy.endpoint(), "stop.continue_on_error = true", "");
        let close = format!("connections.close_each = {close_each}\n[[phase]]");
        let outcome = run(&scratch, &plan.replacen("[[phase]]", &close, 1));
        let report = outcome.report();
        let connections = &http(report, 1)["connections"];
        let about = format!("{fault:?}: {connections}");
        assert_eq!(connections["stale"], stale, "{about}");
        let failed = class.map_or(0, |class| failures(report, 1, class).finals);
        assert_eq!(failed, u64::from(class.is_some()), "{about}");
        assert_eq!(ops(report, 1, "get"), 6 - failed, "{about}");
        let closed = connections["closed_by_server"].as_u64().expect("a number");
        assert_eq!(closed, u64::from(!close_each), "{about}");
    }
}

#[test]
fn an_error_inside_success_fails_copies_and_completions() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let proxy = FaultProxy::start(server.address(), |request| {
        let completes = request.method == "POST" && request.target.contains("uploadId=");
        let copies = request.head.header("x-amz-copy-source").is_some();
        if completes || copies { Fault::ErrorInside200 } else { Fault::Pass }
    });
    let errors = "stop.continue_on_error = true";
    let mut plan = bucket(&proxy.endpoint(), &keys(2, "6m"));
    plan += &phase_until("parts", errors, "op = \"put\", part = \"5m\"");
    plan += &phase("put", "op = \"put\"");
    plan += &phase_until("copy", errors, "op = \"copy\"");
    let outcome = run(&scratch, &plan);
    for (at, row) in [(0, "complete_upload"), (2, "copy")] {
        let failed = failures(outcome.report(), at, "inside_success");
        assert_eq!(failed, Failed { attempts: 2, finals: 2, permitted: 0 }, "{row}");
        assert_eq!(failed_ops(outcome.report(), at, row), 2);
    }
    let objects = &http(outcome.report(), 0)["objects"];
    assert_eq!((&objects["open_uploads"], &objects["aborted_uploads"]), (&0.into(), &2.into()));
    assert_eq!(ops(outcome.report(), 0, "object"), 0, "no object is complete");
    assert!(open_uploads(&server).is_none_or(|open| open == 0));
}

/// Open uploads of the bucket `data`; none without boto3.
pub fn open_uploads(server: &Server) -> Option<usize> {
    let script = "
try:
    print(len(s3.list_multipart_uploads(Bucket='data').get('Uploads', [])))
except s3.exceptions.NoSuchBucket:
    print(0)
";
    match boto(server, &server.endpoint(), script, &[]) {
        Ok(out) => Some(out.trim().parse().expect("a number")),
        Err(reason) => {
            skip(&reason);
            None
        }
    }
}

#[test]
fn clocks_caches_and_slow_nodes_are_in_the_report() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let skewed = FaultProxy::start(server.address(), |request| {
        if reads(request, "f2") { Fault::DateSkew { seconds: 1200 } } else { Fault::Pass }
    });
    let report = done(&scratch, &six(&skewed.endpoint(), "", ""));
    let clock = &http(&report, 1)["clock"];
    let max = clock["max_s"].as_f64().expect("a clock");
    assert!((1190.0..1210.0).contains(&max), "{clock}");
    assert!(clock["min_s"].as_f64().is_some_and(|min| min.abs() < 10.0), "{clock}");

    let cache = FaultProxy::start(server.address(), |request| {
        if reads(request, "f2") { Fault::Cached } else { Fault::Pass }
    });
    let report = done(&scratch, &six(&cache.endpoint(), "", ""));
    let between = &http(&report, 1)["between"];
    let counts = ["via", "aged", "cache_hits"].map(|name| between[name].as_u64());
    assert_eq!(counts, [Some(1); 3], "{between}");
}

#[test]
fn a_slow_node_is_in_the_table_of_peers() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let nodes = match Fleet::of_three(&scratch) {
        Ok(nodes) => nodes,
        Err(reason) => return skip(&reason),
    };
    let delay = Duration::from_millis(150);
    let proxies = nodes.with_slow_node(1, delay);
    let endpoints: Vec<String> = proxies.iter().map(FaultProxy::endpoint).collect();
    let plan = bucket(&endpoints.join("\", \""), &keys(12, "4k"));
    let plan =
        plan + &phase("put", "op = \"put\", depth = 6") + &phase("get", "op = \"get\", depth = 6");
    let report = done(&scratch, &plan);
    let peers = http(&report, 1)["peers"].as_array().expect("peers");
    assert_eq!(peers.len(), 3, "{peers:?}");
    for peer in peers {
        let is_slow = peer["address"] == proxies[1].address().to_string();
        let least = peer["first_byte"]["min_ns"].as_u64().expect("a time");
        assert_eq!(least >= delay.as_nanos() as u64, is_slow, "{peer}");
        assert_eq!(peer["connections"], 2, "{peer}");
        assert!(endpoints.iter().any(|endpoint| peer["endpoint"] == **endpoint), "{peer}");
    }
}

/// Interrupts a run of reads whose first one meets this fault; the time until its end.
fn interrupted(
    server: &Server,
    scratch: &Scratch,
    fault: Fault,
    work: &str,
) -> (Outcome, Duration) {
    let proxy = proxy_of(server, fault, usize::MAX);
    let lines = format!("{}\nconnections.answer_timeout = \"50s\"", keys(3, "4k"));
    let get = phase("get", &format!("op = \"get\", {work}"));
    let plan = bucket(&proxy.endpoint(), &lines) + &phase("put", "op = \"put\"") + &get;
    let mut started = start(scratch, &plan);
    let began = Instant::now();
    while !proxy.requests().iter().any(|request| request.fault != Fault::Pass) {
        assert!(!started.running.has_ended(), "{}", started.running.err_so_far());
        assert!(began.elapsed() < Duration::from_secs(30), "the fault never came");
        std::thread::sleep(Duration::from_millis(5));
    }
    let began = Instant::now();
    started.running.signal(Signal::INT);
    let outcome = started.wait();
    (outcome, began.elapsed())
}

#[test]
fn an_interrupt_ends_waits() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let throttled = Fault::SlowDown { retry_after_s: Some(20) };
    let late = Fault::LateFirstByte { delay: Duration::from_secs(12) };
    for (fault, work) in [(throttled, "retry = { attempts = 9 }"), (late, "")] {
        let (outcome, time) = interrupted(&server, &scratch, fault, work);
        assert!(time < Duration::from_secs(8), "{time:?} after {fault:?}");
        assert!(outcome.ran.err.contains("interrupted"), "{}", outcome.ran.err);
        assert!(left(&server).is_empty(), "objects remain after {fault:?}");
    }
}
