//! Rules held against runs recorded on real kernels: by `record.sh`, and in the lab by its cases
//! (`lab-KERNEL-…`).
//!
//! Each recording is a report; what the kernel counted in it is judged anew. A recording is the
//! true case of the rules named for it, and a false case of every other rule.

use std::path::Path;

use candor_judge::judge_again;
use candor_record::{FleetMember, LostHost, PhaseJudgement, Report, Severity, Verdict};

/// The recording, its verdict, the rules that must find something heavier than an explanation, and
/// those that must explain.
type Expected = (&'static str, Verdict, &'static [&'static str], &'static [&'static str]);

/// Rules that depend on how busy the machine was that recorded: they may find something anywhere.
const ABOUT_THE_MOMENT: [&str; 7] = ["B7", "B8", "B13", "F10", "G1", "G2", "G3"];

use Verdict::{Caution, Ok, Unverified, Wrong};

const RECORDINGS: &[Expected] = &[
    ("cached-read", Wrong, &["A1"], &[]),
    ("cached-read-by-two", Wrong, &["A1"], &[]),
    ("cached-read-libaio", Wrong, &["A1", "B2"], &[]),
    ("direct-read", Ok, &[], &["C6"]),
    ("direct-read-deep", Ok, &[], &[]),
    ("direct-read-large", Ok, &[], &["C1"]),
    ("evicted-read", Ok, &[], &[]),
    ("depth-on-psync", Caution, &["B1"], &[]),
    ("small-blocks", Caution, &["C4"], &[]),
    ("paced-read", Ok, &[], &[]),
    ("buffered-write", Wrong, &["A3"], &[]),
    ("buffered-write-flushed", Wrong, &["A3"], &[]),
    ("direct-write", Ok, &[], &[]),
    ("direct-write-no-flush", Ok, &[], &["C10"]),
    ("durable-write", Ok, &[], &["C9"]),
    ("rewritten-pages", Wrong, &["A3"], &[]),
    ("mapped-read", Wrong, &["H5"], &["A18"]),
    ("random-reads-repeat", Wrong, &["A1"], &[]),
    ("random-reads-advised", Wrong, &["A1"], &[]),
    ("mapped-reads-ahead", Wrong, &["A1"], &["A18", "C14"]),
    ("packed-cold-pass", Wrong, &["A11"], &[]),
    ("packed-random-reads", Wrong, &["A1"], &["C14"]),
    ("later-passes", Wrong, &["H5"], &[]),
    ("checked-writes", Ok, &[], &["G9"]),
    ("names-made", Wrong, &["H7"], &["H1", "H3"]),
    ("names-looked-up", Wrong, &["H2"], &["H1"]),
    ("ext4-names-synced", Ok, &[], &["H1", "H7"]),
    ("ext4-names-cached", Wrong, &["H2"], &["H1"]),
    ("ext4-names-cold", Ok, &[], &["H1"]),
    ("ext4-inodes-dropped", Wrong, &["H2"], &["H1"]),
    ("ext4-one-directory", Ok, &[], &["H1", "H7"]),
    ("ext4-files-written", Wrong, &["A3"], &["H1"]),
    ("ext4-files-reread", Wrong, &["A1"], &[]),
    ("ext4-names-durable", Ok, &[], &["H1", "H10"]),
    ("xfs-names-durable", Ok, &[], &["H1", "H10"]),
    ("xfs-names-synced", Ok, &[], &["H1", "H7"]),
    ("xfs-names-cached", Wrong, &["H2"], &["H1"]),
    ("xfs-names-cold", Ok, &[], &["H1"]),
    ("xfs-one-directory", Ok, &[], &["H1", "H7", "H9"]),
    ("xfs-files-cold", Ok, &[], &[]),
    ("xfs-deletes-queued", Wrong, &["H7", "H8"], &["H1"]),
    ("sparse-read", Wrong, &["A8"], &[]),
    ("unwritten-read", Wrong, &["A9"], &[]),
    ("new-file", Ok, &[], &["C10", "B18"]),
    ("shared-file", Ok, &[], &["C10", "B18", "B19"]),
    ("tmpfs-read", Wrong, &["A16"], &[]),
    ("loop-direct", Ok, &[], &[]),
    ("load-limited", Ok, &[], &["C6"]),
    ("past-the-knee", Ok, &[], &["B6"]),
    ("loop-split", Ok, &[], &["C1"]),
    ("loop-buffered", Wrong, &["A13"], &[]),
    ("zram-blank", Wrong, &["A10"], &[]),
    ("zram-traced", Wrong, &["A16", "G11"], &[]),
    ("zram-read", Wrong, &["A16"], &[]),
    ("throttled-read", Caution, &["F4"], &[]),
    ("limit-set-later", Caution, &["F4"], &[]),
    ("loop-flag-later", Wrong, &["A13", "F15"], &[]),
    ("loop-cached", Wrong, &["A13"], &[]),
    ("punched-later", Wrong, &["A8", "F15"], &[]),
    ("image-punched-later", Wrong, &["A13", "F15"], &[]),
    ("frozen-later", Caution, &["F17"], &["C9"]),
    ("traced", Caution, &["G23"], &[]),
    ("names-dirsync", Ok, &[], &["H1"]),
    ("mounted-sync", Ok, &[], &["C9"]),
    ("mounted-sync-later", Wrong, &["A3", "F15"], &[]),
    ("btrfs-striped-read", Ok, &[], &[]),
    ("btrfs-striped-write", Caution, &["A5"], &[]),
    ("btrfs-mirrored-write", Caution, &["A5"], &["C11"]),
    ("btrfs-write-beside-others", Caution, &["A5"], &[]),
    ("direct-taken-away", Wrong, &["A5"], &[]),
    ("flush-swallowed", Wrong, &["A3"], &[]),
    ("lab-5.10-chunks", Ok, &[], &["E2", "E7", "E8"]),
    ("lab-5.10-two-paths", Ok, &[], &["A17", "D7", "E8"]),
    ("lab-5.10-uncounted", Unverified, &["A17"], &[]),
    ("lab-6.1-cap", Ok, &[], &["F5"]),
    ("lab-6.1-chunks", Ok, &[], &["E2", "E7", "E8"]),
    ("lab-6.1-depth-of-8", Ok, &[], &["B5"]),
    ("lab-6.1-misaligned", Ok, &[], &["C5"]),
    ("lab-6.1-one-chunk", Ok, &[], &["E1"]),
    ("lab-6.1-parity", Ok, &[], &["C7", "E8"]),
    ("lab-6.1-remote", Ok, &[], &["A17", "D6", "E8"]),
    ("lab-6.1-sata", Caution, &["D9"], &["C1"]),
    ("lab-6.1-tiers", Caution, &["E6"], &[]),
    ("lab-6.1-two-paths", Ok, &[], &["A17", "D7", "E8"]),
    ("lab-6.1-uncounted", Unverified, &["A17"], &[]),
    ("lab-6.1-usb", Ok, &[], &["D4"]),
    ("lab-6.12-groups-of-paths", Ok, &[], &["D7"]),
    ("lab-6.12-like-members", Ok, &[], &["E8"]),
    ("lab-6.12-mapped-tiers", Caution, &["A15"], &[]),
    ("lab-6.12-parity", Ok, &[], &["C7", "E8"]),
    ("lab-6.12-slow-member", Ok, &[], &["E7", "E8"]),
    ("lab-6.12-slow-mirror", Ok, &[], &["E7", "E8"]),
    ("lab-6.12-tiers", Caution, &["E6"], &[]),
    ("lab-6.12-two-paths", Ok, &[], &["D7", "E8"]),
];

fn load(name: &str) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let text = std::fs::read_to_string(path.join(format!("{name}.json"))).expect(name);
    serde_json::from_str(&text).expect(name)
}

/// The judgement on the last phase.
fn judged(report: &Report) -> PhaseJudgement {
    judge_again(report).phases.pop().flatten().expect("a phase that is a result")
}

#[test]
fn recordings_are_judged_as_an_expert_would() {
    for &(name, verdict, heavy, explaining) in RECORDINGS {
        let judged = judged(&load(name));
        let sentences: Vec<_> = judged.findings.iter().map(|f| (&f.rule, f.severity)).collect();
        let found = |rule: &str| judged.findings.iter().find(|finding| finding.rule == rule);
        for rule in heavy {
            let finding =
                found(rule).unwrap_or_else(|| panic!("{name}: no {rule} in {sentences:?}"));
            assert!(finding.severity > Severity::Explains, "{name}: {sentences:?}");
        }
        for rule in explaining {
            assert!(found(rule).is_some(), "{name}: no {rule} in {sentences:?}");
        }
        for finding in judged.findings.iter().filter(|f| f.severity > Severity::Explains) {
            let rule = finding.rule.as_str();
            let expected = heavy.contains(&rule) || ABOUT_THE_MOMENT.contains(&rule);
            assert!(expected, "{name}: {rule} is a false alarm: {}", finding.sentence);
        }
        let moment = judged.findings.iter().any(|f| ABOUT_THE_MOMENT.contains(&f.rule.as_str()));
        let noisy = verdict == Ok && judged.verdict == Caution && moment;
        assert!(noisy || judged.verdict == verdict, "{name}: {:?}, {sentences:?}", judged.verdict);
    }
}

/// Remarks that are true of nearly every run do not change the level.
#[test]
fn a_check_of_a_quiet_host_is_the_storages() {
    let judgement = judge_again(&load("../recorded-series/check-quiet"));
    let doubted = judgement.phases.iter().flatten().filter(|judged| judged.verdict != Ok);
    let doubted: Vec<_> = doubted.map(|judged| &judged.headline).collect();
    assert!(doubted.is_empty(), "{doubted:#?}");
    assert_eq!(
        judgement.headline,
        "All 17 results are the storage's numbers (4 of them a cache's, as planned)."
    );
}

/// Which of the caches answered shows in the names that the kernel came to hold.
#[test]
fn the_cache_that_answered_is_named() {
    for (name, cache) in [
        ("ext4-names-cached", "the dentry and inode caches"),
        ("xfs-names-cached", "the dentry and inode caches"),
        ("ext4-inodes-dropped", "cached blocks of the filesystem"),
        ("ext4-files-reread", "the page cache"),
    ] {
        let judged = judged(&load(name));
        let measures = judged.findings.iter().find_map(|finding| finding.measures);
        assert_eq!(measures.map(|what| what.to_string()).as_deref(), Some(cache), "{name}");
    }
}

/// Like members of an array, and the tiers of a cache, are no unlike members.
#[test]
fn only_a_slow_member_is_called_slow() {
    for (name, slow) in [
        ("lab-6.12-slow-member", true),
        ("lab-6.12-slow-mirror", true),
        ("lab-6.12-like-members", false),
        ("lab-6.12-mapped-tiers", false),
        ("lab-6.12-parity", false),
        ("lab-6.1-parity", false),
        ("lab-6.1-one-chunk", false),
    ] {
        let found = judged(&load(name)).findings;
        let said = found.iter().any(|f| f.sentence.contains("waits for this slow member"));
        assert_eq!(said, slow, "{name}");
        let hot = found.iter().any(|finding| finding.rule == "E1");
        assert_eq!(hot, name == "lab-6.1-one-chunk", "{name}");
    }
}

/// Dirty pages that direct reads write out are no traffic of others; the loop device of another run
/// on the same disk, and a process that begins to write later, are.
#[test]
fn others_are_those_who_moved_bytes() {
    fn told(name: &str) -> String {
        let judged = judged(&load(name));
        assert_eq!(judged.verdict, Caution, "{name}: {:#?}", judged.findings);
        judged.finding("F10").map_or(String::new(), |finding| finding.sentence.clone())
    }
    assert_eq!(told("direct-read-of-dirty-pages"), "");
    let beside = told("beside-another-loop");
    assert!(beside.starts_with("99 % of the traffic on vda came from other users"), "{beside}");
    assert!(beside.contains("beyond the traffic of the loop device"), "{beside}");
    let writer = told("beside-a-writer");
    assert!(writer.starts_with("86 % of the traffic on vda came from other users"), "{writer}");
    assert!(writer.contains("in traced requests; most requests from fio"), "{writer}");
}

/// Pages that a flush left dirty were not overwritten.
#[test]
fn a_flush_that_wrote_nothing_is_named() {
    let judged = judged(&load("flush-swallowed"));
    let sentence = &judged.finding("A3").expect("found").sentence;
    assert!(sentence.contains("100 MiB are still dirty in memory"), "{sentence}");
}

/// Follow-ups of a phase decide what limited it.
#[test]
fn follow_ups_that_were_recorded_tell_the_limit() {
    for (name, limit, sentences) in [
        (
            "load-limited",
            "the load: 2 workers moved 1.68 times as much",
            &["2 workers: 13k IOPS, 1.68 times the phase's 7760 IOPS: more load gains more. \
                 Cost: 602 ms, read 30.6 MiB."][..],
        ),
        (
            "past-the-knee",
            // One step of 6 % decides nothing; candor stopped there when this was recorded.
            "",
            &[
                "Depth 128: 55k IOPS, 1.06 times the phase's 51.9k IOPS: 6 % more, but single \
                 seconds of the phase reached this rate too. Cost: 608 ms, read 130 MiB.",
                "One operation at a time: 8328 IOPS, 0.16 times the phase's 51.9k IOPS: 120 µs \
                 each. Cost: 602 ms, read 19.5 MiB.",
            ],
        ),
        (
            "new-file",
            "the allocation of blocks by the filesystem",
            &["The same offsets again: 46.7k IOPS, 5.02 times the phase's 9302 IOPS: faster with \
                all blocks allocated. Cost: 562 ms, moved 102 MiB."],
        ),
    ] {
        let judged = judged(&load(name));
        let limited = judged.limit().unwrap_or_default();
        assert!(limited == limit, "{name}: {limited}");
        assert_eq!(judged.follow_ups, sentences, "{name}");
    }
}

/// Consequences stand with their cause.
#[test]
fn what_was_measured_of_memory_is_reported_with_the_page_cache() {
    let judged = judged(&load("cached-read-by-two"));
    let cause = judged.findings.iter().find(|finding| finding.rule == "A1").expect("the cause");
    let sentences = cause.consequences.iter().find(|other| other.rule == "B15").expect("told");
    assert!(
        sentences.sentence.contains(" is more than this memory can copy ("),
        "{}",
        sentences.sentence
    );
    assert!(!judged.ceilings.iter().any(|ceiling| ceiling.element == "memory"), "5 % above it");
}

/// A phase of hosts that each did what one recording says: with the records of real kernels side
/// by side, and every host's number, clock, kernel and storage made up.
fn joined(names: &[&str]) -> Report {
    let mut all: Vec<Report> = names.iter().map(|name| load(name)).collect();
    let mut record = all[0].phases.pop().expect("a phase");
    record.follow_ups.clear();
    record.hosts.clear();
    record.measurements.clear();
    for (index, name) in (0..).zip(names) {
        let phase = load(name).phases.pop().expect("a phase");
        for measured in phase.measurements.iter().cloned() {
            match record.measurements.iter_mut().find(|known| known.job == measured.job) {
                Some(known) => known.merge(measured),
                None => record.measurements.push(measured),
            }
        }
        let mut host = phase.hosts.into_iter().next().expect("a host");
        host.host = format!("node-{index}");
        host.measurements = phase.measurements;
        host.member = Some(FleetMember {
            index,
            clock_error_ns: 50_000,
            started_late_ns: Some(0),
            kernel_of: index,
            ..FleetMember::default()
        });
        record.hosts.push(host);
    }
    Report { phases: vec![record], ..all.swap_remove(0) }
}

fn heavy(judged: &PhaseJudgement) -> Vec<&str> {
    let heavy = judged.findings.iter().filter(|finding| finding.severity > Severity::Explains);
    let rules = heavy.map(|finding| finding.rule.as_str());
    rules.filter(|rule| !ABOUT_THE_MOMENT.contains(rule)).collect()
}

fn member(report: &mut Report, at: usize) -> &mut FleetMember {
    report.phases[0].hosts[at].member.as_mut().expect("it is one of several")
}

#[test]
fn honest_hosts_are_not_blamed_for_being_several() {
    for name in ["direct-read", "direct-read-deep", "direct-write", "evicted-read", "loop-direct"] {
        let judged = judged(&joined(&[name, name, name]));
        assert_eq!(heavy(&judged), [""; 0], "{name}: {:#?}", judged.findings);
        assert_eq!(judged.hosts.len(), 3);
    }
}

#[test]
fn a_host_under_a_limit_of_its_own_is_slow_because_of_it() {
    let names = ["direct-read-deep", "direct-read-deep", "throttled-read"];
    let judged = judged(&joined(&names));
    let slow = judged.findings.iter().find(|finding| finding.rule == "B20").expect("it is slow");
    assert!(slow.sentence.starts_with("node-2 did "), "{}", slow.sentence);
    let reason = slow.consequences.iter().find(|of| of.rule == "F4").expect("its control group");
    assert!(reason.is_reason, "{reason:?}");
    assert_eq!(heavy(&judged), ["B20"], "{:#?}", judged.findings);
}

#[test]
fn a_host_that_read_its_memory_spoils_the_sum() {
    let judged = judged(&joined(&["evicted-read", "cached-read", "evicted-read"]));
    assert_eq!((judged.verdict, heavy(&judged)), (Wrong, vec!["A21"]));
    let a21 = &judged.findings[0];
    assert!(a21.sentence.starts_with("node-1 read "), "{}", a21.sentence);
    assert!(a21.consequences.iter().any(|of| of.rule == "A1"), "{a21:#?}");
}

#[test]
fn late_lost_and_shared_hosts_are_told() {
    let honest = || joined(&["direct-read-deep", "direct-read-deep"]);
    let mut late = honest();
    member(&mut late, 1).started_late_ns = Some(1_200_000_000);
    assert_eq!(heavy(&judged(&late)), ["G14"]);
    let mut lost = honest();
    let why = "the connection broke".into();
    member(&mut lost, 1).lost = Some(LostHost { at_ns: Some(2_000_000_000), why });
    let of_lost = judged(&lost);
    assert_eq!((of_lost.verdict, heavy(&of_lost)), (Unverified, vec!["G18"]));
    let mut shared = honest();
    member(&mut shared, 1).kernel_of = 0;
    // One kernel counts what both did.
    for host in &mut shared.phases[0].hosts {
        let (before, after) = (&host.before, &mut host.after);
        for (name, counters) in &mut after.devices {
            let began = before.devices.iter().find(|(of, _)| of == name).map(|(_, of)| *of);
            let began = began.unwrap_or_default();
            counters.reads += counters.reads - began.reads;
            counters.read_sectors += counters.read_sectors - began.read_sectors;
        }
    }
    assert_eq!(heavy(&judged(&shared)), ["G17"], "{:#?}", judged(&shared).findings);
}
