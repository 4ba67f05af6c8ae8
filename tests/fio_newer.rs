//! Options of fio that the installed version does not have yet, by its manual's words.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Scratch, skip};

const PEER: &str = "/usr/bin/fio";

/// Outcome of a run in a folder.
struct Ran {
    code: Option<i32>,
    json: Value,
    err: String,
}

impl Ran {
    fn of(&self, direction: &str, key: &str) -> u64 {
        self.json["jobs"][0][direction][key].as_u64().expect("a number")
    }
}

fn run_as(folder: &Scratch, program: &mut Command, words: &[&str]) -> Ran {
    program.args(["--output-format=json", "--output=out.json", "--name=j"]).args(words);
    let out = program.current_dir(folder.dir()).stdin(Stdio::null()).output().unwrap();
    let text = std::fs::read_to_string(folder.path("out.json")).unwrap_or_default();
    Ran {
        code: out.status.code(),
        json: serde_json::from_str(&text).unwrap_or(Value::Null),
        err: String::from_utf8_lossy(&out.stderr).into_owned(),
    }
}

/// Runs candor as fio, with headers of that version, or of its own choice.
fn run(folder: &Scratch, headers: Option<&str>, words: &[&str]) -> Ran {
    let mut program = Command::new(env!("CARGO_BIN_EXE_candor"));
    program.arg("fio").env_remove("CANDOR_VERIFY_HEADERS");
    program.envs(headers.map(|version| ("CANDOR_VERIFY_HEADERS", version)));
    run_as(folder, &mut program, words)
}

const HEADED: [&str; 5] =
    ["--filename=f", "--verify=crc32c", "--bs=4k", "--size=64k", "--verify_state_save=0"];

fn headed<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&HEADED, more].concat()
}

/// Version and kind in the header of a file's first block.
fn mark(folder: &Scratch) -> [u8; 2] {
    let bytes = std::fs::read(folder.path("f")).unwrap();
    [bytes[2], bytes[3]]
}

#[test]
fn headers_are_of_the_newer_version_unless_the_older_is_asked_for() {
    let (write, read) = (headed(&["--rw=write", "--do_verify=0"]), headed(&["--rw=read"]));
    for (headers, expected) in
        [(None, [0x81, 5]), (Some("3.42"), [0x81, 5]), (Some("3.33"), [5, 0])]
    {
        let folder = Scratch::new();
        assert_eq!(run(&folder, headers, &write).code, Some(0));
        assert_eq!(mark(&folder), expected, "{headers:?}");
        for reader in [None, Some("3.33")] {
            let ran = run(&folder, reader, &read);
            assert_eq!((ran.code, ran.of("read", "total_ios")), (Some(0), 16), "{headers:?}");
        }
    }
    let ran = run(&Scratch::new(), Some("3.99"), &write);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("CANDOR_VERIFY_HEADERS is `3.99`"), "{}", ran.err);
}

#[test]
fn the_older_headers_are_those_of_the_peer() {
    if !Path::new(PEER).exists() {
        return skip("it needs fio at /usr/bin/fio");
    }
    let (write, read) = (headed(&["--rw=write", "--do_verify=0"]), headed(&["--rw=read"]));
    let folder = Scratch::new();
    let peer = |words: &[&str]| run_as(&folder, &mut Command::new(PEER), words).code;
    assert_eq!(peer(&write), Some(0));
    assert_eq!((mark(&folder), run(&folder, None, &read).code), ([5, 0], Some(0)));
    let look = headed(&["--rw=write", "--verify_only", "--verify_write_sequence=1"]);
    assert_eq!(run(&folder, None, &look).code, Some(0), "both count their writes alike");
    assert_eq!(run(&folder, Some("3.33"), &write).code, Some(0));
    assert_eq!(peer(&read), Some(0));
}

