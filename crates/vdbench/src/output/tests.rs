//! Every page of a run, held against what it should be.

use candor_plan::work::Figure;
use candor_plan::{Blocks, Job, Nanos, Phase};
use candor_record::{
    CpuShares, Histogram as Counts, HostSample, JobSample, Latency, Measurement, OpSample, OpStats,
    PhaseRecord, Sample,
};

use super::*;
use crate::lower::{JobRow, LoweredRun, Shown};
use crate::runs::RunRate;

fn now(second: u64) -> Now {
    Now {
        tod: format!("14:28:{second:02}.000"),
        date: "Nov 25, 2026".into(),
        stamp: format!("11/25/2026-14:28:{second:02}-UTC"),
        created: "14:28:00 Nov 25 2026 UTC".into(),
        name: "261125.142800".into(),
        ..Now::default()
    }
}

fn run() -> LoweredRun {
    let job =
        |name: &str| Job { name: name.into(), work: Blocks::default().into(), ..Job::default() };
    let row = |sd: &str, share_percent| JobRow {
        wd: "wd1".into(),
        sd: sd.into(),
        host: "localhost".into(),
        share_percent,
        own_rate: None,
    };
    LoweredRun {
        name: "rd1".into(),
        heading: "I/O rate: 300; elapsed=3; For loops: threads=2".into(),
        loops: "For loops: threads=2".into(),
        rate: Some(RunRate::Fixed(300.0)),
        phase: Phase {
            ramp: Nanos::from_secs(1),
            jobs: vec![job("wd1 on sd1"), job("wd1 on sd2")],
            ..Phase::default()
        },
        jobs: vec![row("sd1", 50.0), row("sd2", 50.0)],
        interval_s: 1,
        warmup_intervals: 1,
        shown: Shown {
            transfer_bytes: Some(4096),
            threads: Some(2),
            read_percent: Some(70.0),
            seek_percent: Some(100.0),
            lun_bytes: Some(1 << 30),
            compression_ratio: Some(1.0),
            ..Shown::default()
        },
        ..LoweredRun::default()
    }
}

/// A second in which a job read and wrote so often, in 1 ms and 2 ms each.
fn sample(job: &str, reads: u64, writes: u64) -> JobSample {
    let op = |name: &str, ops: u64, ms: u64| OpSample {
        name: name.into(),
        ops,
        bytes: ops * 4096,
        latency_sum_ns: ops * ms * 1_000_000,
        latency_ns_max: Some(ms * 3_000_000),
        latency_ns_stddev: Some(100_000),
        ..OpSample::default()
    };
    let operations = vec![op("read", reads, 1), op("write", writes, 2)];
    let sample = Sample { at_ns: 1_000_000_000, length_ns: 1_000_000_000, operations };
    JobSample { job: job.into(), sample, ..JobSample::default() }
}

fn record() -> PhaseRecord {
    let stats = |name: &str, figure, ns: u64| {
        let mut counts = Counts::new();
        (0..100).for_each(|nth| counts.record(ns + nth * 10_000));
        let latency = Latency::from_histogram(counts);
        OpStats { name: name.into(), figure, ops: 100, latency, ..OpStats::NONE }
    };
    let measurement = |job: &str| Measurement {
        job: job.into(),
        operations: vec![
            stats("read", Figure::Read, 700_000),
            stats("write", Figure::Write, 1_500_000),
        ],
        ..Measurement::default()
    };
    PhaseRecord {
        measurements: vec![measurement("wd1 on sd1"), measurement("wd1 on sd2")],
        ..PhaseRecord::default()
    }
}

fn setup(layout: Layout) -> Setup {
    Setup {
        directory: "output".into(),
        luns: vec![("/dev/sdx".into(), "sd1".into())],
        is_of_files: false,
        sheet: Box::new(LunSheet { layout, is_decimal: false }),
        megabyte: 1_048_576.0,
        buckets: crate::definitions::general::Buckets::default(),
        reports: crate::definitions::general::Reports::default(),
        has_run_totals: true,
        skew_max: Some(5.0),
        files: vec![("parmfile".into(), "sd=sd1,lun=<x>\n".into())],
        scanned: vec!["sd=sd1".into(), "lun=<x>".into()],
        is_simulation: false,
    }
}

