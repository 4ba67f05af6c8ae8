//! Commands to a run while it goes on: interim results, and its end.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Deserializer, Value};

use super::{command, fio};
use crate::support::{Running, Scratch};

/// A job of three seconds at 50 operations per second.
const SLOW: [&str; 7] = [
    "--name=slow",
    "--ioengine=null",
    "--size=1m",
    "--rate_iops=50",
    "--runtime=3",
    "--time_based",
    "--output-format=json",
];

fn documents(text: &str) -> Vec<Value> {
    let documents = Deserializer::from_str(text).into_iter::<Value>();
    documents.map(|document| document.expect("a document")).collect()
}

/// Operations and run times in ms of the one job in each document.
fn progress(documents: &[Value]) -> Vec<[u64; 2]> {
    fn of(document: &Value) -> [u64; 2] {
        let job = &document["jobs"][0];
        let number = |value: &Value| value.as_u64().expect("a number");
        [number(&job["read"]["total_ios"]), number(&job["read"]["runtime"])]
    }
    documents.iter().map(of).collect()
}

#[test]
fn results_so_far_are_whole_documents_that_grow() {
    let scratch = Scratch::new();
    let ran = fio(&scratch, &[&SLOW[..], &["--status-interval=1"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let documents = documents(&ran.out);
    let progress = progress(&documents);
    // At the third second there may be one more, before the end.
    assert!((3..=4).contains(&progress.len()), "{progress:?}");
    for ([ops, ms], second) in progress[..2].iter().zip(1..) {
        assert!((second * 40..second * 55).contains(ops), "{progress:?}");
        assert!((second * 900..second * 1200).contains(ms), "{progress:?}");
    }
    let depths = &documents[0]["jobs"][0]["iodepth_level"];
    assert_eq!(depths["1"], 100.0, "{depths}");
    let verdicts = documents.iter().filter(|document| document.get("candor").is_some());
    assert_eq!(verdicts.count(), 1, "only what is over has a verdict");
}

#[test]
fn a_signal_and_a_file_ask_for_results() {
    let scratch = Scratch::new();
    let mut command = command(&scratch, &SLOW);
    let running = Running::start(command.env("TMPDIR", scratch.dir()), Stdio::null());
    sleep(Duration::from_millis(700));
    running.signal(Signal::USR1);
    sleep(Duration::from_millis(700));
    fs::write(scratch.path("fio-dump-status"), "").expect("a file");
    let ran = running.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let progress = progress(&documents(&ran.out));
    assert_eq!(progress.len(), 3, "{progress:?}");
    assert!(progress.is_sorted() && progress[0][0] < progress[1][0], "{progress:?}");
}

#[test]
fn a_trigger_ends_all_jobs_well() {
    let scratch = Scratch::new();
    let trigger = ["--trigger-timeout=500ms", "--trigger=echo pulled >pulled"];
    let waits = ["--name=second", "--stonewall", "--ioengine=null", "--size=1m"];
    let ran = fio(&scratch, &[&SLOW[..], &trigger, &waits].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let document = documents(&ran.out).pop().expect("a document");
    let ms = document["jobs"][0]["read"]["runtime"].as_u64().expect("a number");
    assert!((400..1500).contains(&ms), "{ms}");
    assert_eq!(document["jobs"][1]["read"]["total_ios"], 0, "what waits does not begin");
    assert_eq!(fs::read_to_string(scratch.path("pulled")).expect("it ran"), "pulled\n");
}
