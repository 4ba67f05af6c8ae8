//! A benchmark can destroy data: what candor refuses, what it leaves alone, what it cleans up.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Loop, Mount, Report, Running, Scratch, alone, candor, fingerprint, spawn};

const MIB: u64 = 1 << 20;

/// Runs random writes for a moment; exit code and stderr.
fn write(target: &str, words: &[&str]) -> (Option<i32>, String) {
    let fixed = ["run", "--target", target, "--rw", "randwrite", "--ops", "2000"];
    let ran = candor(&[&fixed[..], words].concat());
    (ran.code, ran.err)
}

#[test]
fn a_block_device_needs_consent() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let link = scratch.path("link");
    std::os::unix::fs::symlink(&device.node, &link).unwrap();
    let before = fingerprint(&device.node);
    for target in [&device.node, &link] {
        for rw in ["randwrite", "write", "rw", "trim"] {
            let ran = candor(&["run", "--target", target, "--rw", rw, "--ops", "100"]);
            assert_eq!(ran.code, Some(3), "{rw}: {}", ran.err);
            assert!(ran.err.contains("--overwrite"), "{}", ran.err);
        }
    }
    assert_eq!(fingerprint(&device.node), before, "the device was written to");
    let (code, err) = write(&device.node, &["--overwrite", "--direct"]);
    assert_eq!(code, Some(0), "{err}");
    assert_ne!(fingerprint(&device.node), before, "nothing was written");
}

#[test]
fn a_mounted_device_is_refused_even_with_consent() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "ro,noload") else { return };
    let before = fingerprint(mount.node());
    let (code, err) = write(mount.node(), &["--overwrite", "--direct"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains(&mount.dir), "does not say who holds it: {err}");
    let (code, err) = write(mount.node(), &["--overwrite", "--direct", "--force", "loop999"]);
    assert_eq!(code, Some(3), "forced by a wrong name: {err}");
    assert_eq!(fingerprint(mount.node()), before, "the device was written to");
    let ran = candor(&["run", "--target", mount.node(), "--rw", "randread", "--ops", "100"]);
    assert_eq!(ran.code, Some(0), "reading harms nobody: {}", ran.err);
    let (code, err) = write(mount.node(), &["--overwrite", "--direct", "--force", mount.node()]);
    assert_eq!(code, Some(0), "forced by name: {err}");
}

#[test]
fn a_device_under_another_device_is_refused() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(lower) = Loop::direct(&scratch, 16 * MIB) else { return };
    let before = fingerprint(&lower.node);
    let Some(above) = Loop::over(&lower) else { return };
    let (code, err) = write(&lower.node, &["--overwrite"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains(above.name()), "does not say who holds it: {err}");
    assert_eq!(fingerprint(&lower.node), before);
}

#[test]
fn a_device_with_mounted_partitions_is_refused() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let Some(partition) = device.partition() else { return };
    let Some(mount) = Mount::ext4_on(&scratch, &partition, "ro,noload") else { return };
    let before = fingerprint(&device.node);
    let (code, err) = write(&device.node, &["--overwrite"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains(&mount.dir), "does not say who holds it: {err}");
    drop(mount);
    let (code, err) = write(&device.node, &["--overwrite"]);
    assert_eq!(code, Some(3), "a partitioned device is held: {err}");
    assert_eq!(fingerprint(&device.node), before);
}

#[test]
fn an_existing_file_needs_consent() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let file = scratch.random_file("thesis", MIB);
    let before = (fingerprint(&file), fs::metadata(&file).unwrap().modified().unwrap());
    for words in [&["--size", "2m"][..], &["--size", "1m"], &[], &["--layout", "never"]] {
        let (code, err) = write(&file, words);
        assert_eq!(code, Some(3), "{err}");
        assert!(err.contains("thesis") && err.contains("--overwrite"), "{err}");
    }
    // Reading more than there is would need to make it longer.
    let ran = candor(&["run", "--target", &file, "--rw", "randread", "--size", "2m"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let after = (fingerprint(&file), fs::metadata(&file).unwrap().modified().unwrap());
    assert_eq!(after, before);
    assert_eq!(scratch.entries(), ["thesis"]);
    let (code, err) = write(&file, &["--overwrite"]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(fs::metadata(&file).unwrap().len(), MIB);
    assert!(fingerprint(&file) != before.0, "nothing was written");
}

#[test]
fn a_file_among_a_set_needs_consent() {
    let (_alone, scratch) = (alone(), Scratch::new());
    // Whatever the files of a set are called, an earlier run tells.
    let set = ["--files", "4", "--size", "1m"];
    let (code, err) = write(&scratch.dir(), &[&set[..], &["--keep"]].concat());
    assert_eq!(code, Some(0), "{err}");
    let mut made = scratch.entries();
    made.sort();
    assert_eq!(made.len(), 4, "{made:?}");
    made[..3].iter().for_each(|name| fs::remove_file(scratch.path(name)).unwrap());
    let foreign = scratch.path(&made[3]);
    fs::write(&foreign, "words").unwrap();
    let (code, err) = write(&scratch.dir(), &set);
    assert_eq!(code, Some(3), "{err}");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "words");
    assert_eq!(scratch.entries().len(), 1);
}

#[test]
fn files_made_are_removed_unless_kept() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let file = scratch.path("own");
    let (code, err) = write(&file, &["--size", "4m"]);
    assert_eq!((code, scratch.entries().len()), (Some(0), 0), "{err}");
    let (code, err) = write(&file, &["--size", "4m", "--keep"]);
    assert_eq!((code, scratch.entries().len()), (Some(0), 1), "{err}");
    // Kept, so it is the user's from now on.
    let (code, err) = write(&file, &["--size", "4m"]);
    assert_eq!((code, scratch.entries().len()), (Some(3), 1), "{err}");
    let (code, err) = write(&file, &["--size", "4m", "--overwrite"]);
    assert_eq!((code, scratch.entries().len()), (Some(0), 1), "{err}");
}