/// A block that was written twice holds the first write: only who counts the writes sees it.
#[test]
fn a_lost_write_is_found_where_an_option_asks_for_it() {
    let folder = Scratch::new();
    let random = ["--rw=randwrite", "--norandommap", "--size=256k"];
    let write = headed(&[&random[..], &["--do_verify=0"]].concat());
    let look = headed(&[&random[..], &["--verify_only"]].concat());
    let half = [&write[..], &["--number_ios=32"]].concat();
    assert_eq!(run(&folder, None, &half).code, Some(0));
    let earlier = std::fs::read(folder.path("f")).unwrap();
    assert_eq!(run(&folder, None, &write).code, Some(0));
    let with = |option: &str| run(&folder, None, &[&look[..], &[option]].concat());
    let asked = ["--verify_write_sequence=1", "--verify_header_seed=1"];
    asked.iter().for_each(|option| assert_eq!(with(option).code, Some(0), "{option}"));
    let mut bytes = std::fs::read(folder.path("f")).unwrap();
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes[32..40].try_into().unwrap());
    let blocks = bytes.chunks_exact_mut(4096).zip(earlier.chunks_exact(4096));
    let again = |(new, old): &(&mut [u8], &[u8])| old[2] == 0x81 && number(old) < number(new);
    let (new, old) = blocks.into_iter().find(again).expect("a block was written twice");
    new.copy_from_slice(old);
    std::fs::write(folder.path("f"), &bytes).unwrap();
    assert_eq!(with("--verify_fatal=0").code, Some(0), "its own checksums are right");
    for (option, what) in asked.into_iter().zip(["numberio", "rand_seed"]) {
        let ran = with(option);
        assert_eq!(ran.code, Some(1), "{option}");
        assert!(ran.err.contains(&format!("verify: bad header {what}")), "{}", ran.err);
    }
}

/// Blocks that `io_size` has written again, as far as the saved state says.
#[test]
fn blocks_written_again_are_checked_for_the_last_write() {
    let deep = ["--ioengine=libaio", "--direct=1", "--iodepth=8"];
    let words = ["--filename=f", "--verify=crc32c", "--bs=4k", "--size=32k", "--io_size=64k"];
    for rw in [&["--rw=write"][..], &["--rw=randwrite"], &["--rw=randwrite", "--norandommap"]] {
        for part in [&[][..], &["--number_ios=13"]] {
            let folder = Scratch::new();
            let with = |more: &[&str]| run(&folder, None, &[&words, &deep[..], rw, more].concat());
            assert_eq!(with(&[&["--do_verify=0"], part].concat()).code, Some(0));
            let look = ["--verify_only", "--verify_state_load=1"];
            for option in ["--verify_write_sequence=1", "--verify_header_seed=1"] {
                let ran = with(&[&look[..], &[option]].concat());
                assert_eq!(ran.code, Some(0), "{rw:?} {part:?} {option}: {}", ran.err);
            }
            let bytes = std::fs::read(folder.path("f")).unwrap();
            let last = bytes.chunks_exact(4096).map(|block| block[32]).max();
            let all = if part.is_empty() { 15 } else { 12 };
            assert_eq!(last, Some(all), "{rw:?}: the last write is of the second time through");
        }
    }
}

#[test]
fn io_size_above_size_counts_as_in_3_42() {
    let words = ["--filename=f", "--bs=4k", "--size=64k", "--verify_state_save=0"];
    for (more, reads, writes) in [
        ("--rw=write --io_size=96k --loops=3", 0, 72),
        ("--rw=write --io_size=192k --loops=3", 0, 144),
        ("--rw=read --io_size=192k --loops=3", 48, 0),
        ("--rw=randread --io_size=192k --loops=3", 48, 0),
        ("--rw=write --io_size=128k --verify=crc32c", 16, 32),
        ("--rw=write --io_size=128k --verify=crc32c --do_verify=0", 0, 32),
        ("--rw=randwrite --io_size=128k --verify=crc32c --do_verify=0", 0, 32),
        ("--rw=randwrite --io_size=128k --verify=crc32c", 16, 16),
    ] {
        let more: Vec<&str> = more.split(' ').collect();
        let ran = run(&Scratch::new(), None, &[&words[..], &more].concat());
        let counts = ["read", "write"].map(|of| ran.of(of, "total_ios"));
        assert_eq!((ran.code, counts), (Some(0), [reads, writes]), "{more:?}: {}", ran.err);
    }
}

