//! Pictures of made-up and of recorded reports.

use candor_chart::Shape;
use candor_record::results::{
    Interval, JobResults, LatencyResults, Load, OpResults, PhaseResults, Results,
};
use candor_record::{
    Histogram, Knee, LatencyCounts, Measurement, OpStats, PhaseRecord, Report, SweepKey, SweepRow,
    Verdict,
};

use super::*;
use crate::sample;

/// A report that was recorded for the rules.
fn recorded(name: &str) -> Report {
    let file = format!("{}/../judge/tests/recorded/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).expect(&file);
    candor_record::read_unjudged(&text).expect(&file)
}

fn run<'a>(name: &'a str, results: &'a Results) -> Run<'a> {
    Run { name, results, report: None }
}

/// A job of random reads with a rate, as another tool would report it.
fn results(depth: u32, workers: u32, ops_per_s: f64) -> Results {
    let latency = LatencyResults {
        mean_ns: Some(f64::from(depth * workers) * 1e9 / ops_per_s),
        percentiles: vec![(50.0, 90_000), (99.0, 400_000)],
        ..LatencyResults::default()
    };
    let op = OpResults {
        operation: "read".into(),
        ops_per_s: Some(ops_per_s),
        bytes_per_s: Some(ops_per_s * 4096.0),
        latency: Some(latency),
        intervals: (0..5)
            .map(|nth| Interval {
                start_ns: nth * 1_000_000_000,
                length_ns: 1_000_000_000,
                ops_per_s: Some(ops_per_s),
                latency_ns_mean: Some(1e5),
                ..Interval::default()
            })
            .collect(),
        ..OpResults::default()
    };
    let load = Load {
        access: Some("randread".into()),
        block_bytes: Some(4096),
        depth: Some(depth),
        workers: Some(workers),
        ..Load::default()
    };
    let job = JobResults { job: "job".into(), load, operations: vec![op], ..JobResults::default() };
    let name = format!("depth {depth}, {workers} workers");
    let phase = PhaseResults { name, jobs: vec![job], ..PhaseResults::default() };
    Results { tool: "fio-3.33".into(), phases: vec![phase], ..Results::default() }
}

fn together(all: &[(u32, u32, f64)]) -> Results {
    let mut whole = Results { tool: "fio-3.33".into(), ..Results::default() };
    for (depth, workers, rate) in all {
        whole.phases.extend(results(*depth, *workers, *rate).phases);
    }
    whole
}

#[test]
fn latencies_over_time_are_cells_of_shares_with_few_columns() {
    let mut one = results(1, 1, 9e3);
    let refused = chart(Kind::LatencyHeatmap, &[run("a", &one)]).expect_err("no counts");
    assert!(refused.contains("the report has no latency counts per interval"), "{refused}");
    let intervals = &mut one.phases[0].jobs[0].operations[0].intervals;
    let shape = intervals[0].clone();
    *intervals = (0..1200)
        .map(|nth| {
            let mut latencies = Histogram::new();
            (0..9).for_each(|_| latencies.record(100_000));
            latencies.record(if nth == 500 { 80_000_000 } else { 200_000 });
            let latency_counts = LatencyCounts::from(&latencies);
            Interval { start_ns: nth * 1_000_000_000, latency_counts, ..shape.clone() }
        })
        .collect();
    let drawn = chart(Kind::LatencyHeatmap, &[run("a", &one)]).expect("counted");
    assert_eq!(drawn.title, "a: latency distribution over time");
    let Shape::Cells(cells, key) = &drawn.panels[0].series[0].shape else { panic!("cells") };
    assert_eq!((cells.len(), key.label.as_str()), (241, "Share of operations"));
    let slow: Vec<_> = cells.iter().filter(|cell| cell.y.1 > 80e6).collect();
    assert_eq!(slow.len(), 1);
    // Ten intervals are one column: one latency of a hundred.
    assert_eq!((slow[0].x, slow[0].value), ((500e9, 510e9), 0.01));
    assert!(slow[0].y.0 <= 80e6);
}

#[test]
fn load_that_differs_is_drawn_against_load() {
    let one = together(&[(1, 1, 9e3), (4, 1, 30e3), (16, 1, 80e3), (64, 1, 82e3)]);
    let runs = [run("sweep", &one)];
    assert_eq!(Kind::fitting(&runs), Kind::Depth);
    let drawn = chart(Kind::Depth, &runs).expect("a sweep");
    assert_eq!(drawn.title, "sweep: IOPS and latency by depth");
    assert_eq!(drawn.subtitle, "randread · 4 KiB · 1 worker");
    let Shape::Line(points) = &drawn.panels[0].series[0].shape else { panic!("a line") };
    assert_eq!(points, &[(1.0, 9e3), (4.0, 30e3), (16.0, 80e3), (64.0, 82e3)]);
    let names: Vec<_> = drawn.panels[1].series.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["read mean", "read p99"]);
    assert_eq!(drawn.verdict, "Not judged");

    let two = together(&[(1, 1, 9e3), (8, 1, 60e3), (1, 4, 35e3), (8, 4, 90e3)]);
    let runs = [run("grid", &two)];
    assert_eq!(Kind::fitting(&runs), Kind::Heatmap);
    let drawn = chart(Kind::Heatmap, &runs).expect("a grid");
    let Shape::Cells(cells, key) = &drawn.panels[0].series[0].shape else { panic!("cells") };
    assert_eq!((cells.len(), key.label.as_str(), cells[3].value), (4, "IOPS", 90e3));
}

