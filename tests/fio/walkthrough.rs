//! Five steps of a walk every beginner takes: the same loop device read in large blocks, in small
//! ones, with a depth that the engine ignores, with an engine that needs direct I/O, and with it.
//! Each has to end with what somebody experienced would say.

use std::fs;

use serde_json::Value;

use super::fio;
use crate::support::{Loop, Scratch, quiet_host, skip};

const MIB: u64 = 1 << 20;

/// Findings of candor about two seconds of these lines on the device.
fn verdict(scratch: &Scratch, device: &Loop, lines: &str) -> Value {
    let node = &device.node;
    let job = format!("[step]\nfilename={node}\ntime_based\nruntime=2\n{lines}\n");
    fs::write(scratch.path("step.fio"), job).expect("a job file");
    let ran = fio(scratch, &["--output-format=json", "step.fio"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    json["candor"].clone()
}

/// The sentence of a rule's finding.
fn says<'a>(verdict: &'a Value, rule: &str) -> &'a str {
    let findings = verdict["findings"].as_array().expect("findings");
    let finding = findings.iter().find(|finding| finding["rule"] == rule);
    finding.and_then(|finding| finding["sentence"].as_str()).unwrap_or_else(|| {
        panic!("no finding {rule} in {verdict:#}");
    })
}

/// True if one of these rules found something.
fn names(verdict: &Value, rules: &[&str]) -> bool {
    let findings = verdict["findings"].as_array().expect("findings");
    findings.iter().any(|finding| rules.iter().any(|rule| finding["rule"] == *rule))
}

#[test]
fn each_step_ends_with_what_an_expert_would_say() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 512 * MIB) else { return };
    let run = |lines: &str| verdict(&scratch, &device, lines);

    // The device is read several times over, and only the first time from below: without
    // invalidate=0 each time would be.
    let memory = run("rw=read\nbs=1m\nioengine=psync\nsize=64m\ninvalidate=0");
    assert!(says(&memory, "A1").contains("memory"), "{memory:#}");
    assert_eq!(memory["verdict"], "wrong");

    let alone = run("rw=randread\nbs=4k\nioengine=psync");
    if names(&alone, &["B8"]) {
        skip("others keep this machine busy: what one request at a time costs is not told");
    } else {
        assert!(says(&alone, "C6").contains("one request at a time"), "{alone:#}");
    }
    assert!(!names(&alone, &["A1", "B1", "B2"]), "{alone:#}");

    let ignored = run("rw=randread\nbs=4k\nioengine=psync\niodepth=32");
    let sentence = says(&ignored, "B1");
    assert!(sentence.contains("psync") && sentence.contains("32"), "{sentence}");

    let buffered = run("rw=randread\nbs=4k\nioengine=libaio\niodepth=32");
    assert!(says(&buffered, "B2").contains("Buffered libaio"), "{buffered:#}");

    let direct = run("rw=randread\nbs=4k\nioengine=libaio\niodepth=32\ndirect=1");
    assert!(!names(&direct, &["A1", "B1", "B2", "C6"]), "{direct:#}");
    assert_ne!(direct["verdict"], "wrong", "{direct:#}");
}
