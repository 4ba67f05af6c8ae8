//! Honest runs: candor has to believe them, and to name nothing that is not there.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::{
    Loop, Mount, Report, Scratch, Zram, fingerprint, is_of_today, measured, quiet_host, skip,
};

const MIB: u64 = 1 << 20;

/// Effects of a busy machine on any run: starvation of CPU, time stolen by the host, traffic of
/// others, unsteady seconds.
const BUSY: [&str; 5] = ["B8", "B13", "F10", "G2", "G3"];

/// Times that work is tried while others disturb it.
const TRIES: u64 = 3;

/// Further tries of all work together: a machine that was busy for so many stays so.
const FURTHER_TRIES_MAX: u32 = 12;
static FURTHER_TRIES: AtomicU32 = AtomicU32::new(0);

/// Runs honest work, for 1.5 s if the words say no time, and expects nothing heavier than an
/// explanation, `besides` excepted, and remarks about a machine that others keep busy.
///
/// While others disturb it, it waits a little and tries again; what they cannot cause fails at
/// once.
pub fn honest(scratch: &Scratch, target: &str, words: &str, besides: &[&str]) -> Option<Report> {
    let mut all = vec!["run", "--target", target];
    all.extend(words.split(' '));
    if !words.contains("--passes") && !words.contains("--seconds") {
        all.extend(["--seconds", "1.5"]);
    }
    let mut disturbed = None;
    for attempt in 0..TRIES {
        if attempt > 0 && FURTHER_TRIES.fetch_add(1, Ordering::Relaxed) >= FURTHER_TRIES_MAX {
            break;
        }
        std::thread::sleep(std::time::Duration::from_secs(attempt));
        let (ran, report) = measured(scratch, &all);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut heavy = report.heavy();
        heavy.retain(|rule| !besides.contains(&rule.as_str()));
        if heavy.is_empty() {
            return Some(report);
        }
        // Tracing takes longer, too, where the CPU is taken away meanwhile.
        let is_short = ["B8", "B13"].iter().any(|rule| heavy.iter().any(|heavy| heavy == rule));
        let by_others = |rule: &str| BUSY.contains(&rule) || (rule == "G11" && is_short);
        let others = heavy.iter().all(|rule| by_others(rule));
        assert!(others, "{words} is honest, but {}", report.told());
        disturbed = Some(report);
    }
    let disturbed = disturbed?;
    if disturbed.verdict() == "caution" {
        return Some(disturbed);
    }
    skip(&format!("others keep this machine busy: {}", disturbed.told()));
    None
}

/// Runs honest work and expects to be told that it can be believed.
pub fn believable(scratch: &Scratch, target: &str, words: &str) {
    if let Some(report) = honest(scratch, target, words, &[]) {
        if !report.heavy().is_empty() {
            return skip(&format!("others keep this machine busy: {}", report.told()));
        }
        assert_eq!(report.verdict(), "ok", "{}", report.told());
        assert!(
            report.words("/judgement/headline").contains("the storage's number"),
            "{}",
            report.told()
        );
    }
}

/// Target of the honest work.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    /// A loop device that bypasses the page cache.
    Loop,
    /// A file of candor's on ext4, on such a device.
    Ext4,
    /// A file with data on the filesystem of the tests.
    File,
    /// Compressed memory.
    Zram,
}

/// Honest runs: where, how, and what may be remarked because it is true. Direct does not mean
/// durable (C10); one pass is over in no time, and a slow rate makes few requests (G1); zram
/// is memory (A16).
const RUNS: [(On, &str, &[&str]); 32] = [
    (On::Loop, "--direct --engine psync --rw randread --bs 512", &[]),
    (On::Loop, "--direct --engine psync --rw read --bs 128k --workers 2 --share slice", &[]),
    (On::Loop, "--direct --engine psync --rw randwrite --bs 4k --fsync-every 1", &[]),
    (On::Loop, "--direct --engine pvsync --rw randread --bs 16k --workers 2", &[]),
    (On::Loop, "--direct --engine pvsync --rw write --bs 1m --fsync-end", &["C10"]),
    (On::Loop, "--direct --engine libaio --depth 4 --rw randread --bs 4k", &[]),
    (On::Loop, "--direct --engine libaio --depth 8 --rw read --bs 64k", &[]),
    (On::Loop, "--direct --engine libaio --depth 4 --rw randwrite --bs 4k --fsync-end", &["C10"]),
    (On::Loop, "--direct --engine io_uring --depth 16 --rw randread --bs 4k", &[]),
    (On::Loop, "--direct --engine io_uring --depth 4 --rw randrw --bs 8k --fsync-end", &["C10"]),
    (On::Loop, "--direct --engine io_uring --depth 2 --rw write --bs 128k --fsync-end", &["C10"]),
    (
        On::Loop,
        "--direct --engine io_uring --depth 4 --rw randread --bs 4k --rate-iops 300",
        &["G1"],
    ),
    (On::Ext4, "--direct --engine psync --rw randread --bs 4k", &[]),
    (On::Ext4, "--direct --engine pvsync --rw read --bs 256k", &[]),
    (On::Ext4, "--direct --engine libaio --depth 4 --rw randread --bs 16k", &[]),
    (On::Ext4, "--direct --engine io_uring --depth 8 --rw randread --bs 4k", &[]),
    (On::Ext4, "--direct --engine io_uring --depth 4 --rw randwrite --bs 4k --fsync-end", &["C10"]),
    (On::Ext4, "--direct --engine psync --rw randwrite --bs 16k --open-sync dsync", &[]),
    (On::Ext4, "--buffered --engine psync --rw randwrite --bs 4k --fdatasync-every 1", &[]),
    (On::Ext4, "--buffered --engine pvsync --rw write --bs 64k --fsync-every 1", &[]),
    (On::Ext4, "--buffered --engine io_uring --rw randwrite --bs 8k --open-sync sync", &[]),
    (On::File, "--buffered --engine psync --rw read --bs 128k --evict --passes 1", &["G1"]),
    (On::File, "--buffered --engine pvsync --rw read --bs 1m --evict --passes 1", &["G1"]),
    (On::File, "--buffered --engine mmap --rw read --bs 64k --evict --passes 1", &["G1"]),
    (On::File, "--buffered --engine io_uring --rw read --bs 256k --evict --passes 1", &["G1"]),
    (On::File, "--direct --engine psync --rw randread --bs 4k", &[]),
    (On::File, "--direct --engine io_uring --depth 4 --rw read --bs 512k", &[]),
    (On::Zram, "--direct --engine io_uring --depth 32 --rw randread --bs 4k", &["A16"]),
    (On::Zram, "--direct --engine psync --rw read --bs 64k", &["A16"]),
    (On::Zram, "--direct --engine libaio --depth 4 --rw randread --bs 8k", &["A16"]),
    (On::Zram, "--direct --engine pvsync --rw randread --bs 4k --workers 2", &["A16"]),
    (On::Zram, "--direct --engine io_uring --depth 2 --rw read --bs 1m", &["A16"]),
];

