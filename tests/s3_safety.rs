//! Objects of others stay as they are; the run leaves nothing; no secret is written anywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::s3_faults::open_uploads;
use crate::support::s3::runs::{
    Started, bucket, command, done, files, http, keys, ops, phase, phase_until, plan, run, start,
};
use crate::support::s3::{Fault, FaultProxy, Options, Request, Server};
use crate::support::{Running, Scratch, shared_host, skip};

/// versitygw; a skip where it is missing.
fn versitygw(scratch: &Scratch) -> Option<Server> {
    Server::versitygw(scratch, &Options::default()).map_err(|reason| skip(&reason)).ok()
}

/// An object of another user in the bucket `data`.
fn foreign(server: &Server, key: &str) -> PathBuf {
    let path = server.data().join("data").join(key);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a bucket");
    fs::write(&path, "precious").expect("an object");
    path
}

#[test]
fn foreign_objects_are_refused_and_left_alone() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let precious = [foreign(&server, "in/f1"), foreign(&server, "in/other")];
        let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
        let lines = format!("prefix = \"in/\"\n{}", keys(3, "1k"));
        let bucket = bucket(&proxy.endpoint(), &lines);
        for op in ["put", "delete", "delete_many", "copy"] {
            let work = phase("x", &format!("op = \"{op}\""));
            let outcome = run(&scratch, &plan(&bucket, "", &work));
            outcome.failed("has objects below `in/` that this run did not put, such as `in/f1`");
            outcome.failed("overwrite");
        }
        let changing = proxy.requests().into_iter().filter(|request| request.method != "GET");
        assert_eq!(changing.count(), 0, "{}", server.name());

        // Reads need no consent; objects of other names stay, even with consent.
        assert!(precious.iter().all(|path| fs::read(path).is_ok_and(|bytes| bytes == b"precious")));
        let put = phase("put", "op = \"put\"") + &phase("get", "op = \"get\"");
        done(&scratch, &plan(&bucket, "overwrite = true", &put));
        assert_eq!(files(server.data()), [Path::new("data/in/other")]);
        assert_eq!(fs::read(&precious[1]).expect("the object"), b"precious");
    }
}

#[test]
fn objects_are_kept_on_request_and_buckets_are_removed() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let bucket = bucket(&server.endpoint(), &keys(3, "1k"));
        let put = phase("put", "op = \"put\"");
        let plain = plan(&bucket, "", &put);
        done(&scratch, &plain);
        assert!(!server.data().join("data").exists(), "the bucket of {} remains", server.name());
        let outcome = run(&scratch, &plain.replace("create = true", "create = false"));
        outcome.failed("data");
        assert!(!server.data().join("data").exists(), "{}", server.name());
        done(&scratch, &plan(&bucket, "keep = true", &put));
        assert_eq!(files(server.data()).len(), 3);
        // The bucket existed before this run.
        done(&scratch, &plan(&bucket, "overwrite = true", &put));
        assert_eq!(files(server.data()).len(), 0);
        assert!(server.data().join("data").exists(), "{}", server.name());
    }
}

#[test]
fn a_refusal_makes_no_bucket() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    foreign(&server, "f1");
    let data = bucket(&server.endpoint(), &keys(3, "1k"));
    let fresh = data.replace("\"data\"", "\"fresh\"");
    let plan = fresh + &data + &phase("put", "op = \"put\"");
    let plan = plan.replace("buckets = [\"data\"]", "buckets = [\"fresh\", \"data\"]");
    run(&scratch, &plan).failed("did not put");
    assert!(!server.data().join("fresh").exists(), "the other bucket was made");
    let ran = dry(&scratch, &plan);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!server.data().join("fresh").exists(), "a dry run made a bucket");
}

/// A dry run of a plan.
fn dry(scratch: &Scratch, plan: &str) -> crate::support::Ran {
    let file = scratch.file("dry.toml", plan);
    Running::start(&mut command(&["run", &file, "--dry-run"]), Stdio::null()).wait()
}

/// Input that is wrong, and words of its message.
struct Bad {
    from: &'static str,
    to: &'static str,
    words: &'static [&'static str],
}

