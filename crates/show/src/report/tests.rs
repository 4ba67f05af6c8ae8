//! Screens of a report.

use candor_plan::Bytes;
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::units::Direction;
use candor_record::*;
use insta::assert_snapshot;

use super::*;
use crate::sample::{self, finding, measurement, phase, stats};

mod first_screen;
mod hosts;
mod shapes;
mod sweep;

fn plain(report: &Report) -> String {
    text(report, &Style::default())
}

/// The whole page without the table of latencies.
fn but_latencies(report: &Report) -> String {
    let page = plain(report);
    let parts = page.split("\n\n").filter(|part| !part.starts_with("Latency\n"));
    parts.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn believable() {
    let report = sample::report("every number is the storage's own.", sample::series());
    assert_snapshot!(plain(&report), @"
    All 6 results are the storage's numbers.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                                      IOPS  MB/s  MiB/s      p50      p99   at most   used  trust
    sequential write 1 MiB, depth 8    498   522    498  16.7 ms   158 ms  600 MB/s   87 %  ok
        limited by the SATA link
    sequential read 1 MiB, depth 8     535   561    535  15.7 ms   149 ms  600 MB/s   93 %  ok
        limited by the SATA link
    random read 4 KiB, depth 1       9.12k  37.4   35.6   110 µs  1.05 ms  600 MB/s  6.2 %  ok
        limited by latency: one request at a time
    random read 4 KiB, depth 32      91.4k   374    357   362 µs  3.46 ms  600 MB/s   62 %  ok
        limited by the device's own queue of 32
    random write 4 KiB, depth 1      22.8k  93.4   89.1  42.8 µs   410 µs  600 MB/s   16 %  ok
        limited by latency: one request at a time
    durable write 4 KiB                640  2.62   2.50  50.4 µs   480 µs  600 MB/s         ok
      flush                            640               1.56 ms  15.0 ms
        limited by flush latency

    Latency
                                          mean      p50      p90      p99      max
      sequential write 1 MiB, depth 8  18.4 ms  16.7 ms  17.2 ms   158 ms   159 ms
      sequential read 1 MiB, depth 8   17.3 ms  15.7 ms  16.2 ms   149 ms   149 ms
      random read 4 KiB, depth 1        122 µs   110 µs   114 µs  1.05 ms  1.05 ms
      random read 4 KiB, depth 32       401 µs   362 µs   375 µs  3.46 ms  3.46 ms
      random write 4 KiB, depth 1      47.6 µs  42.8 µs  44.8 µs   410 µs   410 µs
      durable write 4 KiB              55.7 µs  50.4 µs  52.0 µs   480 µs   480 µs
        flush                          1.74 ms  1.56 ms  1.63 ms  15.0 ms  15.0 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

/// Large requests that were split, on a link that was nearly full.
fn split_requests(sentence: &str) -> Vec<Finding> {
    let split = Finding {
        advice: "Use 256 KiB blocks, or raise max_sectors_kb.".into(),
        evidence: vec![Evidence::new("requests per operation", "4.00", "stat of sda")],
        ..finding("C1", Severity::Caution, sentence)
    };
    let full = Finding {
        limits: Some(sample::sata()),
        confidence: Confidence::Likely,
        ..finding("D1", Severity::Explains, "522 MB/s is 87 % of what the link can carry.")
    };
    vec![split, full]
}

#[test]
fn submission_that_was_tried_is_named() {
    let mut phases = sample::series();
    phases[3].record.hosts[0].submission = Some(SubmissionTrial {
        one_at_a_time: true,
        ops_per_s_at_once: 84_300.0,
        ops_per_s_one_at_a_time: 92_600.0,
    });
    let text = plain(&sample::report("every number is the storage's own.", phases));
    let line = "Submission method, from a short test before the clock: one at a time for random \
                read 4 KiB, depth 32\n(92.6k IOPS; all at once 84.3k).\n";
    assert!(text.contains(line), "{text}");
}

/// A finding that several phases share is told once.
#[test]
fn with_remarks() {
    let mut phases = sample::series();
    for (phase, op) in phases.iter_mut().zip(["write", "read"]) {
        let sentence = format!("Each 1 MiB {op} reached sda in 4 pieces of 256 KiB.");
        phase.judged.findings = split_requests(&sentence);
        phase.judged.verdict = Verdict::Caution;
    }
    let mut report = sample::report("large requests were split by the kernel.", phases);
    report.notes = vec![Note {
        asked: "registered buffers".into(),
        did: "without them".into(),
        why: "the limit of locked memory is 64 KiB".into(),
        place: Some("job.toml:12:3".into()),
    }];
    report.judgement.phases[2].as_mut().unwrap().not_evaluated =
        vec![NotEvaluated { rule: "B8".into(), lacked: "run-queue waits of the workers".into() }];
    assert_snapshot!(but_latencies(&report), @"
    All 6 results are the storage's numbers, 2 with caution: title of the rule (C1: sequential write
    1 MiB, depth 8, sequential read 1 MiB, depth 8).
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                                      IOPS  MB/s  MiB/s      p50      p99   at most   used  trust
    sequential write 1 MiB, depth 8    498   522    498  16.7 ms   158 ms  600 MB/s   87 %  caution
        limited by the SATA link; see C1
    sequential read 1 MiB, depth 8     535   561    535  15.7 ms   149 ms  600 MB/s   93 %  caution
        limited by the SATA link; see C1
    random read 4 KiB, depth 1       9.12k  37.4   35.6   110 µs  1.05 ms  600 MB/s  6.2 %  ok
        limited by latency: one request at a time
    random read 4 KiB, depth 32      91.4k   374    357   362 µs  3.46 ms  600 MB/s   62 %  ok
        limited by the device's own queue of 32
    random write 4 KiB, depth 1      22.8k  93.4   89.1  42.8 µs   410 µs  600 MB/s   16 %  ok
        limited by latency: one request at a time
    durable write 4 KiB                640  2.62   2.50  50.4 µs   480 µs  600 MB/s         ok
      flush                            640               1.56 ms  15.0 ms
        limited by flush latency

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Findings
      C1  title of the rule: caution (certain)
          Each 1 MiB write reached sda in 4 pieces of 256 KiB.
          In sequential write 1 MiB, depth 8. With other numbers in sequential read 1 MiB, depth 8.
            requests per operation  4.00  stat of sda
          Use 256 KiB blocks, or raise max_sectors_kb.

      D1  title of the rule: the limit: the SATA link (likely)
          522 MB/s is 87 % of what the link can carry.
          In sequential write 1 MiB, depth 8; sequential read 1 MiB, depth 8.

    Differs from the request
      job.toml:12:3: registered buffers: without them (the limit of locked memory is 64 KiB)

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    Rules that could not be applied
      B8 (missing: run-queue waits of the workers)

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

#[test]
fn measures_something_else() {
    let read = measurement(Direction::Read, stats(5180.0, 1 << 20, 180_000));
    let mut cached = phase("re-read 1 MiB", read);
    cached.judged = PhaseJudgement {
        findings: vec![sample::page_cache()],
        ceilings: vec![sample::link_ceiling(Some(9.05))],
        verdict: Verdict::Wrong,
        ..PhaseJudgement::default()
    };
    let report = sample::report(
        "Not the storage's number (the page cache): 5.43 GB/s is 9 times what the link carries.",
        vec![cached],
    );
    assert_snapshot!(plain(&report), @"
    Not the storage's number (the page cache): 5.43 GB/s is 9 times what the link carries.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                    IOPS  MB/s  MiB/s     p50      p99   at most   used  trust
    re-read 1 MiB  5.18k  5432   5180  189 µs  1.79 ms  600 MB/s  9.05×  wrong
        measures the page cache; see A1

    Latency
                       mean     p50     p90      p99      max
      re-read 1 MiB  209 µs  189 µs  196 µs  1.79 ms  1.80 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Findings
      A1  reads were served from memory: measures the page cache (certain)
          97 % of the bytes came from this machine's memory; 5.43 GB/s is the speed of the page cache,
          not of the disk.
            bytes read by the engine    50.6 GiB       own counters
            bytes fetched from storage  1.63 GB (3 %)  /proc/self/io read_bytes
            bytes counted on sda        1.52 GiB       /sys/class/block/sda/stat
          Bypass the page cache, or evict the file and check the eviction.
          try: candor run --target /data/file --rw read --bs 1m --direct

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

#[test]
fn not_verifiable() {
    let mut blind = phase("phase", measurement(Direction::Read, stats(9_000.0, 4096, 100_000)));
    blind.judged = PhaseJudgement {
        findings: vec![Finding {
            advice: "Test a device that the kernel counts.".into(),
            ..finding("A17", Severity::Unverified, "Linux does not count I/O on this device.")
        }],
        verdict: Verdict::Unverified,
        ..PhaseJudgement::default()
    };
    assert_snapshot!(plain(&sample::report("", vec![blind])), @"
    Cannot be verified.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                 IOPS  MB/s  MiB/s     p50      p99  trust       why
    phase, read    9k  36.9   35.2  105 µs  1.00 ms  unverified  see A17

    Latency
                     mean     p50     p90      p99      max
      phase, read  116 µs  105 µs  109 µs  1.00 ms  1.00 ms

    Findings
      A17 title of the rule: cannot be verified (certain)
          Linux does not count I/O on this device.
          Test a device that the kernel counts.

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

#[test]
fn interrupted() {
    let mut phases = sample::series();
    phases.truncate(2);
    phases[1].record.measurements[0].ended = Ended::Interrupted;
    let mut report = sample::report("as far as it went.", phases);
    report.interrupted = true;
    assert_snapshot!(plain(&report), @"
    All 2 results are the storage's numbers.
    Cut short: interrupted; the numbers cover the work until then.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                                     IOPS  MB/s  MiB/s      p50     p99   at most  used  trust
    sequential write 1 MiB, depth 8   498   522    498  16.7 ms  158 ms  600 MB/s  87 %  ok
        limited by the SATA link
    sequential read 1 MiB, depth 8    535   561    535  15.7 ms  149 ms  600 MB/s  93 %  ok
        interrupted; limited by the SATA link

    Latency
                                          mean      p50      p90     p99     max
      sequential write 1 MiB, depth 8  18.4 ms  16.7 ms  17.2 ms  158 ms  159 ms
      sequential read 1 MiB, depth 8   17.3 ms  15.7 ms  16.2 ms  149 ms  149 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
    report.cut_short = Some("interrupted by SIGTERM in phase 2 of 6.".into());
    assert!(plain(&report).contains("Cut short: interrupted by SIGTERM in phase 2 of 6.\n"));
}

#[test]
fn out_of_space_and_corrupted() {
    let mut full = measurement(Direction::Write, stats(900.0, 65536, 400_000));
    full.ended = Ended::Failed;
    full.of_mut(Direction::Write).short = 1;
    full.errors = vec![IoFailure {
        op: Some("write".into()),
        path: "/data/candor.0".into(),
        offset: 589_824_000,
        errno: 28,
        message: "No space left on device".into(),
        count: 3,
    }];
    let mut wrong = measurement(Direction::Read, stats(900.0, 65536, 400_000));
    wrong.verify = Some(VerifyStats {
        blocks: 144_000,
        flipped: 1,
        stale: 1200,
        first: vec![Mismatch {
            path: "/data/candor.0".into(),
            offset: 4096,
            length: Bytes(4096),
            detail: "checksum 1f2e3d4c, expected 5b6a7988".into(),
            ..Mismatch::default()
        }],
        ..VerifyStats::default()
    });
    let verify = Some(VerifyStats { blocks: 144_000, ..VerifyStats::default() });
    let right =
        Measurement { verify, ..measurement(Direction::Read, stats(900.0, 65536, 400_000)) };
    let phases = vec![phase("fill", full), phase("check one", wrong), phase("check two", right)];
    let mut report = sample::report("the numbers cover the work until the error.", phases);
    report.cut_short = Some("/data is full: a write of 64 KiB found no space left.".into());
    assert_snapshot!(plain(&report), @"
    Corrupt data: 1201 of 288000 blocks read differ from the data written.
    Cut short: /data is full: a write of 64 KiB found no space left.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                     IOPS  MB/s  MiB/s     p50      p99   at most  used  trust  why
    fill, write       900  59.0   56.2  420 µs  4.00 ms  600 MB/s        ok     stopped by an error
    check one, read   900  59.0   56.2  420 µs  4.00 ms  600 MB/s        ok
    check two, read   900  59.0   56.2  420 µs  4.00 ms  600 MB/s        ok

    Latency
                         mean     p50     p90      p99      max
      fill, write      464 µs  420 µs  436 µs  4.00 ms  4.00 ms
      check one, read  464 µs  420 µs  436 µs  4.00 ms  4.00 ms
      check two, read  464 µs  420 µs  436 µs  4.00 ms  4.00 ms

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Errors
      fill: write of /data/candor.0 failed 3 times, first at offset 589824000: No space left on device
      fill: 1 write moved fewer bytes than requested
      check one: 144,000 blocks checked, not all match the written data: 1 flipped, 1,200 stale
      check one: 4 KiB at offset 4096 of /data/candor.0: checksum 1f2e3d4c, expected 5b6a7988

    Verified
      check two: 144,000 blocks, all match the written data

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

/// A failed operation on a name has no offset.
#[test]
fn names_that_cannot_be_made() {
    let mut made = measurement(Direction::Read, stats(900.0, 1, 400_000));
    made.errors = vec![IoFailure {
        op: Some("create".into()),
        path: "/data/a".into(),
        offset: 0,
        errno: 28,
        message: "No space left on device".into(),
        count: 1,
    }];
    let mut report = sample::report("the names are there.", vec![phase("make", made)]);
    let job = &mut report.plan.phases[0].jobs[0];
    let (over, steps) = (Over::TargetFiles, vec![Step::Create]);
    job.work = Entries { over, steps, ..Entries::default() }.into();
    let page = plain(&report);
    let line = "\n  make: create of /data/a failed 1 time: No space left on device\n";
    assert!(page.contains(line), "{page}");
}

/// Headlines come from the judge, and begin with the verdict.
#[test]
fn a_series_with_one_result_that_is_none() {
    let mut phases = sample::series();
    for (i, phase) in phases.iter_mut().enumerate() {
        phase.judged.headline = format!("Believable: result {i}.");
    }
    let headline = "Not the storage's number (the page cache): nothing came from sda.";
    phases[1].judged.headline = headline.into();
    phases[1].judged.verdict = Verdict::Wrong;
    phases[1].judged.findings = vec![sample::page_cache()];
    let mut trial =
        phase("searching at depth 4", measurement(Direction::Read, stats(20e3, 4096, 1000)));
    trial.record.search_step = true;
    phases.insert(3, trial);
    phases[4].record.follow_ups.push(sample::follow_up());
    phases[4].judged.follow_ups.push(sample::FLAT.into());
    let report = sample::report(headline, phases);
    assert_snapshot!(but_latencies(&report), @"
    1 of 6 results is not the storage's number (the page cache): reads were served from memory (A1:
    sequential read 1 MiB, depth 8); the other 5 are the storage's numbers.
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 Gbps, 600 MB/s at
    most

                                      IOPS  MB/s  MiB/s      p50      p99   at most   used  trust
    sequential write 1 MiB, depth 8    498   522    498  16.7 ms   158 ms  600 MB/s   87 %  ok
        limited by the SATA link
    sequential read 1 MiB, depth 8     535   561    535  15.7 ms   149 ms  600 MB/s   93 %  wrong
        measures the page cache; limited by the SATA link; see A1
    random read 4 KiB, depth 1       9.12k  37.4   35.6   110 µs  1.05 ms  600 MB/s  6.2 %  ok
        limited by latency: one request at a time
    random read 4 KiB, depth 32      91.4k   374    357   362 µs  3.46 ms  600 MB/s   62 %  ok
        limited by the device's own queue of 32
    random write 4 KiB, depth 1      22.8k  93.4   89.1  42.8 µs   410 µs  600 MB/s   16 %  ok
        limited by latency: one request at a time
    durable write 4 KiB                640  2.62   2.50  50.4 µs   480 µs  600 MB/s         ok
      flush                            640               1.56 ms  15.0 ms
        limited by flush latency

    Short trials, not judged: searching at depth 4: 20k IOPS.

    Short trials afterwards, to find the limit
      Depth 64: 92.4k IOPS, 1.01 times the phase's 91.4k IOPS: no gain. Cost: 1.1 s, read 361 MiB.

    At most
      SATA link of sda: 600 MB/s = 6.0 Gb/s × 8/10 ÷ 8 bits

    Findings
      A1  reads were served from memory: measures the page cache (certain)
          97 % of the bytes came from this machine's memory; 5.43 GB/s is the speed of the page cache,
          not of the disk.
          In sequential read 1 MiB, depth 8.
            bytes read by the engine    50.6 GiB       own counters
            bytes fetched from storage  1.63 GB (3 %)  /proc/self/io read_bytes
            bytes counted on sda        1.52 GiB       /sys/class/block/sda/stat
          Bypass the page cache, or evict the file and check the eviction.
          try: candor run --target /data/file --rw read --bs 1m --direct

    Could not be read
      temperature and wear of sda: the device node may not be opened (permission denied); run as root,
      or with read access to /dev/sda

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z on Linux 6.12.9, 8 CPUs, Example CPU 7000, 32 GiB
    memory.
    ");
}

#[test]
fn nothing_ran() {
    assert_snapshot!(plain(&sample::report("", vec![])), @r#"
    Nothing was measured.

    candor 0.1.0 ran 58.2 s from 2026-01-02T03:04:05Z.
    "#);
}

#[test]
fn files_beside_the_report() {
    assert_snapshot!(written(Some("runs/1"), Some("out.json"), None), @r#"
    The run is saved in runs/1 (report.txt, report.json, plan.toml).
    Repeat it with: candor run runs/1/plan.toml
    The JSON report is in out.json.
    "#);
    assert_eq!(written(None, None, None), "");
}
