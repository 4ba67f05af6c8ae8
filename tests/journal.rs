//! Journals of verified writes: candor is killed at any moment, and a later run knows what must be
//! there.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Report, Running, Scratch, candor, measured, shared_host, spawn};

const BLOCK: usize = 4096;

/// A target in a file of so many blocks.
fn target(file: &str, blocks: u64) -> String {
    format!(
        "seed = 1\n[[target]]\npath = \"{file}\"\nsize = \"{}k\"\nkeep = true\noverwrite = true\n",
        blocks * 4
    )
}

/// A phase of one job whose blocks are in the journal of that directory.
fn phase(journal: &str, stop: &str, blocks: &str, verify: &str) -> String {
    format!(
        "[[phase]]\nstop = {{ {stop} }}\n[[phase.job]]\ntargets = [\"target\"]\n\
         [phase.job.work.blocks]\n{blocks}\n[phase.job.work.blocks.verify]\n\
         mismatches_max = 100000\nread_before_write = true\ntimes = true\n{verify}\n\
         journal = {{ directory = \"{journal}\" {} }}\n",
        if verify.contains("skip") { ", recover = true" } else { "" }
    )
}

/// A phase that reads all blocks that the journal knows.
fn recovery(journal: &str) -> String {
    phase(journal, "", "mix = \"read\"\nsize = \"64k\"", "unknown = \"skip\"")
}

fn verified(report: &Report, phase: usize) -> Value {
    report.at(&format!("/phases/{phase}/measurements/0/verify")).clone()
}

fn counts(found: &Value) -> [u64; 5] {
    ["flipped", "torn", "misdirected", "stale", "foreign"]
        .map(|kind| found[kind].as_u64().unwrap_or_else(|| panic!("no {kind} in {found}")))
}

/// The verified file as a thing to damage.
struct Victim(File);

impl Victim {
    fn open(path: &str) -> Victim {
        Victim(File::options().read(true).write(true).open(path).expect("the file is there"))
    }

    fn block(&self, number: u64) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        self.0.read_exact_at(&mut block, number * BLOCK as u64).expect("a block is readable");
        block
    }

    fn put(&self, number: u64, block: &[u8]) {
        self.0.write_all_at(block, number * BLOCK as u64).expect("a block is writable");
    }
}

/// Number of the write in a block's header.
fn key(block: &[u8]) -> u32 {
    u32::from_le_bytes([block[24], block[25], block[26], block[27]])
}

