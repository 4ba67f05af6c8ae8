use std::ffi::OsString;
use std::time::Duration;

use candor_plan::entries::{ITEM, OPERATIONS, Step};
use candor_record::*;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::results::Results;
use super::text::stamp_of;
use super::*;
use crate::options::read;
use crate::plan::{self, Lowered, Part};
use crate::setup::Test;
use candor_front::evidence::Surroundings;
use candor_front::{Host, Space};
use candor_ior_family::results::exponent;

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> Duration {
        Duration::from_secs(1000)
    }
}

fn lowered(line: &str) -> Lowered {
    let words = std::iter::once("mdtest").chain(line.split_whitespace());
    let argv: Vec<OsString> = words.map(OsString::from).collect();
    plan::lower(&read(&argv, &mut Surroundings::default()), &TestHost).expect("a plan")
}

fn latency(count: u64, ns: u64) -> Option<Latency> {
    let mut histogram = Histogram::new();
    (0..count).for_each(|nth| histogram.record(ns + nth % 50 * ns / 100));
    Latency::from_histogram(histogram)
}

/// A phase with these items and times of each task.
fn record(phase: usize, row: usize, items: &[u64], ms: &[u64]) -> PhaseRecord {
    let row = &OPERATIONS[row];
    let ops = items.iter().sum();
    let stats = OpStats { ops, latency: latency(ops, 20_000), ..OpStats::of(row) };
    let worker = |(rank, (ops, ms)): (usize, (&u64, &u64))| WorkerStats {
        rank: rank as u32,
        ops: *ops,
        elapsed_ns: ms * 1_000_000,
        ..WorkerStats::default()
    };
    let longest = ms.iter().copied().max().unwrap_or(0);
    let measured = Measurement {
        workers: items.len() as u32,
        elapsed_ns: longest * 1_000_000,
        operations: vec![stats],
        per_worker: items.iter().zip(ms).enumerate().map(worker).collect(),
        ..Measurement::default()
    };
    PhaseRecord { phase, measurements: vec![measured], ..PhaseRecord::default() }
}

/// All phases of a line with two tasks; each iteration takes half a second longer.
fn results(lowered: &Lowered) -> Results {
    let mut results = Results::default();
    for (nth, bench) in lowered.phases.iter().enumerate() {
        let slow = 1000 + 500 * u64::from(bench.iteration);
        let record = match bench.test {
            Test::TreeCreate => record(nth, Step::Mkdir as usize, &[1, 0], &[10, 0]),
            Test::TreeRemove => record(nth, Step::Rmdir as usize, &[1, 0], &[20, 0]),
            Test::FileCreate => record(nth, ITEM as usize, &[1000, 1000], &[slow, slow - 200]),
            _ => record(nth, Step::Stat as usize, &[1000, 1000], &[slow / 2, slow / 4]),
        };
        results.add(lowered, bench, &record);
    }
    results
}

#[test]
fn the_block_has_its_columns() {
    let lowered = lowered("--ranks 2 -n 1000 -i 2");
    let results = results(&lowered);
    assert!(results.runs[0].is_complete);
    insta::assert_snapshot!(totals_and_block(&lowered.setup, &results.runs[0]));
}

#[test]
fn times_and_tasks_are_shown_where_they_are_asked_for() {
    let words = "--ranks 2 -n 1000 -F -C -T -P --print-all-procs --showRankStatistics -v";
    let lowered = lowered(words);
    let results = results(&lowered);
    insta::assert_snapshot!(totals_and_block(&lowered.setup, &results.runs[0]));
    insta::assert_snapshot!(rank_file(&lowered.setup, &results.runs));
}

#[test]
fn a_rate_is_that_of_the_slowest_task_times_all() {
    let lowered = lowered("--ranks 2 -n 1000 -F -T");
    let mut results = Results::default();
    let bench = &lowered.phases[0];
    // The second task completed half of its items, and ended early.
    results.add(&lowered, bench, &record(0, Step::Stat as usize, &[1000, 500], &[2000, 500]));
    let result = &results.runs[0].iterations[0][&Test::FileStat];
    assert_eq!((result.items, result.rate, result.seconds), (1500, 500.0, 2.0));
}

#[test]
fn failures_have_a_line_and_no_rate() {
    let lowered = lowered("--ranks 2 -n 1000 -F -T");
    let mut record = record(0, Step::Stat as usize, &[0, 0], &[100, 100]);
    record.measurements[0].errors = vec![IoFailure {
        op: Some("stat".into()),
        path: "/t/file.mdtest.0.0".into(),
        offset: 0,
        errno: 2,
        message: "No such file or directory".into(),
        count: 2000,
    }];
    let mut results = Results::default();
    results.add(&lowered, &lowered.phases[0], &record);
    let text = totals_and_block(&lowered.setup, &results.runs[0]);
    let row = text.lines().find(|line| line.starts_with("   File stat")).expect("a row");
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<_>>(), ["0.000"; 4]);
    let line = "WARNING: File stat of iteration 0: 2000 operations failed and are in no rate; the \
                first: stat of /t/file.mdtest.0.0: No such file or directory";
    assert!(text.contains(line), "{text}");
}

