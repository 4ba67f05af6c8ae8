//! Measurements beside counts and latency.

use candor_plan::units::Direction;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_plan::blocks::{Blocks, Engine};
use candor_plan::units::Mix;
use candor_plan::{Job, LogPlan, Measure, Nanos, Phase, Stop};
use candor_record::{Measurement, OpStats};

use crate::small::{file, job, run_phase};

const MS: u64 = 1_000_000;

fn run_job(path: &std::path::Path, job: Job) -> Measurement {
    run_phase(path, Phase { jobs: vec![job], ..Phase::default() }).remove(0)
}

fn ops(ops: u64) -> Stop {
    Stop { ops: Some(ops), ..Stop::default() }
}

fn measured() -> Measure {
    Measure { submission: true, depths: true, ..Measure::default() }
}

fn sum_ns(latency: &Option<candor_record::Latency>) -> f64 {
    latency.as_ref().map_or(0.0, |latency| latency.histogram.sum_ns() as f64)
}

fn adds_up(stats: &OpStats) {
    let count = |latency: &Option<candor_record::Latency>| latency.as_ref().map_or(0, |l| l.count);
    assert_eq!(count(&stats.submission), stats.ops);
    assert_eq!(count(&stats.completion), stats.ops);
    let off = sum_ns(&stats.submission) + sum_ns(&stats.completion) - sum_ns(&stats.latency);
    assert!(off.abs() <= stats.ops as f64, "{off} ns over {} operations", stats.ops);
}

#[test]
fn submission_and_completion_make_up_latency_on_every_asynchronous_engine() {
    let file = file();
    for engine in Engine::ALL {
        // Objects need a server.
        let on_files = !engine.is_passthrough() && engine.name() != "http";
        if !engine.is_async() || !on_files {
            continue;
        }
        for mix in [Mix::READ, Mix { read: 50, write: 50, trim: 0 }] {
            let measure = measured();
            let blocks = Blocks { engine, mix, depth: 8, measure, ..Blocks::default() };
            let measurement = run_job(file.path(), job("split", blocks, ops(500)));
            assert_eq!(measurement.ops_done(), 500, "{engine:?}: {:?}", measurement.errors);
            adds_up(measurement.of(Direction::Read));
            if mix.write > 0 {
                adds_up(measurement.of(Direction::Write));
            }
            assert!(sum_ns(&measurement.of(Direction::Read).submission) > 0.0, "{engine:?}");
        }
    }
}

#[test]
fn nothing_is_split_where_not_planned_or_not_possible() {
    let file = file();
    for (engine, measure) in [(Engine::Psync, measured()), (Engine::IO_URING, Measure::default())] {
        let blocks = Blocks { engine, measure, ..Blocks::default() };
        let read = run_job(file.path(), job("whole", blocks, ops(100)));
        let read = read.of(Direction::Read);
        assert!(read.latency.is_some() && read.submission.is_none() && read.completion.is_none());
    }
}

#[test]
fn depths_count_every_operation_and_every_call() {
    let file = file();
    for (engine, depth) in [(Engine::Psync, 1), (Engine::Null, 8), (Engine::IO_URING, 8)] {
        let measure = measured();
        let blocks = Blocks { engine, depth, measure, ..Blocks::default() };
        let depths = run_job(file.path(), job("deep", blocks, ops(4000))).depths.expect("counted");
        assert_eq!(depths.in_flight.iter().sum::<u64>(), 4000, "{engine:?} {depths:?}");
        assert_eq!(depths.in_flight[4..], [0, 0, 0], "no more than {depth}: {depths:?}");
        assert!(depths.submitted.iter().sum::<u64>() <= 4000 + 4000);
        let deepest = if depth == 1 { 0 } else { 3 };
        assert!(depths.in_flight[deepest] > 0, "{engine:?} {depths:?}");
    }
}

#[test]
fn the_depth_of_a_batch_of_one_is_seen_in_submissions() {
    let file = file();
    let blocks = Blocks {
        engine: Engine::Null,
        depth: 32,
        batch_submit: Some(16),
        measure: measured(),
        ..Blocks::default()
    };
    let depths = run_job(file.path(), job("batches", blocks, ops(1600))).depths.expect("counted");
    assert_eq!(depths.submitted[3], 100, "9 to 16 at a time: {depths:?}");
}

