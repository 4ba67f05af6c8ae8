//! Single requests, as programs in the kernel see them, beside what candor and the kernel's own
//! counters say.

use serde_json::Value;

use crate::support::{Loop, Report, Scratch, alone, candor, measured, skip, spawn};

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
    let looking = spawn(&["align", &device.node, "--seconds", "4", "--json", &json]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    // Ten requests of 1,536 bytes: odd ones begin off 4 KiB, and none has a length that fits.
    let words = ["run", "--target", &device.node, "--rw", "read", "--bs", "1536", "--direct"];
    let few = ["--engine", "psync", "--ops", "10", "--quiet"];
    let ran = candor(&[&words[..], &few].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let looked = looking.wait();
    assert_eq!(looked.code, Some(0), "{}", looked.err);
    let seen = Report::read(&json).expect("what was seen");
    if !seen.at("/blind").is_null() {
        return skip(seen.words("/blind/why"));
    }
    let of = seen.list("/trace/requests");
    let reads = of.iter().find(|of| of["device"] == device.name() && of["direction"] == "read");
    let reads = reads.expect("its reads");
    // The canary is one more, and as long as it says.
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

#[test]
fn paths_without_a_device_get_a_sentence() {
    let ran = candor(&["align", "/proc"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("there is no block device below /proc"), "{}", ran.err);
    let ran = candor(&["align", "/no/such/path"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("/no/such/path"), "{}", ran.err);
}