fn pages(layout: Layout) -> (std::collections::BTreeMap<String, String>, RunResult) {
    let run = run();
    let mut book = Book::open(setup(layout), std::slice::from_ref(&run), &now(0));
    book.begin(&run, Some(300.0), &now(0));
    let cpu = CpuShares { user: 0.8, system: 0.1, iowait: 0.05, idle: 0.05 };
    let host = HostSample { cpu_shares: Some(cpu), ..HostSample::default() };
    for (second, ops) in [(1, 999), (2, 100), (3, 120)] {
        let samples = [sample("wd1 on sd1", ops, 40), sample("wd1 on sd2", 2 * ops, 0)];
        book.interval(&samples, std::slice::from_ref(&host), &now(second));
    }
    let result = book.end(&record(), &now(3));
    book.close(true, &now(4));
    let mut pages = std::collections::BTreeMap::<String, String>::new();
    for (page, text) in book.take() {
        *pages.entry(page).or_default() += &text;
    }
    (pages, result)
}

#[test]
fn pages_are_as_vdbench_has_them() {
    let (pages, _) = pages(Layout::V50407);
    for (page, text) in &pages {
        let name = if page == CONSOLE { "console" } else { page };
        insta::assert_snapshot!(format!("page_{name}"), text);
    }
}

#[test]
fn averages_leave_the_first_interval_out() {
    let (pages, result) = pages(Layout::V50407);
    assert_eq!(result.rate, 370.0, "of two intervals: 340 and 400");
    let average = pages["summary"].lines().find(|line| line.contains("avg_2-3"));
    assert!(average.is_some_and(|line| line.contains("370.0")), "{average:?}");
    assert!(result.failed_skew.is_some_and(|sentence| sentence.contains("sd")));
}

#[test]
fn rows_have_the_columns_that_readers_expect() {
    let (pages, _) = pages(Layout::V50407);
    let row = pages["summary"].lines().find(|line| line.contains("avg_2-3")).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words.len(), 15, "time, interval and 13 figures: {row}");
    assert!(words[2..].iter().all(|word| word.parse::<f64>().is_ok()), "{row}");
    let flat = &pages["flatfile"];
    let names = flat.lines().find(|line| line.trim_start().starts_with("tod")).unwrap_or_default();
    let last = flat.lines().last().unwrap_or_default();
    assert_eq!(names.split_whitespace().count(), 34);
    assert_eq!(last.split_whitespace().count(), 34, "{last}");
    let csv = parse_flat(
        flat,
        &ParseFlat {
            columns: vec!["Run".into(), "Interval".into(), "rate".into(), "reqrate".into()],
            averages: true,
            filters: Vec::new(),
        },
    );
    assert_eq!(csv.as_deref(), Ok("Run,Interval,rate,reqrate\nrd1,avg_2-3,370.0000,300\n"));
}

#[test]
fn the_layout_of_5_04_06_has_fewer_columns() {
    let (pages, _) = pages(Layout::V50406);
    let row = pages["summary"].lines().find(|line| line.contains("avg_2-3")).unwrap_or_default();
    assert_eq!(row.split_whitespace().count(), 14, "{row}");
    let flat = pages["flatfile"].lines().last().unwrap_or_default();
    assert_eq!(flat.split_whitespace().count(), 30, "{flat}");
}

#[test]
fn a_busy_host_and_a_missed_skew_are_warned_of() {
    let (pages, _) = pages(Layout::V50407);
    let summary = &pages["summary"];
    assert!(summary.contains("90.0% is above 80%"), "{summary}");
    assert!(summary.contains("differs from the requested skew"), "{summary}");
}