#[test]
fn a_thousand_corruptions_of_each_kind_are_found_after_the_run() {
    const EACH: u64 = 1000;
    const BLOCKS: u64 = 16 * EACH;
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, journal) = (scratch.path("file"), scratch.outside("journal"));
    let write = |passes: u32| {
        let stop = format!("passes = {passes}");
        let writes = "mix = \"write\"\nsize = \"64k\"\ndurability = { fsync_at_end = true }";
        phase(&journal, &stop, writes, "")
    };
    let run = |phases: &str| {
        let plan = scratch.file("plan.toml", &(target(&file, BLOCKS) + phases));
        measured(&scratch, &["run", &plan])
    };
    let (ran, report) = run(&write(1));
    assert_eq!(ran.code, Some(0), "{}", report.told());
    let victim = Victim::open(&file);
    let older: Vec<Vec<u8>> = (0..BLOCKS).map(|number| victim.block(number)).collect();
    let (ran, report) = run(&(recovery(&journal) + &write(1)));
    assert_eq!(ran.code, Some(0), "{}", report.told());
    assert_eq!(counts(&verified(&report, 0)), [0; 5]);
    assert_eq!(verified(&report, 1)["blocks"], BLOCKS, "each block is read before its write");

    for i in 0..EACH {
        let [flip, tear, stale, one, other] = [0, 3, 6, 9, 12].map(|kind| i * 16 + kind);
        let mut flipped = victim.block(flip);
        flipped[512 + (i as usize * 7) % (BLOCK - 512)] ^= 1 << (i % 8);
        victim.put(flip, &flipped);
        let mut torn = victim.block(tear);
        assert_eq!((key(&torn), key(&older[tear as usize])), (2, 1));
        let at = 512 * (1 + i as usize % 7);
        torn[at..].copy_from_slice(&older[tear as usize][at..]);
        victim.put(tear, &torn);
        victim.put(stale, &older[stale as usize]);
        if i % 2 == 0 {
            let blocks = [victim.block(one), victim.block(other)];
            victim.put(one, &blocks[1]);
            victim.put(other, &blocks[0]);
        }
    }
    let (ran, report) = run(&recovery(&journal));
    let found = verified(&report, 0);
    assert_eq!((ran.code, counts(&found)), (Some(5), [EACH, EACH, EACH, EACH, 0]), "{}", ran.err);
    assert_eq!(found["blocks"], BLOCKS);
    for first in found["first"].as_array().expect("a list") {
        let number = first["offset"].as_u64().expect("an offset") / BLOCK as u64;
        let i = number / 16;
        let kinds = ["flipped", "torn", "stale", "misdirected", "misdirected"];
        let kind = kinds[number as usize % 16 / 3];
        assert_eq!(first["kind"], kind, "{first}");
        let sectors = first["sectors"].as_array().map_or(0, Vec::len) as u64;
        let wrong = match kind {
            "flipped" => 1,
            "torn" => 8 - (1 + i % 7),
            _ => 0,
        };
        assert_eq!((sectors, &first["expected"]["key"]), (wrong, &Value::from(2)), "{first}");
    }
    // What is bad stays known as bad: it is not found again, and nothing else is.
    let (ran, report) = run(&recovery(&journal));
    let found = verified(&report, 0);
    assert_eq!((ran.code, counts(&found)), (Some(0), [0; 5]));
}

/// A log by its name, and the time at which it was changed last.
type Log = (String, i64, i64);

fn logs(journal: &str) -> Vec<Log> {
    let entries = fs::read_dir(journal).into_iter().flatten().flatten();
    let logs = entries.filter_map(|entry| {
        let (name, about) =
            (entry.file_name().to_string_lossy().into_owned(), entry.metadata().ok()?);
        name.starts_with("log.").then(|| (name, about.ctime(), about.ctime_nsec()))
    });
    logs.collect()
}

