//! Traced requests beside the counts of candor and of the kernel.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::process::{Signal, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;

use crate::support::{
    Loop, Report, Scratch, Zram, candor, measured, quiet_host, root, skip, spawn, spawn_as_nobody,
};

const MIB: u64 = 1 << 20;

/// The requests of a device in one direction.
fn requests<'a>(report: &'a Report, device: &str, direction: &str) -> Option<&'a Value> {
    let all = report.at("/phases/0/hosts/0/requests/requests").as_array()?;
    all.iter().find(|of| of["device"] == device && of["direction"] == direction)
}

/// True where this kernel lets nobody trace; a report says so.
fn untraced(report: &Report) -> bool {
    let missing = report.list("/phases/0/hosts/0/facts/missing");
    let what = "single requests of the devices";
    let Some(missing) = missing.iter().find(|missing| missing["what"] == what) else {
        return false;
    };
    skip(&format!("{}: {}", missing["why"], missing["enable"]));
    true
}

fn sum(histogram: &Value) -> u64 {
    let steps = histogram.as_array().into_iter().flatten();
    steps.filter_map(|step| step[1].as_u64()).sum()
}

/// G11 is silent where each request takes much longer than tracing it.
#[test]
fn the_cost_of_tracing_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Zram::random(16 * MIB) else { return };
    let load = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    // Where the host lets the tracer wait, its first window ends late; the budget is for longer.
    for (mode, seconds, every) in [("all", "1", true), ("auto", "5", false), ("off", "1", false)] {
        let how = ["--engine", "psync", "--seconds", seconds, "--block-trace", mode];
        let (ran, report) = measured(&scratch, &[&load[..], &how].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        if mode != "off" && untraced(&report) {
            return;
        }
        if mode == "off" {
            assert!(report.at("/phases/0/hosts/0/requests").is_null());
            assert!(report.finding("G11").is_none(), "{}", report.told());
            continue;
        }
        let cost = |key: &str| report.number(&format!("/phases/0/hosts/0/requests/cost/{key}"));
        let reads = report.number("/phases/0/measurements/0/operations/read/ops");
        assert!(!every || cost("events") >= reads, "{} of {reads}", cost("events"));
        assert!(every || cost("thread_ns") > 0.0, "its thread sees to the budget");
        let elapsed_ns = report.number("/phases/0/measurements/0/elapsed_ns");
        let share = (cost("events_ns") + cost("thread_ns")) / elapsed_ns;
        assert_eq!(report.finding("G11").is_some(), share >= 0.02, "{share}: {}", report.told());
        assert!(every || share < 0.02, "{share}: the budget is a quarter of a percent");
    }
}

#[test]
fn every_request_of_a_quiet_run_is_traced() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    let pace = ["--engine", "psync", "--rate-iops", "500", "--seconds", "1"];
    // Where others keep the disk below busy, the tracer pauses to keep within its budget; and the
    // kernel drops events of a program that interrupts itself. On a quiet host none is missed.
    let mut seen = Value::Null;
    for _ in 0..3 {
        let (ran, report) = measured(&scratch, &[&words[..], &pace].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        if untraced(&report) {
            return;
        }
        seen = requests(&report, device.name(), "read").expect("its requests").clone();
        let ops = report.at("/phases/0/measurements/0/operations/read/ops").as_u64();
        assert_eq!(seen["counted"].as_u64(), ops, "{seen}");
        consistent(&seen);
        if seen["count"].as_u64() == ops && seen["placed"].as_u64() == ops {
            return;
        }
    }
    let number = |key: &str| seen[key].as_u64().expect("a number");
    assert!(number("count") <= number("counted"), "{seen}");
    skip(&format!("of {} requests {} were traced on a busy host", seen["counted"], seen["count"]));
}

/// A `dd` that reads a device from its begin to its end, again and again, until it is dropped.
struct Dd(std::process::Child);

impl Dd {
    fn of(node: &str) -> Dd {
        let again = "while dd if=$0 of=/dev/null bs=4k iflag=direct status=none; do :; done";
        let dd = std::process::Command::new("sh").args(["-c", again, node]).spawn();
        Dd(dd.expect("a shell"))
    }
}

