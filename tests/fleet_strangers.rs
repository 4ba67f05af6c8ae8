//! Whoever has no business with an agent: strangers, broken messages, and paths it does not serve.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::fleet::{Fleet, keys};
use crate::support::{Loop, Scratch, candor, root, skip};

const STRANGER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/support/stranger.py");
/// Most memory of an agent, whatever strangers do, in bytes.
const MEMORY_MAX: u64 = 128 << 20;

/// True where Python has TLS.
fn has_python() -> bool {
    let mut python = Command::new("python3");
    python.args(["-c", "import ssl"]).stdout(Stdio::null()).stderr(Stdio::null());
    let has = python.status().is_ok_and(|status| status.success());
    if !has {
        skip("it needs python3 with ssl");
    }
    has
}

/// A stranger does its worst to an agent, and the agent ends the connection.
fn meets(address: &str, mode: &str, keys: &str) {
    let (host, port) = address.rsplit_once(':').expect("an address with a port");
    let version = candor(&["--version"]).out;
    let protocol = version.rsplit_once("protocol ").expect("a protocol").1.trim();
    let output =
        Command::new("python3").args([STRANGER, mode, host, port, keys, protocol]).output();
    let output = output.expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mode}: the agent kept the connection\n{said}");
    if mode == "crowd" {
        println!("connections at once: {}", String::from_utf8_lossy(&output.stdout).trim());
    }
}

