use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use candor_plan::entries::OPERATIONS;
use candor_record::*;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::latencies::{latency_line, timed};
use super::text::stamp_of;
use super::*;
use crate::options::read;
use crate::plan::{self, Lowered};
use candor_front::evidence::Surroundings;
use candor_front::{Host, ReadAs};

struct TestHost;

impl Host for TestHost {
    fn now(&self) -> Duration {
        Duration::from_secs(1000)
    }

    fn first_bytes(&self, _: &Path, _: ReadAs, _: usize) -> io::Result<Vec<u8>> {
        Ok(b"pos: 3\n".to_vec())
    }
}

fn lowered(line: &str) -> Lowered {
    let words = std::iter::once("md-workbench").chain(line.split_whitespace());
    let argv: Vec<OsString> = words.map(OsString::from).collect();
    plan::lower(&read(&argv, &mut Surroundings::default()), &TestHost).expect("a plan")
}

/// Operations of one kind: the last takes a millisecond, the others 10 µs.
fn stats(name: &str, ops: u64, failed: u64) -> OpStats {
    let row = OPERATIONS.iter().find(|row| row.name == name).expect("a row");
    let mut histogram = Histogram::new();
    (0..ops).for_each(|nth| histogram.record(if nth + 1 == ops { 1_000_000 } else { 10_000 }));
    OpStats { ops, failed, latency: Latency::from_histogram(histogram), ..OpStats::of(row) }
}

/// A phase of two processes; the second takes longer.
fn record(phase: usize, operations: Vec<OpStats>, seconds: [u64; 2]) -> PhaseRecord {
    let worker = |(rank, seconds): (usize, &u64)| WorkerStats {
        rank: rank as u32,
        ops: 10,
        elapsed_ns: seconds * 1_000_000_000,
        ..WorkerStats::default()
    };
    let measured = Measurement {
        workers: 2,
        operations,
        per_worker: seconds.iter().enumerate().map(worker).collect(),
        ..Measurement::default()
    };
    PhaseRecord { phase, measurements: vec![measured], ..PhaseRecord::default() }
}

fn results(lowered: &Lowered, failed: u64) -> Results {
    let mut results = Results::default();
    let moves = vec![
        stats("open", 20, 0),
        stats("stat", 20, 0),
        stats("unlink", 20 - failed, failed),
        stats("create", 20, 0),
        stats("open_to_close", 20, 0),
        stats("create_to_close", 20, 0),
    ];
    let phases = [
        record(0, vec![stats("mkdir", 4, 0)], [1, 2]),
        record(1, vec![stats("create", 40, 0), stats("create_to_close", 40, 0)], [2, 2]),
        record(2, moves, [1, 2]),
        record(3, vec![stats("unlink", 40, 0)], [1, 1]),
        record(4, vec![stats("rmdir", 4, 0)], [1, 1]),
    ];
    for (bench, record) in lowered.phases.iter().zip(&phases) {
        results.add(lowered, bench, record);
    }
    results
}

#[test]
fn lines_have_their_figures() {
    let lowered = lowered("--ranks 2 -D 2 -P 10 -I 5 -R 1 -S 1048576");
    let results = results(&lowered, 0);
    let lines: Vec<String> =
        results.stages.iter().map(|stage| line(&lowered.setup, stage)).collect();
    let starts = [
        "precreate process max:4.00s min:3.00s mean: 3.50s balance:75.0 stddev:0.7 rate:11.0 \
         iops/s dsets: 4 objects:40 rate:1.000 dset/s rate:10.0 obj/s tp:10.0 MiB/s \
         op-max:1.0000e-03s (0 errs) create(1.0000e-05s, ",
        "benchmark process max:2.00s min:1.00s mean: 1.50s balance:50.0 stddev:0.7 rate:40.0 \
         iops/s objects:20 rate:10.0 obj/s tp:20.0 MiB/s op-max:1.0000e-03s (0 errs) \
         read(1.0000e-05s, ",
        "cleanup process max:2.00s min:2.00s mean: 2.00s balance:100.0 stddev:0.0 rate:22.0 \
         iops/s objects:40 dsets: 4 rate:20.0 obj/s rate:2.000 dset/s op-max:1.0000e-03s \
         (0 errs) delete(1.0000e-05s, ",
    ];
    assert_eq!(lines.len(), 3);
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line}\n{start}");
        assert!(line.ends_with(" 1.0000e-03s)\n"), "{line}");
    }
    for name in ["read", "stat", "create", "delete"] {
        let figures = lines[1].split_once(&format!(" {name}")).expect(name).1;
        assert!(figures.starts_with("(1.0000e-05s, "), "{figures}");
        let inside = figures.split_once(')').expect("an end").0;
        assert_eq!(inside.split(", ").count(), 7, "{name}");
    }
    assert_eq!(results.position(&lowered.setup), 5);
}

