//! Errors of the storage: each ends in a sentence, a partial report and clean files.

use std::fs::{self, File};

use crate::support::{Loop, Mount, Ran, Report, Scratch, candor, measured, shared_host};

const MIB: u64 = 1 << 20;

/// A device whose second half answers with EIO.
fn half_broken(scratch: &Scratch) -> Option<Loop> {
    let device = Loop::direct(scratch, 32 * MIB)?;
    let backing = File::options().write(true).open(&device.backing).unwrap();
    backing.set_len(16 * MIB).unwrap();
    Some(device)
}

/// The run ended with a sentence, not with a number or a panic.
fn told(ran: &Ran, report: &Report, sentence: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    let cut = report.at("/cut_short").as_str().unwrap_or_default();
    assert!(cut.contains(sentence), "cut short: {cut:?}\n{}", ran.err);
    assert!(ran.out.contains(sentence), "{}", ran.out);
}

#[test]
fn a_read_error_ends_in_a_sentence_and_a_partial_report() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = half_broken(&scratch) else { return };
    for engine in ["psync", "libaio", "io_uring"] {
        let words = ["run", "--target", &device.node, "--rw", "read", "--bs", "64k", "--direct"];
        let engine = ["--engine", engine, "--depth", if engine == "psync" { "1" } else { "4" }];
        let (ran, report) = measured(&scratch, &[&words[..], &engine].concat());
        told(&ran, &report, "Input/output error");
        let cut = report.words("/cut_short");
        assert!(cut.contains(&device.node), "does not say where: {cut}");
        let read = report.number("/phases/0/measurements/0/operations/read/bytes");
        assert!(read >= (15 * MIB) as f64, "what ran before the error is lost: {read} bytes");
        let error = report.at("/phases/0/measurements/0/errors/0");
        assert_eq!(error["errno"], 5, "{error}");
        let offset = error["offset"].as_u64().unwrap();
        assert!((16 * MIB..=16 * MIB + 256 * 1024).contains(&offset), "{error}");
    }
}

#[test]
fn a_write_error_ends_in_a_sentence_and_a_partial_report() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(mount) = Mount::tmpfs(&scratch, "8m") else { return };
    let words = ["run", "--rw", "write", "--bs", "64k", "--layout", "never", "--size", "32m"];
    // Under a time it is not known beforehand how far the writes get.
    let file = mount.path("own");
    let on = ["--target", &file, "--seconds", "20"];
    let (ran, report) = measured(&scratch, &[&words[..], &on].concat());
    told(&ran, &report, "No space left on device");
    let written = report.number("/phases/0/measurements/0/operations/write/bytes");
    assert!(written >= (7 * MIB) as f64, "what ran before the error is lost: {written} bytes");
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn files_for_which_there_is_no_room_are_refused_before_the_first_byte() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(mount) = Mount::tmpfs(&scratch, "8m") else { return };
    let file = mount.path("own");
    for (rw, words) in [
        ("randread", &["--size", "256m"][..]),
        ("write", &["--size", "256m"]),
        ("randwrite", &["--size", "3m", "--files", "4"]),
    ] {
        let ran = candor(&[&["run", "--target", &file, "--rw", rw][..], words].concat());
        assert_eq!(ran.code, Some(3), "{rw}: {}", ran.err);
        for word in ["MiB are free", &mount.dir, "--size"] {
            assert!(ran.err.contains(word), "no {word}: {}", ran.err);
        }
        assert!(!ran.err.contains("laying out"), "{}", ran.err);
        assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
    }
    let ran = candor(&["check", &mount.dir, "--size", "256m", "--seconds", "2"]);
    assert!(ran.code == Some(3) && ran.err.contains("are free"), "{:?} {}", ran.code, ran.err);
}

