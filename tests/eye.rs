//! Single requests, as programs in the kernel see them, beside what candor and the kernel's own
//! counters say.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{
    Loop, Report, Scratch, Zram, alone, candor, measured, root, skip, spawn, spawn_as_nobody,
};

const MIB: u64 = 1 << 20;

/// The requests of a device in one direction.
fn requests<'a>(report: &'a Report, device: &str, direction: &str) -> Option<&'a Value> {
    let all = report.at("/phases/0/requests/requests").as_array()?;
    all.iter().find(|of| of["device"] == device && of["direction"] == direction)
}

/// True where this kernel lets nobody look, which a report says.
fn blind(report: &Report) -> bool {
    let missing = report.list("/facts/missing");
    let what = "the sizes and places of requests, one by one";
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

/// Where each request takes much longer than to look at it, none is told of.
#[test]
fn what_looking_costs_is_told() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Zram::random(16 * MIB) else { return };
    let load = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    for (eye, every) in [("all", true), ("auto", false), ("off", false)] {
        let how = ["--engine", "psync", "--seconds", "1", "--eye", eye];
        let (ran, report) = measured(&scratch, &[&load[..], &how].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        if eye != "off" && blind(&report) {
            return;
        }
        if eye == "off" {
            assert!(report.at("/phases/0/requests").is_null());
            assert!(report.finding("G11").is_none(), "{}", report.told());
            continue;
        }
        let cost = |key: &str| report.number(&format!("/phases/0/requests/cost/{key}"));
        let reads = report.number("/phases/0/measurements/0/ops/read/ops");
        assert!(!every || cost("events") >= reads, "{} of {reads}", cost("events"));
        assert!(every || cost("thread_ns") > 0.0, "its thread sees to the budget");
        let elapsed_ns = report.number("/phases/0/measurements/0/elapsed_ns");
        let share = (cost("events_ns") + cost("thread_ns")) / elapsed_ns;
        assert_eq!(report.finding("G11").is_some(), share >= 0.02, "{share}: {}", report.told());
        assert!(every || share < 0.02, "{share}: the budget is a quarter of a percent");
    }
}

#[test]
fn every_request_of_a_quiet_run_is_seen() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    let pace = ["--engine", "psync", "--rate-iops", "500", "--seconds", "1"];
    // Where others keep the disk below busy, requests are passed over to keep the cost low; and the
    // kernel leaves out a program that interrupts itself. On a quiet host each is seen at once.
    let mut seen = Value::Null;
    for _ in 0..3 {
        let (ran, report) = measured(&scratch, &[&words[..], &pace].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        if blind(&report) {
            return;
        }
        seen = requests(&report, device.name(), "read").expect("its requests").clone();
        let ops = report.at("/phases/0/measurements/0/ops/read/ops").as_u64();
        assert_eq!(seen["counted"].as_u64(), ops, "{seen}");
        consistent(&seen);
        if seen["count"].as_u64() == ops && seen["placed"].as_u64() == ops {
            return;
        }
    }
    let number = |key: &str| seen[key].as_u64().expect("a number");
    assert!(number("count") <= number("counted"), "{seen}");
    skip(&format!("of {} requests {} were seen on a busy host", seen["counted"], seen["count"]));
}

/// Whatever was seen was seen whole.
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
fn what_others_send_is_told_with_size_and_alignment() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let json = scratch.path("seen.json");
    let mut looking = spawn(&["align", &device.node, "--seconds", "50", "--json", &json]);
    looking.wait_for("Looking");
    // Ten requests of 1,536 bytes: odd ones begin off 4 KiB, and none has a length that fits.
    let words = ["run", "--target", &device.node, "--rw", "read", "--bs", "1536", "--direct"];
    let few = ["--engine", "psync", "--ops", "10", "--quiet"];
    let ran = candor(&[&words[..], &few].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    looking.signal(Signal::INT);
    let looked = looking.wait();
    assert_eq!(looked.code, Some(0), "{}", looked.err);
    let seen = Report::read(&json).expect("what was seen");
    if !seen.at("/blind").is_null() {
        return skip(seen.words("/blind/why"));
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
    assert!(seen.words("/verdict").contains("8 begin off 4 KiB"), "{}", seen.words("/verdict"));
}

/// What `candor align` sees in one way while a load runs on the device; none where this kernel does
/// not allow that way, which it says.
fn seen_by(scratch: &Scratch, way: &str, node: &str, load: &[&str]) -> Option<Report> {
    let json = scratch.path(&format!("{way}.json"));
    let words = ["align", node, "--by", way, "--seconds", "50", "--json", &json];
    let mut looking = spawn(&words);
    if !looking.says("Looking") {
        let ran = looking.wait();
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains("cannot see requests this way"), "{}", ran.err);
        skip(&format!("--by {way}: {}", ran.err));
        return None;
    }
    let words = ["run", "--target", node, "--direct", "--eye", "off", "--quiet"];
    let ran = candor(&[&words[..], load].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    looking.signal(Signal::INT);
    let looked = looking.wait();
    assert_eq!(looked.code, Some(0), "{}", looked.err);
    Report::read(&json)
}

const WAYS: [&str; 4] = ["raw", "tracepoint", "perf", "blktrace"];

/// The reads of a device in what `align` saw.
fn reads<'a>(seen: &'a Report, device: &str) -> &'a Value {
    let all = seen.list("/trace/requests");
    let of = all.iter().find(|of| of["device"] == device && of["direction"] == "read");
    of.expect("its reads")
}

