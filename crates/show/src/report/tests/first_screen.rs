//! The first screen, on the smallest terminal.

use candor_plan::blocks::{Access, Blocks};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::work::BlocksOp;
use candor_plan::{Job, Phase};
use candor_record::facts::TargetFacts;

use super::*;

const NARROW: Style = Style { color: false, width: 80, is_screen: true };
/// Rows of the terminal, less the prompt.
const ROWS: usize = 23;

/// Rows that a text takes on a terminal of 80 columns, which breaks longer lines.
fn rows(text: &str) -> usize {
    text.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum()
}

/// The series of a check, with a plan that says what each step did.
fn series() -> Report {
    let mut report = sample::report("large requests were split by the kernel.", sample::series());
    report.plan.phases.clear();
    for (nth, record) in report.phases.iter_mut().enumerate() {
        record.phase = nth;
        let large = record.name.contains("1 MiB");
        let size = Bytes(if large { 1 << 20 } else { 4096 });
        let blocks = Blocks {
            mix: if record.name.contains("write") { Mix::WRITE } else { Mix::READ },
            access: if large { Access::Sequential } else { Access::Random },
            size: PerDirection::all(SizeSpec::Fixed(size)),
            depth: if record.name.contains("32") { 32 } else { 1 },
            ..Blocks::default()
        };
        let mut job = Job { work: blocks.into(), ..Job::default() };
        if let Some(blocks) = job.blocks_mut().filter(|_| record.name.contains("durable")) {
            blocks.durability.fsync_every = 1;
        }
        report.plan.phases.push(Phase { jobs: vec![job], ..Phase::default() });
    }
    report
}

#[test]
fn repeats_that_disagree_on_a_rule_tell_it_once() {
    let mut report = series();
    let sentence = "Each 1 MiB write reached sda in 4 pieces of 256 KiB.";
    for (nth, judged) in report.judgement.phases.iter_mut().flatten().take(2).enumerate() {
        judged.findings = split_requests(sentence);
        let finding = &mut judged.findings[0];
        finding.severity = if nth == 0 { Severity::Caution } else { Severity::Explains };
        finding.limits =
            (nth == 0).then_some(candor_record::Limit::CpuStarvation { untried: false });
    }
    let text = first_screen(&report, &NARROW);
    assert_eq!(text.lines().filter(|line| line.starts_with("C1 ")).count(), 1, "{text}");
}

#[test]
fn key_numbers_of_repeats_are_their_means() {
    let mut report = series();
    let (mut again, judged) = (report.phases.clone(), report.judgement.phases.clone());
    for record in &mut again {
        record.repeat = 1;
        for stats in record.measurements.iter_mut().flat_map(|of| &mut of.operations) {
            stats.ops_per_s *= 3.0;
            stats.bytes_per_s *= 3.0;
        }
    }
    report.phases.extend(again);
    report.judgement.phases.extend(judged);
    report.judgement.repeats = candor_derive::repeats(&report.judged().collect::<Vec<_>>());
    let text = first_screen(&report, &NARROW);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let means = "Read 1.12 GB/s, write 1.04 GB/s, random read 183k IOPS, latency 110 µs, durable \
                 1.28k writes/s.";
    assert!(words.contains(means), "{text}");
}

#[test]
fn a_check_in_order() {
    let mut report = series();
    let judged = report.judgement.phases[0].as_mut().unwrap();
    judged.findings = split_requests("Each 1 MiB write reached sda in 4 pieces of 256 KiB.");
    judged.verdict = Verdict::Caution;
    report.judgement.verdict = Verdict::Caution;
    let text = first_screen(&report, &NARROW);
    assert!(rows(&text) <= ROWS, "{text}");
    assert_snapshot!(text, @"
    Read 561 MB/s, write 522 MB/s, random read 91.4k IOPS, latency 110 µs, durable
    640 writes/s.
    All 6 results are the storage's numbers, 1 with caution: title of the rule (C1:
    sequential write 1 MiB, depth 8).
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 …

                                      IOPS  MB/s      p50      p99      max  trust
    sequential write 1 MiB, depth 8    498   522  16.7 ms   158 ms   159 ms  caution
    sequential read 1 MiB, depth 8     535   561  15.7 ms   149 ms   149 ms  ok
    random read 4 KiB, depth 1       9.12k  37.4   110 µs  1.05 ms  1.05 ms  ok
    random read 4 KiB, depth 32      91.4k   374   362 µs  3.46 ms  3.46 ms  ok
    random write 4 KiB, depth 1      22.8k  93.4  42.8 µs   410 µs   410 µs  ok
    durable write 4 KiB                640  2.62  50.4 µs   480 µs   480 µs  ok
      flush                            640        1.56 ms  15.0 ms  15.0 ms

    C1  caution, in sequential write 1 MiB, depth 8: Each 1 MiB write reached sda in
        4 pieces of 256 KiB.
    D1  the limit: the SATA link, in sequential write 1 MiB, depth 8: 522 MB/s is
        87 % of what the link can carry.

    Evidence and requests: --verbose; complete report: --json FILE.
    ");
}