#[test]
fn a_full_filesystem_keeps_what_earlier_phases_measured() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(mount) = Mount::tmpfs(&scratch, "8m") else { return };
    let plan = format!(
        r#"
[[target]]
name = "small"
path = "{0}/small"
size = "1m"
[[target]]
name = "large"
path = "{0}/large"
size = "64m"
layout = "never"
[[phase]]
name = "fits"
job = [{{ targets = ["small"], work.blocks = {{ mix = "write" }} }}]
[[phase]]
name = "fits not"
stop = {{ time = "20s" }}
job = [{{ targets = ["large"], work.blocks = {{ mix = "write", size = "64k" }} }}]
"#,
        mount.dir
    );
    let plan = scratch.file("plan.toml", &plan);
    let (ran, report) = measured(&scratch, &["run", &plan]);
    told(&ran, &report, "No space left on device");
    assert_eq!(report.words("/phases/0/name"), "fits");
    assert_eq!(report.number("/phases/0/measurements/0/operations/write/bytes"), MIB as f64);
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn errors_can_be_counted_instead() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = half_broken(&scratch) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--direct", "--seconds", "1"];
    let (ran, report) = measured(&scratch, &[&words[..], &["--continue-on-error"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let read = report.at("/phases/0/measurements/0/operations/read");
    let (done, failed) = (read["ops"].as_f64().unwrap(), read["failed"].as_f64().unwrap());
    assert!(failed > 0.0 && done > 0.0, "{done} done, {failed} failed");
    let share = failed / (done + failed);
    assert!((0.4..0.6).contains(&share), "half of the device is broken, {share} failed");
    assert_eq!(report.words("/phases/0/measurements/0/ended"), "time");
    let counted = report.number("/phases/0/measurements/0/errors/0/count");
    assert_eq!(counted, failed, "the list of errors does not add up");
    assert!(report.at("/cut_short").is_null());
}

#[test]
fn check_of_a_broken_device_ends_in_a_sentence() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = half_broken(&scratch) else { return };
    let (ran, report) = measured(&scratch, &["check", &device.node, "--seconds", "4"]);
    told(&ran, &report, "Input/output error");
}

#[test]
fn check_of_a_small_filesystem_fits_into_it() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    // Long enough to write more than fits at any step, if that were not minded.
    let (ran, report) = measured(&scratch, &["check", &mount.dir, "--seconds", "12"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(report.at("/cut_short").is_null(), "{}", report.told());
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn what_is_not_there_or_not_usable_gets_a_sentence() {
    let scratch = Scratch::new();
    let nothing = scratch.path("nothing");
    let below = scratch.path("no/such/folder/file");
    let empty = scratch.path("empty");
    fs::write(&empty, "").unwrap();
    let read = |target: &str| candor(&["run", "--target", target, "--rw", "read", "--ops", "9"]);
    let (size, storage) = ("--size", "no storage");
    for (target, word) in
        [(nothing.as_str(), size), (&below, size), (&empty, size), ("/dev/null", storage)]
    {
        let ran = read(target);
        assert_eq!(ran.code, Some(2), "{target}: {}", ran.err);
        assert!(ran.err.contains(target) && ran.err.contains(word), "{target}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
    }
    let ran = read("/proc/version");
    assert!(ran.code == Some(2) && ran.err.contains("is empty"), "{:?} {}", ran.code, ran.err);
    let ran = candor(&["check", "/dev/zero", "--seconds", "1"]);
    assert!(ran.code == Some(2) && ran.err.contains("no storage"), "{:?} {}", ran.code, ran.err);
    for command in ["check", "inspect"] {
        let ran = candor(&[command, &nothing]);
        assert!(matches!(ran.code, Some(1 | 2)), "{command}: {:?}", ran.code);
        assert!(ran.err.contains(&nothing), "{}", ran.err);
    }
    assert_eq!(scratch.entries(), ["empty"]);
}

#[test]
fn what_cut_a_run_short_is_reported_on_stderr_too() {
    let scratch = Scratch::new();
    let words = ["run", "--target", &scratch.path("nothing"), "--rw", "read", "--json", "-"];
    let ran = candor(&[&words[..], &["--size", "1m", "--layout", "never"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(Report::of(&ran.out).at("/cut_short").is_string());
    // Who reads JSON, or nothing but the exit code, is told why as well.
    assert!(ran.err.contains("No such file"), "stderr: {:?}", ran.err);
}
