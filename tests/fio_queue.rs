//! The queue of asynchronous engines as fio fills it, and flushes in it.

use std::process::Command;

use serde_json::Value;

use crate::support::{Report, Scratch, candor};

const ENGINES: [&str; 3] = ["libaio", "io_uring", "posixaio"];

/// The only job of a run of candor as fio in a folder.
fn fio(folder: &Scratch, words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(["fio", "--name=a", "--filename=w", "--bs=4k", "--output-format=json"]);
    let out = command.args(words).current_dir(folder.dir()).output().expect("candor starts");
    let text = String::from_utf8_lossy(&out.stdout);
    let from = text.find('{').unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&out.stderr)));
    let json: Value = serde_json::from_str(&text[from..]).expect("JSON");
    json["jobs"][0].clone()
}

fn count(job: &Value, key: &str) -> u64 {
    job.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {job}"))
}

/// Share of a depth or a batch, in percent.
fn share(job: &Value, key: &str) -> f64 {
    job.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {key} in {job}"))
}

#[test]
fn an_fsync_is_in_flight_with_writes_and_has_a_level() {
    let folder = Scratch::new();
    for (engine, word) in
        ENGINES.iter().flat_map(|engine| ["--fsync=1", "--fdatasync=1"].map(|word| (*engine, word)))
    {
        let by = format!("--ioengine={engine}");
        let job = fio(
            &folder,
            &[&by, word, "--size=1m", "--rw=randwrite", "--iodepth=32", "--io_size=512k"],
        );
        let counts = ["/write/total_ios", "/sync/total_ios", "/sync/lat_ns/N"];
        assert_eq!(counts.map(|key| count(&job, key)), [128, 127, 127], "{engine} {word}");
        // Levels are shares of the writes: 224 of 255 operations find 31 in flight.
        assert_eq!(share(&job, "/iodepth_level/32"), 175.0, "{engine} {word}");
        assert!(share(&job, "/iodepth_level/1") < 1.0, "{engine} {word}");
    }
}

#[test]
fn one_fsync_follows_each_write_of_a_mix() {
    let folder = Scratch::new();
    for (engine, depth) in [("psync", 1), ("libaio", 4)] {
        let (by, depth) = (format!("--ioengine={engine}"), format!("--iodepth={depth}"));
        let words = ["--rw=randrw", "--rwmixread=90", "--fsync=1", "--size=1m", &by, &depth];
        let job = fio(&folder, &words);
        let [reads, writes, syncs] =
            ["/read/total_ios", "/write/total_ios", "/sync/total_ios"].map(|key| count(&job, key));
        assert_eq!(reads + writes, 256, "{engine}");
        // The last operation may be a write, which no turn follows.
        assert!(syncs == writes || syncs + 1 == writes, "{engine}: {syncs} of {writes}");
    }
}

#[test]
fn a_low_water_mark_gives_the_levels_of_fio() {
    let folder = Scratch::new();
    let read = |more: &[&str]| {
        let words = ["--size=8m", "--rw=randread", "--iodepth=32", "--iodepth_low=8"];
        fio(&folder, &[&words, more].concat())
    };
    for engine in ["--ioengine=libaio", "--ioengine=io_uring"] {
        let job = read(&[engine]);
        let levels = ["8", "16", "32"].map(|at| share(&job, &format!("/iodepth_level/{at}")));
        assert_eq!(levels.map(f64::round), [29.0, 66.0, 4.0], "{engine}");
        let job = read(&[engine, "--iodepth_batch=8"]);
        assert_eq!(share(&job, "/iodepth_submit/8"), 100.0, "{engine}");
    }
}

#[test]
fn a_ramp_leaves_the_amount_as_it_is() {
    let folder = Scratch::new();
    for (amount, ops) in [("--io_size=400k", 100), ("--number_ios=10", 10)] {
        let words = ["--size=8m", "--rw=randread", "--ramp_time=100ms", "--ioengine=libaio"];
        let job = fio(&folder, &[&words[..], &["--iodepth=32", "--norandommap", amount]].concat());
        let counts = ["/read/total_ios", "/read/io_bytes"].map(|key| count(&job, key));
        assert_eq!(counts, [ops, ops * 4096], "{amount}");
    }
}

#[test]
fn a_durable_write_is_shown_with_its_flush() {
    let folder = Scratch::new();
    let (file, json, csv) = (folder.path("w"), folder.path("r.json"), folder.path("r.csv"));
    let ran = candor(&[
        "run",
        "--target",
        &file,
        "--size",
        "256k",
        "--rw",
        "write",
        "--fsync-every",
        "1",
        "--json",
        &json,
        "--csv",
        &csv,
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = Report::read(&json).expect("it is written");
    assert_eq!(report.violations(), Vec::<String>::new());
    let of = |key: &str| report.number(&format!("/phases/0/measurements/0/operations/{key}"));
    assert_eq!([of("write/ops"), of("commit/ops"), of("commit/bytes")], [64.0, 64.0, 0.0]);
    let parts = of("write/latency/mean_ns") + of("fsync/latency/mean_ns");
    assert!(of("commit/latency/mean_ns") >= parts, "a commit is both");
    assert!(ran.out.contains("durable write"), "{}", ran.out);
    let table = std::fs::read_to_string(&csv).expect("it is written");
    assert!(table.lines().any(|line| line.contains(",commit,")), "{table}");
}
