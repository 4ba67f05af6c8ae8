//! `candor check` on the bucket of a real server.

use crate::support::s3::Server;
use crate::support::{Scratch, candor, measured};

#[test]
fn a_bucket_gets_the_whole_series_and_is_left_as_it_was() {
    let scratch = Scratch::new();
    let Some(server) = Server::candidates(&scratch).next() else { return };
    let users = format!("{}:{}\n", Server::ACCESS_KEY, Server::SECRET_KEY);
    let users = scratch.file("users", &users);
    let endpoint = server.endpoint();
    let words = [
        "check",
        "s3://data/a",
        "--create",
        "--endpoint",
        &endpoint,
        "--credentials",
        &users,
        "--seconds",
        "3",
        "--size",
        "16m",
        "--expect",
        "get 4 KiB, 1 connection: mean < 60s",
    ];
    let (ran, report) = measured(&scratch, &words);
    // A server on this host leaves results unverified, and they decide no expectation.
    assert_eq!(ran.code, Some(10), "{}: {}", server.name(), ran.err);
    assert!(ran.err.contains("undecided"), "{}", ran.err);
    let phases = report.list("/phases");
    assert_eq!(phases.len(), 15, "{}", server.name());
    for phase in phases {
        let name = phase["name"].as_str().unwrap_or_default();
        assert!(ran.out.contains(name), "{name} is not shown:\n{}", ran.out);
        let failed = phase["measurements"][0]["errors"].as_array().map_or(0, Vec::len);
        assert_eq!(failed, 0, "{} {name}: {phase}", server.name());
    }
    assert!(!server.data().join("data").exists(), "{}: the bucket is left", server.name());
}

#[test]
fn options_that_do_not_fit_are_refused() {
    for (words, sentence) in [
        ("check s3://data --write", "--write is for files and devices"),
        ("check s3:// --seconds 3", "`s3://` names no bucket"),
        ("check . --anonymous", "--anonymous is for buckets"),
    ] {
        let ran = candor(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{words}: {}", ran.err);
        assert!(ran.err.contains(sentence), "{words}: {}", ran.err);
    }
}
