//! A user without rights: everything starts, and what is missing for lack of them is told once.

use std::os::unix::fs::chown;

use serde_json::Value;

use crate::support::{
    Loop, Mount, NOBODY, Ran, Running, Scratch, candor, nobody_with_files, quiet_host, random_file,
    root, skip, spawn_as_nobody,
};

const MIB: u64 = 1 << 20;

/// Runs candor as a user who owns nothing; none where that user may not see the program.
fn as_user(words: &[&str]) -> Option<Ran> {
    spawn_as_nobody(words).map(Running::wait)
}

/// A directory of that user's.
fn own(scratch: &Scratch) -> String {
    let dir = scratch.path("own");
    std::fs::create_dir(&dir).expect("a directory");
    chown(&dir, Some(NOBODY), Some(NOBODY)).expect("root may give it away");
    dir
}

/// The missing facts in the JSON on stdout: each once, with the remedy.
fn missing(ran: &Ran, at: &str) -> Vec<(String, String)> {
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let list = json.pointer(at).and_then(Value::as_array).expect("a list");
    let text = |of: &Value, key: &str| of[key].as_str().expect("text").to_owned();
    let all: Vec<_> = list.iter().map(|of| (text(of, "what"), text(of, "enable"))).collect();
    let mut names: Vec<&String> = all.iter().map(|(what, _)| what).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len(), "told twice: {all:?}");
    all
}

/// The remedy for a missing fact.
fn enables(missing: &[(String, String)], what: &str) -> String {
    let found: Vec<_> = missing.iter().filter(|(name, _)| name.contains(what)).collect();
    assert_eq!(found.len(), 1, "{what} in {missing:?}");
    found[0].1.clone()
}

const REQUESTS: &str = "single requests of the devices";

#[test]
fn what_a_user_may_not_know_is_reported_once_with_what_would_help() {
    if !root() {
        return;
    }
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let (dir, theirs) = (own(&scratch), scratch.path("theirs"));
    random_file(&theirs, 4 * MIB);
    let (mine, node) = (format!("{dir}/mine"), device.node.as_str());
    let run = ["--rw", "randread", "--bs", "4k", "--seconds", "1", "--quiet", "--json", "-"];
    let Some(ran) = as_user(&["inspect", &dir, node, "--json", "-"]) else { return };
    if ran.code == Some(1) {
        return skip(&format!("another user cannot see the files: {}", ran.err));
    }
    let told = missing(&ran, "/missing");
    assert!(enables(&told, &format!("accounting probe of {node}")).contains("root"), "{told:?}");
    let words = [&["run", "--target", &mine, "--size", "4m"][..], &run].concat();
    let told = missing(&as_user(&words).expect("it ran before"), "/phases/0/hosts/0/facts/missing");
    assert!(enables(&told, REQUESTS).contains("CAP_BPF"), "{told:?}");
    let words = [&["run", "--target", &theirs][..], &run].concat();
    let told = missing(&as_user(&words).expect("it ran before"), "/phases/0/hosts/0/facts/missing");
    assert!(enables(&told, REQUESTS).contains("CAP_BPF"), "{told:?}");
    assert!(enables(&told, "in the page cache").contains("owner"), "{told:?}");
    let words = ["check", &dir, "--seconds", "5", "--quiet", "--json", "-"];
    let told = missing(&as_user(&words).expect("it ran before"), "/phases/0/hosts/0/facts/missing");
    assert!(enables(&told, REQUESTS).contains("CAP_BPF"), "{told:?}");
    for words in [&["watch", "--count", "1", "--json"][..], &["align", &dir, "--seconds", "1"]] {
        let ran = as_user(words).expect("it ran before");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert_eq!(ran.out.matches("CAP_BPF").count(), 1, "{}", ran.out);
    }
    for words in [&["cache", "status", &theirs][..], &["watch", "--iostat", "-x"]] {
        let ran = as_user(words).expect("it ran before");
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

/// More files than the process may open: told before the first is made, with what would help.
#[test]
fn files_beyond_the_limit_of_open_ones_are_refused_before_any_is_made() {
    if !root() {
        return;
    }
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let dir = own(&scratch);
    let words = ["run", "--target", &dir, "--rw", "randread", "--size", "4k", "--seconds", "1"];
    let many = [&words[..], &["--files", "2000", "--quiet"]].concat();
    let Some(ran) = nobody_with_files(300, &many) else { return };
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    for word in ["2000 files are open at once", "--files", "ulimit -Hn"] {
        assert!(ran.err.contains(word), "{word}: {}", ran.err);
    }
    assert_eq!(std::fs::read_dir(&dir).expect("the directory").count(), 0, "nothing was made");
    let few = [&words[..], &["--files", "20", "--quiet"]].concat();
    assert_eq!(nobody_with_files(300, &few).expect("it ran before").code, Some(0));
}

/// Flushes that a device has completed.
fn flushes(device: &Loop) -> u64 {
    let stat = std::fs::read_to_string(device.sys("stat")).expect("its counters");
    stat.split_whitespace().nth(15).and_then(|field| field.parse().ok()).unwrap_or(0)
}

#[test]
fn many_small_files_are_laid_out_with_a_few_flushes() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 << 20) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    let device = mount.device.as_ref().expect("its device");
    let target = mount.path("set");
    let words = ["run", "--target", &target, "--rw", "randread", "--files", "200", "--size", "4k"];
    let before = flushes(device);
    let ran = candor(&[&words[..], &["--ops", "10", "--quiet"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let made = flushes(device) - before;
    assert!((1..=20).contains(&made), "{made} flushes for 200 files");
}

#[test]
fn what_a_user_may_not_do_is_refused_with_what_would_help() {
    if !root() {
        return;
    }
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let node = device.node.as_str();
    let words = ["run", "--target", node, "--rw", "randread", "--seconds", "1", "--quiet"];
    for words in [&words[..], &["check", node, "--seconds", "5", "--quiet"]] {
        let Some(ran) = as_user(words) else { return };
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        assert!(ran.err.contains(node) && ran.err.contains("run as root, or"), "{}", ran.err);
    }
}
