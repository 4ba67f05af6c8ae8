//! candor as fio beside fio itself, over job files that use each common option at least once.
//!
//! Each file of `fio_peer/jobs` says in its first line what must be alike beyond the exit status,
//! stderr being empty or not, and the tree of keys of the JSON:
//!
//! | word | alike |
//! | --- | --- |
//! | `counts` | errors, operations and bytes per job and direction |
//! | `slat` | how many submission latencies |
//! | `batches` | operations handed over and taken back at a time |
//! | `syncs` | flushes per job |
//! | `order` | operations with offsets and lengths, in order |
//! | `set` | the same, in whatever order |
//! | `spread` | shares of directions and of parts of the file (chi-square) |
//! | `trace` | what `write_iolog` tells of the operations |
//! | `layout` | files that are left, and their sizes |
//! | `exit` | nothing more: both refuse or fail |
//!
//! `fio_peer/differences.txt` lists the differences that are meant, each with its reason. The test
//! fails if one is not listed, and if a listed one is gone, each time of three.

mod case;
mod compare;
mod offsets;
mod tree;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Scratch, is_of_today, quiet_host, skip};
use case::{Case, Tool};

/// Runs at a time: fio sleeps for most of its start.
const SIDE_BY_SIDE: usize = 9;
/// How often a case may surprise before that counts.
const TRIES: usize = 3;

const MEANT: &str = include_str!("fio_peer/differences.txt");

#[test]
fn candor_does_what_fio_does() {
    if !Path::new("/usr/bin/fio").exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    // Four pairs of loads at a time are much to measure beside.
    let _host = quiet_host();
    let mut cases = case::all();
    assert!(cases.len() >= 150, "{} job files", cases.len());
    // FIO_PEER=verify runs the files with that in their names, an empty FIO_PEER all of them.
    match std::env::var("FIO_PEER") {
        Ok(only) => cases.retain(|case| case.name.contains(&only)),
        Err(_) => cases.retain(|case| is_of_today(&case.name, 3)),
    }
    let surprises = surprises(&cases, &listed());
    println!("{} job files, {} of them with surprises", cases.len(), surprises.len());
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Every difference is given a reason.
#[test]
fn differences_are_explained() {
    for (what, why) in listed() {
        assert!(why.len() > 10, "`{what}` has no reason");
    }
}

/// Lines `what | why`.
fn listed() -> Vec<(String, String)> {
    let lines = MEANT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (what, why) = line.split_once(" | ").unwrap_or_else(|| panic!("no reason: {line}"));
            (what.trim().to_owned(), why.trim().to_owned())
        })
        .collect()
}

/// Differences that are not listed, and listed ones that are gone, of all cases.
fn surprises(cases: &[Case], listed: &[(String, String)]) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let lines = surprises_of(case, listed);
                    found.lock().expect("no thread panicked").extend(lines);
                }
            });
        }
    });
    found.into_inner().expect("no thread panicked")
}

/// Surprises of a case each time it is tried: on a busy host a time that a job file asks for can
/// pass before either tool got its turn.
fn surprises_of(case: &Case, listed: &[(String, String)]) -> Vec<String> {
    let own = format!("{}: ", case.name);
    let meant: BTreeSet<&str> =
        listed.iter().filter_map(|(what, _)| what.strip_prefix(own.as_str())).collect();
    let mut surprises = Vec::new();
    for _ in 0..TRIES {
        let scratch = Scratch::new();
        let fio = case.run(Tool::Fio, &scratch);
        let candor = case.run(Tool::Candor, &scratch);
        let found = compare::compare(case, &fio, &candor);
        let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
        let fresh = found.difference(&meant).map(|what| format!("{own}{what}"));
        let gone = meant.difference(&found).map(|what| format!("{own}{what}: listed, but alike"));
        surprises = fresh.chain(gone).collect();
        if surprises.is_empty() {
            break;
        }
        // Past the test's own capture, so that it stands in the log whatever comes of it.
        let _ = writeln!(std::io::stderr(), "fio_peer: {}", surprises.join("\nfio_peer: "));
    }
    surprises
}
