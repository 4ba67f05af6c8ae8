//! `candor trace -- COMMAND`, and `--pid` of `align` and `watch`: requests of some processes alone.

use std::fs;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::{Ran, Scratch, candor, shared_host, skip};

/// The outcome; none where this host allows no tracing, or the directory is on no block device.
fn traced(words: &[&str]) -> Option<Ran> {
    let ran = candor(words);
    let cannot = ["cannot trace requests", "no block device"];
    if cannot.iter().any(|sentence| ran.err.contains(sentence)) {
        skip(ran.err.trim());
        return None;
    }
    Some(ran)
}

/// The traced requests of a direction on all devices: number, bytes, and names of those who issued.
fn sum(report: &str, direction: &str) -> (u64, u64, Vec<String>) {
    let report: Value =
        serde_json::from_str(&fs::read_to_string(report).expect("a report")).expect("JSON");
    let mut all = (0, 0, Vec::new());
    for of in report["trace"]["requests"].as_array().expect("a list") {
        if of["direction"] == direction {
            all.0 += of["count"].as_u64().expect("a count");
            all.1 += of["bytes"].as_u64().expect("bytes");
            let issuers = of["issuers"].as_array().expect("a list").iter();
            all.2.extend(issuers.filter_map(|of| Some(of["command"].as_str()?.to_owned())));
        }
    }
    all
}

#[test]
fn a_command_is_traced_with_all_that_it_starts() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, json) = (scratch.path("f"), scratch.outside("trace.json"));
    // 64 direct writes of 64 KiB by a child of a child.
    let script = format!(
        "echo out; sh -c 'dd if=/dev/zero of={file} bs=64k count=64 oflag=direct 2>/dev/null'; \
         exit 7"
    );
    let words = ["trace", "--json", &json, "--", "sh", "-c", &script];
    let Some(ran) = traced(&words) else { return };
    assert_eq!((ran.code, ran.out.as_str()), (Some(7), "out\n"), "{}", ran.err);
    let (count, bytes, by) = sum(&json, "write");
    if count == 0 {
        return skip("direct writes reach no block device here");
    }
    // Any process may hand them to the driver; metadata may come on top.
    assert!((64 << 16..80 << 16).contains(&bytes), "{bytes} {by:?}");
    assert!(by.iter().any(|command| command == "dd"), "{by:?}");
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.starts_with("`sh -c 'echo out;") || told.contains("sent "), "{}", ran.err);
    assert!(told.contains("size 64 KiB "), "{}", ran.err);
    assert!(told.contains("write:") && told.contains("latency"), "{}", ran.err);

    // Requests of another process at the same time are not the command's.
    let other = format!("dd if=/dev/zero of={file}2 bs=64k count=64 oflag=direct 2>/dev/null");
    let mut beside = Command::new("sh")
        .args(["-c", &format!("while :; do {other}; done")])
        .spawn()
        .expect("a shell");
    let ran = candor(&["trace", "--json", &json, "--", "sleep", "0.5"]);
    beside.kill().and_then(|()| beside.wait()).expect("it ends");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // The CPU that runs `sleep` may hand a request of another process to the driver.
    assert_eq!(sum(&json, "write").0, 0, "{}", ran.err);
    assert!(ran.err.contains("`sleep 0.5` sent no request to a device"), "{}", ran.err);
}

/// A disk that takes fewer segments than an I/O has splits it; one without room for a part gives
/// the part back, and a thread of the kernel issues it again.
#[test]
fn all_parts_of_a_split_request_are_counted() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, json) = (scratch.path("f"), scratch.outside("trace.json"));
    let of = format!("of={file}");
    let dd = ["dd", "if=/dev/zero", &of, "bs=1M", "count=32", "oflag=direct", "status=none"];
    let Some(ran) = traced(&[&["trace", "--json", &json, "--"], &dd[..]].concat()) else { return };
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if sum(&json, "write").0 == 0 {
        return skip("direct writes reach no block device here");
    }
    let report: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let writes = report["trace"]["requests"].as_array().unwrap().iter();
    for of in writes.filter(|of| of["direction"] == "write") {
        let number = |key: &str| of[key].as_u64().expect(key);
        let issuers = of["issuers"].as_array().unwrap().iter();
        let issued: u64 = issuers.map(|of| of["bytes"].as_u64().unwrap()).sum();
        assert!(issued >= 32 << 20, "{of}");
        // A program that interrupts another one on its CPU is left out by the kernel.
        let (placed, count) = (number("placed"), number("count"));
        assert!(count * 10 >= placed * 9, "{of}");
        assert_eq!(ran.err.contains("was not traced"), count < placed, "{}", ran.err);
    }
}

