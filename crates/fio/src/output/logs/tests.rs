use candor_plan::units::Direction;
use candor_plan::units::PerDirection;
use candor_record::{LogHistogram, LogWindow, PhaseRecord, SumAndMax};

use super::*;
use crate::job::Reporting;

fn job(logs: Logs) -> FioJob {
    FioJob { name: "x".into(), number: 2, logs, ..FioJob::default() }
}

fn all(per_job: bool) -> Logs {
    let begin = || Some("log/q".to_string());
    let (bandwidth, iops, latency, histogram) = (begin(), begin(), begin(), begin());
    Logs { bandwidth, iops, latency, histogram, per_job, ..Logs::default() }
}

fn text(kind: Kind, logs: Logs, log: Log) -> String {
    let measurement = Measurement { log: Some(Box::new(log)), ..Measurement::default() };
    let phase = PhaseRecord { measurements: vec![measurement], ..PhaseRecord::default() };
    let report = Report { phases: vec![phase], ..Report::default() };
    let window_ms = report.phases[0].measurements[0].log.as_ref().unwrap().windows.len() as u64;
    let jobs = [job(Logs { window_ms, ..logs })];
    let mut out = Vec::new();
    files(&jobs).iter().find(|file| file.kind == kind).unwrap().write(&report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn one_op() -> Log {
    // An operation that fio 3.33 logged, and what it wrote about it.
    let op = LoggedOp {
        at_ns: 1_394_525,
        op: Direction::Read,
        priority: 0,
        file: 0,
        bytes: 4096,
        offset: 249_856,
        latency_ns: 85_296 + 154_119,
        completion_ns: 154_119,
    };
    Log { ops: vec![op], start_unix_ms: 1_795_260_253_000, ..Log::default() }
}

fn one_window() -> Log {
    let sums = WindowSums {
        ops: 3296,
        bytes: 3296 * 4096,
        submission: SumAndMax::default(),
        completion: SumAndMax { sum_ns: 3296 * 1000 + 5, max_ns: 3_536_304 },
        latency: SumAndMax { sum_ns: 3296 * 1100, max_ns: 3_567_860 },
    };
    let window = |at_ms: u64, length_ms: u64| LogWindow {
        at_ns: at_ms * 1_000_000,
        length_ns: length_ms * 1_000_000,
        ops: PerDirection { write: sums, ..PerDirection::default() },
    };
    Log { windows: vec![window(200, 200), window(210, 10)], ..Log::default() }
}

#[test]
fn names_say_job_and_kind() {
    let names = |per_job| {
        let jobs = [job(all(per_job)), FioJob { number: 3, ..job(all(per_job)) }];
        files(&jobs).into_iter().map(|f| (f.name, f.jobs.len())).collect::<Vec<_>>()
    };
    let shared = names(false);
    assert_eq!(shared.len(), 6);
    assert!(shared.contains(&("log/q_clat_hist.log".into(), 2)), "{shared:?}");
    let own = names(true);
    assert_eq!(own.len(), 12);
    assert!(own.contains(&("log/q_slat.2.log".into(), 1)), "{own:?}");
    assert!(own.contains(&("log/q_bw.3.log".into(), 1)), "{own:?}");
}

#[test]
fn an_operation_is_a_line() {
    let plain = |kind| text(kind, all(true), one_op());
    assert_eq!(plain(Kind::Bandwidth), "1, 26576, 0, 4096, 0\n");
    assert_eq!(plain(Kind::Iops), "1, 1, 0, 4096, 0\n");
    assert_eq!(plain(Kind::Submission), "1, 85296, 0, 4096, 0\n");
    assert_eq!(plain(Kind::Completion), "1, 154119, 0, 4096, 0\n");
    assert_eq!(plain(Kind::Latency), "1, 239415, 0, 4096, 0\n");
    let more = Logs { offset: true, priority: true, issue_time: true, ..all(true) };
    let issued = |kind| text(kind, more.clone(), one_op());
    assert_eq!(issued(Kind::Completion), "1, 154119, 0, 4096, 249856, 0x0000, 1155110\n");
    assert_eq!(issued(Kind::Submission), "1, 85296, 0, 4096, 249856, 0x0000, 1155110\n");
    assert_eq!(issued(Kind::Latency), "1, 239415, 0, 4096, 249856, 0x0000, 0\n");
    assert_eq!(issued(Kind::Iops), "1, 1, 0, 4096, 249856, 0x0000, 0\n");
    let epoch = Logs { epoch_ahead_ms: Some(0), ..all(true) };
    assert_eq!(text(Kind::Iops, epoch, one_op()), "1795260253001, 1, 0, 4096, 0\n");
}

#[test]
fn logs_by_operation_may_be_left_empty() {
    let lines = |reporting: Reporting, kind: Kind| {
        let job = FioJob { reporting, ..job(all(true)) };
        let files = files(std::slice::from_ref(&job));
        files.iter().find(|file| file.kind == kind).is_some_and(|file| file.has_lines_of(&job))
    };
    let usual = Reporting::default;
    let reduced = || Reporting { iops_by_operation: false, ..usual() };
    assert!(lines(usual(), Kind::Iops) && lines(usual(), Kind::Bandwidth));
    assert!(!lines(reduced(), Kind::Iops) && lines(reduced(), Kind::Bandwidth));
    let no_bandwidth = Reporting { bandwidth_by_operation: false, ..usual() };
    assert!(lines(no_bandwidth.clone(), Kind::Iops) && !lines(no_bandwidth, Kind::Bandwidth));
}

#[test]
fn a_window_is_a_line_per_direction() {
    let plain = |kind| text(kind, all(true), one_window());
    assert_eq!(plain(Kind::Bandwidth), "200, 65920, 1, 0, 0\n");
    assert_eq!(plain(Kind::Iops), "200, 16480, 1, 0, 0\n");
    assert_eq!(plain(Kind::Completion), "200, 1000, 1, 0, 0\n210, 1000, 1, 0, 0\n");
    assert_eq!(plain(Kind::Submission), "");
    let both = Logs { window_value: WindowValue::Both, ..all(true) };
    assert!(text(Kind::Latency, both, one_window()).starts_with("200, 1100, 3567860, 1, 0, 0\n"));
    let max = Logs { window_value: WindowValue::Max, offset: true, ..all(true) };
    assert!(text(Kind::Latency, max, one_window()).starts_with("200, 3567860, 1, 0, 0, 0\n"));
}

#[test]
fn the_histogram_has_fios_columns() {
    let mut histogram = Histogram::new();
    [1, 130, 94_000_000_000].iter().for_each(|ns| histogram.record(*ns));
    let entry = LogHistogram { at_ns: 11_900_000, op: Direction::Write, bytes: 4096, histogram };
    let log = Log { histograms: vec![entry], ..Log::default() };
    for (coarseness, columns) in [(0, 1856), (4, 116), (6, 29)] {
        let text = text(Kind::Histogram, Logs { coarseness, ..all(true) }, log.clone());
        let fields: Vec<u64> = text.trim_end().split(", ").map(|f| f.parse().unwrap()).collect();
        assert_eq!(fields[..3], [11, 1, 4096]);
        assert_eq!(fields.len(), 3 + columns);
        assert_eq!(fields[3..].iter().sum::<u64>(), 3);
        assert_eq!(fields[3 + (1 >> coarseness)], 1);
        assert_eq!(*fields.last().unwrap(), 1, "the latency beyond fio's range");
        assert_eq!(fields[3 + (129 >> coarseness)], 1);
    }
}

#[test]
fn a_repeated_phase_goes_on_in_time() {
    let measurement = Measurement {
        log: Some(Box::new(one_op())),
        elapsed_ns: 5_000_000_000,
        ..Measurement::default()
    };
    let phase = PhaseRecord { measurements: vec![measurement], ..PhaseRecord::default() };
    let report = Report { phases: vec![phase.clone(), phase], ..Report::default() };
    let jobs = [job(Logs { iops: Some("q".into()), ..Logs::default() })];
    let mut out = Vec::new();
    files(&jobs)[0].write(&report, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "1, 1, 0, 4096, 0\n5001, 1, 0, 4096, 0\n");
}