#[test]
fn several_files_are_made_with_their_directory_and_removed_with_it() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let set = scratch.path("set");
    let made = || fs::read_dir(&set).map(Iterator::count).ok();
    let words = ["--size", "64k", "--files", "8"];
    let (code, err) = write(&set, &words);
    assert_eq!((code, made()), (Some(0), None), "{err}");
    let (code, err) = write(&set, &[&words[..], &["--keep"]].concat());
    assert_eq!((code, made()), (Some(0), Some(8)), "{err}");
    let one = fs::read_dir(&set).unwrap().next().unwrap().unwrap().path();
    let (code, err) = write(one.to_str().unwrap(), &words);
    assert!(code == Some(2) && err.contains("8 files need a directory"), "{code:?}: {err}");
}

#[test]
fn a_file_behind_a_mounted_loop_device_is_refused() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let (backing, name) = (device.backing.clone(), device.name().to_owned());
    let Some(mount) = Mount::ext4(&scratch, device, "ro,noload") else { return };
    let before = fingerprint(&backing);
    let (code, err) = write(&backing, &["--overwrite"]);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains(&mount.dir) && err.contains(&name), "does not say who holds it: {err}");
    assert_eq!(fingerprint(&backing), before, "the file was written to");
    let ran = candor(&["run", "--target", &backing, "--rw", "randread", "--ops", "100"]);
    assert_eq!(ran.code, Some(0), "reading harms nobody: {}", ran.err);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let (set, other) = (scratch.path("set"), scratch.path("other"));
    let words = ["run", "--size", "1m", "--rw", "randread", "--seconds", "30", "--direct"];
    let mut killed = spawn(&[&words[..], &["--target", &set, "--files", "3"]].concat());
    killed.wait_for(", 30 s");
    let words = ["run", "--size", "1m", "--rw", "randread", "--ops", "9", "--direct"];
    let next = || candor(&[&words[..], &["--target", &other]].concat());
    let beside = next();
    assert!(!beside.err.contains("killed runs"), "its owner lives: {}", beside.err);
    killed.signal(Signal::KILL);
    killed.wait();
    assert_eq!(fs::read_dir(&set).map(Iterator::count).ok(), Some(4), "a mark, three files");
    let again = candor(&[&words[..], &["--target", &set, "--files", "3"]].concat());
    assert_eq!(again.code, Some(0), "{}", again.err);
    assert!(again.err.contains("killed runs") && again.err.contains("set"), "{}", again.err);
    assert_eq!(scratch.entries(), [""; 0], "{}", again.err);
}

/// A run of 30 s on a file of its own, interrupted by these signals after it has begun.
fn interrupted(scratch: &Scratch, signals: &[Signal]) -> (Running, String) {
    let json = scratch.outside("report.json");
    let file = scratch.path("own");
    let words = ["run", "--target", &file, "--size", "16m", "--rw", "randread", "--seconds", "30"];
    let mut running = spawn(&[&words[..], &["--json", &json]].concat());
    running.wait_for(", 30 s");
    std::thread::sleep(Duration::from_millis(1200));
    signals.iter().for_each(|signal| running.signal(*signal));
    (running, json)
}

#[test]
fn an_interrupt_leaves_a_partial_report() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let (_alone, scratch) = (alone(), Scratch::new());
        let (running, json) = interrupted(&scratch, &[signal]);
        let ran = running.wait();
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert!(ran.wall < Duration::from_secs(15), "took {:?}", ran.wall);
        let report = Report::read(&json).expect("a partial report");
        assert_eq!(report.at("/interrupted"), true);
        assert!(report.at("/cut_short").is_string() || ran.out.contains("nterrupt"), "{}", ran.out);
        assert!(report.number("/phases/0/measurements/0/operations/read/ops") > 0.0);
        assert_eq!(report.words("/phases/0/measurements/0/ended"), "interrupted");
        assert!(ran.out.contains("IOPS"), "{}", ran.out);
        assert_eq!(scratch.entries(), [""; 0]);
    }
}

#[test]
fn an_interrupt_during_the_series_of_check_leaves_a_partial_report() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let json = scratch.outside("report.json");
    let mut running =
        spawn(&["check", &scratch.dir(), "--seconds", "30", "--size", "64m", "--json", &json]);
    running.wait_for("[2/");
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    let report = Report::read(&json).expect("a partial report");
    assert_eq!(report.at("/interrupted"), true);
    assert!(!report.list("/phases").is_empty());
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn an_interrupt_during_the_layout_leaves_nothing() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let json = scratch.outside("report.json");
    let file = scratch.path("own");
    let words = ["run", "--target", &file, "--size", "256m", "--rw", "randread", "--json", &json];
    let mut running = spawn(&[&words[..], &["--seconds", "30"]].concat());
    running.wait_for("laying out");
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    assert!(ran.wall < Duration::from_secs(10), "took {:?}", ran.wall);
    assert_eq!(scratch.entries(), [""; 0]);
    if let Some(report) = Report::read(&json) {
        assert_eq!(report.at("/interrupted"), true);
    }
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let (running, _) = interrupted(&scratch, &[Signal::INT, Signal::INT]);
    let began = std::time::Instant::now();
    let ran = running.wait();
    assert!(ran.code == Some(130), "{:?}: {}", ran.code, ran.err);
    assert!(began.elapsed() < Duration::from_secs(3), "took {:?}", began.elapsed());
    assert_eq!(scratch.entries(), [""; 0]);
}