const BAD: &[Bad] = &[
    Bad { from: "http://", to: "", words: &["http://"] },
    Bad { from: "http://", to: "ftp://", words: &["ftp"] },
    Bad { from: "http://", to: "https://", words: &["TLS"] },
    Bad { from: "127.0.0.1", to: "no-such-host.invalid", words: &["no-such-host.invalid"] },
    Bad { from: "bucket = \"data\"", to: "bucket = \"Not_valid\"", words: &["Not_valid"] },
    Bad { from: "create = true", to: "create = false", words: &["NoSuchBucket", "create = true"] },
    Bad { from: "create = true", to: "region = \"eu-west-9\"", words: &["eu-west-9"] },
    Bad { from: "part = \"5m\"", to: "part = \"1k\"", words: &["parts", "10000"] },
    Bad {
        from: "endpoints = [\"http:",
        to: "ca_file = \"/nonexistent/ca\"\nendpoints = [\"https:",
        words: &["/nonexistent/ca"],
    },
    Bad {
        from: "create = true",
        to: "credentials = { file = \"/nonexistent/users\" }",
        words: &["/nonexistent/users"],
    },
    Bad { from: "create = true", to: "credentials = { profile = \"nobody\" }", words: &["nobody"] },
    Bad {
        from: "create = true",
        to: "credentials = { given = [\"unknown-key\"] }",
        words: &["unknown-key"],
    },
];

#[test]
fn bad_input_is_named_before_anything_is_made() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let put = phase("put", "op = \"put\", part = \"5m\"");
    let good = bucket(&server.endpoint(), &keys(1, "20m")) + &put;
    for Bad { from, to, words } in BAD {
        assert!(good.contains(from), "{from}");
        let outcome = run(&scratch, &good.replacen(from, to, 1));
        words.iter().for_each(|words| outcome.failed(words));
        assert!(outcome.ran.wall < Duration::from_secs(20), "{to}: {:?}", outcome.ran.wall);
        assert!(outcome.report.is_none(), "{to} has a report");
        assert_eq!(fs::read_dir(server.data()).expect("the data").count(), 0, "after {to}");
    }
    let port = server.address().port().to_string();
    for (port_text, words) in [("99999", "99999"), ("1", "correct the endpoint")] {
        run(&scratch, &good.replace(&port, port_text)).failed(words);
    }
    for (name, value, words) in [
        ("AWS_SECRET_ACCESS_KEY", "wrong", "SignatureDoesNotMatch"),
        ("AWS_ACCESS_KEY_ID", "stranger", "access key ID"),
        ("AWS_ACCESS_KEY_ID", "", "AWS_ACCESS_KEY_ID"),
    ] {
        let file = scratch.file("bad.toml", &good);
        let mut command = command(&["run", &file]);
        let ran = Running::start(command.env(name, value), Stdio::null()).wait();
        assert_ne!(ran.code, Some(0), "{name}={value}");
        assert!(ran.err.contains(words), "{name}={value}: {}", ran.err);
    }
    assert_eq!(fs::read_dir(server.data()).expect("the data").count(), 0);
}

#[test]
fn parts_that_the_server_refuses_leave_no_upload() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let put = phase("put", "op = \"put\", part = \"1m\"");
    let plan = bucket(&server.endpoint(), &format!("{}\nkeep = true", keys(1, "3m"))) + &put;
    let outcome = run(&scratch, &plan);
    outcome.failed("EntityTooSmall");
    assert!(open_uploads(&server).is_none_or(|open| open == 0));
}

#[test]
fn no_output_has_a_secret() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let plan = bucket(&server.endpoint(), &keys(2, "1k")) + &phase("put", "op = \"put\"");
    let file = scratch.file("plan.toml", &plan);
    let folder = scratch.outside("out");
    fs::create_dir(&folder).expect("a folder");
    let names = ["report.json", "report.html", "report.csv", "stream.jsonl", "history"];
    let [json, html, csv, stream, history] = names.map(|name| format!("{folder}/{name}"));
    let outputs = ["--json", &json, "--html", &html, "--csv", &csv, "--json-stream", &stream];
    let words = [&["run", &file, "--verbose"], &outputs[..]].concat();
    for (name, value, ok) in [
        ("NONE", "", true),
        ("AWS_SESSION_TOKEN", "candor-token", false),
        ("AWS_SECRET_ACCESS_KEY", "candor-secret-wrong", false),
    ] {
        let mut command = command(&words);
        command.env("CANDOR_HISTORY", &history).env(name, value);
        let ran = Running::start(&mut command, Stdio::null()).wait();
        assert_eq!(ran.code == Some(0), ok, "{name}: {}", ran.err);
        let texts = [&ran.out, &ran.err];
        for text in texts {
            assert!(!text.contains("candor-secret") && !text.contains("candor-token"), "{text}");
        }
    }
    let ran = dry(&scratch, &plan);
    assert!(!ran.out.contains("candor-secret") && !ran.err.contains("candor-secret"));
    let written = files(Path::new(&folder));
    assert!(written.len() > outputs.len() / 2, "{written:?}");
    for path in written {
        let bytes = fs::read(Path::new(&folder).join(&path)).expect("a file");
        for secret in [Server::SECRET_KEY, "candor-token"] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{secret} is in {}", path.display());
        }
    }
}

