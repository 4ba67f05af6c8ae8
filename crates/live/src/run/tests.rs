use candor_plan::entries;
use candor_plan::objects::OPERATIONS;
use candor_plan::units::Direction;
use candor_plan::work::BlocksOp;
use candor_record::{
    Ceiling, Confidence, DeviceSample, Finding, HostSample, JobSample, Measurement, OpSample,
    OpStats, PhaseRecord, PrepareStep, Sample, Severity, Verdict, WorkerSample,
};
use ratatui_core::layout::Rect;

use super::*;
use crate::text;

const SECOND: u64 = 1_000_000_000;

fn started(phase: &str, index: usize) -> Event {
    let link = Ceiling {
        element: "SATA link of sda".into(),
        bytes_per_s: Some(600e6),
        ops_per_s: Some(146e3),
        arithmetic: "6 Gbit/s × 8/10".into(),
        used: None,
    };
    let limit = Ceiling {
        element: "control group limit for reads on sda".into(),
        bytes_per_s: None,
        ops_per_s: Some(20_000.0),
        arithmetic: "20k IOPS by io.max".into(),
        used: None,
    };
    Event::PhaseStarted {
        phase: phase.into(),
        index,
        search_step: false,
        expected_ns: Some(10 * SECOND),
        ceilings: vec![link, limit],
    }
}

fn op(row: &candor_plan::work::Operation, ops: u64, p99: u64) -> OpSample {
    OpSample {
        ops,
        bytes: ops * 4096,
        latency_sum_ns: ops * p99 / 4,
        latency_ns_p50: Some(p99 / 5),
        latency_ns_p99: Some(p99),
        ..OpSample::of(row)
    }
}

fn sampled(at: u64, jobs: Vec<(&str, Vec<OpSample>)>, workers: u64) -> Event {
    let of = |(job, operations): (&str, Vec<OpSample>)| {
        let ops: u64 = operations.iter().map(|op| op.ops).sum();
        let each = |rank| {
            let ops = ops * (rank + 1) / (workers * (workers + 1) / 2).max(1);
            WorkerSample { ops, bytes: ops * 4096 }
        };
        let sample = Sample { at_ns: at * SECOND, length_ns: SECOND, operations };
        JobSample { job: job.into(), sample, workers: (0..workers).map(each).collect() }
    };
    let samples: Vec<JobSample> = jobs.into_iter().map(of).collect();
    let reads = samples.iter().map(|of| of.sample.ops_done()).sum();
    let device = |name: &str, reads| DeviceSample {
        device: name.into(),
        reads,
        bytes_read: reads * 4096,
        in_flight: 31,
        utilisation: 0.997,
        ..DeviceSample::default()
    };
    let host = HostSample {
        length_ns: SECOND,
        cpu_busy: Some(0.43),
        devices: vec![device("sda", reads), device("dm-0", reads / 2)],
        ..HostSample::default()
    };
    Event::Sampled { phase: "p".into(), in_ramp: at == 0, samples, hosts: vec![host] }
}

fn finding() -> Finding {
    Finding {
        rule: "A1".into(),
        title: "Page cache answers".into(),
        severity: Severity::Wrong,
        confidence: Confidence::Certain,
        when: None,
        job: None,
        limits: None,
        measures: None,
        sentence: "98 % of the bytes came from the page cache of this host, so this is the speed \
                   of memory."
            .into(),
        lost_share_max: None,
        evidence: Vec::new(),
        consequences: Vec::new(),
        advice: "Use direct I/O, or a file twice as large as memory.".into(),
        changes: Vec::new(),
        next: None,
    }
}

/// A run of two phases in the middle of the second one.
fn screen(workers: u64) -> RunScreen {
    let mut screen = RunScreen::default();
    let run = Event::RunStarted { name: "check".into(), phases: 6, expected_ns: Some(60 * SECOND) };
    screen.on(&run, 0);
    screen.on(&started("sequential read 1 MiB", 0), 0);
    screen.on(
        &sampled(1, vec![("job", vec![op(BlocksOp::Read.operation(), 500, 9_000_000)])], 1),
        SECOND,
    );
    let mut measured = Measurement::default();
    let stats = OpStats { ops_per_s: 512.0, bytes_per_s: 536e6, ..OpStats::default() };
    measured.put(Direction::Read, stats);
    let name = "sequential read 1 MiB".to_owned();
    let record =
        PhaseRecord { name: name.clone(), measurements: vec![measured], ..PhaseRecord::default() };
    let (verdict, headline) = (Verdict::Wrong, "the page cache answered".to_owned());
    screen.on(&Event::PhaseJudged { phase: name.clone(), verdict, headline }, 10 * SECOND);
    screen.on(&Event::Found { phase: name, finding: Box::new(finding()) }, 10 * SECOND);
    screen.on(&Event::PhaseDone { record: Box::new(record) }, 10 * SECOND);
    screen.on(&Event::Warned { sentence: "/data/x is on a loop device".into() }, 10 * SECOND);
    screen.on(&started("random read 4 KiB, depth 32", 1), 12 * SECOND);
    for at in 1..=5 {
        let ops = 12_000 + 700 * (at % 4);
        let read = op(BlocksOp::Read.operation(), ops, 1_240_000 + 100_000 * at);
        let write = op(BlocksOp::Write.operation(), ops / 3, 4_100_000);
        screen.on(&sampled(at, vec![("database", vec![read, write])], workers), (12 + at) * SECOND);
    }
    screen
}

