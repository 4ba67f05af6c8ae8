//! `candor fio`: files, jobs that fail or wait, commands, interrupts, as users of fio know them.

use std::fs;
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Loop, Mount, Ran, Scratch, candor, fingerprint, shared_host, spawn};

const MIB: u64 = 1 << 20;

/// Runs jobs given as words, in JSON; what it left, and the document.
fn fio(words: &[&str]) -> (Ran, Value) {
    let ran = candor(&[&["fio", "--output-format=json"], words].concat());
    let json = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
    (ran, json)
}

fn errors(json: &Value) -> Vec<i64> {
    let jobs = json["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    jobs.iter().filter_map(|job| job["error"].as_i64()).collect()
}

#[test]
fn a_job_whose_file_cannot_be_opened_fails_alone() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (absent, there) = (scratch.path("absent"), scratch.path("there"));
    let absent = format!("--filename={absent}");
    let there = format!("--filename={there}");
    let words = ["--name=bad", &absent, "--rw=read", "--name=good", &there, "--size=64k"];
    let (ran, json) = fio(&[&words[..], &["--name=later", "--stonewall", &there]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("absent: cannot open") && ran.err.lines().count() == 1, "{}", ran.err);
    // Without a size: to fio, too, the request is invalid.
    assert_eq!(errors(&json), [22, 0, 0]);
    assert_eq!(json["jobs"][1]["read"]["io_bytes"], 64 << 10);
    assert_eq!(json["jobs"][2]["read"]["io_bytes"], 64 << 10);
    assert_eq!(scratch.entries(), ["there"]);
}

/// Runs candor as fio below a shell; bytes that it read, and those that came from a device.
fn read_from_device(words: &[&str]) -> (u64, u64) {
    let script = "\"$@\" || exit; grep ^read_bytes /proc/$$/io";
    let program = env!("CARGO_BIN_EXE_candor");
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh", program, "fio", "--name=a", "--output-format=json"]);
    let ran = shell.args(words).output().expect("a shell");
    let out = String::from_utf8_lossy(&ran.stdout);
    let (json, counted) = out.rsplit_once("read_bytes: ").expect("the shell's own count");
    let json: Value = serde_json::from_str(json).expect("JSON");
    let bytes = json["jobs"][0]["read"]["io_bytes"].as_u64().expect("bytes");
    (bytes, counted.trim().parse().expect("a number"))
}

#[test]
fn a_buffered_read_that_begins_again_reads_the_device_again() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    if !scratch.on_disk() {
        return;
    }
    let file = format!("--filename={}", scratch.random_file("f", 8 * MIB));
    let ran = |words: &[&str]| {
        let common = [file.as_str(), "--bs=64k", "--size=8m"];
        read_from_device(&[&common[..], words].concat())
    };
    for rw in ["--rw=read", "--rw=randread"] {
        let (bytes, device) = ran(&[rw, "--loops=4"]);
        assert_eq!((bytes, device / MIB), (32 * MIB, 32), "{rw}");
        let (bytes, device) = ran(&[rw, "--time_based", "--runtime=1"]);
        assert!(bytes > 8 * MIB && device >= bytes, "{rw}: {device} of {bytes} bytes");
    }
    let (bytes, device) = ran(&["--rw=read", "--loops=4", "--invalidate=0"]);
    assert!(bytes == 32 * MIB && device <= 9 * MIB, "{device}");
}

#[test]
fn direct_io_is_as_small_as_the_filesystem_allows() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    fn words(path: &str) -> (Option<i32>, Option<u64>, String) {
        let file = format!("--filename={path}");
        let small = ["--rw=write", "--bs=1", "--size=16", "--direct=1", "--name=a", &file];
        let (ran, json) = fio(&small);
        (ran.code, json["jobs"][0]["write"]["io_bytes"].as_u64(), ran.err)
    }
    let (code, bytes, err) = words(&scratch.path("f"));
    if scratch.on_disk() {
        assert!(code == Some(1) && bytes == Some(0) && err.contains("in multiples of"), "{err}");
    }
    let Some(memory) = Mount::tmpfs(&scratch, "8m") else { return };
    let (code, bytes, err) = words(&memory.path("f"));
    assert_eq!((code, bytes, err.as_str()), (Some(0), Some(16), ""));
}