/// Lines of the log of the first agent from that one on, once there are so many or 2 s are over.
fn log_since(fleet: &Fleet, before: usize, count: usize) -> Vec<String> {
    for _ in 0..100 {
        if fleet.agents[0].log().len() >= before + count {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    fleet.agents[0].log().split_off(before)
}

/// A run of the first agent that goes well.
fn serves(fleet: &Fleet) {
    let file = fleet.scratch.path("good");
    let ran = fleet.run(&["--target", &file, "--size", "64k", "--ops", "8"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    fleet.wait_until_clean(Duration::from_secs(5));
}

#[test]
fn strangers_are_refused_with_a_line_each_and_start_no_process() {
    if !has_python() {
        return;
    }
    let fleet = Fleet::new(1);
    let address = &fleet.agents[0].address;
    let other = keys(&fleet.scratch, "other");
    let cases = [
        ("plain", &fleet.keys, "refused 127.0.0.1:"),
        ("keyless", &fleet.keys, ": it showed no key"),
        ("other", &other, ": it has another key"),
        ("garbage", &fleet.keys, "refused 127.0.0.1:"),
        (
            "version",
            &fleet.keys,
            "the coordinator is of candor 7.7 and speaks 99; install the same build on all hosts",
        ),
        ("path", &fleet.keys, ": it called `/candor.Agent/Shell`"),
    ];
    for (mode, keys, line) in cases {
        let before = fleet.agents[0].log().len();
        meets(address, mode, keys);
        let log = log_since(&fleet, before, 1);
        assert!(log.len() == 1 && log[0].contains(line), "{mode}: {log:?}");
    }
    let memory = fleet.agents[0].memory_max();
    assert!(memory < MEMORY_MAX, "{memory}");
    serves(&fleet);
}

#[test]
fn broken_messages_end_their_run_and_no_other() {
    if !has_python() {
        return;
    }
    let fleet = Fleet::new(1);
    let cases = [
        ("long", "message length too large: found 1073741824 bytes"),
        ("nonsense", "a message makes no sense: `nonsense` is an unknown key"),
    ];
    for (mode, line) in cases {
        let before = fleet.agents[0].log().len();
        meets(&fleet.agents[0].address, mode, &fleet.keys);
        fleet.wait_until_clean(Duration::from_secs(2));
        let log = log_since(&fleet, before, 2);
        assert!(log[0].contains("run begun, process "), "{mode}: {log:?}");
        assert!(log[1..].iter().any(|of| of.contains(line)), "{mode}: {log:?}");
    }
    assert!(fleet.agents[0].memory_max() < MEMORY_MAX);
    serves(&fleet);
}

#[test]
fn ten_thousand_connections_at_once_pass_by() {
    if !has_python() {
        return;
    }
    let fleet = Fleet::new(1);
    meets(&fleet.agents[0].address, "crowd", &fleet.keys);
    serves(&fleet);
    let memory = fleet.agents[0].memory_max();
    println!("most memory of the agent: {} KiB", memory >> 10);
    assert!(memory < MEMORY_MAX, "{memory}");
}

/// The run ends before it begins, with this code and sentence, which the agent logs; the agent
/// serves on.
fn is_refused(fleet: &Fleet, words: &[&str], sentence: &str) {
    let before = fleet.agents[0].log().len();
    let ran = fleet.run(words);
    assert_eq!(ran.code, Some(3), "{words:?}: {}", ran.err);
    assert!(ran.err.contains(sentence), "{words:?}: {}", ran.err);
    assert!(ran.err.contains(&fleet.agents[0].address), "{words:?}: {}", ran.err);
    fleet.wait_until_clean(Duration::from_secs(2));
    let log = log_since(fleet, before, 3);
    let told = log.iter().filter(|line| line.contains("refused: ") && line.contains(sentence));
    assert_eq!(told.count(), 1, "{words:?}: {log:?}");
}

#[test]
fn what_an_agent_was_not_told_to_serve_is_refused() {
    let fleet = Fleet::new(1);
    let outside = fleet.scratch.outside("file");
    fs::write(&outside, vec![7; 65536]).expect("written");
    let (link, links) = (fleet.scratch.outside("link"), Scratch::new());
    for target in [outside.as_str(), &fleet.scratch.path("../file"), "/dev/shm/candor-refused"] {
        let words = ["--target", target, "--size", "64k", "--rw", "write", "--overwrite"];
        is_refused(&fleet, &words, "this agent does not serve");
    }
    std::os::unix::fs::symlink(links.dir(), &link).expect("linked");
    is_refused(&fleet, &["--target", &format!("{link}/f"), "--size", "64k"], "does not serve");
    let inside = fleet.scratch.path("link");
    std::os::unix::fs::symlink(links.dir(), &inside).expect("linked");
    let before = fleet.agents[0].log().len();
    let ran = fleet.run(&["--target", &format!("{inside}/f"), "--size", "64k"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let log = log_since(&fleet, before, 3);
    assert!(log.iter().any(|line| line.contains("does not serve")), "{log:?}");
    fs::remove_file(inside).expect("the link");
    let plan = "[[phase]]\nname = \"p\"\njob = [{ name = \"j\", \
                work.program = { command = [\"true\"] } }]\n";
    let plan = fleet.scratch.file("program.toml", plan);
    is_refused(&fleet, &[&plan], "job `j` runs programs, which this agent does not");
    assert_eq!(links.entries(), [""; 0]);
    assert_eq!(fs::read(&outside).expect("read"), vec![7; 65536]);
    serves(&fleet);
}

#[test]
fn a_device_is_written_only_where_the_agent_consents_too() {
    if !root() {
        return;
    }
    let scratch = Scratch::new();
    let Some(device) = Loop::blank(&scratch, 4 << 20) else { return };
    let dir = scratch.dir();
    let fleet = Fleet::serving(scratch, 1, &["--allow", &dir, "--allow", &device.node]);
    let words = ["--target", &device.node, "--size", "64k", "--ops", "8", "--overwrite"];
    let write = [&words[..], &["--rw", "write"]].concat();
    is_refused(&fleet, &write, "to which this agent does not consent");
    let bytes = fs::read(&device.backing).expect("read");
    assert!(bytes.iter().all(|byte| *byte == 0), "it was written");
    let ran = fleet.run(&words);
    assert_eq!(ran.code, Some(0), "reading is served: {}", ran.err);
    let dir = fleet.scratch.dir();
    let words = ["--allow", &dir, "--write-device", &device.node];
    let agent = crate::support::fleet::Agent::start(&fleet.keys, &words);
    let ran = candor(&fleet.words(&agent.address, &write));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bytes = fs::read(&device.backing).expect("read");
    assert!(bytes[..8 * 4096].chunks(4096).all(|block| block.iter().any(|byte| *byte != 0)));
}
