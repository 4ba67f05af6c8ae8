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
//! fails if one is not listed, and if a listed one is gone.

mod case;
mod compare;
mod offsets;
mod tree;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Scratch, skip};
use case::{Case, Tool};

/// Runs at a time: fio sleeps for most of its start.
const SIDE_BY_SIDE: usize = 4;

const MEANT: &str = include_str!("fio_peer/differences.txt");

#[test]
fn candor_does_what_fio_does() {
    if !Path::new("/usr/bin/fio").exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    let mut cases = case::all();
    assert!(cases.len() >= 150, "{} job files", cases.len());
    // While working on one: FIO_PEER=verify runs the files with that in their names.
    let only = std::env::var("FIO_PEER").unwrap_or_default();
    cases.retain(|case| case.name.contains(&only));
    let found = differences(&cases);
    let meant = listed().into_iter().map(|(what, _)| what);
    let meant: BTreeSet<String> = meant.filter(|what| what.contains(&only)).collect();
    let fresh: Vec<_> = found.difference(&meant).cloned().collect();
    let gone: Vec<_> = meant.difference(&found).cloned().collect();
    println!(
        "{} job files, {} differences, {} of them meant",
        cases.len(),
        found.len(),
        found.len() - fresh.len()
    );
    assert!(fresh.is_empty(), "differences that are not meant:\n{}", fresh.join("\n"));
    assert!(gone.is_empty(), "listed, but alike by now:\n{}", gone.join("\n"));
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
    let split = |line: &str| {
        let (what, why) = line.split_once(" | ").unwrap_or_else(|| panic!("no reason: {line}"));
        (what.trim().to_owned(), why.trim().to_owned())
    };
    lines.map(split).collect()
}

/// All differences, as `case: what`.
fn differences(cases: &[Case]) -> BTreeSet<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeSet::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let scratch = Scratch::new();
            let fio = case.run(Tool::Fio, &scratch);
            let candor = case.run(Tool::Candor, &scratch);
            let differences = compare::compare(case, &fio, &candor);
            let lines = differences.into_iter().map(|what| format!("{}: {what}", case.name));
            found.lock().expect("no thread panicked").extend(lines);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(work);
        }
    });
    found.into_inner().expect("no thread panicked")
}