#[test]
fn every_axis_is_covered() {
    assert!(RUNS.len() >= 30);
    let has = |word: &str| RUNS.iter().filter(|(_, words, _)| words.contains(word)).count();
    for engine in ["psync", "pvsync", "libaio", "io_uring", "mmap"] {
        assert!(has(&format!("--engine {engine}")) > 0, "{engine}");
    }
    for (word, least) in [("--direct", 15), ("--buffered", 6), ("write", 8), ("read", 15)] {
        assert!(has(word) >= least, "{word}");
    }
    let size =
        |words: &'static str| words.split_once("--bs ").map(|(_, rest)| rest.split(' ').next());
    let mut sizes: Vec<_> = RUNS.iter().filter_map(|(_, words, _)| size(words)).collect();
    sizes.sort();
    sizes.dedup();
    assert!(sizes.len() >= 8, "{sizes:?}");
    for on in [On::Loop, On::Ext4, On::File, On::Zram] {
        assert!(RUNS.iter().filter(|run| run.0 == on).count() >= 5, "{on:?}");
    }
}

/// All runs on one kind of target, whose words `with` completes.
fn all(scratch: &Scratch, kind: On, target: &str, with: &str) {
    let of_today = RUNS.iter().filter(|(on, words, _)| *on == kind && is_of_today(words, 2));
    for (_, words, besides) in of_today {
        let words = format!("{words} {with}");
        let report = honest(scratch, target, words.trim_end(), besides);
        let Some(report) = report else { continue };
        match kind {
            // Memory is what was measured, and nobody else uses this device.
            On::Zram => {
                report.denies("A16");
                assert!(report.finding("F10").is_none(), "{}", report.told());
            }
            _ => {
                assert!(
                    report.words("/judgement/headline").contains("the storage's number"),
                    "{}",
                    report.told()
                );
            }
        }
    }
}

#[test]
fn work_on_a_loop_device() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 128 * MIB) else { return };
    all(&scratch, On::Loop, &device.node, "--overwrite");
}

#[test]
fn work_on_ext4() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 160 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    all(&scratch, On::Ext4, &mount.path("own"), "--size 96m");
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn work_on_a_file() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 128 * MIB);
    fingerprint(&file);
    all(&scratch, On::File, &file, "");
}

#[test]
fn zram_is_memory_and_nothing_else() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Zram::random(128 * MIB) else { return };
    all(&scratch, On::Zram, &device.node, "");
}

/// Long enough for short trials afterwards, which must not make candor suspicious. That the disks
/// of a virtual machine are cached by its host (A12) is true of some.
#[test]
fn follow_ups_raise_no_alarm() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 128 * MIB) else { return };
    let mut follow_ups = 0;
    let all = [
        "--direct --engine io_uring --depth 4 --rw randread --bs 4k --seconds 6",
        "--direct --engine psync --rw randread --bs 16k --seconds 6",
        "--direct --engine pvsync --rw randread --bs 4k --workers 2 --seconds 6",
        "--direct --engine libaio --depth 2 --rw randread --bs 8k --seconds 6",
    ];
    for words in all.into_iter().filter(|words| is_of_today(words, 2)) {
        let Some(report) = honest(&scratch, &device.node, words, &["A12"]) else { continue };
        let told = report.list("/judgement/phases/0/follow_ups");
        for told in told {
            assert!(told.as_str().is_some_and(|told| told.contains("Cost: ")), "{told}");
        }
        follow_ups += told.len();
    }
    if follow_ups == 0 {
        skip("a busy host left nothing open that a follow-up could tell");
    }
}