#[test]
fn a_command_that_cannot_run_has_the_codes_of_a_shell() {
    let Some(ran) = traced(&["trace", "--", "/nowhere/command"]) else { return };
    assert_eq!(ran.code, Some(127), "{}", ran.err);
    assert_eq!(candor(&["trace", "--", "/"]).code, Some(126));
    let ran = candor(&["trace", "--", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(ran.code, Some(128 + 9), "{}", ran.err);
    assert_eq!(candor(&["trace"]).code, Some(2));
    let ran = candor(&["trace", "--json", "-", "--", "true"]);
    assert!(ran.code == Some(1) && ran.err.contains("stdout belongs to COMMAND"), "{}", ran.err);
}

/// A process that writes again and again until it is killed.
struct Writer(Child);

impl Writer {
    fn start(file: &str) -> Writer {
        let one = format!("dd if=/dev/zero of={file} bs=64k count=16 oflag=direct 2>/dev/null");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("while :; do {one}; done")]).stdin(Stdio::null());
        Writer(command.spawn().expect("a shell"))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn a_running_process_is_traced_apart_from_others() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let json = scratch.outside("align.json");
    let (writer, _other) =
        (Writer::start(&scratch.path("one")), Writer::start(&scratch.path("other")));
    let pid = writer.0.id().to_string();
    let words = ["align", "--pid", &pid, "--seconds", "1", "--json", &json];
    let Some(ran) = traced(&words) else { return };
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (count, bytes, by) = sum(&json, "write");
    if count == 0 {
        return skip("direct writes reach no block device here");
    }
    assert!(by.iter().all(|command| command == "dd" || command == "sh"), "{by:?}");
    let both = scratch.outside("both.json");
    let pids = ["--pid", &pid, "--pid", &_other.0.id().to_string()].map(str::to_owned);
    let words: Vec<&str> = ["align", "--seconds", "1", "--json", &both]
        .into_iter()
        .chain(pids.iter().map(String::as_str))
        .collect();
    assert_eq!(candor(&words).code, Some(0));
    assert!(sum(&both, "write").1 > 0 && bytes > 0);

    let words = ["watch", "--pid", &pid, "--interval", "0.5", "--count", "2", "--json"];
    let ran = candor(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let last: Value = serde_json::from_str(ran.out.lines().last().expect("a line")).expect("JSON");
    let devices = last["devices"].as_array().expect("devices");
    let writes: f64 =
        devices.iter().filter_map(|device| device["write"]["bytes_per_s"].as_f64()).sum();
    assert!(writes > 0.0, "{}", ran.out);

    for words in [["align", "--pid", "999999999"], ["watch", "--pid", "999999999"]] {
        let ran = candor(&words);
        assert!(ran.code == Some(2) && ran.err.contains("there is no process"), "{}", ran.err);
    }
    assert_eq!(candor(&["align"]).code, Some(2));
}

#[test]
fn tracing_ends_with_the_process() {
    let _host = shared_host();
    let mut process = Command::new("sleep").arg("1").spawn().expect("sleep");
    let pid = process.id().to_string();
    // Reaped meanwhile, or it would be there as a zombie.
    let reaper = std::thread::spawn(move || process.wait());
    let ran = traced(&["align", "--pid", &pid, "--seconds", "60"]);
    reaper.join().expect("a thread").expect("it ended");
    let Some(ran) = ran else { return };
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.wall.as_secs() < 30, "{:?}", ran.wall);
}
