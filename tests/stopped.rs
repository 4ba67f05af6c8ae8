//! Stops of the process: they are not measured, and the report says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Report, Running, Scratch, root, shared_host, skip, spawn};

/// Length of a stop: long enough to be told from other delays.
const STOP: Duration = Duration::from_millis(400);

/// Starts a run of three seconds of reads, and waits until its workers are at work.
fn reading(scratch: &Scratch, json: &str) -> Running {
    let file = scratch.random_file("file", 1 << 20);
    let words = ["run", "--target", &file, "--rw", "randread", "--bs", "4k", "--seconds", "3"];
    let mut running = spawn(
        &[&words[..], &["--engine", "psync", "--rate-iops", "5000", "--json", json]].concat(),
    );
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
    assert_eq!(report.named("G19")["severity"], "measures_else");
    assert!(report.finding("G4").is_none(), "nothing was due: {}", ran.out);
}

#[test]
fn a_stop_by_a_signal_is_not_measured() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let json = scratch.outside("report.json");
    let running = reading(&scratch, &json);
    running.signal(Signal::STOP);
    let state = format!("/proc/{}/stat", running.pid());
    while !fs::read_to_string(&state).expect("it is there").contains(") T ") {
        sleep(Duration::from_millis(1));
    }
    sleep(STOP);
    running.signal(Signal::CONT);
    tells_of_the_stop(running, &json, "signal");
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