#[test]
fn each_block_that_differs_has_the_lines_of_fio() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let path = scratch.path("f");
    let file = format!("--filename={path}");
    let words = ["--name=a", file.as_str(), "--size=64k", "--verify=crc32c"];
    let common = [&words[..], &["--verify_state_save=0"]].concat();
    let (wrote, _) = fio(&[&common[..], &["--rw=write", "--do_verify=0"]].concat());
    assert_eq!(wrote.code, Some(0), "{}", wrote.err);
    let mut bytes = fs::read(&path).unwrap();
    for block in [2, 5, 10] {
        bytes[block * 4096 + 2000] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let (ran, _) = fio(&[&common[..], &["--rw=read", "--continue_on_error=verify"]].concat());
    let begins: Vec<&str> = ran.err.lines().filter(|line| line.contains("verify failed")).collect();
    let line = |offset: u64| {
        format!(
            "crc32c: verify failed at file {path} offset {offset}, length 4096 (requested block: \
             offset={offset}, length=4096)"
        )
    };
    assert_eq!((ran.code, begins), (Some(0), vec![&*line(8192), &*line(20480), &*line(40960)]));
    assert_eq!(ran.err.matches("verify failed").count(), 3, "{}", ran.err);
    assert!(!ran.out.contains("verify failed"), "scripts count these words: {}", ran.out);
    assert_eq!(ran.err.matches("\n       Expected CRC: ").count(), 3, "{}", ran.err);
    let (ran, _) = fio(&[&common[..], &["--rw=read"]].concat());
    let first = line(8192);
    assert!(ran.code == Some(1) && ran.err.starts_with(&first), "{}", ran.err);
    assert_eq!(ran.err.matches("verify failed").count(), 1, "{}", ran.err);
}

#[test]
fn loops_over_mixed_sizes_have_no_false_alarm() {
    let scratch = Scratch::new();
    let sizes = ["--bsrange=4k-16k", "--bssplit=4k/50:8k/30:64k/20"];
    let overlap = ["--ioengine=libaio", "--iodepth=8", "--serialize_overlap=1"];
    for (seed, size) in (1..4).flat_map(|seed| sizes.map(|size| (seed, size))) {
        for more in [&[][..], &["--verify=meta"], &overlap] {
            let file = format!("--filename={}", scratch.path(&format!("v{seed}")));
            let seed = format!("--randseed={seed}");
            let words = ["--name=a", &file, "--size=1m", "--rw=randrw", "--loops=2", size, &seed];
            let verify = ["--verify=crc32c", "--verify_state_save=0"];
            let (ran, json) = fio(&[&words[..], &verify, more].concat());
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{size} {more:?}");
            // All that the last loop wrote is read back.
            assert!(json["jobs"][0]["write"]["total_ios"].as_u64() > Some(0), "{json}");
        }
    }
}

/// As many lines as a thousand blocks have, then how many more there are.
#[test]
fn many_blocks_that_differ_are_all_told_of() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let path = scratch.path("f");
    let file = format!("--filename={path}");
    let words = ["--name=a", file.as_str(), "--size=550k", "--bs=512", "--verify=crc32c"];
    let common = [&words[..], &["--verify_state_save=0"]].concat();
    let (wrote, _) = fio(&[&common[..], &["--rw=write", "--do_verify=0"]].concat());
    assert_eq!(wrote.code, Some(0), "{}", wrote.err);
    let mut bytes = fs::read(&path).unwrap();
    bytes.chunks_exact_mut(512).for_each(|block| block[300] ^= 1);
    fs::write(&path, bytes).unwrap();
    let more = ["--rw=read", "--continue_on_error=verify", "--verify_fatal=0"];
    let (ran, _) = fio(&[&common[..], &more].concat());
    assert_eq!((ran.code, ran.err.matches("verify failed").count()), (Some(0), 1024));
    assert!(ran.err.ends_with("fio: a: 76 more blocks are not what was written\n"), "{}", ran.err);
}