/// Parts of uploads.
fn is_part(request: &Request) -> bool {
    request.method == "PUT" && request.target.contains("partNumber=")
}

/// Starts uploads of 8 workers through a proxy with slow parts, and waits for some parts.
fn uploading(scratch: &Scratch, proxy: &FaultProxy, lines: &str) -> Started {
    let shared = "keys.members = { share_above = \"5m\", objects = [\
                  { name = \"a\", size = \"40m\" }, { name = \"b\", size = \"40m\" }] }";
    let put = phase("put", "op = \"put\", part = \"5m\"") + "workers = 8\n";
    let plan = bucket(&proxy.endpoint(), &format!("{shared}\n{lines}"));
    let mut started = start(scratch, &(plan + &put));
    let began = Instant::now();
    while proxy.requests().iter().filter(|request| is_part(request)).count() < 3 {
        assert!(!started.running.has_ended(), "{}", started.running.err_so_far());
        assert!(began.elapsed() < Duration::from_secs(40), "no part arrived");
        std::thread::sleep(Duration::from_millis(5));
    }
    started
}

/// A proxy that delays the answers to parts.
fn slow_parts(server: &Server) -> FaultProxy {
    FaultProxy::start(server.address(), |request| {
        let delay = Duration::from_millis(300);
        if is_part(request) { Fault::LateFirstByte { delay } } else { Fault::Pass }
    })
}

#[test]
fn an_interrupt_leaves_no_upload_and_no_object() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    for server in Server::candidates(&scratch) {
        let proxy = slow_parts(&server);
        let started = uploading(&scratch, &proxy, "");
        started.running.signal(Signal::INT);
        let outcome = started.wait();
        assert!(outcome.ran.err.contains("interrupted"), "{}", outcome.ran.err);
        assert!(!server.data().join("data").exists(), "{}: {}", server.name(), outcome.ran.err);
        let created =
            proxy.requests().iter().filter(|one| one.target.ends_with("?uploads=")).count();
        let objects = &http(outcome.report(), 0)["objects"];
        assert_eq!(objects["open_uploads"], 0, "{}: {created} created", server.name());
    }
}

#[test]
fn the_next_run_names_what_a_killed_one_left() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let proxy = slow_parts(&server);
    let started = uploading(&scratch, &proxy, "prefix = \"p/\"");
    started.running.signal(Signal::KILL);
    started.running.wait();
    if open_uploads(&server).is_some_and(|open| open == 0) {
        panic!("the upload is gone");
    }
    let next = bucket(&server.endpoint(), &format!("prefix = \"p/\"\n{}", keys(2, "1k")));
    let put = phase("put", "op = \"put\"");
    run(&scratch, &(next.clone() + &put)).failed("open upload");
    // With consent the run continues, and does not abort the uploads of the other run.
    done(&scratch, &(next.replace("prefix", "overwrite = true\nprefix") + &put));
    assert!(open_uploads(&server).is_none_or(|open| open > 0));
}

#[test]
fn objects_that_cannot_be_removed_are_named() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let mut plan = bucket(&server.endpoint(), &keys(5, "1k")) + &phase("put", "op = \"put\"");
    plan += &phase_until("get", "stop.time = \"20s\"", "op = \"get\"");
    let proxy = FaultProxy::start(server.address(), |_| Fault::Pass);
    let plan = plan.replace(&server.endpoint(), &proxy.endpoint());
    let mut started = start(&scratch, &plan);
    let began = Instant::now();
    while proxy.requests().iter().filter(|one| one.target == "/data/f1").count() < 3 {
        assert!(!started.running.has_ended(), "{}", started.running.err_so_far());
        assert!(began.elapsed() < Duration::from_secs(30), "no read arrived");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(proxy);
    let outcome = started.wait();
    outcome.failed("5 objects are left");
    outcome.failed("the bucket is left");
    assert_eq!(files(server.data()).len(), 5);
}