/// Two depths of each kind of work are no curve, however many depths there are in all.
#[test]
fn a_series_of_unlike_work_is_bars() {
    let all = [("write", 8), ("randread", 1), ("randread", 128), ("randwrite", 1), ("stat", 2)];
    let mut check = Results::default();
    for (access, depth) in all {
        let mut one = results(depth, 1, 9e3);
        one.phases[0].name = format!("{access}, depth {depth}");
        one.phases[0].jobs[0].load.access = Some(access.into());
        check.phases.extend(one.phases);
    }
    let runs = [run("check", &check)];
    assert_eq!(Kind::fitting(&runs), Kind::Bars);
    let drawn = chart(Kind::Bars, &runs).expect("bars");
    let Shape::Bars(bars) = &drawn.panels[0].series[0].shape else { panic!("bars") };
    assert_eq!(bars.len(), 5);
}

#[test]
fn the_search_of_a_check_is_drawn_with_the_depth_it_chose() {
    use candor_plan::{Job, Phase, blocks::Blocks};
    let of = |depth: u32| Phase {
        jobs: vec![Job {
            name: "job".into(),
            work: Blocks { depth, ..Blocks::default() }.into(),
            ..Job::default()
        }],
        ..Phase::default()
    };
    let mut report = Report::default();
    report.plan.phases = vec![of(8)];
    for (depth, rate) in [(2, 9e3), (4, 30e3), (8, 58e3), (16, 59e3)] {
        let stats = OpStats { ops: 100, ops_per_s: rate, ..OpStats::default() };
        let measured =
            Measurement { job: "job".into(), operations: vec![stats], ..Measurement::default() };
        report.phases.push(PhaseRecord {
            search_step: true,
            tried: Some(of(depth)),
            measurements: vec![measured],
            ..PhaseRecord::default()
        });
    }
    let results = candor_derive::results(&report);
    let run = [Run { name: "check", results: &results, report: Some(&report) }];
    let drawn = chart(Kind::Search, &run).expect("a search");
    let Shape::Line(points) = &drawn.panels[0].series[0].shape else { panic!("a line") };
    assert_eq!(points, &[(2.0, 9e3), (4.0, 30e3), (8.0, 58e3), (16.0, 59e3)]);
    assert_eq!(drawn.marks[0].label, "chosen: depth 8");

    report.phases.truncate(2);
    let run = [Run { name: "check", results: &results, report: Some(&report) }];
    let refused = chart(Kind::Search, &run).expect_err("two trials");
    assert!(refused.contains("three loads"), "{refused}");
}

