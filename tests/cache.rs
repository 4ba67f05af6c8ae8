//! `candor cache`: what of files is in the page cache, out of it, into it.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::support::{
    Cgroup, Mount, Ran, Running, Scratch, candor, fingerprint, quiet_host, root, skip, spawn,
    spawn_as_nobody,
};

const MIB: u64 = 1 << 20;

/// `candor cache` with these words, and its document.
fn cache(scratch: &Scratch, words: &[&str]) -> (Ran, Value) {
    let json = scratch.outside("cached.json");
    let ran = candor(&[&["cache"], words, &["--json", &json]].concat());
    let text = fs::read_to_string(&json).unwrap_or_else(|_| panic!("no document:\n{}", ran.err));
    (ran, serde_json::from_str(&text).expect("the document is JSON"))
}

/// Two files of 5 MiB together, one of them in a directory of its own.
fn files(scratch: &Scratch) -> Option<String> {
    if !scratch.on_disk() {
        return None;
    }
    fs::create_dir(scratch.path("below")).expect("a directory");
    fingerprint(&scratch.random_file("a", 4 * MIB));
    fingerprint(&scratch.random_file("below/b", MIB));
    Some(scratch.dir())
}

#[test]
fn what_is_evicted_is_gone_and_what_is_warmed_is_back() {
    let scratch = Scratch::new();
    let Some(dir) = files(&scratch) else { return };
    let before = fingerprint(&scratch.path("a"));
    let (ran, status) = cache(&scratch, &["status", &dir]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert_eq!(status["files"].as_array().map(Vec::len), Some(2), "{status}");
    assert_eq!(status["total"]["size_bytes"], 5 * MIB, "{status}");
    let (ran, evicted) = cache(&scratch, &["evict", &dir]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(evicted["total"]["resident_bytes"], 0, "{evicted}");
    assert_eq!(evicted["rest_bytes"], 0, "{evicted}");
    assert!(ran.out.contains(": evicted; "), "{}", ran.out);
    let (ran, warmed) = cache(&scratch, &["warm", &scratch.path("a"), &scratch.path("a")]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(warmed["before"]["resident_bytes"], 0, "{warmed}");
    assert_eq!(warmed["total"]["resident_bytes"], 4 * MIB, "{warmed}");
    assert_eq!(warmed["files"].as_array().map(Vec::len), Some(1), "{warmed}");
    let (_, status) = cache(&scratch, &["status", &dir]);
    assert_eq!(status["files"][1]["state"]["resident_bytes"], 0, "{status}");
    assert_eq!(fingerprint(&scratch.path("a")), before);
}

#[test]
fn dirty_pages_are_written_and_not_lost() {
    let scratch = Scratch::new();
    let Some(_) = files(&scratch) else { return };
    let path = scratch.path("a");
    fs::write(&path, vec![7; 3 * MIB as usize]).expect("a file can be written");
    let before = fingerprint(&path);
    let (ran, evicted) = cache(&scratch, &["evict", &path]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(evicted["total"]["resident_bytes"], 0, "{evicted}");
    assert_eq!(fingerprint(&path), before);
}

/// Starts something that maps a file and reads it that way, and waits until it does.
pub fn mapping(scratch: &Scratch, path: &str) -> Running {
    let words = ["run", "--target", path, "--rw", "read", "--bs", "64k", "--engine", "mmap"];
    let mut holder = spawn(&[&words[..], &["--buffered", "--seconds", "50"]].concat());
    holder.wait_for(", 50 s");
    loop {
        // Until then it runs, or this panics.
        holder.wait_for("");
        let (_, status) = cache(scratch, &["status", path]);
        let file = &status["files"][0];
        let mapped = file["mapped_by"].as_array().is_some_and(|by| !by.is_empty());
        if mapped && file["state"]["resident_bytes"].as_u64() > Some(0) {
            return holder;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_somebody_maps_stays_and_is_reported_with_who_does() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(dir) = files(&scratch) else { return };
    let holder = mapping(&scratch, &scratch.path("a"));
    let (ran, evicted) = cache(&scratch, &["evict", &dir]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    let (mapped, free) = (&evicted["files"][0], &evicted["files"][1]);
    let rest = mapped["rest_bytes"].as_u64().unwrap_or_default();
    assert!(0 < rest && rest <= 4 * MIB, "{evicted}");
    assert_eq!(evicted["rest_bytes"].as_u64(), Some(rest), "{evicted}");
    assert_eq!(free["state"]["resident_bytes"], 0, "{evicted}");
    assert_eq!(mapped["mapped_by"][0]["pid"], holder.pid(), "{evicted}");
    assert!(ran.out.contains(&format!("mapped by candor ({})", holder.pid())), "{}", ran.out);
    drop(holder);
    let (ran, evicted) = cache(&scratch, &["evict", &dir]);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    assert_eq!(evicted["files"][0]["mapped_by"].as_array().map(Vec::len), Some(0), "{evicted}");
}

#[test]
fn files_of_others_are_unknown_and_not_called_resident() {
    let scratch = Scratch::new();
    if !root() {
        return;
    }
    let Some(dir) = files(&scratch) else { return };
    for (action, code) in [("status", 0), ("evict", 1), ("warm", 1)] {
        let words = ["cache", action, &dir, "--json", "-"];
        let Some(running) = spawn_as_nobody(&words) else { return };
        let ran = running.wait();
        if ran.code == Some(2) {
            return skip(&format!("another user cannot see the files: {}", ran.err));
        }
        assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
        let told: Value = serde_json::from_str(&ran.out).expect("the document is JSON");
        for file in told["files"].as_array().expect("files") {
            assert_eq!(file["state"], Value::Null, "{told}");
            let trouble = file["trouble"].as_str().unwrap_or_default();
            assert!(trouble.contains("this user cannot write it"), "{told}");
            assert!(trouble.contains("user 0"), "{told}");
        }
        assert_eq!(told["total"]["resident_bytes"], 0, "{told}");
    }
}

#[test]
fn what_does_not_fit_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    if !scratch.on_disk() {
        return;
    }
    let Some(group) = Cgroup::memory(48 * MIB) else { return };
    let file = scratch.random_file("large", 128 * MIB);
    assert_eq!(candor(&["cache", "evict", &file]).code, Some(0));
    let mut command = group.candor(&["cache", "warm", &file, "--json", "-"]);
    let ran = Running::start(&mut command, Stdio::null()).wait();
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let warmed: Value = serde_json::from_str(&ran.out).expect("the document is JSON");
    assert!(warmed["rest_bytes"].as_u64() >= Some(80 * MIB), "{warmed}");
    let told = warmed["files"][0]["rest"].as_str().unwrap_or_default();
    assert!(told.contains("more than memory"), "{warmed}");
}

#[test]
fn what_lies_in_memory_only_cannot_be_evicted() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "16m") else { return };
    fs::write(mount.path("file"), vec![7; MIB as usize]).expect("a file can be written");
    let (ran, evicted) = cache(&scratch, &["evict", &mount.dir]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert_eq!(evicted["rest_bytes"], MIB, "{evicted}");
    // Lines end anywhere.
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("tmpfs has no other place"), "{text}");
    // The mount below the scratch directory is another filesystem.
    let (ran, status) = cache(&scratch, &["status", &scratch.outside("")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let left_out = status["mounts_left_out"].as_array().expect("places");
    assert!(left_out.iter().any(|place| *place == mount.dir.as_str()), "{status}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let wrong: [(&[&str], i32, &str); 4] = [
        (&["cache"], 2, "status"),
        (&["cache", "evict"], 2, "PATH"),
        (&["cache", "status", "/nowhere/at/all"], 2, "`/nowhere/at/all` does not exist; name a"),
        (&["cache", "warm", "/dev/zero"], 2, "neither"),
    ];
    for (words, code, told) in wrong {
        let ran = candor(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.err);
        assert!(ran.err.contains(told), "{words:?}: {}", ran.err);
    }
}
