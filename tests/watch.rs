//! `candor watch`: what it tells of a load is what the load was.

use std::time::Duration;

use serde_json::Value;

use crate::support::{Loop, Ran, Scratch, candor, quiet_host, skip, spawn};

const MIB: u64 = 1 << 20;

/// 500 reads of 4 KiB in about a second.
fn read(device: &Loop) -> Ran {
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    let pace = ["--engine", "psync", "--ops", "500", "--rate-iops", "500", "--quiet"];
    candor(&[&words[..], &pace].concat())
}

/// The looks while a load ran, one on each line.
fn watched(device: &Loop) -> Vec<Value> {
    let mut watching = spawn(&["watch", &device.node, "--interval", "0.5", "--json"]);
    watching.wait_for_a_line();
    let ran = read(device);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    watching.signal(rustix::process::Signal::INT);
    let watched = watching.wait();
    assert_eq!(watched.code, Some(0), "{}", watched.err);
    watched.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn looks_add_up_to_the_load() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let of = |line: &Value| {
        let devices = line["devices"].as_array().expect("devices").clone();
        devices.into_iter().find(|of| of["device"] == device.name()).expect("the device")
    };
    let number = |value: &Value| value.as_f64().expect("a number");
    let reads = |line: &Value| number(&of(line)["read"]["per_s"]) * number(&line["elapsed_s"]);
    let sum = |lines: &[Value]| lines.iter().map(reads).sum::<f64>();
    let lines = watched(&device);
    // The accounting probe before the load is one more, and others may look at a new device.
    assert!((499.9..=510.0).contains(&sum(&lines)), "{}", sum(&lines));
    // The last one, in which there is no accounting probe any more.
    let line = lines.iter().rev().find(|line| reads(line) > 50.0).expect("a look at the load");
    assert_eq!(of(line)["read"]["size_mean_bytes"], 4096);
    if !line["untraced"].is_null() {
        return skip(&line["untraced"]["why"].to_string());
    }
    let seen: u64 = lines
        .iter()
        .flat_map(|line| of(line)["requests"].as_array().cloned().unwrap_or_default())
        .filter(|requests| requests["direction"] == "read")
        .filter_map(|requests| requests["count"].as_u64())
        .sum();
    // Some may be passed over to keep it cheap.
    assert!((100..=510).contains(&seen), "{seen}");
    assert!(!of(line)["requests"][0]["issuers"][0]["command"].is_null());
}

#[test]
fn text_has_a_table_and_ends_after_its_count() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let ran = candor(&["watch", device.name(), "--interval", "0.2", "--count", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let heads = ran.out.lines().filter(|line| line.starts_with("device ")).count();
    assert_eq!(heads, 2, "{}", ran.out);
    assert!(ran.out.contains(&format!("{}: idle", device.name())), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'), "{}", ran.out);
}

#[test]
fn a_group_is_what_its_devices_do_together() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let group = format!("pair={},{}", device.node, device.backing);
    let words = ["watch", "--group", &group, "--partitions", "--interval", "0.5", "--json"];
    let mut watching = spawn(&words);
    watching.wait_for_a_line();
    let ran = read(&device);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    watching.signal(rustix::process::Signal::INT);
    let watched = watching.wait();
    assert_eq!(watched.code, Some(0), "{}", watched.err);
    let lines = watched.out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut most = 0.0_f64;
    for line in lines {
        let devices = line["devices"].as_array().expect("devices");
        let reads = |name: &Value| {
            let of = devices.iter().find(|of| of["device"] == *name);
            of.and_then(|of| of["read"]["per_s"].as_f64()).expect("a rate")
        };
        let pair = devices.iter().find(|of| of["device"] == "pair").expect("the group");
        let members = pair["members"].as_array().expect("its devices");
        assert_eq!(members[0], device.name(), "{line}");
        let sum: f64 = members.iter().map(reads).sum();
        let group = reads(&"pair".into());
        assert!((sum - group).abs() < 1e-6 * sum.max(1.0), "{group} instead of {sum}: {line}");
        most = most.max(group);
    }
    assert!(most > 50.0, "{most} reads per second in the group");
}

/// The output on a terminal of so many rows and columns.
fn on_a_terminal(words: &str, rows: usize, columns: usize) -> Option<String> {
    let program = env!("CARGO_BIN_EXE_candor");
    let line = format!("stty rows {rows} cols {columns}; exec {program} {words}");
    let ran = std::process::Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .output();
    match ran {
        Ok(ran) if ran.status.success() => Some(String::from_utf8_lossy(&ran.stdout).into_owned()),
        _ => {
            skip("there is no `script` to make a terminal");
            None
        }
    }
}

#[test]
fn a_terminal_is_drawn_over_and_never_overrun() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = format!("watch {} --interval 0.2 --count 3 --color never", device.node);
    let Some(sent) = on_a_terminal(&words, 4, 40) else { return };
    let looks: Vec<&str> = sent.split("\x1b[H").skip(1).collect();
    assert_eq!(looks.len(), 3, "{sent:?}");
    for look in looks {
        assert!(look.trim_end().ends_with("\x1b[J"), "{look:?}");
        let lines: Vec<&str> = look.trim_end().trim_end_matches("\x1b[J").lines().collect();
        assert!(lines.len() < 4, "{look:?}");
        for line in lines {
            let text = line.trim_end_matches('\r').trim_end_matches("\x1b[K");
            assert!(text.chars().count() <= 40 && !text.contains('\x1b'), "{text:?}");
        }
        assert!(look.contains("more lines"), "{look:?}");
    }
}