impl Drop for Dd {
    fn drop(&mut self) {
        // The shell's last child ends with the pass that it makes.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Random reads of 64 KiB beside somebody who reads 4 KiB in sequence: sizes, order and latencies
/// are those of our own, and nothing is told to be split.
#[test]
fn own_requests_are_told_from_those_of_others() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "64k", "--direct"];
    let how = ["--engine", "psync", "--seconds", "1", "--block-trace", "all"];
    let dd = Dd::of(&device.node);
    let (ran, report) = measured(&scratch, &[&words[..], &how].concat());
    drop(dd);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if untraced(&report) {
        return;
    }
    let seen = requests(&report, device.name(), "read").expect("its requests");
    let own = &seen["own"];
    let count = own["count"].as_u64().expect("its own");
    let of_process = seen["issuers"].as_array().into_iter().flatten();
    let pid = report.at("/phases/0/hosts/0/requests/own_pid");
    let issued = of_process.filter(|issuer| issuer["pid"] == *pid).map(|issuer| &issuer["count"]);
    let issued: u64 = issued.filter_map(Value::as_u64).sum();
    // Linux 6.18 drops some events of loop devices.
    assert!(count > 100 && count.abs_diff(issued) * 20 < issued, "{count} of {issued}: {seen}");
    assert!(seen["count"].as_u64() > Some(count + 100), "dd's are more: {seen}");
    assert_eq!(own["sizes_4k"], serde_json::json!([[65536, count]]), "{own}");
    assert_eq!(own["bytes"].as_u64(), Some(count * 65536), "{own}");
    assert_eq!(sum(&own["latency_ns"]), count, "{own}");
    let sequential = own["sequential"].as_u64().expect("a count");
    assert!(sequential * 10 < count, "{sequential} of {count} are random");
    let line = ran.out.lines().find(|line| line.contains("read by candor")).unwrap_or_default();
    assert!(line.contains("64 KiB 100 %"), "{}", ran.out);
    assert!(ran.out.contains("read by others"), "{}", ran.out);
    assert!(report.finding("C1").is_none(), "{}", report.told());
    assert!(report.finding("C3").is_none(), "{}", report.told());
}

/// In a container candor has another number than the kernel gives it.
#[test]
fn own_requests_are_known_in_a_container() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let json = scratch.outside("report.json");
    let mut inside = std::process::Command::new("unshare");
    inside.args(["--pid", "--fork", "--mount-proc", env!("CARGO_BIN_EXE_candor"), "run"]);
    inside.args(["--target", &device.node, "--rw", "randread", "--direct", "--seconds", "1"]);
    inside.args(["--engine", "psync", "--json", &json]);
    let Ok(ran) = inside.output() else { return skip("there is no unshare") };
    let Some(report) = Report::read(&json) else {
        return skip(&String::from_utf8_lossy(&ran.stderr));
    };
    if untraced(&report) {
        return;
    }
    let seen = requests(&report, device.name(), "read").expect("its requests");
    let issuer = &seen["issuers"][0];
    assert_eq!(issuer["pid"], *report.at("/phases/0/hosts/0/requests/own_pid"), "{seen}");
    // Nobody else reads this device. Linux 6.18 drops some events of loop devices, of begins as of
    // ends.
    let issued = issuer["count"].as_u64().expect("a count");
    for count in [&seen["own"]["count"], &seen["count"]] {
        let count = count.as_u64().expect("a count");
        assert!(count > 100 && count.abs_diff(issued) * 20 < issued, "{seen}");
    }
    assert!(report.finding("F10").is_none(), "{}", report.told());
}

/// A request is traced whole or not at all.
fn consistent(seen: &Value) {
    let count = seen["count"].as_u64();
    assert_eq!(seen["bytes"].as_u64(), count.map(|count| count * 4096), "{seen}");
    assert_eq!(seen["sizes_4k"], serde_json::json!([[4096, count]]), "{seen}");
    assert_eq!(seen["starts_in_4k"], serde_json::json!([[0, count]]), "{seen}");
    assert_eq!(seen["length_off_4k"], 0, "{seen}");
    assert_eq!(Some(sum(&seen["latency_ns"])), count, "{seen}");
    assert_eq!(seen["issuers"][0]["count"], seen["placed"], "{seen}");
}