/// In each way that this kernel allows, on a device with a queue: as many requests as the kernel's
/// own counter has, in the same shapes.
#[test]
fn each_way_counts_what_the_kernel_counts() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let load = ["--rw", "randread", "--bs", "12k", "--engine", "psync", "--ops", "700"];
    for way in WAYS {
        let Some(seen) = seen_by(&scratch, way, &device.node, &load) else { continue };
        let reads = reads(&seen, device.name());
        assert!(reads["counted"].as_u64() >= Some(700), "{way}: {reads}");
        if passed_over(way, &seen, reads) {
            continue;
        }
        let count = reads["count"].as_u64().expect("a count");
        assert_eq!(of_step(reads, "sizes_4k", 12288), 700, "{way}: {reads}");
        for key in ["sizes_4k", "sizes_log2", "starts_in_4k", "device_latency_ns"] {
            assert_eq!(sum(&reads[key]), count, "{way}: {key}: {reads}");
        }
        assert_eq!(sum(&reads["seeks"]) + reads["sequential"].as_u64().unwrap_or(0) + 1, count);
    }
}

/// True where the kernel did not show all: it leaves out what interrupts some of its own work, and
/// says so only sometimes. What was seen is never more than there was; the lab's kernels, which
/// nobody else works with, show all of it, and its test takes nothing less.
fn passed_over(way: &str, seen: &Report, of: &Value) -> bool {
    let number = |key: &str| of[key].as_u64().expect("a number");
    let (count, placed, counted) = (number("count"), number("placed"), number("counted"));
    if count == counted && placed == counted {
        return false;
    }
    assert!(count <= counted && placed <= counted, "{way}: {of}");
    assert!(count > 0 && placed > 0, "{way}: {of}");
    let left_out = seen.number("/trace/left_out");
    // Of perf the kernel counts also what it makes no sample of.
    assert!(way != "perf" || count as f64 + left_out >= counted as f64, "{of} {left_out}");
    skip(&format!("{way}: of {counted} requests the kernel showed {count} ({left_out} left out)"));
    true
}

fn of_step(of: &Value, histogram: &str, key: u64) -> u64 {
    let steps = of[histogram].as_array().into_iter().flatten();
    steps.filter(|step| step[0] == key).filter_map(|step| step[1].as_u64()).sum()
}

/// The same on a device without a queue, whose I/O never becomes requests.
#[test]
fn each_way_sees_devices_without_a_queue() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Zram::random(16 * MIB) else { return };
    let name = device.node.trim_start_matches("/dev/");
    let load = ["--rw", "write", "--bs", "8k", "--engine", "psync", "--ops", "500", "--overwrite"];
    for way in WAYS {
        let Some(seen) = seen_by(&scratch, way, &device.node, &load) else { continue };
        let all = seen.list("/trace/requests");
        let writes = all.iter().find(|of| of["device"] == name && of["direction"] == "write");
        let writes = writes.expect("its writes");
        if passed_over(way, &seen, writes) {
            continue;
        }
        assert_eq!(of_step(writes, "sizes_4k", 8192), 500, "{way}: {writes}");
        if way == "raw" {
            // It alone sees when such I/O is done.
            assert_eq!(Some(sum(&writes["latency_ns"])), writes["count"].as_u64(), "{writes}");
        }
    }
}

#[test]
fn without_rights_it_says_so_in_a_line_and_shows_means() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    if !root() {
        return;
    }
    let words = ["align", &device.node, "--seconds", "50"];
    let Some(mut looking) = spawn_as_nobody(&words) else { return };
    looking.wait_for("Looking");
    let load = ["--rw", "read", "--bs", "4k", "--engine", "psync", "--ops", "50", "--eye", "off"];
    let words = ["run", "--target", &device.node, "--direct", "--quiet"];
    let ran = candor(&[&words[..], &load].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    looking.signal(Signal::INT);
    let ran = looking.wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = ran.out.lines().filter(|line| line.contains("Not seen")).count();
    assert_eq!(told, 1, "{}", ran.out);
    assert!(ran.out.contains("root, or CAP_BPF and CAP_PERFMON"), "{}", ran.out);
    assert!(ran.out.contains(&format!("{} read: ", device.name())), "{}", ran.out);
    assert!(ran.out.contains("on average"), "{}", ran.out);
}

/// It does not wait for the eye, which is open some 60 ms after the first request.
#[test]
fn who_calls_fio_gets_them_too() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "read", "--direct", "--seconds", "1"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if blind(&report) {
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
    assert!(number("seen") > 0 && number("seen") <= number("counted"), "{reads}");
    assert_eq!(number("bytes"), number("seen") * 4096, "{reads}");
    assert_eq!(number("start_on_4k"), number("seen"), "{reads}");
}

#[test]
fn the_eye_of_a_run_can_be_shut_and_be_wide_open() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--rw", "randread", "--bs", "4k", "--direct"];
    let few = ["--engine", "psync", "--ops", "2000", "--eye"];
    let (ran, report) = measured(&scratch, &[&words[..], &few, &["off"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(report.at("/phases/0/requests").is_null(), "{}", report.told());
    let (ran, report) = measured(&scratch, &[&words[..], &few, &["all"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    if blind(&report) {
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
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("there is no block device below /proc"), "{}", ran.err);
    let ran = candor(&["align", "/no/such/path"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("/no/such/path"), "{}", ran.err);
}
