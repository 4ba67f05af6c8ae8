//! `candor run` and `candor scenario` on buckets of real servers.

use std::fs;
use std::path::Path;

use crate::support::s3::Server;
use crate::support::{Ran, Report, Scratch, candor, measured};

/// Files below a directory, none if it is missing.
fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let counts = entries.map(|entry| match entry.path() {
        path if path.is_dir() => files(&path),
        path => usize::from(path.is_file()),
    });
    counts.sum()
}

/// Words that sign as the owner of a server.
fn access(server: &Server, scratch: &Scratch) -> [String; 4] {
    let users = format!("{}:{}\n", Server::ACCESS_KEY, Server::SECRET_KEY);
    let users = scratch.file("users", &users);
    ["--endpoint".into(), server.endpoint(), "--credentials".into(), users]
}

/// Runs candor on a bucket of a server.
fn on(server: &Server, scratch: &Scratch, words: &str) -> (Ran, Report) {
    let access = access(server, scratch);
    let words = words.split(' ').chain(access.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(["--no-follow-ups"]).collect();
    let (ran, report) = measured(scratch, &words);
    assert_eq!(ran.code, Some(0), "{} {words:?}: {}", server.name(), ran.err);
    (ran, report)
}

/// Number of an operation's requests in a phase, and of those that failed.
fn requests(report: &Report, phase: usize, operation: &str) -> [u64; 2] {
    let of = report.at(&format!("/phases/{phase}/measurements/0/operations/{operation}"));
    ["ops", "failed"].map(|key| of[key].as_u64().unwrap_or(0))
}

fn bytes(report: &Report, phase: usize, operation: &str) -> u64 {
    let at = format!("/phases/{phase}/measurements/0/operations/{operation}/bytes");
    report.at(&at).as_u64().unwrap_or(0)
}

#[test]
fn runs_on_each_server_do_what_the_plan_says() {
    let scratch = Scratch::new();
    for server in Server::candidates(&scratch) {
        every_operation_runs_and_nothing_is_left(&server, &scratch);
        parts_ranges_and_mixes_move_the_bytes_of_the_plan(&server, &scratch);
        objects_of_others_are_kept(&server, &scratch);
    }
}

fn every_operation_runs_and_nothing_is_left(server: &Server, scratch: &Scratch) {
    let (_, report) = on(
        server,
        scratch,
        "run --target s3://data/a --create --rw put,get,head,list,copy,delete,delete-many \
             --size 16k --objects 40 --depth 4 --workers 2 --verify",
    );
    for (phase, operation) in
        [(0, "put"), (1, "get"), (2, "head"), (4, "copy"), (5, "delete"), (6, "put")]
    {
        assert_eq!(requests(&report, phase, operation), [40, 0], "{} {operation}", server.name());
    }
    for (phase, operation) in [(3, "list"), (7, "delete_many")] {
        let [done, failed] = requests(&report, phase, operation);
        assert!(done >= 1 && failed == 0, "{} {operation}", server.name());
    }
    let checked = report.at("/phases/1/measurements/0/verify/blocks").as_u64();
    assert_eq!(checked, Some(160), "{}: blocks of 4 KiB", server.name());
    assert!(!server.data().join("data").exists(), "{}: the bucket is left", server.name());
}

fn parts_ranges_and_mixes_move_the_bytes_of_the_plan(server: &Server, scratch: &Scratch) {
    let (_, report) = on(
        server,
        scratch,
        "run --target s3://data/a --create --rw put,get --size 12m --objects 2 --part 5m \
             --bs 1m --access permutation --depth 4 --verify --checksum crc32c",
    );
    assert_eq!(requests(&report, 0, "put_part"), [6, 0], "{}", server.name());
    assert_eq!(requests(&report, 1, "get"), [24, 0], "{}", server.name());
    assert_eq!(bytes(&report, 1, "get"), 24 << 20);
    let (_, report) = on(
        server,
        scratch,
        "run --target s3://data/b --create --rw get:60,put:30,delete:10 --size 4k \
             --objects 50 --depth 4 --workers 2 --ops 200 --verify --prefix-hash 2",
    );
    let [gets, puts, deletes] =
        ["get", "put", "delete"].map(|operation| requests(&report, 1, operation));
    assert_eq!([gets[1], puts[1], deletes[1]], [0, 0, 0], "{}", server.name());
    assert!(gets[0] > puts[0] && puts[0] > deletes[0] && deletes[0] > 0, "{gets:?} {puts:?}");
    assert!(!server.data().join("data").exists(), "{}: the bucket is left", server.name());
}

fn objects_of_others_are_kept(server: &Server, scratch: &Scratch) {
    let put = "run --target s3://data/a --rw put --size 4k --objects 20 --depth 4";
    on(server, scratch, &format!("{put} --create --keep"));
    let bucket = server.data().join("data");
    assert_eq!(files(&bucket), 20, "{}", server.name());
    let (_, report) = on(
        server,
        scratch,
        "run --target s3://data/a --rw get,list --existing --objects 12 --depth 4",
    );
    assert_eq!(requests(&report, 0, "get"), [12, 0], "{}", server.name());
    assert_eq!(files(&bucket), 20, "{}", server.name());
    let access = access(server, scratch);
    let words = put.split(' ').chain(access.iter().map(String::as_str));
    let refused = candor(&words.collect::<Vec<_>>());
    assert_eq!(refused.code, Some(3), "{}: {}", server.name(), refused.err);
    assert!(refused.err.contains("this run did not put"), "{}", refused.err);
    assert!(refused.err.contains("--overwrite"), "{}", refused.err);
    assert_eq!(files(&bucket), 20, "{}", server.name());
    let fewer = "run --target s3://data/a --rw put --size 4k --objects 16 --overwrite";
    on(server, scratch, fewer);
    assert_eq!(files(&bucket), 4, "{}: the objects that were not replaced", server.name());
}

#[test]
fn input_that_cannot_work_is_refused_before_the_first_phase() {
    let scratch = Scratch::new();
    let Some(server) = Server::candidates(&scratch).next() else { return };
    let endpoint = format!("--endpoint {}", server.endpoint());
    let users = format!("{}:{}\n", Server::ACCESS_KEY, Server::SECRET_KEY);
    let users = format!("--credentials {}", scratch.file("users", &users));
    let others = scratch.file("others", &format!("{}:wrong-secret\n", Server::ACCESS_KEY));
    let others = format!("--credentials {others}");
    let broken = format!("--credentials {}", scratch.file("broken", "no-colon\n"));
    let good = "s3://data/a";
    for (target, servers, sentence) in [
        (good, format!("--endpoint 127.0.0.1:9000 {users}"), "127.0.0.1:9000"),
        (good, format!("--endpoint http://127.0.0.1:99999 {users}"), "99999"),
        (good, format!("--endpoint ftp://127.0.0.1 {users}"), "ftp"),
        (good, format!("--endpoint http://127.0.0.1:1 {users}"), "127.0.0.1:1"),
        (good, format!("{endpoint} {others}"), "secret"),
        (good, format!("{endpoint} {broken}"), "broken"),
        (good, format!("{endpoint} --credentials /nonexistent/users"), "/nonexistent/users"),
        (good, format!("{endpoint} --anonymous"), "bucket data"),
        (
            good,
            format!("--endpoint https://h --ca-file /nonexistent/ca {users}"),
            "/nonexistent/ca",
        ),
        (good, format!("{endpoint} {users}"), "does not exist"),
        (good, format!("{endpoint} {users} --region elsewhere"), "region"),
        ("s3://No_Bucket/a", format!("{endpoint} {users}"), "No_Bucket"),
    ] {
        let words = format!("run --target {target} --rw put --objects 1 {servers}");
        let ran = candor(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{words}: {}", ran.err);
        assert!(ran.err.contains(sentence) && ran.err.contains("= help: "), "{words}: {}", ran.err);
    }
    assert_eq!(files(server.data()), 0, "nothing was made");
}

#[test]
fn a_dry_run_prints_the_plan_and_asks_no_server() {
    let words = "run --target s3://data/a --endpoint http://127.0.0.1:1 --rw get --dry-run";
    let ran = candor(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("[[bucket]]") && ran.out.contains("name = \"fill\""), "{}", ran.out);
    let ran = candor(&["run", "s3://data/a", "--rw", "get"]);
    assert!(ran.err.contains("name it as the target"), "{}", ran.err);
}

#[test]
fn scenarios_run_on_a_bucket_and_leave_nothing() {
    let scratch = Scratch::new();
    let Some(server) = Server::candidates(&scratch).next() else { return };
    for (name, phases) in
        [("data-loader-s3", 4), ("checkpoint-s3", 2), ("backup-s3", 4), ("lakehouse", 3)]
    {
        let words = format!("scenario run {name} s3://data/a --create --scale 0.02 --seconds 0.3");
        let (_, report) = on(&server, &scratch, &words);
        assert_eq!(report.list("/phases").len(), phases, "{name}");
        assert!(!server.data().join("data").exists(), "{name}: the bucket is left");
    }
    for (words, sentence) in [
        ("lakehouse .", "lakehouse works on a bucket; write s3://BUCKET/PREFIX"),
        ("mail s3://data", "mail works on files; name a directory"),
        ("mail . --insecure", "--insecure is for buckets"),
    ] {
        let words: Vec<&str> = ["scenario", "run"].into_iter().chain(words.split(' ')).collect();
        let ran = candor(&words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.err.contains(sentence), "{words:?}: {}", ran.err);
    }
}