fn drawn(screen: &RunScreen, now: u64, columns: u16, rows: u16) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
    screen.draw(now * SECOND, &mut buffer);
    text(&buffer).lines().map(|line| format!("|{}\n", line.trim_end())).collect()
}

#[test]
fn the_overview_fits_80_by_24() {
    insta::assert_snapshot!(drawn(&screen(4), 17, 80, 24));
}

#[test]
fn a_larger_terminal_shows_more() {
    insta::assert_snapshot!(drawn(&screen(4), 17, 120, 40));
}

#[test]
fn requests_on_objects_have_their_unit_and_room_for_their_names() {
    let mut screen = RunScreen::default();
    screen.on(&started("put", 0), 0);
    let rows = ["create_upload", "put_part", "complete_upload", "object"];
    for at in 1..=5 {
        let ops = rows.map(|name| {
            let row = OPERATIONS.iter().find(|row| row.name == name).expect("a row");
            OpSample { bytes: 0, ..op(row, 40 + at, 9_000_000) }
        });
        let mut ops = ops.to_vec();
        ops[1].bytes = 300 << 20;
        screen.on(&sampled(at, vec![("upload", ops)], 2), at * SECOND);
    }
    insta::assert_snapshot!(drawn(&screen, 6, 80, 24));
}

#[test]
fn an_odd_terminal_is_filled_too() {
    insta::assert_snapshot!(drawn(&screen(4), 17, 93, 27));
}

#[test]
fn sixty_four_workers_are_sorted_and_scrolled() {
    let mut screen = screen(64);
    screen.key(Key::Char('3'));
    screen.key(Key::Char('s'));
    screen.key(Key::Char('u'));
    screen.on(&Event::WorkerDone { phase: "p".into(), job: "database".into(), rank: 63 }, 0);
    insta::assert_snapshot!(drawn(&screen, 17, 80, 24));
    for _ in 0..90 {
        screen.key(Key::Down);
    }
    let last = drawn(&screen, 17, 80, 24);
    assert!(last.contains("|1 ") && !last.contains("|63"), "{last}");
    screen.key(Key::Up);
    screen.key(Key::PageUp);
    assert_ne!(drawn(&screen, 17, 80, 24), last, "keys up take effect at once");
}

#[test]
fn jobs_devices_and_findings_have_views_of_their_own() {
    let mut screen = screen(4);
    let views = ['2', '4', '5'].map(|key| {
        screen.key(Key::Char(key));
        drawn(&screen, 17, 80, 24)
    });
    insta::assert_snapshot!(views.concat());
}

#[test]
fn a_phase_that_begins_has_no_figures_yet_and_moves_no_line() {
    let mut screen = screen(4);
    let line_of = |shown: &str, label: &str| {
        shown.lines().position(|line| line.starts_with(label)).expect("the line")
    };
    let before = drawn(&screen, 17, 80, 24);
    screen.on(&started("p", 2), 17 * SECOND);
    let begun = drawn(&screen, 17, 80, 24);
    for label in ["|IOPS ", "|throughput ", "|p50"] {
        assert_eq!(line_of(&begun, label), line_of(&before, label), "{begun}");
        let line = begun.lines().find(|line| line.starts_with(label)).expect("the line");
        assert_eq!(line.split_whitespace().nth(1), Some("-"), "{begun}");
    }
    for key in ['2', '3'] {
        screen.key(Key::Char(key));
        let shown = drawn(&screen, 17, 80, 24);
        assert!(shown.contains("nothing yet: a phase's first interval"), "{shown}");
    }
}

#[test]
fn a_series_leaves_room_for_results_beside_what_it_finds_again_and_again() {
    let mut screen = screen(4);
    let names = (0..20).map(|number| format!("depth {number}"));
    for name in names {
        let rule = if name.ends_with('7') { "B8" } else { "G1" };
        let found = Finding { rule: rule.into(), ..finding() };
        screen.on(&Event::Found { phase: name.clone(), finding: Box::new(found) }, 0);
        let record = Box::new(PhaseRecord { name, ..PhaseRecord::default() });
        screen.on(&Event::PhaseDone { record }, 0);
    }
    let shown = drawn(&screen, 17, 80, 27);
    assert!(shown.contains("|G1 Page cache answers, 18 times: 98 %"), "{shown}");
    assert!(shown.contains("|depth 19 ") && shown.contains("|depth 18 "), "{shown}");
    screen.key(Key::Char('5'));
    assert!(drawn(&screen, 17, 80, 24).contains("in depth 19"), "each has its phase there");
}

