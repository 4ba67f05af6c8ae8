//! A benchmark can destroy data: what candor refuses, what it leaves alone, what it cleans up.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{
    Loop, Mount, NOBODY, Report, Running, Scratch, candor, fingerprint, root, shared_host, skip,
    spawn,
};

const MIB: u64 = 1 << 20;

/// Runs random writes for a moment; exit code and stderr.
fn write(target: &str, words: &[&str]) -> (Option<i32>, String) {
    let fixed = ["run", "--target", target, "--rw", "randwrite", "--ops", "2000"];
    let ran = candor(&[&fixed[..], words].concat());
    (ran.code, ran.err)
}

#[test]
fn a_block_device_needs_consent() {
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
        let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
    let (_host, scratch) = (shared_host(), Scratch::new());
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
fn signals_of_batch_systems_and_limits_leave_a_partial_report() {
    for (signal, code) in [(Signal::XCPU, 152), (Signal::USR1, 138), (Signal::QUIT, 131)] {
        let (_host, scratch) = (shared_host(), Scratch::new());
        // SIGXCPU comes again each second, and a terminal and a launcher both send SIGINT.
        let (running, json) = interrupted(&scratch, &[signal, signal, Signal::INT]);
        let ran = running.wait();
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        let report = Report::read(&json).expect("a partial report");
        assert_eq!(report.at("/interrupted"), true);
        assert_eq!(scratch.entries(), [""; 0]);
    }
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (plan, file) = (scratch.outside("plan.toml"), scratch.path("own"));
    // A program that hears no signal holds up the end of the run.
    let text = format!(
        "[[target]]\nname = \"t\"\npath = \"{file}\"\nsize = \"1m\"\n\
         [[phase]]\nstop.time = \"30s\"\n\
         [[phase.job]]\nname = \"reads\"\ntargets = [\"t\"]\nwork.blocks.mix = \"read\"\n\
         [[phase.job]]\nname = \"deaf\"\n[phase.job.work.program]\n\
         command = [\"sh\", \"-c\", \"trap '' TERM; sleep 30\"]\ngrace = \"30s\"\n"
    );
    fs::write(&plan, text).unwrap();
    let mut running = spawn(&["run", "--no-live", &plan]);
    running.wait_for(", 30 s");
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    // Within half a second it would be the first one again.
    std::thread::sleep(Duration::from_millis(700));
    assert!(!running.has_ended(), "{}", running.err_so_far());
    running.signal(Signal::INT);
    let ran = running.wait();
    assert!(ran.code == Some(130), "{:?}: {}", ran.code, ran.err);
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_write() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let mut command = std::process::Command::new("sh");
    let limited = "ulimit -f 100 && exec \"$0\" \"$@\"";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_candor"), "run", "--no-live"]);
    command.args(["--target", &scratch.path("own"), "--size", "1m", "--rw", "read"]);
    let ran = Running::start(&mut command, std::process::Stdio::null()).wait();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("too large"), "{}", ran.err);
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn a_killed_tree_is_removed_whatever_its_spelling() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let dir = scratch.dir();
    let name = dir.rsplit('/').next().expect("a name");
    for spelling in ["tr", "./tr", &format!("../{name}/tr"), &scratch.path("tr")] {
        let there = |words: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_candor"));
            command.args(words).current_dir(&dir);
            Running::start(&mut command, std::process::Stdio::null())
        };
        let words = ["tree", spelling, "--files", "20000", "--size", "0", "--no-live"];
        let mut killed = there(&words);
        killed.wait_for("[2/");
        while fs::read_dir(scratch.path("tr")).map_or(0, Iterator::count) == 0 {
            assert!(!killed.has_ended(), "{}", killed.err_so_far());
            std::thread::sleep(Duration::from_millis(2));
        }
        killed.signal(Signal::KILL);
        killed.wait();
        let words = ["run", "--target", "q", "--size", "64k", "--rw", "read", "--ops", "3"];
        let next = there(&[&words[..], &["--no-live"]].concat()).wait();
        assert_eq!(next.code, Some(0), "{}", next.err);
        assert!(next.err.contains("killed runs") && next.err.contains("tr`"), "{}", next.err);
        assert_eq!(scratch.entries(), [""; 0], "{spelling}");
    }
}

#[test]
fn files_that_cannot_be_removed_are_named_and_keep_their_mark() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    if !root() {
        return;
    }
    let held = scratch.path("held");
    fs::create_dir(&held).unwrap();
    let append_only = |word: &str| {
        let mut command = std::process::Command::new("chattr");
        command.args([word, &held]).status().is_ok_and(|status| status.success())
    };
    if !append_only("+a") {
        skip("this filesystem has no append-only directories");
        return;
    }
    let file = format!("{held}/own");
    let words = ["run", "--size", "64k", "--rw", "read", "--ops", "3", "--no-live", "--target"];
    let ran = candor(&[&words[..], &[&file]].concat());
    let left = fs::read_dir(&held).map(Iterator::count).ok();
    assert!(append_only("-a"));
    assert_eq!((ran.code, left), (Some(1), Some(2)), "the file and its mark: {}", ran.err);
    for word in [file.as_str(), "64 KiB", "not permitted"] {
        assert!(ran.err.contains(word), "no {word}: {}", ran.err);
    }
    let next = candor(&[&words[..], &[&format!("{held}/other")]].concat());
    assert!(next.code == Some(0) && next.err.contains("killed runs"), "{}", next.err);
    assert_eq!(fs::read_dir(&held).map(Iterator::count).ok(), Some(0));
}

#[test]
fn marks_of_other_users_stall_nobody() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    if !root() {
        return;
    }
    for number in 0..20 {
        let mark = scratch.path(&format!(".candor-mark-{number}"));
        fs::write(&mark, "candor-mark-1 1 boot host\0").unwrap();
        fs::File::options().write(true).open(&mark).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::chown(&mark, Some(NOBODY), None).unwrap();
    }
    // Reading them would take hours.
    let (code, err) = write(&scratch.path("own"), &["--size", "64k"]);
    assert_eq!((code, scratch.entries().len()), (Some(0), 20), "{err}");
}

#[test]
fn blocks_that_are_reserved_for_root_are_not_used() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "rw") else { return };
    let space = rustix::fs::statvfs(mount.dir.as_str()).expect("a filesystem");
    let reserved = space.f_bfree - space.f_bavail;
    if reserved == 0 {
        skip("this mkfs.ext4 reserves nothing");
        return;
    }
    let bytes = (space.f_bavail + reserved / 2) * space.f_frsize / 4096 * 4096;
    let (code, err) = write(&format!("{}/own", mount.dir), &["--size", &bytes.to_string()]);
    assert!(code == Some(3) && err.contains("are free there"), "{code:?}: {err}");
}