#[test]
fn latencies_of_repeats_are_one_curve() {
    let mut run_of_three = Results::default();
    for repeat in 0..3 {
        let mut one = results(1, 1, 9e3);
        one.phases[0].repeat = repeat;
        let latency = one.phases[0].jobs[0].operations[0].latency.as_mut().expect("latencies");
        latency.buckets = vec![(90_000, 990), (400_000 + u64::from(repeat), 10)];
        run_of_three.phases.extend(one.phases);
    }
    let runs = [run("three", &run_of_three)];
    let drawn = chart(Kind::Percentiles, &runs).expect("latencies");
    let named: Vec<_> = drawn.panels[0].series.iter().filter(|of| !of.name.is_empty()).collect();
    assert_eq!(named.len(), 1);
    let Shape::Step(points) = &named[0].shape else { panic!("a curve") };
    assert_eq!(points[..2], [(0.0, 90e3), (99.0, 400e3)]);
}

#[test]
fn steps_in_files_of_their_own_are_one_sweep() {
    let all = [(1, 9e3), (2, 17e3), (4, 30e3)].map(|(depth, rate)| results(depth, 1, rate));
    let names = ["d1", "d2", "d4"];
    let runs: Vec<Run<'_>> = names.iter().zip(&all).map(|(name, of)| run(name, of)).collect();
    assert_eq!(Kind::fitting(&runs), Kind::Depth);
    let drawn = chart(Kind::Depth, &runs).expect("a sweep");
    assert_eq!(drawn.panels[0].series.len(), 1);
    let alike = [run("d1", &all[0]), run("again", &all[0])];
    assert_eq!(Kind::fitting(&alike), Kind::Bars);
    let refused = chart(Kind::Depth, &alike).expect_err("one load");
    assert!(refused.contains("the same depth"), "{refused}");
}

/// Knees are values of the sweep's last key, whichever key has more values.
#[test]
fn a_knee_stands_at_the_value_that_it_is_of() {
    let mut report = Report::default();
    let mut whole = Results::default();
    for (workers, rates) in [(1, [9e3, 30e3, 31e3]), (2, [18e3, 40e3, 41e3])] {
        for (depth, rate) in [4, 8, 16].into_iter().zip(rates) {
            whole.phases.extend(results(depth, workers, rate).phases);
            let blocks = candor_plan::blocks::Blocks { depth, ..Default::default() };
            let job = candor_plan::Job { workers, work: blocks.into(), ..Default::default() };
            let phase = report.plan.phases.len();
            let jobs = vec![job];
            report.plan.phases.push(candor_plan::Phase { jobs, ..Default::default() });
            let values = vec![depth.to_string(), workers.to_string()];
            let sweep = report.judgement.sweep.get_or_insert_default();
            sweep.rows.push(SweepRow { phase, values, ..SweepRow::default() });
        }
    }
    let sweep = report.judgement.sweep.get_or_insert_default();
    sweep.keys = vec![SweepKey::Depth, SweepKey::Workers];
    let series = "Depth 8".into();
    sweep.knees = vec![Knee { series, value: Some("1".into()), ..Knee::default() }];
    let run = Run { name: "grid", results: &whole, report: Some(&report) };
    let drawn = chart(Kind::Depth, &[run]).expect("lines");
    assert_eq!(drawn.x.label, "Workers");
    let marks: Vec<_> = drawn.marks.iter().map(|of| (of.at, of.label.as_str())).collect();
    assert_eq!(marks, [(1.0, "knee at 1 worker (Depth 8)")]);
    let names: Vec<_> = drawn.panels[0].series.iter().map(|of| of.name.as_str()).collect();
    assert_eq!(names, ["depth 4", "depth 8", "depth 16"]);
}

