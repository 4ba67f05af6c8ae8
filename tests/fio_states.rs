//! States of verification: what one program saved, the other ends at.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Scratch, skip};

const PEER: &str = "/usr/bin/fio";

/// Runs a program in a folder: exit code, its JSON.
fn run(candor: bool, folder: &Scratch, words: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(if candor { env!("CARGO_BIN_EXE_candor") } else { PEER });
    if candor {
        command.arg("fio");
    }
    command.args(["--output-format=json", "--output=out.json", "--name=j", "--filename=f"]);
    command.args(["--verify=crc32c", "--bs=4k", "--size=256k"]).args(words);
    // The peer reads no other headers.
    command.env("CANDOR_VERIFY_HEADERS", "3.33");
    let out = command.current_dir(folder.dir()).stdin(Stdio::null()).output().unwrap();
    let text = std::fs::read_to_string(folder.path("out.json")).unwrap_or_default();
    (out.status.code(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Writes a part with one program, reads with the other as far as the state says, and beyond.
fn read_what_was_written(writer: bool, reader: bool, words: &[&str], reading: &str) {
    let scratch = Scratch::new();
    let part = ["--number_ios=21", "--do_verify=0", "--fallocate=truncate"];
    assert_eq!(run(writer, &scratch, &[words, &part].concat()).0, Some(0));
    let load = [reading, "--verify_state_load=1"];
    let (code, json) = run(reader, &scratch, &load);
    assert_eq!((code, &json["jobs"][0]["read"]["total_ios"]), (Some(0), &21.into()), "{words:?}");
    let (code, _) = run(reader, &scratch, &[reading]);
    assert_eq!(code, Some(1), "without the state what was never written is read");
}

#[test]
fn states_are_read_across() {
    if !std::path::Path::new(PEER).exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    for (writer, reader) in [(true, true), (true, false), (false, true)] {
        read_what_was_written(writer, reader, &["--rw=write"], "--rw=read");
    }
    let deep = ["--rw=write", "--ioengine=libaio", "--iodepth=8"];
    read_what_was_written(true, false, &deep, "--rw=read");
    read_what_was_written(false, true, &deep, "--rw=read");
    read_what_was_written(true, true, &["--rw=randwrite"], "--rw=randread");
}

/// Of 21 writes with a sync after each eighth, 16 were synced; all of them where the end syncs too.
#[test]
fn a_state_holds_what_was_synced_where_that_is_the_policy() {
    let part = ["--rw=write", "--number_ios=21", "--do_verify=0", "--fsync=8"];
    let read_of = |more: &[&str]| {
        let scratch = Scratch::new();
        assert_eq!(run(true, &scratch, &[&part, more].concat()).0, Some(0));
        let (code, json) = run(true, &scratch, &["--rw=read", "--verify_state_load=1"]);
        assert_eq!(code, Some(0));
        json["jobs"][0]["read"]["total_ios"].clone()
    };
    assert_eq!(read_of(&["--verify_policy=completed"]), 21);
    assert_eq!(read_of(&["--verify_policy=fsynced"]), 16);
    assert_eq!(read_of(&["--verify_policy=fsynced", "--end_fsync=1"]), 21);
    let deep = ["--verify_policy=fsynced", "--ioengine=libaio", "--iodepth=4"];
    let synced = read_of(&deep).as_u64().unwrap();
    assert!((5..=16).contains(&synced), "{synced}: of those in flight with a sync, none");
}

#[test]
fn offsets_that_another_program_drew_are_refused() {
    if !std::path::Path::new(PEER).exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    let scratch = Scratch::new();
    assert_eq!(run(false, &scratch, &["--rw=randwrite", "--number_ios=9"]).0, Some(0));
    assert_eq!(run(true, &scratch, &["--rw=randread", "--verify_state_load=1"]).0, Some(1));
    let path = scratch.path("local-j-0-verify.state");
    std::fs::write(&path, b"no state").unwrap();
    assert_eq!(run(true, &scratch, &["--rw=read", "--verify_state_load=1"]).0, Some(1));
}

#[test]
fn no_result_replaces_a_state_or_a_pattern_that_a_job_reads() {
    let scratch = Scratch::new();
    assert_eq!(run(true, &scratch, &["--rw=write", "--do_verify=0"]).0, Some(0));
    std::fs::write(scratch.path("pattern"), "abcd").unwrap();
    let state = "local-j-0-verify.state";
    let load = ["--rw=read", "--verify_state_load=1"];
    let fill = ["--rw=write", "--buffer_pattern='pattern'"];
    for (words, input) in [(load, state), (fill, "pattern")] {
        let before = std::fs::read(scratch.path(input)).unwrap();
        for option in ["--output", "--write_iolog"] {
            let onto = format!("{option}={input}");
            let (code, _) = run(true, &scratch, &[&words[..], &[onto.as_str()]].concat());
            assert_eq!(code, Some(1), "{onto}");
            assert_eq!(std::fs::read(scratch.path(input)).unwrap(), before, "{onto}");
        }
    }
    // The state of the writes that follow replaces the state before them.
    let on = ["--rw=write", "--verify_state_load=1", "--do_verify=0"];
    assert_eq!(run(true, &scratch, &on).0, Some(0));
}

/// The tool that comes with fio reads what candor saved, and it lies where it is asked for.
#[test]
fn states_are_readable() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("aux")).unwrap();
    let (code, _) = run(true, &scratch, &["--rw=write", "--aux-path=aux"]);
    let path = scratch.path("aux/local-j-0-verify.state");
    assert!(code == Some(0) && std::path::Path::new(&path).exists());
    let Ok(out) = Command::new("fio-verify-state").arg(&path).output() else {
        return skip("it needs fio-verify-state");
    };
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    for line in ["Name:\t\tj", "Number IOs:\t64", "Depth:\t\t1", "(file= 0) 258048"] {
        assert!(out.status.success() && text.contains(line), "{line} is not in\n{text}");
    }
}
