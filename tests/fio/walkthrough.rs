//! Five steps of a walk every beginner takes: the same loop device read in large blocks, in small
//! ones, with a depth that the engine ignores, with an engine that needs direct I/O, and with it.
//! Each has to end with what somebody experienced would say.

use std::fs;

use serde_json::Value;

use super::fio;
use crate::support::{Loop, Scratch, alone};

const MIB: u64 = 1 << 20;

/// What candor says of a second of these lines on the device.
fn verdict(scratch: &Scratch, device: &Loop, lines: &str) -> Value {
    let node = &device.node;
    let job = format!("[step]\nfilename={node}\ntime_based\nruntime=1\n{lines}\n");
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

/// That none of these rules found anything.
fn silent(verdict: &Value, rules: &[&str]) {
    let findings = verdict["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| rules.iter().any(|rule| finding["rule"] == *rule));
    assert!(found.is_none(), "{verdict:#}");
}

#[test]
fn each_step_ends_with_what_an_expert_would_say() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 512 * MIB) else { return };
    let run = |lines: &str| verdict(&scratch, &device, lines);

    // The device is read several times over, and only the first time from below.
    let memory = run("rw=read\nbs=1m\nioengine=psync\nsize=64m");
    assert!(says(&memory, "A1").contains("memory"), "{memory:#}");
    assert_eq!(memory["verdict"], "measures_else");

    let alone = run("rw=randread\nbs=4k\nioengine=psync");
    assert!(says(&alone, "C6").contains("one request at a time"), "{alone:#}");
    silent(&alone, &["A1", "B1", "B2"]);

    let ignored = run("rw=randread\nbs=4k\nioengine=psync\niodepth=32");
    let sentence = says(&ignored, "B1");
    assert!(sentence.contains("psync") && sentence.contains("32"), "{sentence}");

    let buffered = run("rw=randread\nbs=4k\nioengine=libaio\niodepth=32");
    assert!(says(&buffered, "B2").contains("Buffered libaio"), "{buffered:#}");

    let direct = run("rw=randread\nbs=4k\nioengine=libaio\niodepth=32\ndirect=1");
    silent(&direct, &["A1", "B1", "B2", "C6"]);
    assert_ne!(direct["verdict"], "measures_else", "{direct:#}");
}