/// Waits until the run has logs that were not there before: any, or those of its three writers
/// alone.
fn wait_for_logs(journal: &str, before: &[Log], running: &mut Running, of_writers: bool) {
    let began = Instant::now();
    loop {
        let now = logs(journal);
        let new = now.iter().filter(|log| !before.contains(log)).count();
        if if of_writers { (new, now.len()) == (3, 3) } else { new > 0 } {
            return;
        }
        assert!(!running.has_ended(), "candor ended early: {}", running.err_so_far());
        assert!(began.elapsed() < Duration::from_secs(50), "no log: {}", running.err_so_far());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Rounds of kills: 20, or as many as `CANDOR_KILLS` says.
fn rounds() -> u64 {
    std::env::var("CANDOR_KILLS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20)
}

#[test]
fn whoever_is_killed_while_writing_lost_nothing_and_is_not_accused() {
    const BLOCKS: u64 = 96;
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, journal) = (scratch.path("file"), scratch.outside("journal"));
    let work = |words: &str| {
        let blocks = format!(
            "mix = \"read:20,write:80\"\naccess = \"random\"\nsize = \"4k:50,16k:50\"\n\
             align = \"4k\"\n{words}"
        );
        phase(&journal, "time = \"60s\"", &blocks, "unknown = \"ignore\"")
    };
    let engines = [
        "engine = \"psync\"",
        "engine = \"io_uring\"\ndepth = 8",
        "engine = \"psync\"\ndirect = true",
        "engine = \"libaio\"\ndirect = true\ndepth = 4",
    ];
    let (mut older, mut random) = (Vec::new(), 0x9e37_79b9_7f4a_7c15u64);
    // More rounds, where the disk is so slow that no block was written twice.
    let goes_on = |round: u64, older: &[u8]| {
        round < rounds() || (round < 3 * rounds() && undone(older, &file).is_none())
    };
    let mut round = 0;
    while goes_on(round, &older) {
        let first = if round == 0 { String::new() } else { recovery(&journal) };
        let work = work(engines[round as usize % 4]);
        let work = work.replace("[[phase.job]]", "[[phase.job]]\nworkers = 3");
        let text = target(&file, BLOCKS) + &first + &work;
        let text = text.replace("mismatches_max = 100000", "mismatches_max = 1");
        let plan = scratch.file("plan.toml", &text);
        if round == rounds() / 2 {
            older = fs::read(&file).expect("the file is readable");
        }
        let before = logs(&journal);
        let mut running = spawn(&["run", &plan]);
        // Every fourth one is killed while it reads what is known, or shortly after it.
        wait_for_logs(&journal, &before, &mut running, round % 4 != 3);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(Duration::from_micros((random >> 33) % 150_000));
        assert!(!running.has_ended(), "round {round}: {}", running.err_so_far());
        drop(running);
        round += 1;
    }

    // Nothing is lost, and nothing falsely accused.
    let plan = scratch.file("plan.toml", &(target(&file, BLOCKS) + &recovery(&journal)));
    let kept = scratch.outside("kept");
    copy_journal(&journal, &kept);
    let (ran, report) = measured(&scratch, &["run", &plan]);
    let found = verified(&report, 0);
    assert_eq!((ran.code, counts(&found)), (Some(0), [0; 5]), "{} {}", ran.err, report.told());
    assert!(found["blocks"].as_u64() > Some(0), "{found}");

    // A write that is undone after the kill is found, and is the only one.
    copy_journal(&kept, &journal);
    let undone = undone(&older, &file).expect("a block was written twice since half of the rounds");
    let victim = Victim::open(&file);
    victim.put(undone as u64, &older[undone * BLOCK..][..BLOCK]);
    let (ran, report) = measured(&scratch, &["run", &plan]);
    let found = verified(&report, 0);
    assert_eq!((ran.code, counts(&found)), (Some(5), [0, 0, 0, 1, 0]), "{found}");
    assert_eq!(found["first"][0]["offset"], undone * BLOCK);
}

/// A block of which `older` is at least two writes behind: not even a pending write may be so.
fn undone(older: &[u8], file: &str) -> Option<usize> {
    let newer = fs::read(file).expect("the file is readable");
    let mut pairs = older.chunks(BLOCK).zip(newer.chunks(BLOCK));
    pairs.position(|(old, new)| key(old) > 0 && key(new) >= key(old) + 2)
}

fn copy_journal(from: &str, to: &str) {
    // There may be none yet.
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("readable").flatten() {
        fs::copy(entry.path(), Path::new(to).join(entry.file_name())).expect("copied");
    }
}

#[test]
fn a_damaged_or_missing_journal_is_refused_with_a_sentence() {
    let scratch = Scratch::new();
    let (file, journal) = (scratch.path("file"), scratch.outside("journal"));
    let plan = scratch.file("plan.toml", &(target(&file, 16) + &recovery(&journal)));
    let ran = candor(&["run", &plan]);
    assert!(ran.code != Some(0) && ran.err.contains("journal"), "{}", ran.err);
    fs::create_dir_all(&journal).expect("a directory");
    fs::write(Path::new(&journal).join("keys"), b"candorK2 and so on").expect("written");
    let ran = candor(&["run", &plan]);
    assert!(ran.code != Some(0) && ran.err.contains("journal is damaged"), "{}", ran.err);
}