/// Options that only newer versions of fio have.
#[test]
fn options_since_3_33_do_what_they_say() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let [file, trace] = ["f", "trace"].map(|name| scratch.path(name));
    let (file, log) = (format!("--filename={file}"), format!("--write_iolog={trace}"));
    let sequence = ["--random_distribution=sequence:2,0,1", "--random_sequence_stride=1"];
    let words = ["--name=a", &file, &log, "--rw=randread", "--bs=4k", "--size=24k"];
    let (ran, _) = fio(&[&words[..], &sequence].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(&trace).unwrap();
    let reads = text.lines().filter_map(|line| line.split_once(" read "));
    let blocks: Vec<u64> = reads
        .map(|(_, place)| place.split(' ').next().unwrap().parse::<u64>().unwrap() / 4096)
        .collect();
    assert_eq!(blocks, [2, 0, 1, 5, 3, 4]);
    let words = ["--name=a", &file, "--rw=write", "--size=1m", "--ramp_size=256k"];
    let ways = ["--ioengine=libaio", "--libaio_vectored=1", "--direct=1", "--thinkcycles=1000"];
    let (ran, json) = fio(&[&words[..], &ways].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    // The ramp uses up nothing of the size.
    assert_eq!(json["jobs"][0]["write"]["io_bytes"], 1 << 20);
}

#[test]
fn a_pattern_file_is_used_whole() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let pattern: Vec<u8> = (0..3000_u32).map(|n| ((n * n) >> 3) as u8).collect();
    fs::write(scratch.path("pattern"), &pattern).unwrap();
    let buffer = format!("--buffer_pattern='{}'", scratch.path("pattern"));
    let file = format!("--filename={}", scratch.path("f"));
    let (ran, _) = fio(&["--name=a", &file, &buffer, "--rw=write", "--bs=4k", "--size=8k"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let block = [&pattern[..], &pattern[..1096]].concat();
    assert_eq!(fs::read(scratch.path("f")).unwrap(), [&block[..], &block].concat());
}

#[test]
fn readonly_makes_no_file() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let absent = format!("--filename={}", scratch.path("absent"));
    let words = ["--readonly", "--name=r", &absent, "--rw=read", "--size=64k"];
    let (ran, json) = fio(&words);
    assert_eq!((ran.code, errors(&json), scratch.entries()), (Some(1), vec![2], vec![]));
    assert!(ran.err.contains("absent: cannot open"), "{}", ran.err);
    fs::write(scratch.path("absent"), [1; 4096]).unwrap();
    // fio reads up to the end and then fails.
    let (ran, _) = fio(&words);
    assert_eq!((ran.code, fs::metadata(scratch.path("absent")).unwrap().len()), (Some(1), 4096));
}

#[test]
fn readonly_makes_and_removes_no_name() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (there, directory) = (scratch.path("there"), scratch.path("directory"));
    fs::write(&there, [1; 4096]).unwrap();
    fs::create_dir(&directory).unwrap();
    let cases = [
        ("filedelete", &there, "unlink"),
        ("dirdelete", &directory, "rmdir"),
        ("filecreate", &scratch.path("new"), "create"),
        ("dircreate", &scratch.path("new"), "mkdir"),
    ];
    for (engine, path, step) in cases {
        let (engine, path) = (format!("--ioengine={engine}"), format!("--filename={path}"));
        let words = ["--readonly", "--name=n", &engine, &path, "--filesize=4k"];
        let (ran, _) = fio(&words);
        assert_eq!(ran.code, Some(1), "{engine}");
        assert!(ran.err.contains(&format!("would {step} files; --readonly")), "{}", ran.err);
        let mut left = scratch.entries();
        left.sort_unstable();
        assert_eq!(left, ["directory", "there"], "{engine}");
    }
}

#[test]
fn files_are_made_laid_out_and_stay() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let deep = scratch.path("a/b/file");
    let (ran, _) = fio(&["--name=r", &format!("--filename={deep}"), "--size=1m", "--rw=read"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let bytes = fs::read(&deep).unwrap();
    assert!(bytes.len() as u64 == MIB && bytes.iter().any(|byte| *byte != 0));
    let before = fingerprint(&deep);
    // Long enough for less: used as it is.
    let (ran, _) = fio(&["--name=r", &format!("--filename={deep}"), "--size=64k", "--rw=randread"]);
    assert_eq!((ran.code, fingerprint(&deep)), (Some(0), before));
    let unlink = ["--unlink=1", "--name=w", "--size=64k", "--rw=write"];
    let directory = format!("--directory={}", scratch.dir());
    let (ran, _) = fio(&[&[directory.as_str()], &unlink[..]].concat());
    assert_eq!((ran.code, scratch.entries()), (Some(0), vec!["a".to_owned()]), "{}", ran.err);
}

#[test]
fn create_only_makes_files_and_nothing_else() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let directory = format!("--directory={}", scratch.dir());
    let words = ["--name=c", "--nrfiles=4", "--filesize=4k-64k", "--bs=4k", "--create_only=1"];
    let (ran, json) = fio(&[&[directory.as_str()], &words[..]].concat());
    assert_eq!((ran.code, scratch.entries().len()), (Some(0), 4), "{}", ran.err);
    for name in scratch.entries() {
        let length = fs::metadata(scratch.path(&name)).unwrap().len();
        assert!((4 << 10..=64 << 10).contains(&length) && length % 4096 == 0, "{name}: {length}");
    }
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 0);
}