#[test]
fn wrong_data_has_the_line_of_mdtest() {
    let lowered = lowered("-n 10 -F -E -e 100 -X");
    let mut record = record(0, ITEM as usize, &[10], &[100]);
    record.measurements[0].verify =
        Some(VerifyStats { blocks: 10, foreign: 3, ..VerifyStats::default() });
    let mut results = Results::default();
    results.add(&lowered, &lowered.phases[0], &record);
    let text = totals_and_block(&lowered.setup, &results.runs[0]);
    let line =
        "ERROR: verifying the data on read (3 errors)! Take the performance values with care!";
    assert!(text.contains(line), "{text}");
}

#[test]
fn reads_of_files_that_are_too_short_are_errors_of_the_data() {
    let lowered = lowered("-n 10 -F -E -e 50");
    let mut record = record(0, ITEM as usize, &[7], &[100]);
    record.measurements[0].errors = vec![IoFailure {
        op: Some("read".into()),
        path: "/t/file.mdtest.0.0".into(),
        offset: 0,
        errno: 0,
        message: "0 of 50 bytes moved: end of the file or device".into(),
        count: 3,
    }];
    let mut results = Results::default();
    results.add(&lowered, &lowered.phases[0], &record);
    let text = totals_and_block(&lowered.setup, &results.runs[0]);
    assert!(text.contains("ERROR: verifying the data on read (3 errors)!"), "{text}");
    record.measurements[0].errors[0].errno = 5;
    let mut results = Results::default();
    results.add(&lowered, &lowered.phases[0], &record);
    let text = totals_and_block(&lowered.setup, &results.runs[0]);
    assert!(!text.contains("verifying the data"), "{text}");
}

#[test]
fn a_command_after_a_phase_is_in_its_time() {
    let lowered = lowered("-n 1000 -F -T --run-cmd-after-phase sync");
    let mut results = Results::default();
    for (nth, bench) in lowered.phases.iter().enumerate() {
        let items = if bench.part == Part::After { 0 } else { 1000 };
        results.add(&lowered, bench, &record(nth, Step::Stat as usize, &[items], &[500]));
    }
    let result = &results.runs[0].iterations[0][&Test::FileStat];
    assert_eq!((result.items, result.rate, result.seconds), (1000, 1000.0, 1.0));
}

#[test]
fn one_document_has_all_of_it() {
    let lowered = lowered("--ranks 2 -n 1000 -F -C -T -i 2");
    let results = results(&lowered);
    let text = json(&lowered.setup, &results, &Report::default(), "then", "now");
    let document: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    let created = &document["runs"][0]["iterations"][1]["File creation"];
    assert_eq!((created["items"].as_u64(), created["failed"].as_u64()), (Some(2000), Some(0)));
    assert!(created["latency"]["p99_ns"].as_u64().is_some_and(|ns| ns > 20_000));
    assert!(created["steps"].is_null(), "an item is one operation there");
    assert_eq!(created["ranks"].as_array().map(Vec::len), Some(2));
    assert!(document["candor"]["verdict"].is_string());
    let table = csv(&results);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let columns = reader.headers().expect("a header").len();
    let rows: Vec<_> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!((columns, rows.len()), (15, 2 * 3));
    assert_eq!((&rows[0][2], &rows[0][3]), ("File creation", "2000"));
}

#[test]
fn numbers_have_the_form_of_c() {
    assert_eq!(exponent(1234.56, 6), "1.234560e+03");
    assert_eq!(exponent(0.0, 6), "0.000000e+00");
    assert_eq!(exponent(1.5e-7, 2), "1.50e-07");
    assert_eq!(exponent(1e120, 1), "1.0e+120");
    let stamp = stamp_of(Timestamp::from_second(1_770_653_909).expect("a time"), TimeZone::UTC);
    assert_eq!(stamp, "02/09/2026 16:18:29");
}

#[test]
fn the_header_has_its_lines() {
    let lowered = lowered("--ranks 3 -n 10 -N 1 -R --random-seed 9 -d /t");
    let space =
        Space { bytes: 2 << 40, bytes_free: 1 << 40, inodes: 4 << 20, inodes_free: 3 << 20 };
    insta::assert_snapshot!(header(&lowered.setup, 1, "11/25/2026 13:22:48", Some(space)));
}