#[test]
fn failures_are_in_no_rate() {
    let lowered = lowered("--ranks 2 -D 2 -P 10 -I 5 -R 1 -q");
    let results = results(&lowered, 6);
    let text = line(&lowered.setup, &results.stages[1]);
    assert!(text.contains(" rate:37.0 iops/s objects:20 "), "{text}");
    assert!(text.contains(" (6 errs!!!)"), "{text}");
    assert!(text.contains("WARNING: 6 operations of benchmark failed"), "{text}");
    let quiet = line(&lowered.setup, &results.stages[0]);
    assert!(!quiet.contains("errs"), "{quiet}");
}

#[test]
fn the_header_and_the_columns() {
    let run = lowered("--ranks 2 -1 -2 -D 2 -P 10 -I 20 -R 1 --print-detailed-stats");
    let text = header(&run.setup, "2026-11-25 13:22:48");
    let expected = "Args: md-workbench \"-1\" \"-2\" \"-D\" \"2\" \"-P\" \"10\" \"-I\" \"20\" \
                    \"-R\" \"1\" \"--print-detailed-stats\"\nMD-Workbench total objects: 120 \
                    workingset size: 0.149 MiB (version: 4.1.0+dev) time: 2026-11-25 13:22:48\n\
                    WARNING: num > precreate,";
    assert!(text.starts_with(expected), "{text}\n{expected}");
    assert!(text.ends_with("\tthp\tmax_t\n"), "{text}");
    let results = results(&run, 0);
    let row = line(&run.setup, &results.stages[1]);
    let expected = "benchmark \t0\t0\t20\t20\t20\t20\t2.000s\t2.000s\t0.07 MiB/s 1.0000e-03\n";
    assert_eq!(row, expected);
    assert_eq!(header(&lowered("-q").setup, ""), "");
    assert_eq!(header(&lowered("-q -2 --start-item 4").setup, ""), "Using start position 4\n");
    assert_eq!(closing(&run.setup, 12.4, "now"), "Total runtime: 12s time: now\n");
}

#[test]
fn documents_have_every_operation() {
    let lowered = lowered("--ranks 2 -D 2 -P 10 -I 5 -R 1");
    let results = results(&lowered, 6);
    let text = json(&lowered.setup, &results, &Report::default(), "a", "b");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let phase = &document["phases"][1];
    assert_eq!(phase["operations"]["delete"]["failed"].as_u64(), Some(6));
    assert_eq!(phase["operations"]["read"]["max_s"].as_f64(), Some(0.001));
    assert_eq!(phase["processes"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["position_after"].as_u64(), Some(5));
    let table = csv(&results);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 1 + 1 + 4 + 1, "{table}");
    let columns = |line: &str| line.split(',').count();
    assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{table}");
}

#[test]
fn latency_files_have_their_names() {
    let lowered = lowered("-T -R 2 -L p");
    let files = |nth: usize| {
        let timed = timed(&lowered.setup, &lowered.phases[nth], "p");
        timed.into_iter().map(|timed| timed.file).collect::<Vec<_>>()
    };
    assert_eq!(files(1), ["p-0.00-0-precreate.csv"]);
    let bench = ["read", "stat", "create", "delete"].map(|name| format!("p-0.06-1-{name}.csv"));
    assert_eq!(files(2 + 8 + 1), bench);
    assert_eq!(files(2 + 16), ["p-8.00-2-cleanup.csv"]);
    assert_eq!(latency_line(1_500_000, 2_000), "0.0015000,2.0000e-06\n");
}

#[test]
fn times_are_written_as_users_know_them() {
    let at = Timestamp::from_second(1_795_613_568).expect("a time");
    assert_eq!(stamp_of(at, TimeZone::UTC), "2026-11-25 13:32:48");
}