#[test]
fn commands_run_around_a_job_and_a_job_waits_for_another() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("job.fio");
    let text = "[global]\nsize=64k\nrw=write\n[a]\nexec_prerun=echo before\n\
                exec_postrun=echo after\nruntime=1\ntime_based\n[b]\nwait_for=a\n";
    fs::write(&file, text).unwrap();
    let script = format!("cd {} && {} fio --output-format=json job.fio", scratch.dir(), CANDOR);
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(errors(&json), [0, 0], "{}", String::from_utf8_lossy(&output.stderr));
    let said = |name: &str| fs::read_to_string(scratch.path(name)).unwrap();
    assert_eq!(
        (said("a.prerun.txt"), said("a.postrun.txt")),
        ("before\n".into(), "after\n".into())
    );
    let start = |job: usize| json["jobs"][job]["job_start"].as_i64();
    if let (Some(a), Some(b)) = (start(0), start(1)) {
        assert!(b - a >= 1000, "b began {} ms after a", b - a);
    }
    assert_eq!(json["jobs"][1]["write"]["io_bytes"], 64 << 10);
}

#[test]
fn a_command_that_fails_leaves_its_job_out_or_is_noted() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("job.fio");
    let text = "[global]\nsize=64k\nrw=write\n[a]\nexec_prerun=exit 3\n\
                [b]\nexec_postrun=false\n";
    fs::write(&file, text).unwrap();
    let script = format!("cd {} && {} fio --output-format=json job.fio", scratch.dir(), CANDOR);
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let told = (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert_eq!(told, (Some(0), String::new()));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(errors(&json), [0, 0]);
    let written = |job: usize| json["jobs"][job]["write"]["io_bytes"].as_u64();
    assert_eq!((written(0), written(1)), (Some(0), Some(64 << 10)));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("the command `exit 3` of `a` failed") && said.contains("`false` of `b`"));
}

const CANDOR: &str = env!("CARGO_BIN_EXE_candor");

#[test]
fn an_interrupt_leaves_partial_results_and_its_exit_code() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = format!("--filename={}", scratch.path("file"));
    let words = ["--name=r", &file, "--size=1m", "--rw=randread", "--time_based", "--runtime=30"];
    for signal in [Signal::INT, Signal::TERM] {
        let running = spawn(&[&["fio", "--output-format=json"], &words[..]].concat());
        std::thread::sleep(Duration::from_millis(1500));
        running.signal(signal);
        let ran = running.wait();
        assert_eq!(ran.code, Some(128), "{}", ran.err);
        assert!(ran.wall < Duration::from_secs(15), "took {:?}", ran.wall);
        let from = ran.out.find("\n{\n").map_or(0, |at| at + 1);
        let json: Value = serde_json::from_str(&ran.out[from..]).expect(&ran.out);
        assert!(json["jobs"][0]["read"]["total_ios"].as_i64() > Some(0));
    }
}

#[test]
fn a_full_filesystem_is_an_end_where_asked() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(mount) = Mount::tmpfs(&scratch, "4m") else { return };
    let file = format!("--filename={}", mount.path("file"));
    let (ran, json) = fio(&["--name=f", &file, "--rw=write", "--bs=64k", "--fill_device=1"]);
    assert_eq!((ran.code, errors(&json)), (Some(0), vec![0]), "{}", ran.err);
    assert_eq!(fs::metadata(mount.path("file")).unwrap().len(), 4 * MIB);
    let (ran, json) = fio(&["--name=f", &file, "--rw=write", "--size=8m", "--fallocate=none"]);
    assert_eq!((ran.code, errors(&json)), (Some(1), vec![28]), "{}", ran.err);
}

#[test]
fn a_mounted_device_is_written_to_only_where_allowed() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "ro,noload") else { return };
    let before = fingerprint(mount.node());
    let file = format!("--filename={}", mount.node());
    let words = ["--name=w", &file, "--rw=randwrite", "--number_ios=100", "--direct=1"];
    let (ran, _) = fio(&words);
    assert_eq!((ran.code, fingerprint(mount.node())), (Some(1), before), "{}", ran.err);
    assert!(ran.err.contains(&mount.dir), "does not say who holds it: {}", ran.err);
    let (ran, _) = fio(&[&words[..], &["--allow_mounted_write=1"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_ne!(fingerprint(mount.node()), before, "nothing was written");
}

/// The run claims a device, so the kernel refuses to trim what the page cache has not written yet.
#[test]
fn blocks_are_trimmed_that_the_page_cache_has_not_written() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::new(&scratch, 32 * MIB, &[]) else { return };
    let file = format!("--filename={}", device.node);
    let write = ["--name=w", &file, "--rw=randwrite", "--number_ios=64", "--verify=md5"];
    let trim = ["--trim_percentage=50", "--trim_backlog=1", "--verify_state_save=0"];
    let (ran, result) = fio(&[&write[..], &trim].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let trims = &result["jobs"][0]["trim"]["total_ios"];
    assert!(trims.as_u64().is_some_and(|trims| (16..=48).contains(&trims)), "{trims} trims");
}