#[test]
fn repeats_are_one_row_with_an_interval_and_doubtful_rows_say_so() {
    let mut whole = together(&[(4, 1, 100e3), (4, 1, 110e3), (4, 1, 120e3)]);
    for (phase, nth) in whole.phases.iter_mut().zip(0..) {
        phase.repeat = nth;
    }
    whole.phases[2].verdict = Some(Verdict::Wrong);
    let drawn = chart(Kind::Bars, &[run("repeats", &whole)]).expect("bars");
    let Shape::Bars(bars) = &drawn.panels[0].series[0].shape else { panic!("bars") };
    assert_eq!((bars.len(), bars[0].value, bars[0].is_doubtful), (1, 110e3, true));
    assert_eq!(bars[0].note, "± 23 %, not the storage's number");
}

#[test]
fn nothing_that_was_recorded_is_a_sentence() {
    let empty = Results::default();
    let runs = [run("", &empty)];
    for (word, kind) in Kind::WORDS {
        let refused = chart(kind, &runs).expect_err(word);
        assert!(refused.ends_with(|c: char| c.is_alphabetic()), "{refused}");
    }
    assert_eq!(Kind::fitting(&runs), Kind::Bars);
}

/// Rates and percentiles of a picture are those of the report, whichever way they went.
#[test]
fn the_numbers_of_a_picture_are_those_of_the_report() {
    for name in ["direct-read", "load-limited", "names-made", "lab-6.1-cap", "shared-file"] {
        let mut report = recorded(name);
        report.judgement.phases = report.phases.iter().map(|_| Some(Default::default())).collect();
        let results = candor_derive::results(&report);
        let runs = [Run { name, results: &results, report: Some(&report) }];
        let drawn = chart(Kind::Bars, &runs).expect(name);
        let mut expected = Vec::new();
        for measured in report.phases.iter().flat_map(|phase| &phase.measurements) {
            let work = measured.work_operations().filter(|op| op.ops > 0);
            expected.extend(work.filter_map(|op| Some(op.latency.as_ref()?.mean_ns)));
        }
        let means = drawn.panels.iter().find(|panel| panel.y.label == "Latency, mean");
        let Shape::Bars(bars) = &means.expect(name).series[0].shape else { panic!("bars") };
        let shown: Vec<f64> = bars.iter().map(|bar| bar.value).collect();
        assert_eq!(shown, expected, "{name}");

        let timeline = chart(Kind::Timeline, &runs).expect(name);
        let iops = timeline.panels.iter().find(|panel| panel.y.label == "IOPS").expect(name);
        let Shape::Line(points) = &iops.series[0].shape else { panic!("a line") };
        let sample = &report.phases[0].measurements[0].samples[0];
        let rate = sample.operations[0].ops as f64 * 1e9 / sample.length_ns as f64;
        assert!((points[0].1 - rate).abs() <= rate * 1e-12, "{name}");
    }
}

#[test]
fn ceilings_verdict_and_caution_come_from_the_report() {
    let mut phases = sample::series();
    phases.truncate(1);
    let report = sample::report("every number is the storage's own.", phases);
    let results = candor_derive::results(&report);
    let whole = Run { name: "series", results: &results, report: Some(&report) };
    let drawn = chart(Kind::Bars, &[whole]).expect("bars");
    assert_eq!((drawn.verdict.as_str(), &drawn.caution), ("The storage's number", &None));
    assert_eq!(drawn.source, "candor 0.1.0 · 2026-01-02T03:04:05Z");
    let mut doubtful = report.clone();
    doubtful.judgement.verdict = Verdict::Wrong;
    doubtful.judgement.headline = "Not the storage's number (the page cache).".into();
    let other = candor_derive::results(&doubtful);
    let cached = Run { name: "cached", results: &other, report: Some(&doubtful) };
    let drawn = chart(Kind::Bars, &[whole, cached]).expect("bars");
    assert_eq!(drawn.verdict, "Not the storage's number: 1 of 2 runs");
    let caution = drawn.caution.expect("a caution");
    assert_eq!(caution, "cached: Not the storage's number (the page cache).");
}
