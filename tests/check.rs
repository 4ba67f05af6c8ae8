//! `candor check`: within about a minute what a storage is, does, and whether to believe it.

use std::time::Duration;

use crate::support::{
    Loop, Report, Scratch, candor, fingerprint, measured, quiet_host, random_file,
};

const MIB: u64 = 1 << 20;

/// Names of the phases that were judged.
fn phases(report: &Report) -> Vec<String> {
    let judged = report.list("/phases").iter().filter(|phase| phase["search_step"] != true);
    judged.map(|phase| phase["name"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Bytes written by all phases together.
fn written(report: &Report) -> u64 {
    let phases = report.list("/phases").iter();
    let jobs = phases.flat_map(|phase| phase["measurements"].as_array().into_iter().flatten());
    jobs.filter_map(|job| job["operations"]["write"]["bytes"].as_u64()).sum()
}

#[test]
fn a_directory_gets_the_whole_series_and_is_left_as_it_was() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let words = ["check", &scratch.dir(), "--seconds", "12"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.wall < Duration::from_secs(25), "took {:?}", ran.wall);
    assert_eq!(scratch.entries(), [""; 0], "files of candor's are left");
    assert!(!ran.err.contains("laying out"), "it has all files made by its steps: {}", ran.err);
    let names = phases(&report);
    for wanted in [
        "sequential write",
        "sequential read",
        "random read, depth 1",
        "random write, depth 1",
        "durable write",
        "create, own directories",
        "stat, one directory",
        "list, own directories",
        "read, one directory",
        "delete (unlink), one directory",
    ] {
        assert!(names.iter().any(|name| name == wanted), "no {wanted} in {names:?}");
    }
    // Small files are a table of their own, and looks at names are the caches' as they are to be.
    let table = ran.out.lines().skip_while(|line| !line.starts_with("names/s")).take(4);
    let table: Vec<_> = table.collect();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let columns = ["names/s", "create+sync", "stat", "list", "read", "delete"];
    assert_eq!(words(table[0]), columns, "{}", ran.out);
    assert!(table[1].starts_with("own directories") && table[2].starts_with("one directory"));
    assert!(table[3].starts_with("Cached: stat (") && table[3].contains("list ("), "{table:?}");
    for kind in ["random read", "random write"] {
        let kinds = names.iter().filter(|name| name.starts_with(kind)).count();
        assert_eq!(kinds, 2, "{kind} at depth 1 and where it saturates: {names:?}");
    }
    for name in &names {
        assert!(ran.out.contains(name.as_str()), "{name} is not shown:\n{}", ran.out);
    }
    // It lays out honest ground and goes through nobody's cache.
    let heavy = report.heavy();
    for rule in ["A1", "A2", "A3", "A5", "A6", "A8", "A9", "B1", "B2", "D9"] {
        assert!(!heavy.iter().any(|found| found == rule), "{}", report.told());
    }
    durable_writes_are_flushed_one_by_one(&report);
    assert_eq!(report.violations(), [""; 0], "it does not fit docs/report-schema.json");
    // Everything it offers as a next step is a command of ours.
    for next in report.findings().iter().filter_map(|finding| finding["next"].as_str()) {
        let words: Vec<_> = next.split(' ').collect();
        if words[0] == "candor" && words[1] == "run" {
            let dry = candor(&[&words[1..], &["--dry-run"]].concat());
            assert_eq!(dry.code, Some(0), "{next}: {}", dry.err);
        }
    }
    assert!(report.number("/elapsed_s") <= ran.wall.as_secs_f64());
    assert!(report.number("/elapsed_s") >= ran.wall.as_secs_f64() - 2.0, "{:?}", ran.wall);
}

#[test]
fn without_a_path_it_measures_here() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let words = ["check", "--seconds", "6", "--size", "64m", "--quiet"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_candor"));
    let output = command.args(words).current_dir(scratch.dir()).output().expect("it runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    assert!(!out.contains('…'), "something is cut in a pipe:\n{out}");
    for wanted in ["random read", "durable write", "trust", "--verbose", "--json FILE"] {
        assert!(out.contains(wanted), "no {wanted}:\n{out}");
    }
    assert_eq!(scratch.entries(), [""; 0], "files of candor's are left");
}

fn durable_writes_are_flushed_one_by_one(report: &Report) {
    let phases = report.list("/phases");
    let durable = phases.iter().find(|phase| phase["name"] == "durable write").unwrap();
    let job = &durable["measurements"][0];
    let (writes, flushes) =
        (&job["operations"]["write"]["ops"], &job["operations"]["fsync"]["ops"]);
    let (writes, flushes) = (writes.as_f64().unwrap(), flushes.as_f64().unwrap());
    assert!(flushes >= writes - 1.0 && writes > 0.0, "{writes} writes, {flushes} flushes");
}

#[test]
fn a_block_device_is_only_read() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let before = fingerprint(&device.node);
    let (ran, report) = measured(&scratch, &["check", &device.node, "--seconds", "5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(fingerprint(&device.node), before, "the device was written to");
    assert_eq!(written(&report), 0);
    assert!(phases(&report).iter().all(|name| !name.contains("write")), "{:?}", phases(&report));
    assert!(ran.out.contains(device.name()), "{}", ran.out);
    let (ran, report) = measured(&scratch, &["check", &device.node, "--seconds", "5", "--write"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(written(&report) > 0 && fingerprint(&device.node) != before);
}

#[test]
fn a_file_is_only_read() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("thesis", 64 * MIB);
    let before = fingerprint(&file);
    let (ran, report) = measured(&scratch, &["check", &file, "--seconds", "5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!((fingerprint(&file), written(&report)), (before, 0));
    assert_eq!(scratch.entries(), ["thesis"]);
    assert!(phases(&report).iter().any(|name| name.contains("read")));
}

#[test]
fn an_odd_size_is_no_hindrance() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.path("odd");
    random_file(&file, 9 * MIB + 1234);
    let (ran, report) = measured(&scratch, &["check", &file, "--seconds", "3"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(report.at("/cut_short").is_null(), "{}", report.told());
}

#[test]
fn its_plan_can_be_run_again() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let kept = scratch.outside("kept");
    let words = ["check", &scratch.dir(), "--seconds", "3", "--size", "32m", "--run-dir", &kept];
    let ran = candor(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (again, report) = measured(&scratch, &["run", &format!("{kept}/plan.toml")]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(phases(&report).iter().any(|name| name == "sequential read"), "{:?}", phases(&report));
    assert_eq!(scratch.entries(), [""; 0], "files of candor's are left");
}