#[test]
fn a_job_is_sampled_only_while_it_works() {
    let file = file();
    let null = |stop: Stop| {
        let blocks = Blocks { engine: Engine::Null, ..Blocks::default() };
        job("job", blocks, stop)
    };
    let time = |ms: u64| Stop { time: Some(Nanos(ms * MS)), ..Stop::default() };
    let late = Job { name: "late".into(), delay: Nanos(250 * MS), ..null(time(100)) };
    let jobs = vec![null(time(100)), late];
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let interval = Nanos(50 * MS);
    let measurements = run_phase(file.path(), Phase { jobs, interval, ..Phase::default() });
    let [early, late] = &measurements[..] else { panic!("two jobs") };
    for (measurement, from_ns) in [(early, 0), (late, 250 * MS)] {
        let samples = &measurement.samples;
        assert!(!samples.is_empty());
        // A sample may be taken before the control plane receives a worker's end.
        let end_ns = from_ns + measurement.elapsed_ns + 20 * MS;
        let within = |at_ns: u64| (from_ns..=end_ns).contains(&at_ns);
        assert!(
            samples.iter().all(|s| within(s.at_ns) && s.ops(Direction::Read) > 0),
            "{samples:?}"
        );
        let counted: u64 = samples.iter().map(|sample| sample.ops(Direction::Read)).sum();
        assert!(counted as f64 > measurement.of(Direction::Read).ops as f64 * 0.8);
    }
    let starts = [early, late].map(|job| job.start_unix_ms.unwrap());
    assert!(starts[0] >= before && (249..=251).contains(&(starts[1] - starts[0])), "{starts:?}");
}

#[test]
fn directions_have_their_own_ends() {
    let file = file();
    let mix = Mix { read: 99, write: 1, trim: 0 };
    let blocks = Blocks { engine: Engine::Null, mix, ..Blocks::default() };
    let measured = run_job(file.path(), job("mixed", blocks, ops(20_000)));
    let elapsed_ns = |op| measured.of(op).elapsed_ns;
    assert!(elapsed_ns(Direction::Read) > 0 && elapsed_ns(Direction::Write) > 0);
    assert_ne!(elapsed_ns(Direction::Read), elapsed_ns(Direction::Write));
    assert_eq!(elapsed_ns(Direction::Trim), 0);
}

fn logged(engine: Engine, mix: Mix, log: LogPlan, stop: Stop) -> Measurement {
    let file = file();
    let measure = Measure { submission: true, log, ..Measure::default() };
    let depth = if engine.is_async() { 4 } else { 1 };
    let blocks = Blocks { engine, mix, depth, measure, ..Blocks::default() };
    run_job(file.path(), job("logged", blocks, stop))
}

#[test]
fn every_operation_is_logged_with_its_place_and_times() {
    for engine in [Engine::Psync, Engine::LIBAIO] {
        let each = LogPlan { each: true, ..LogPlan::default() };
        let mut measurement = logged(engine, Mix::READ, each, ops(256));
        let log = measurement.log.take().expect("a log");
        let mut offsets: Vec<u64> = log.ops.iter().map(|op| op.offset).collect();
        offsets.sort_unstable();
        assert_eq!(offsets, (0..256).map(|at| at * 4096).collect::<Vec<u64>>(), "{engine:?}");
        assert!(log.ops.iter().all(|op| (op.bytes, op.file) == (4096, 0)));
        assert!(log.ops.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        assert!(log.ops[255].at_ns <= measurement.elapsed_ns + 1000);
        let sum: u64 = log.ops.iter().map(|op| op.latency_ns).sum();
        let off = sum as f64 - sum_ns(&measurement.of(Direction::Read).latency);
        assert!(off.abs() <= 512.0, "{off} ns apart");
        assert_eq!((log.lost, log.windows.len(), log.histograms.len()), (0, 0, 0));
    }
}

#[test]
fn a_log_that_is_full_counts_what_it_leaves_out() {
    let each = LogPlan { each: true, entries_max: 100, ..LogPlan::default() };
    let log = logged(Engine::Psync, Mix::READ, each, ops(250)).log.expect("a log");
    assert_eq!((log.ops.len(), log.lost), (100, 150));
}

#[test]
fn windows_add_up_to_what_was_done() {
    let plan = LogPlan {
        window: Some(Nanos(5 * MS)),
        peaks: true,
        histogram: Some(Nanos(20 * MS)),
        ..LogPlan::default()
    };
    let time = Stop { time: Some(Nanos(100 * MS)), ..Stop::default() };
    let mix = Mix { read: 70, write: 30, trim: 0 };
    for engine in [Engine::Psync, Engine::Null] {
        let mut measurement = logged(engine, mix, plan, time.clone());
        let log = measurement.log.take().expect("a log");
        assert!(log.windows.len() >= 2, "{}", log.windows.len());
        assert!(log.windows.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
        let sum = |value: fn(&candor_record::LogWindow) -> u64| log.windows.iter().map(value).sum();
        let (reads, writes): (u64, u64) = (sum(|w| w.ops.read.ops), sum(|w| w.ops.write.ops));
        assert_eq!(
            (reads, writes),
            (measurement.of(Direction::Read).ops, measurement.of(Direction::Write).ops)
        );
        let read = measurement.of(Direction::Read).latency.as_ref().expect("latency");
        assert_eq!(sum(|w| w.ops.read.latency.sum_ns), read.histogram.sum_ns() as u64);
        let peak = log.windows.iter().map(|w| w.ops.read.latency.max_ns).max();
        assert_eq!(peak, Some(read.max_ns), "{engine:?}");
        let in_histograms: u64 = log.histograms.iter().map(|h| h.histogram.count()).sum();
        assert_eq!(in_histograms, measurement.ops_done());
        assert!(log.ops.is_empty());
    }
}
