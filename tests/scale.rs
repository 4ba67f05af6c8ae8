//! Many workers, rates, samples: relations that hold on any machine.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Ran, Running, Scratch, measured, quiet_host};

const MIB: u64 = 1 << 20;
const WORKERS: u64 = 512;

/// Words of a run of this many workers that have next to nothing to do.
fn idle_words(file: &str, workers: u64) -> Vec<String> {
    let words = format!(
        "run --target {file} --rw randread --bs 4k --direct --rate-iops 100 --seconds 2 \
         --workers {workers}"
    );
    words.split_whitespace().map(str::to_owned).collect()
}

/// The memory of a process that is resident, in bytes.
fn resident(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Largest resident memory while this many workers idle, and how the run went.
fn idle(file: &str, workers: u64) -> (u64, Ran) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(idle_words(file, workers));
    let mut running = Running::start(&mut command, Stdio::null());
    running.wait_for(", 2 s");
    let mut most = 0;
    for _ in 0..15 {
        std::thread::sleep(Duration::from_millis(100));
        most = most.max(resident(running.pid()).unwrap_or(0));
    }
    (most, running.wait())
}

#[test]
fn many_workers_start_at_once_and_need_little_memory() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    let mut start = Duration::MAX;
    for _ in 0..3 {
        let (one, ran_one) = idle(&file, 1);
        let (many, ran_many) = idle(&file, WORKERS);
        assert_eq!((ran_one.code, ran_many.code), (Some(0), Some(0)), "{}", ran_many.err);
        // Each has one buffer of 4 KiB.
        let each = many.saturating_sub(one) / (WORKERS - 1);
        let beyond = each.saturating_sub(4096);
        println!("{beyond} bytes beyond the buffers of each idle worker");
        assert!(beyond < 128 * 1024, "{beyond} bytes of memory per idle worker");
        println!("{WORKERS} workers: {:?}, one: {:?}", ran_many.wall, ran_one.wall);
        start = start.min(ran_many.wall.saturating_sub(ran_one.wall));
        if start < Duration::from_millis(500) {
            return;
        }
    }
    panic!("{WORKERS} workers need {start:?} to start and end");
}

#[test]
fn every_worker_works_and_is_accounted_for() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    let words = ["run", "--target", &file, "--rw", "randread", "--direct", "--workers", "64"];
    let (ran, report) = measured(&scratch, &[&words[..], &["--seconds", "2"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let job = report.at("/phases/0/measurements/0");
    let workers = job["per_worker"].as_array().unwrap();
    assert_eq!(workers.len(), 64);
    let sum = |key: &str| workers.iter().filter_map(|worker| worker[key].as_u64()).sum::<u64>();
    assert_eq!(Some(sum("ops")), job["operations"]["read"]["ops"].as_u64());
    assert_eq!(Some(sum("bytes")), job["operations"]["read"]["bytes"].as_u64());
    assert_eq!(job["operations"]["read"]["latency"]["count"], job["operations"]["read"]["ops"]);
    assert_eq!(job["last_done"]["ops"], job["operations"]["read"]["ops"]);
    assert!(job["first_done"]["ops"].as_u64() <= job["last_done"]["ops"].as_u64());
    let busy = workers.iter().filter(|worker| worker["ops"].as_u64() > Some(0)).count();
    assert_eq!(busy, 64, "some workers did nothing");
}

#[test]
fn samples_of_every_second_add_up() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    let words = ["run", "--target", &file, "--rw", "randread", "--direct", "--seconds", "3"];
    let (ran, report) = measured(&scratch, &[&words[..], &["--ramp", "1s"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let job = report.at("/phases/0/measurements/0");
    let samples = job["samples"].as_array().unwrap();
    assert!((3..=4).contains(&samples.len()), "{} samples of 3 s", samples.len());
    let sum: u64 =
        samples.iter().filter_map(|sample| sample["operations"]["read"]["ops"].as_u64()).sum();
    assert_eq!(Some(sum), job["operations"]["read"]["ops"].as_u64());
    let elapsed = job["elapsed_ns"].as_u64().unwrap();
    assert!((2_900_000_000..3_500_000_000).contains(&elapsed), "the ramp is counted: {elapsed}");
    let rate = job["operations"]["read"]["ops_per_s"].as_f64().unwrap();
    let own = sum as f64 / (elapsed as f64 / 1e9);
    assert!((rate / own - 1.0).abs() < 0.001, "{rate} is not {own}");
}

/// The achieved rate and the measurement of a run with these words about its pace.
fn paced(scratch: &Scratch, file: &str, words: &str) -> (f64, Value) {
    let mut all = vec!["run", "--target", file, "--rw", "randread", "--direct", "--seconds", "2"];
    all.extend(words.split(' '));
    let (ran, report) = measured(scratch, &all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let read = report.at("/phases/0/measurements/0/operations/read").clone();
    (read["ops_per_s"].as_f64().unwrap(), read)
}

/// The latency at half of all operations, in ns.
fn median(latency: &Value) -> u64 {
    let percentiles = latency["percentiles"].as_array().expect("percentiles");
    let median = percentiles.iter().find(|pair| pair[0] == 50.0).expect("a median");
    median[1].as_u64().expect("a time")
}

#[test]
fn rates_hold() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    for words in [
        "--rate-iops 500 --arrival poisson",
        "--rate-iops 500 --workers 4",
        "--rate-iops 500 --engine io_uring --depth 8",
        "--rate 2000KiB",
    ] {
        let (rate, read) = paced(&scratch, &file, words);
        // 1000 random arrivals spread by 3.2 %; three times that is beyond chance.
        let off = if words.contains("poisson") { 0.095 } else { 0.05 };
        assert!((rate / 500.0 - 1.0).abs() < off, "{words}: {rate}/s instead of 500/s");
        let (plain, intended) = (&read["latency"], &read["from_intended"]);
        assert_eq!(intended["count"], plain["count"], "{words}: no latency from intended start");
        assert!(median(intended) >= median(plain), "{words}");
    }
}

#[test]
fn a_rate_beyond_the_device_shows_in_the_latency_from_intended_start() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    let (rate, read) = paced(&scratch, &file, "--rate-iops 100m");
    assert!(rate < 100e6);
    let (plain, intended) = (median(&read["latency"]), median(&read["from_intended"]));
    assert!(intended > 20 * plain, "{intended} ns from intended start, {plain} ns from the real");
}

#[test]
fn the_null_engine_measures_candor_itself() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let words = ["run", "--engine", "null", "--rw", "randread", "--seconds", "2"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let read = report.at("/phases/0/measurements/0/operations/read");
    assert_eq!(read["latency"]["count"], read["ops"]);
}