#[test]
fn several_hosts_have_rows_and_devices_of_their_own() {
    let mut screen = screen(4);
    let mut event = sampled(6, vec![("j", vec![op(BlocksOp::Read.operation(), 900, 900)])], 1);
    let Event::Sampled { hosts, .. } = &mut event else { panic!("an interval") };
    let named = |host: &str, busy| HostSample {
        host: host.into(),
        cpu_busy: Some(busy),
        cpus_busy: vec![busy, 2.0 * busy],
        ..hosts[0].clone()
    };
    *hosts = vec![named("node-a", 0.2), named("node-b", 0.4)];
    let mut fresh = RunScreen::default();
    for screen in [&mut screen, &mut fresh] {
        screen.on(&started("random read 4 KiB, depth 32", 1), 17 * SECOND);
        screen.on(&event, 18 * SECOND);
    }
    let overview = drawn(&screen, 18, 80, 24);
    assert!(overview.contains("|node-b                   40 %        80 %"), "{overview}");
    assert!(overview.contains("|CPUs busy       30 %"), "{overview}");
    fresh.key(Key::Char('4'));
    insta::assert_snapshot!(drawn(&fresh, 18, 80, 24));
}

#[test]
fn a_frozen_screen_stays_as_it_was_while_the_run_goes_on() {
    let mut screen = screen(4);
    screen.key(Key::Char(' '));
    let frozen = drawn(&screen, 17, 80, 24);
    assert!(frozen.contains("FROZEN"), "{frozen}");
    screen.on(&sampled(6, vec![("late", vec![op(BlocksOp::Read.operation(), 1, 1)])], 1), 0);
    assert_eq!(drawn(&screen, 17, 80, 24), frozen);
    screen.key(Key::Char(' '));
    let goes_on = drawn(&screen, 17, 80, 24);
    assert!(goes_on.contains("late") && !goes_on.contains("FROZEN"), "{goes_on}");
}

#[test]
fn the_end_is_asked_for_and_told() {
    let mut screen = screen(4);
    assert_eq!(screen.key(Key::Char('x')), None);
    assert!(drawn(&screen, 17, 80, 24).contains("q end (partial result)"));
    assert_eq!(screen.key(Key::Char('q')), Some(Action::End));
    assert!(drawn(&screen, 17, 80, 24).contains("q again: at once"));
    screen.on(&Event::RunDone { verdict: Verdict::Ok, interrupted: true }, 0);
    assert!(drawn(&screen, 17, 80, 24).contains("it is over"));
    let mut replay = RunScreen::of_replay();
    replay.on(&started("a", 0), 0);
    let shown = drawn(&replay, 1, 80, 24);
    assert!(shown.contains("a stored run") && !shown.contains("partial"), "{shown}");
}

#[test]
fn preparation_has_a_bar_where_bytes_are_known() {
    let mut screen = screen(4);
    let prepared = |step, bytes_total| Event::Preparing {
        phase: "p".into(),
        step,
        what: "/data/candor.0".into(),
        bytes_done: 1 << 29,
        bytes_total,
    };
    screen.on(&prepared(PrepareStep::LayOut, 1 << 30), 0);
    let shown = drawn(&screen, 17, 80, 24);
    assert!(shown.contains("laying out /data/candor.0, 512 MiB of 1 GiB"), "{shown}");
    assert!(shown.contains(&format!("{}{}", "█".repeat(40), "·".repeat(40))), "{shown}");
    screen.on(&prepared(PrepareStep::Inspect, 0), 0);
    assert_eq!(drawn(&screen, 17, 80, 24).lines().nth(2), Some("|"), "no bar");
    assert_eq!(screen.line(0, 18), "inspecting /data/…");
}

#[test]
fn a_job_that_ended_does_nothing_any_more() {
    let mut screen = RunScreen::default();
    screen.on(&started("p", 0), 0);
    let create = |ops| {
        vec![op(
            entries::OPERATIONS.iter().find(|row| row.name == "create").expect("a row"),
            ops,
            900,
        )]
    };
    screen.on(&sampled(1, vec![("a", create(500)), ("b", create(700))], 1), SECOND);
    assert!(screen.line(SECOND, 80).contains("1.20k ops/s"), "{}", screen.line(SECOND, 80));
    screen.on(&sampled(2, vec![("b", create(700))], 1), 2 * SECOND);
    screen.key(Key::Char('2'));
    let shown = drawn(&screen, 2, 80, 24);
    assert!(shown.contains("a                   create          0"), "{shown}");
    assert!(screen.line(2 * SECOND, 80).contains("700 ops/s"), "{}", screen.line(SECOND, 80));
}

#[test]
fn what_nobody_has_told_yet_leaves_no_trace() {
    let empty = RunScreen::default();
    for (columns, rows) in [(80, 24), (200, 60), (81, 25)] {
        let shown = drawn(&empty, 0, columns, rows);
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    }
    let mut views = RunScreen::default();
    for _ in 0..6 {
        views.key(Key::Char('v'));
        drawn(&views, 0, 80, 24);
    }
    assert_eq!(views.view, View::Jobs);
}
