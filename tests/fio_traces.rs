//! Traces go both ways: what fio recorded candor replays, and what candor recorded fio replays,
//! with the same operations in the same order.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Scratch, skip};

/// A tool that runs jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tool {
    Fio,
    Candor,
}

impl Tool {
    /// Runs words in a folder; they must succeed without a word on stderr.
    fn run(self, folder: &Path, words: &[&str]) {
        let mut command = match self {
            Tool::Fio => Command::new("/usr/bin/fio"),
            Tool::Candor => Command::new(env!("CARGO_BIN_EXE_candor")),
        };
        if self == Tool::Candor {
            command.arg("fio");
        }
        command.args(words).arg("--output=result").current_dir(folder).stdin(Stdio::null());
        let ran = command.output().expect("it runs");
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && err.is_empty(), "{self:?} {words:?}: {err}");
    }
}

/// Operations of a log of latencies: direction, bytes, offset.
fn logged(folder: &Path) -> Vec<[u64; 3]> {
    let text = fs::read_to_string(folder.join("ops_lat.1.log")).expect("a log");
    text.lines()
        .map(|line| {
            let numbers: Vec<u64> =
                line.split(", ").map(|word| word.parse().expect("a number")).collect();
            [numbers[2], numbers[3], numbers[4]]
        })
        .collect()
}

/// One tool records a job, both replay it: what each did.
fn replayed(recorder: Tool, options: &[&str]) -> [Vec<[u64; 3]>; 2] {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    let folder = Path::new(&folder);
    let job = ["--name=a", "--size=256k", "--nrfiles=2", "--write_iolog=trace"];
    recorder.run(folder, &[&job, options].concat());
    let replay = [
        "--name=r",
        "--read_iolog=trace",
        "--replay_no_stall=1",
        "--write_lat_log=ops",
        "--log_offset=1",
    ];
    [Tool::Fio, Tool::Candor].map(|tool| {
        tool.run(folder, &replay);
        logged(folder)
    })
}

#[test]
fn what_either_records_both_replay() {
    if !Path::new("/usr/bin/fio").exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    for options in [
        &["--rw=randrw", "--bs=4k,8k"][..],
        &["--rw=write", "--bsrange=512-8k", "--fsync=5", "--end_fsync=1"],
        &["--rw=randread", "--file_service_type=random"],
    ] {
        for recorder in [Tool::Fio, Tool::Candor] {
            let [fio, candor] = replayed(recorder, options);
            assert!(fio.len() >= 32, "{recorder:?} {options:?}: {} operations", fio.len());
            assert_eq!(fio, candor, "{recorder:?} {options:?}");
        }
    }
}

/// Times are those of the trace, on both sides.
#[test]
fn replays_take_as_long_as_the_trace() {
    let scratch = Scratch::new();
    let folder = scratch.path("");
    let folder = Path::new(&folder);
    let trace = "fio version 3 iolog\n1 f add\n1 f open\n1 f write 0 4096\n300001 f read 0 4096\n";
    fs::write(folder.join("trace"), trace).expect("written");
    let took_ms = |words: &[&str]| {
        let replay = ["--name=r", "--read_iolog=trace", "--output-format=json"];
        Tool::Candor.run(folder, &[&replay, words].concat());
        let text = fs::read_to_string(folder.join("result")).expect("a result");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["jobs"][0]["job_runtime"].as_u64().expect("a time")
    };
    assert!((300..600).contains(&took_ms(&[])));
    assert!((150..300).contains(&took_ms(&["--replay_time_scale=200"])));
    assert!((600..900).contains(&took_ms(&["--replay_time_scale=50"])));
    assert!(took_ms(&["--replay_no_stall=1"]) < 150);
}