/// The verdict and the line of a rule count the same results.
#[test]
fn a_rule_is_counted_where_it_weighs_the_most() {
    let mut report = series();
    for (nth, judged) in report.judgement.phases.iter_mut().flatten().enumerate() {
        let (verdict, severity) = match nth {
            ..4 => (Verdict::Caution, Severity::Caution),
            _ => (Verdict::Ok, Severity::Explains),
        };
        judged.verdict = verdict;
        judged.findings = vec![finding("G1", severity, "Short.")];
    }
    report.judgement.verdict = Verdict::Caution;
    let text = first_screen(&report, &NARROW);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("4 with caution: "), "{text}");
    assert!(words.contains("G1 caution, in sequential write 1 MiB, depth 8 and 3 more"), "{text}");
}

/// The headline quotes A1; its own line goes on from there.
#[test]
fn what_was_measured_instead_is_said_once() {
    let mut read = phase("re-read 1 MiB", measurement(Direction::Read, stats(5e3, 1 << 20, 1000)));
    let limits = Some(Limit::PageCache);
    read.judged.findings = vec![Finding { limits, ..sample::page_cache() }];
    read.judged.verdict = Verdict::Wrong;
    let sentence = &read.judged.findings[0].sentence;
    let headline = format!("Not the storage's number (the page cache): {sentence}");
    read.judged.headline = headline.clone();
    let text = first_screen(&sample::report(&headline, vec![read]), &NARROW);
    let of_rule: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("A1")).collect();
    assert_eq!(
        of_rule[..2],
        [
            "A1  Reads were served from memory. Bypass the page cache, or evict the file and",
            "    check the eviction."
        ],
        "{text}"
    );
}