#[test]
fn requests_of_others_are_traced_with_size_and_alignment() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let json = scratch.path("traced.json");
    let mut align = spawn(&["align", &device.node, "--seconds", "50", "--json", &json]);
    align.wait_for("Tracing");
    // Ten requests of 1,536 bytes: odd ones begin off 4 KiB, and none has a length that fits.
    let words = ["run", "--target", &device.node, "--rw", "read", "--bs", "1536", "--direct"];
    let few = ["--engine", "psync", "--ops", "10", "--quiet"];
    let ran = candor(&[&words[..], &few].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    align.signal(Signal::INT);
    let ended = align.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let seen = Report::read(&json).expect("the report of align");
    if !seen.at("/untraced").is_null() {
        return skip(seen.words("/untraced/why"));
    }
    let of = seen.list("/trace/requests");
    let reads = of.iter().find(|of| of["device"] == device.name() && of["direction"] == "read");
    let reads = reads.expect("its reads");
    // The accounting probe is one more, and as long as it says.
    let of_1k = |floor: u64| {
        let steps = reads["sizes_log2"].as_array().into_iter().flatten();
        steps.filter(|step| step[0] == floor).filter_map(|step| step[1].as_u64()).sum::<u64>()
    };
    assert_eq!(of_1k(1024), 10, "{reads}");
    assert_eq!(reads["length_off_4k"], 10, "{reads}");
    let starts = reads["starts_in_4k"].as_array().expect("where they start");
    let off: u64 = starts.iter().filter(|at| at[0] != 0).filter_map(|at| at[1].as_u64()).sum();
    // 0, 1536, 3072, 4608, …: only every eighth begins on 4 KiB.
    assert_eq!(off, 8, "{reads}");
    assert!(
        seen.words("/verdict").contains("8 start off a 4 KiB boundary"),
        "{}",
        seen.words("/verdict")
    );
}

/// The report of `candor align` by one method while a load runs on the device; none where this
/// kernel does not allow that method, which candor says.
fn traced_by(scratch: &Scratch, method: &str, node: &str, load: &[&str]) -> Option<Report> {
    let json = scratch.path(&format!("{method}.json"));
    let words = ["align", node, "--by", method, "--seconds", "50", "--json", &json];
    let mut align = spawn(&words);
    if !align.says("Tracing") {
        let ran = align.wait();
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains("cannot trace requests: "), "{}", ran.err);
        skip(&format!("--by {method}: {}", ran.err));
        return None;
    }
    let words = ["run", "--target", node, "--direct", "--block-trace", "off", "--quiet"];
    let ran = candor(&[&words[..], load].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    align.signal(Signal::INT);
    let ended = align.wait();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    Report::read(&json)
}

/// Keeps all CPUs from being idle, each by a thread that gives way to any other, until it is
/// dropped: Linux 6.18 makes no samples for perf of most events of an idle CPU, such as completions
/// while everybody waits for them.
struct Awake {
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

impl Awake {
    fn all_cpus() -> Awake {
        let allowed = sched_getaffinity(None).expect("the CPUs of the tests");
        let stop = Arc::new(AtomicBool::new(false));
        let spins = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).map(|cpu| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut only = CpuSet::new();
                only.set(cpu);
                sched_setaffinity(None, &only).expect("a CPU of its own");
                setpriority_process(None, 19).expect("a thread may give way");
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        });
        Awake { threads: spins.collect(), stop }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("it only spins"));
    }
}

const METHODS: [&str; 4] = ["raw", "tracepoint", "perf", "blktrace"];

/// The reads of a device in a report of `align`.
fn reads<'a>(seen: &'a Report, device: &str) -> &'a Value {
    let all = seen.list("/trace/requests");
    let of = all.iter().find(|of| of["device"] == device && of["direction"] == "read");
    of.expect("its reads")
}

/// By each method that this kernel allows, on a device with a queue: as many requests as the
/// kernel's own counter has, in the same shapes.
#[test]
fn each_method_counts_what_the_kernel_counts() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let _awake = Awake::all_cpus();
    let load = ["--rw", "randread", "--bs", "12k", "--engine", "psync", "--ops", "700"];
    for method in METHODS {
        let Some(seen) = traced_by(&scratch, method, &device.node, &load) else { continue };
        let reads = reads(&seen, device.name());
        assert!(reads["counted"].as_u64() >= Some(700), "{method}: {reads}");
        if missed_some(method, &seen, reads) {
            continue;
        }
        let count = reads["count"].as_u64().expect("a count");
        assert_eq!(of_step(reads, "sizes_4k", 12288), 700, "{method}: {reads}");
        for key in ["sizes_4k", "sizes_log2", "starts_in_4k", "device_latency_ns"] {
            assert_eq!(sum(&reads[key]), count, "{method}: {key}: {reads}");
        }
        assert_eq!(sum(&reads["seeks"]) + reads["sequential"].as_u64().unwrap_or(0) + 1, count);
    }
}

/// True where the kernel dropped events: it drops those that interrupt some of its own work, and
/// counts them only sometimes. Never more are traced than there were; the lab's kernels, which
/// nobody else works with, drop none, and its test takes nothing less.
fn missed_some(method: &str, seen: &Report, of: &Value) -> bool {
    let number = |key: &str| of[key].as_u64().expect("a number");
    let (count, placed, counted) = (number("count"), number("placed"), number("counted"));
    if count == counted && placed == counted {
        return false;
    }
    assert!(count <= counted && placed <= counted, "{method}: {of}");
    assert!(count > 0 && placed > 0, "{method}: {of}");
    let lost = seen.number("/trace/events_lost");
    // Of perf the kernel counts also what it makes no sample of.
    assert!(method != "perf" || count as f64 + lost >= counted as f64, "{of} {lost}");
    skip(&format!("{method}: of {counted} requests {count} were traced ({lost} events lost)"));
    true
}