#[test]
fn a_smaller_io_size_goes_to_the_end_of_the_file_and_is_read_back_by_pass() {
    let words = ["--filename=f", "--bs=4k", "--size=64k", "--verify=crc32c", "--loops=3"];
    let more = ["--verify_state_save=0", "--write_iolog=log"];
    for rw in ["--rw=write", "--rw=randwrite"] {
        for (io_size, blocks) in [("--io_size=32k", 24), ("--io_size=64k", 48)] {
            let folder = Scratch::new();
            let ran = run(&folder, None, &[&words[..], &more, &[rw, io_size]].concat());
            let counts = ["read", "write"].map(|of| ran.of(of, "total_ios"));
            assert_eq!((ran.code, counts), (Some(0), [blocks, blocks]), "{rw}: {}", ran.err);
            let log = std::fs::read_to_string(folder.path("log")).expect("a log");
            let moved = log.lines().filter_map(|line| line.split(' ').nth(2));
            let moved: Vec<_> = moved.filter(|word| ["read", "write"].contains(word)).collect();
            let stages = moved.chunk_by(|one, other| one == other).map(<[_]>::len);
            let expected: &[usize] =
                if blocks == 24 { &[16, 16, 8, 8] } else { &[16, 16, 16, 16, 16, 16] };
            assert_eq!(stages.collect::<Vec<_>>(), expected, "{rw} {io_size}");
        }
    }
}

#[test]
fn the_last_write_has_an_fsync_if_no_block_fits_into_the_rest() {
    let words = ["--filename=f", "--bs=4k", "--fsync=2", "--loops=2"];
    for rw in ["--rw=write", "--rw=randwrite"] {
        for (size, flushes) in [("--size=18k", 4), ("--size=16k", 3)] {
            let ran = run(&Scratch::new(), None, &[&words[..], &[rw, size]].concat());
            let counts = [ran.of("write", "total_ios"), ran.of("sync", "total_ios")];
            assert_eq!((ran.code, counts), (Some(0), [8, flushes]), "{rw} {size}: {}", ran.err);
        }
    }
}

#[test]
fn a_pass_of_sizes_by_direction_goes_less_than_a_block_beyond_the_size() {
    for seed in 1..9 {
        let seed = format!("--randseed={seed}");
        let words = ["--filename=f", "--size=2m", "--bs=4k,8k", "--rw=rw", &seed];
        let ran = run(&Scratch::new(), None, &words);
        let moved = ["read", "write"].map(|of| ran.of(of, "io_bytes")).iter().sum::<u64>();
        assert!((2 << 20..(2 << 20) + 8192).contains(&moved), "{seed}: {moved}");
    }
}

#[test]
fn a_preconditioning_pass_writes_what_the_device_holds() {
    let folder = Scratch::new();
    let words = ["--filename=f", "--rw=randwrite", "--bs=4k", "--size=4m", "--sprandom=1"];
    for (more, share) in [
        (&["--spr_num_regions=10"][..], 1.15),
        (&["--spr_num_regions=10", "--spr_op=0.3", "--spr_cs=64k"], 1.3),
        (&["--spr_num_regions=10", "--norandommap", "--random_generator=lfsr"], 1.15),
    ] {
        let ran = run(&folder, None, &[&words[..], more].concat());
        let written = ran.of("write", "total_ios") as f64 / 1024.0;
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!((share - 0.06..=share).contains(&written), "{more:?}: {written}");
    }
    for (more, why) in [
        ("--rw=randread", "sprandom requires random write"),
        ("--rw=write", "random write"),
        ("--random_generator=tausworthe", "requires random_generator=lfsr"),
        ("--norandommap=0", "requires norandommap=1"),
        ("--spr_op=1", "spr_op"),
        ("--bs=4m", "regions are more than the 1 blocks"),
        ("--spr_num_regions=2000", "regions are more than the 1024 blocks"),
    ] {
        let ran = run(&folder, None, &[&words[..], &[more]].concat());
        assert_eq!(ran.code, Some(1), "{more}");
        assert!(ran.err.contains(why), "{more}: {}", ran.err);
    }
}

#[test]
fn memory_is_read_and_written_page_by_page() {
    let folder = Scratch::new();
    let words = ["--ioengine=page_fault", "--rw=randrw", "--bs=4k", "--size=4m"];
    let ran = run(&folder, None, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.of("read", "total_ios") + ran.of("write", "total_ios"), 1024);
    assert_eq!(folder.entries(), ["out.json"]);
    for (more, why) in [
        ("--nrfiles=2", "has memory for one file"),
        ("--offset=4k", "has no offset"),
        ("--verify=md5", "keeps nothing that could be verified"),
    ] {
        let ran = run(&folder, None, &[&words[..], &[more]].concat());
        assert_eq!(ran.code, Some(1), "{more}");
        assert!(ran.err.contains(why), "{more}: {}", ran.err);
    }
}