/// Percentiles that were asked for come first; those that do not fit are named.
#[test]
fn percentiles_that_were_asked_for_fit_80_columns() {
    let mut report = series();
    report.quote(&[50.0, 99.9]);
    let head = |report: &Report| {
        let text = first_screen(report, &NARROW);
        assert!(
            rows(&text) <= ROWS && text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        let line = text.lines().find(|line| line.contains("IOPS  MB/s")).unwrap();
        (line.split_whitespace().collect::<Vec<_>>().join(" "), text)
    };
    let (columns, text) = head(&report);
    assert_eq!(columns, "IOPS MB/s p50 p99.9 max trust");
    assert!(text.contains("\np99.9 needs 10,000 operations.\n"), "{text}");
    report.quote(&[10.0, 25.0, 50.0, 75.0, 80.0, 90.0, 95.0, 99.0]);
    let (columns, text) = head(&report);
    assert_eq!(columns, "IOPS MB/s p10 p25 p50 p75 p80 trust");
    assert!(text.contains("\nNo space for p90, p95, p99 (see --verbose).\n"), "{text}");
    let page = plain(&report);
    assert!(page.contains("mean      p10      p25      p50"), "{page}");
}

#[test]
fn a_durable_write_is_shown_with_its_flush() {
    let mut report = series();
    let durable = report.phases.last_mut().expect("the series ends with durable writes");
    let commit = durable.measurements[0].operation_mut(BlocksOp::Commit.operation());
    let (name, figure) = (commit.name.clone(), commit.figure);
    *commit = OpStats { name, figure, ..stats(620.0, 0, 1_600_000) };
    let text = first_screen(&report, &NARROW);
    assert!(text.contains("durable\n620 writes/s") || text.contains("durable 620"), "{text}");
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    let cells: Vec<&str> = row("durable write 4 KiB").split_whitespace().skip(4).collect();
    // The rate and latency of commits, and the bytes of the writes.
    assert_eq!(cells[..4], ["620", "2.62", "1.68", "ms"], "{text}");
    let page = plain(&report);
    let of = |name: &str| page.lines().filter(|line| line.trim_start().starts_with(name)).count();
    assert_eq!([of("write "), of("flush ")], [2, 2], "both parts, with their latencies: {page}");
}

#[test]
fn bandwidth_is_that_of_the_most_bytes_and_any_flush_is_durable() {
    let mut report = series();
    for (nth, ops_per_s, bytes_per_s) in [(0, 900.0, 118e6), (1, 535.0, 561e6)] {
        let blocks = report.plan.phases[nth].jobs[0].blocks_mut().expect("blocks");
        blocks.mix = Mix::READ;
        let stats = report.phases[nth].measurements[0].of_mut(Direction::Read);
        (stats.ops, stats.ops_per_s, stats.bytes_per_s) = (1000, ops_per_s, bytes_per_s);
    }
    for blocks in report.plan.phases.iter_mut().filter_map(|phase| phase.jobs[0].blocks_mut()) {
        let durability = &mut blocks.durability;
        durability.fdatasync_every = std::mem::take(&mut durability.fsync_every);
    }
    let text = first_screen(&report, &NARROW);
    assert!(text.contains("Read 561 MB/s, random read"), "{text}");
    assert!(text.contains("durable\n640 writes/s") || text.contains("durable 640"), "{text}");
    report.judgement.repeats = (0..report.plan.phases.len())
        .map(|phase| Repeats { phase, ..Repeats::default() })
        .collect();
    let text = first_screen(&report, &NARROW);
    assert!(!text.contains("Read 561 MB/s"), "the best of some repeats: {text}");
}

#[test]
fn further_targets_are_counted_and_their_filesystem_is_named_as_the_same_only_where_it_is() {
    let mut report = series();
    let line = |report: &Report| {
        let text = first_screen(report, &Style { width: 200, ..NARROW });
        text.lines().find(|line| line.starts_with("/data")).expect("the target").to_owned()
    };
    let alone = line(&report);
    assert!(alone.ends_with("600 MB/s at most"), "{alone}");
    let targets = |report: &mut Report, more: &[TargetFacts]| {
        let host = &mut report.phases.last_mut().expect("a phase").hosts[0];
        host.facts.targets.truncate(1);
        host.facts.targets.extend_from_slice(more);
    };
    let first = report.facts().targets[0].clone();
    targets(&mut report, &[first.clone(), first.clone()]);
    assert_eq!(line(&report), format!("{alone}; 2 more targets on this filesystem"));
    let mut other = first.clone();
    other.filesystem.as_mut().expect("a filesystem").mount_point = "/other".to_owned();
    targets(&mut report, &[first, other.clone()]);
    assert_eq!(line(&report), format!("{alone}; 2 more targets"));
    targets(&mut report, &[other]);
    assert_eq!(line(&report), format!("{alone}; 1 more target"));
}

/// Five repeats, one of which was served from the page cache.
#[test]
fn repeats_have_one_row() {
    let repeat = |(nth, iops): (u32, f64)| {
        let stats = stats(iops, 4096, 100_000 + u64::from(nth) * 1000);
        let mut read = phase("random read 4 KiB", measurement(Direction::Read, stats));
        read.record.repeat = nth;
        read
    };
    let rates = [9000.0, 9100.0, 50_000.0, 9200.0, 9300.0];
    let mut phases: Vec<_> = (0..).zip(rates).map(repeat).collect();
    phases[2].judged.findings = vec![sample::page_cache()];
    phases[2].judged.verdict = Verdict::Wrong;
    let mut report = sample::report("", phases);
    report.judgement.repeats = candor_derive::repeats(&report.judged().collect::<Vec<_>>());
    let text = first_screen(&report, &NARROW);
    assert!(rows(&text) <= ROWS, "{text}");
    assert_snapshot!(text.lines().take(7).collect::<Vec<_>>().join("\n"), @"
    Mean 9150 reads/s (37.5 MB/s) ± 2.2 %, from 9000 to 9300. 1 of 5 repeats is not
    the storage's number (the page cache): reads were served from memory (A1: #3) …
    /data (directory): ext4 on sda1 → sda (ATA, Example SSD 860, 500 GB); SATA 6.0 …

    mean of 4 repeats   IOPS  MB/s      ±  min    max     p50      p99  trust
    random read 4 KiB  9.15k  37.5  2.2 %   9k  9.30k  107 µs  1.02 ms  ok
    ");
    assert_snapshot!(plain(&report).split("\n\n").nth(3).unwrap(), @"
    Repeats
      mean of 4 repeats   IOPS  MB/s      ±  min    max     p50      ±      p99      ±  trust
      random read 4 KiB  9.15k  37.5  2.2 %   9k  9.30k  107 µs  2.8 %  1.02 ms  2.6 %  ok
      ± is half the 95 % interval of the mean (Student's t), for independent repeats; min and max are
      rates.
      Left out of random read 4 KiB: #3 (lower verdict than the others, or failed).
    ");
}

#[test]
fn whatever_is_found_it_is_one_screen() {
    let long = "A sentence that goes on and on with 12 numbers and 34 names of devices, ".repeat(9);
    let heavy = |rule: &str| Finding {
        next: Some(format!("candor run --target /data/{} --direct", "deep/".repeat(30))),
        ..finding(rule, Severity::Wrong, &long)
    };
    let mut report = series();
    report.cut_short = Some(long.clone());
    report.judgement.headline = long.clone();
    for judged in report.judgement.phases.iter_mut().flatten() {
        judged.findings = ["A1", "A3", "A5", "F10", "G1"].map(heavy).to_vec();
    }
    for phase in report.phases.iter_mut().flat_map(|phase| &mut phase.measurements) {
        let failure = IoFailure {
            op: Some("write".into()),
            path: "/data/".to_owned() + &"deep/".repeat(30),
            offset: 1,
            errno: 28,
            message: "No space left on device".into(),
            count: 3,
        };
        phase.errors = vec![failure];
    }
    for mut report in [report, sample::full()] {
        let text = first_screen(&report, &NARROW);
        assert!(rows(&text) <= ROWS, "{} rows:\n{text}", rows(&text));
        assert!(text.contains("--verbose"), "{text}");
        let copies = (0..5).flat_map(|_| report.judgement.phases.clone()).collect();
        report.judgement.phases = copies;
        report.phases = (0..5).flat_map(|_| report.phases.clone()).collect();
        let text = first_screen(&report, &NARROW);
        assert!(rows(&text) <= ROWS, "{} rows:\n{text}", rows(&text));
    }
}

/// The series of a check in a directory: names of two trees behind the steps on one file.
fn series_with_names() -> Report {
    use candor_plan::entries::{Over, Step};
    let mut report = series();
    let steps = [
        ("create", vec![Step::Create, Step::Write, Step::Close], Over::Items, 40_000),
        ("stat", vec![Step::Stat], Over::Items, 900_000),
        ("list", vec![Step::List], Over::Directories, 4_000),
        ("delete (unlink)", vec![Step::Unlink], Over::Items, 30_000),
    ];
    for tree in ["own directories", "one directory"] {
        let shape = candor_plan::Tree { items: 1000, per_rank: true, ..Default::default() };
        let kind = candor_plan::TargetKind::Tree;
        let (name, tree) = (tree.into(), Some(shape));
        report.plan.targets.push(candor_plan::Target { name, kind, tree, ..Default::default() });
        let name = &report.plan.targets.last().expect("pushed").name;
        for (what, steps, over, ops) in &steps {
            let entries =
                candor_plan::Entries { steps: steps.clone(), over: *over, ..Default::default() };
            let targets = vec![name.clone()];
            let job = Job { targets, workers: 2, work: entries.into(), ..Job::default() };
            let phase = report.plan.phases.len();
            let mut measured = candor_record::Measurement {
                elapsed_ns: 1_000_000_000,
                ..candor_record::Measurement::default()
            };
            let item = &candor_plan::entries::OPERATIONS[candor_plan::entries::ITEM as usize];
            let rows = steps.iter().map(|step| step.operation()).chain([item]);
            for row in rows {
                let ops_per_s = *ops as f64;
                let stats = candor_record::OpStats {
                    ops: *ops,
                    ops_per_s,
                    ..candor_record::OpStats::of(row)
                };
                *measured.operation_mut(row) = stats;
            }
            let record = PhaseRecord {
                phase,
                name: format!("{what}, {name}"),
                measurements: vec![measured],
                ..PhaseRecord::default()
            };
            let answered_by = match *what {
                "stat" => Some(candor_record::MeasuredInstead::NameCaches),
                "list" => Some(candor_record::MeasuredInstead::CachedRecords),
                _ => None,
            };
            let judged = PhaseJudgement { answered_by, ..PhaseJudgement::default() };
            report.plan.phases.push(Phase { jobs: vec![job], ..Phase::default() });
            report.phases.push(record);
            report.judgement.phases.push(Some(judged));
        }
    }
    report
}

#[test]
fn names_of_two_trees_stand_side_by_side_on_the_first_screen() {
    let report = series_with_names();
    let text = first_screen(&report, &NARROW);
    assert!(rows(&text) <= ROWS, "{}\n{text}", rows(&text));
    let names = text.lines().skip_while(|line| !line.starts_with("names/s")).take(4);
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "names/s          create  stat  list  delete",
            "own directories     40k  900k    4M     30k",
            "one directory       40k  900k    4M     30k",
            "Cached: stat (dentry and inode caches), list (cached blocks of the filesystem)",
        ],
        "{text}"
    );
    assert!(!text.contains("more rows"), "{text}");
}