#[test]
fn certificates_are_verified_unless_the_plan_is_insecure() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let options = Options { tls: true, ..Options::default() };
    let Some(server) = Server::versitygw(&scratch, &options).map_err(|why| skip(&why)).ok() else {
        return;
    };
    let work = phase("put", "op = \"put\", depth = 2") + &phase("get", "op = \"get\", verify = {}");
    let work = work.replace("op = \"put\"", "op = \"put\", verify = {}");
    let bucket = bucket(&server.endpoint(), &keys(4, "30k"));
    let outcome = run(&scratch, &plan(&bucket, "", &work));
    outcome.failed("certificate");
    assert!(outcome.report.is_none());

    let file = server.certificate().expect("a certificate");
    let report = done(&scratch, &plan(&bucket, &format!("ca_file = \"{file}\""), &work));
    let connections = &http(&report, 1)["connections"];
    assert_eq!(connections["unverified"], false, "{connections}");
    assert!(
        connections["tls_version"].as_str().is_some_and(|text| text.contains("TLS")),
        "{connections}"
    );
    assert_eq!(http(&report, 0)["form"]["payload"], "UNSIGNED-PAYLOAD");

    let report = done(&scratch, &plan(&bucket, "insecure = true", &work));
    assert_eq!(http(&report, 1)["connections"]["unverified"], true);
    assert_eq!(ops(&report, 1, "get"), 4);
}

/// Most memory of a run, in KiB, and its time on CPUs.
struct Usage {
    resident_kib: u64,
    cpu: Duration,
}

/// Runs a plan, and reads the kernel's counters of the process until it ends.
fn used(scratch: &Scratch, plan: &str) -> Usage {
    let mut started = start(scratch, plan);
    let status = format!("/proc/{}/status", started.running.pid());
    let stat = format!("/proc/{}/stat", started.running.pid());
    let mut used = Usage { resident_kib: 0, cpu: Duration::ZERO };
    while !started.running.has_ended() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        used.resident_kib = used.resident_kib.max(kib.unwrap_or(0));
        let text = fs::read_to_string(&stat).unwrap_or_default();
        let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let ticks =
            fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
        // The kernel reports hundredths of a second.
        used.cpu = used.cpu.max(Duration::from_millis(10 * ticks.sum::<u64>()));
        std::thread::sleep(Duration::from_millis(10));
    }
    started.wait().done();
    used
}

#[test]
fn a_thousand_connections_work() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let limits = Some(crate::support::s3::Limits { requests: 4000, connections: 4000 });
    let options = Options { limits, ..Options::default() };
    let Some(server) = Server::versitygw(&scratch, &options).map_err(|why| skip(&why)).ok() else {
        return;
    };
    for (depth, workers) in [(1000, 1), (250, 4)] {
        let put = phase("put", &format!("op = \"put\", depth = {depth}"));
        let put = format!("{put}workers = {workers}\n");
        let get = put.replace("\"put\"", "\"get\"");
        let used = used(&scratch, &(bucket(&server.endpoint(), &keys(1500, "4k")) + &put + &get));
        let Usage { resident_kib, cpu } = used;
        let per_request = cpu / 3000;
        println!(
            "{workers} workers of {depth} connections: {resident_kib} KiB, {cpu:?} of CPU, \
             {per_request:?} per request"
        );
    }
}

#[test]
fn memory_does_not_grow_with_requests() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(server) = versitygw(&scratch) else { return };
    let resident = [2_000, 20_000].map(|count| {
        let get =
            phase_until("get", &format!("stop.ops = {}", count / 2), "op = \"get\", depth = 8");
        let put = phase("put", "op = \"put\", depth = 8") + "workers = 2\n";
        let plan = bucket(&server.endpoint(), &keys(200, "1k")) + &put + &get + "workers = 2\n";
        used(&scratch, &plan).resident_kib
    });
    println!("{} KiB after 2,000 requests, {} KiB after 20,000", resident[0], resident[1]);
    assert!(resident[1] < resident[0] + (10 << 10), "{resident:?} KiB");
}