fn of_step(of: &Value, histogram: &str, key: u64) -> u64 {
    let steps = of[histogram].as_array().into_iter().flatten();
    steps.filter(|step| step[0] == key).filter_map(|step| step[1].as_u64()).sum()
}

/// The same on a device without a queue, whose I/O never becomes requests.
#[test]
fn each_method_traces_devices_without_a_queue() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Zram::random(16 * MIB) else { return };
    let name = device.node.trim_start_matches("/dev/");
    let load = ["--rw", "write", "--bs", "8k", "--engine", "psync", "--ops", "500", "--overwrite"];
    for method in METHODS {
        let Some(seen) = traced_by(&scratch, method, &device.node, &load) else { continue };
        let all = seen.list("/trace/requests");
        let writes = all.iter().find(|of| of["device"] == name && of["direction"] == "write");
        let writes = writes.expect("its writes");
        if missed_some(method, &seen, writes) {
            continue;
        }
        assert_eq!(of_step(writes, "sizes_4k", 8192), 500, "{method}: {writes}");
        if method == "raw" {
            // No other method sees the completion of such I/O.
            assert_eq!(Some(sum(&writes["latency_ns"])), writes["count"].as_u64(), "{writes}");
        }
    }
}

#[test]
fn without_rights_one_line_says_so_and_means_are_shown() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    if !root() {
        return;
    }
    let words = ["align", &device.node, "--seconds", "50"];
    let Some(mut align) = spawn_as_nobody(&words) else { return };
    align.wait_for("Tracing");
    let load =
        ["--rw", "read", "--bs", "4k", "--engine", "psync", "--ops", "50", "--block-trace", "off"];
    let words = ["run", "--target", &device.node, "--direct", "--quiet"];
    let ran = candor(&[&words[..], &load].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    align.signal(Signal::INT);
    let ran = align.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = ran.out.lines().filter(|line| line.contains("Not traced")).count();
    assert_eq!(told, 1, "{}", ran.out);
    // Lines end anywhere.
    let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("root, or CAP_BPF and CAP_PERFMON"), "{}", ran.out);
    assert!(text.contains(&format!("{} read: ", device.name())), "{}", ran.out);
    assert!(text.contains("on average"), "{}", ran.out);
}

/// `candor fio` does not wait for the tracer, which starts some 60 ms after the first request.
#[test]
fn fio_reports_requests_too() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "read", "--direct", "--seconds", "1"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if untraced(&report) {
        return;
    }
    let job = ["fio", "--name=job", "--rw=randread", "--direct=1", "--runtime=2", "--time_based"];
    let rest = [format!("--filename={}", device.node), "--output-format=json".to_owned()];
    let ran = candor(&[&job[..], &[&rest[0], &rest[1]]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).expect("JSON");
    let all = told["candor"]["requests"].as_array().expect("a list");
    let reads = all.iter().find(|of| of["device"] == device.name()).expect("the device");
    let number = |key: &str| reads[key].as_u64().expect("a number");
    assert_eq!((&reads["direction"], &reads["phase"]), (&"read".into(), &"job".into()));
    assert!(number("traced") > 0 && number("traced") <= number("counted"), "{reads}");
    assert_eq!(number("bytes"), number("traced") * 4096, "{reads}");
    assert_eq!(number("start_on_4k"), number("traced"), "{reads}");
}

#[test]
fn a_run_can_trace_nothing_or_everything() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    let few = ["--engine", "psync", "--ops", "2000", "--block-trace"];
    let (ran, report) = measured(&scratch, &[&words[..], &few, &["off"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(report.at("/phases/0/hosts/0/requests").is_null(), "{}", report.told());
    let (ran, report) = measured(&scratch, &[&words[..], &few, &["all"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if untraced(&report) {
        return;
    }
    let seen = requests(&report, device.name(), "read").expect("its requests");
    assert_eq!(seen["counted"], 2000, "{seen}");
    let count = seen["count"].as_u64().expect("a count");
    assert!((1800..=2000).contains(&count), "{seen}");
    assert_eq!(sum(&seen["sizes_4k"]), count, "{seen}");
}

#[test]
fn paths_without_a_device_get_a_sentence() {
    let ran = candor(&["align", "/proc"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("there is no block device below /proc"), "{}", ran.err);
    let ran = candor(&["align", "/no/such/path"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("`/no/such/path` does not exist; name a file"), "{}", ran.err);
}