/// CPU time in ns that a process has used so far, its workers' and its tracer's apart.
fn used_ns(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let of = |dir: std::path::PathBuf| -> Option<u64> {
        let name = std::fs::read_to_string(dir.join("comm")).ok()?;
        let load = name.starts_with("candor/w") || name.starts_with("candor/trace");
        let times = std::fs::read_to_string(dir.join("schedstat")).ok()?;
        (!load).then(|| times.split(' ').next()?.parse().ok())?
    };
    tasks.filter_map(|task| of(task.ok()?.path())).sum()
}

/// Sampling once a second of 20 files and 8 devices takes less than 0.5 % of a CPU in this build,
/// of `watch` and of a run.
#[test]
fn sampling_costs_next_to_nothing() {
    const SECONDS: u64 = 8;
    let (_host, scratches) = (quiet_host(), [(); 8].map(|()| Scratch::new()));
    let devices: Vec<Loop> =
        scratches.iter().filter_map(|scratch| Loop::direct(scratch, 2 * MIB)).collect();
    if devices.len() < 8 {
        return skip("there are no 8 loop devices");
    }
    let mut paths: Vec<String> =
        (0..12).map(|n| scratches[0].random_file(&format!("f{n}"), MIB)).collect();
    paths.extend(devices.iter().map(|device| device.node.clone()));
    let targets = paths.iter().flat_map(|path| ["--target", path]);
    let load = ["--rw", "randread", "--rate-iops", "1", "--seconds", "60", "--quiet"];
    let run: Vec<&str> = ["run"].into_iter().chain(targets).chain(load).collect();
    let watch: Vec<&str> =
        ["watch", "--json"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let mut told = Vec::new();
    for _ in 0..3 {
        let both = [spawn(&run), spawn(&watch)];
        std::thread::sleep(Duration::from_secs(4));
        let before = [0, 1].map(|which: usize| used_ns(both[which].pid()));
        std::thread::sleep(Duration::from_secs(SECONDS));
        let used = [0, 1].map(|which| used_ns(both[which].pid()) - before[which]);
        for running in both {
            running.signal(rustix::process::Signal::INT);
            running.wait();
        }
        let shares = used.map(|ns| ns as f64 / 1e9 / SECONDS as f64);
        if shares.iter().all(|share| *share < 0.005) {
            return;
        }
        told.push(shares);
    }
    panic!("shares of a CPU that a run and watch took: {told:?}");
}

#[test]
fn mistakes_get_a_sentence() {
    for (words, told) in [
        (&["watch", "--interval", "0"][..], "0 is not between 0.1 and"),
        (&["watch", "--interval", "soon"], "soon"),
        (&["watch", "--count", "0"], "0 reports show nothing"),
        (&["watch", "--colour"], "--color"),
        (&["watch", "--group", "x"], "`x` is no group; write NAME=PATH,PATH"),
        (&["watch", "--group", "x=a,,b"], "is no group"),
        (&["watch", "2", "5"], "write --interval 2"),
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    let ran = candor(&["watch", "/proc"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("there is no block device below /proc"), "{}", ran.err);
}
