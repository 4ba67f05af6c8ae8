//! Stops of the process: they are not measured, and the report says so.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Report, Running, Scratch, candor, quiet_host, root, skip};

/// Length of a stop: long enough to be told from other delays.
const STOP: Duration = Duration::from_millis(400);

/// A run of three seconds of reads, in a process group of its own, as a shell's jobs are.
fn reads(scratch: &Scratch, json: &str) -> Command {
    let file = scratch.path("file");
    if !Path::new(&file).exists() {
        scratch.random_file("file", 1 << 20);
    }
    let words = ["--rw", "randread", "--bs", "4k", "--seconds", "3", "--engine", "psync"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.args(["run", "--target", &file, "--rate-iops", "5000", "--json", json]).args(words);
    command.args(["--csv", &csv_of(json)]).process_group(0);
    command
}

fn csv_of(json: &str) -> String {
    format!("{json}.csv")
}

/// Starts that run, and waits until its workers are at work.
fn reading(scratch: &Scratch, json: &str) -> Running {
    let mut running = Running::start(&mut reads(scratch, json), Stdio::null());
    let io = format!("/proc/{}/io", running.pid());
    let reads = || {
        let text = fs::read_to_string(&io).ok()?;
        text.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse::<u64>().ok())
    };
    // The phase has begun; what is read from then on are blocks of the file.
    running.wait_for(", 3 s");
    let before = reads().expect("it runs");
    while reads().is_some_and(|reads| reads < before + 3000) {
        sleep(Duration::from_millis(2));
    }
    running
}

/// The report tells a stop of that cause, and neither counts nor hides it.
fn tells_of_the_stop(running: Running, json: &str, by: &str) {
    let ran = running.wait();
    let report = Report::read(json).expect("a report");
    let measured = "/phases/0/measurements/0";
    let stopped = report.number(&format!("{measured}/stopped/ns")) / 1e9;
    assert!(stopped > STOP.as_secs_f64() * 0.8, "{stopped} s\n{}", ran.out);
    assert_eq!(report.words(&format!("{measured}/stopped/by")), by);
    let elapsed = report.number(&format!("{measured}/elapsed_ns")) / 1e9;
    assert!(elapsed < ran.wall.as_secs_f64() - stopped, "{elapsed} s hold the stop");
    assert!(report.sentence("G19").starts_with("The process was stopped for"), "{}", ran.out);
    assert_eq!(report.named("G19")["severity"], "wrong");
    assert!(report.finding("G4").is_none(), "nothing was due: {}", ran.out);
    holds_no_stop(&report, &ran.out, json);
}

/// No percentile, mean or maximum that is printed contains the stop.
fn holds_no_stop(report: &Report, out: &str, json: &str) {
    let stop_ns = report.number("/phases/0/measurements/0/stopped/shortest_ns");
    let reads = report.at("/phases/0/measurements/0/operations/read");
    for kind in ["latency", "completion", "from_intended"] {
        let percentiles = reads[kind]["percentiles"].as_array();
        for percentile in percentiles.into_iter().flatten() {
            let ns = percentile[1].as_f64().expect("a time");
            assert!(ns < stop_ns, "{kind}: {percentile}");
        }
    }
    // One read was in flight, unless the worker waited for the next one.
    if !reads["latency"]["stop_ns"].is_null() {
        let heads = out.lines().find(|line| line.contains("IOPS  MB/s")).expect("heads");
        assert!(!heads.contains("mean") && !heads.contains("max"), "{out}");
        let csv = fs::read_to_string(csv_of(json)).expect("written");
        let mut lines = csv.lines();
        let heads: Vec<&str> = lines.next().expect("heads").split(',').collect();
        let row: Vec<&str> = lines.next().expect("a row").split(',').collect();
        for name in ["latency_ns_mean", "latency_ns_max"] {
            let at = heads.iter().position(|head| *head == name).expect("a column");
            assert_eq!(row[at], "", "{csv}");
        }
    }
}

/// Stops a run by that signal for a while.
fn stopped_by(signal: Signal) -> (Scratch, String) {
    let scratch = Scratch::new();
    let json = scratch.outside("report.json");
    let running = reading(&scratch, &json);
    running.signal(signal);
    let state = format!("/proc/{}/stat", running.pid());
    while !fs::read_to_string(&state).expect("it is there").contains(") T ") {
        sleep(Duration::from_millis(1));
    }
    sleep(STOP);
    running.signal(Signal::CONT);
    tells_of_the_stop(running, &json, "signal");
    (scratch, json)
}

#[test]
fn a_stop_by_a_signal_is_not_measured_nor_compared_without_a_remark() {
    let _host = quiet_host();
    let (scratch, json) = stopped_by(Signal::STOP);
    let other = scratch.outside("other.json");
    let ran = Running::start(&mut reads(&scratch, &other), Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let compared = candor(&["compare", &other, &json]);
    // A busy host has other conditions, too; each has a row.
    let condition = "time in which the process was stopped 0 % ";
    let text = compared.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(condition), "{}", compared.out);
    assert!(text.contains("not the storage's number: B"), "{}", compared.out);
}

/// Ctrl-Z sends this one.
#[test]
fn a_stop_by_the_terminal_is_not_measured() {
    let _host = quiet_host();
    stopped_by(Signal::TSTP);
}

/// A control group that is removed again.
struct Group {
    path: PathBuf,
    /// File that freezes it, what to write there, and what tells that all of it is frozen.
    freeze: [&'static str; 3],
    thaw: &'static str,
}

impl Group {
    fn new() -> Option<Group> {
        let of = |root: &str, freeze: [&'static str; 3], thaw| {
            let path = Path::new(root).join(format!("candor-stop-{}", std::process::id()));
            fs::create_dir(&path).ok()?;
            let group = Group { path, freeze, thaw };
            group.path.join(freeze[0]).exists().then_some(group)
        };
        of("/sys/fs/cgroup/freezer", ["freezer.state", "FROZEN", "FROZEN"], "THAWED")
            .or_else(|| of("/sys/fs/cgroup", ["cgroup.freeze", "1", "frozen 1"], "0"))
    }

    fn write(&self, file: &str, text: &str) -> bool {
        fs::write(self.path.join(file), text).is_ok()
    }

    fn is_frozen(&self) -> bool {
        let read = |file| fs::read_to_string(self.path.join(file)).unwrap_or_default();
        [self.freeze[0], "cgroup.events"]
            .into_iter()
            .any(|file| read(file).contains(self.freeze[2]))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.write(self.freeze[0], self.thaw);
        let _ = fs::remove_dir(&self.path);
    }
}

#[test]
fn a_frozen_control_group_is_not_measured() {
    if !root() {
        return skip("only root makes control groups");
    }
    let Some(group) = Group::new() else { return skip("no control group can be frozen here") };
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let json = scratch.outside("report.json");
    let running = reading(&scratch, &json);
    if !group.write("cgroup.procs", &running.pid().to_string()) {
        return skip("a process cannot be moved into a control group here");
    }
    assert!(group.write(group.freeze[0], group.freeze[1]));
    while !group.is_frozen() {
        sleep(Duration::from_millis(1));
    }
    sleep(STOP);
    assert!(group.write(group.freeze[0], group.thaw));
    tells_of_the_stop(running, &json, "other");
}
