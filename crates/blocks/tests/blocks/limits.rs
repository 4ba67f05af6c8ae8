//! Gates and stops, in real runs.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use candor_engine::clock::Clock;
use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{
    Access, Blocks, Engine, Floor, Flow, LatencyGoal, Pace, Think, ThinkCount,
};
use candor_plan::units::{Direction, Mix, PerDirection};
use candor_plan::{
    Bytes, BytesPerSec, Job, Measure, Nanos, OnDone, OnFailure, OpsPerSec, Phase, Plan, RampAmount,
    Steady, SteadyFigure, SteadyFit, Stop, Target, Tolerated,
};
use candor_record::{Ended, Measurement};

use crate::small::{families, file, job, run_phase};

const MS: u64 = 1_000_000;

fn run_all(path: &Path, jobs: Vec<Job>) -> Vec<Measurement> {
    run_phase(path, Phase { jobs, on_failure: OnFailure::EndJob, ..Phase::default() })
}

fn run(blocks: Blocks, stop: Stop) -> Measurement {
    let file = file();
    run_all(file.path(), vec![job("job", blocks, stop)]).remove(0)
}

fn time(ms: u64) -> Stop {
    Stop { time: Some(Nanos(ms * MS)), ..Stop::default() }
}

fn null(pace: Pace) -> Blocks {
    Blocks { engine: Engine::Null, pace, ..Blocks::default() }
}

#[test]
fn jobs_of_one_flow_keep_their_proportion() {
    let file = file();
    let flow =
        |weight| Pace { flow: Some(Flow { id: 7, weight, ..Flow::default() }), ..Pace::default() };
    let jobs = vec![
        job("three", null(flow(3)), time(300)),
        job("one", null(flow(1)), time(300)),
        job("other", null(Pace::default()), time(300)),
    ];
    let all = run_all(file.path(), jobs);
    let ops: Vec<f64> = all.iter().map(|m| m.ops_done() as f64).collect();
    assert!((ops[0] / ops[1] - 3.0).abs() < 0.1, "{ops:?}");
    assert!(ops[2] > ops[0], "what is in no flow goes on: {ops:?}");
}

#[test]
fn a_rate_in_bytes_holds_per_direction() {
    let rates = PerDirection { read: 8 << 20, write: 2 << 20, trim: 0 }.map(BytesPerSec);
    let pace = Pace { bytes_per_direction: Some(rates), ..Pace::default() };
    let mix = Mix { read: 50, write: 50, trim: 0 };
    let measured = run(Blocks { mix, ..null(pace) }, time(500));
    let bytes = |op| measured.of(op).bytes;
    assert!(bytes(Direction::Read).abs_diff(4 << 20) <= 128 << 10, "{measured:?}");
    assert!(bytes(Direction::Write).abs_diff(1 << 20) <= 64 << 10, "{measured:?}");
    assert!(measured.of(Direction::Read).from_intended.is_some());
}

#[test]
fn the_depth_found_meets_the_goal_and_ends_the_job() {
    let goal = |ns| LatencyGoal {
        latency: Nanos(ns),
        percentile: 50.0,
        window: Nanos(5 * MS),
        goes_on: false,
    };
    let search = |ns| {
        let pace = Pace { goal: Some(goal(ns)), ..Pace::default() };
        run(Blocks { depth: 16, ..null(pace) }, time(20_000))
    };
    let (easy, hard) = (search(10 * MS), search(1));
    assert_eq!((easy.depth_reached, easy.ended), (Some(16), Ended::Done));
    assert_eq!((hard.depth_reached, hard.ended), (Some(0), Ended::Done));
}

#[test]
fn an_operation_that_takes_too_long_fails_the_job() {
    let latency_max = PerDirection { read: Nanos(1), ..PerDirection::default() };
    for engine in [Engine::Psync, Engine::IO_URING] {
        let stop = Stop { latency_max, ..time(5000) };
        let measurement = run(Blocks { engine, ..Blocks::default() }, stop);
        assert_eq!(measurement.ended, Ended::Failed);
        let error = &measurement.errors[0];
        assert_eq!((error.errno, error.op.as_deref()), (110, Some("read")));
        assert!(error.message.contains("more than the 1 ns allowed"), "{}", error.message);
        let patient = Stop { latency_max: PerDirection::all(Nanos(60_000 * MS)), ..time(50) };
        assert_eq!(run(Blocks { engine, ..Blocks::default() }, patient).ended, Ended::Time);
    }
}

#[test]
fn a_low_water_mark_empties_the_queue_before_it_is_filled() {
    let file = file();
    let depths = |depth_low| {
        let measure = Measure { depths: true, ..Measure::default() };
        let blocks = Blocks {
            engine: Engine::IO_URING,
            access: Access::Random,
            depth: 16,
            depth_low,
            measure,
            ..Blocks::default()
        };
        let stop = Stop { ops: Some(1600), ..Stop::default() };
        let measurement = run_all(file.path(), vec![job("low", blocks, stop)]).remove(0);
        assert_eq!(measurement.ops_done(), 1600, "{:?}", measurement.errors);
        measurement.depths.expect("depths")
    };
    // From 2 to 16: every submission but the first has at least 14 operations.
    let low = depths(Some(2));
    assert_eq!(low.submitted[1] + low.submitted[2], 0, "{low:?}");
    assert!(low.submitted[3] >= 100, "{low:?}");
}

#[test]
fn overlapping_writes_wait_for_each_other() {
    let in_flight = |serialize_overlap| {
        let measure = Measure { depths: true, ..Measure::default() };
        let range = candor_plan::blocks::Range {
            length: Some(candor_plan::units::Extent::Bytes(Bytes(4096))),
            ..Default::default()
        };
        let blocks = Blocks {
            engine: Engine::LIBAIO,
            mix: Mix::WRITE,
            depth: 8,
            serialize_overlap,
            measure,
            range,
            ..Blocks::default()
        };
        let stop = Stop { ops: Some(200), ..Stop::default() };
        let measurement = run(blocks, stop);
        assert_eq!(measurement.ops_done(), 200, "{:?}", measurement.errors);
        measurement.depths.expect("depths").in_flight
    };
    assert_eq!(in_flight(true), [200, 0, 0, 0, 0, 0, 0]);
    assert!(in_flight(false)[3] >= 20, "eight at a time");
}

#[test]
fn only_the_errors_that_are_tolerated_are_survived() {
    let past_the_end = |tolerate: Vec<Tolerated>| {
        let file = file();
        let jobs = vec![job("past", Blocks::default(), Stop { tolerate, ..time(50) })];
        let target =
            Target { path: file.path().into(), size: Some(Bytes(1 << 20)), ..Target::default() };
        let phase = Phase { jobs, ..Phase::default() };
        let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
        let mut session = Session::new(families);
        let prepared = Prepared::new(&mut session, &Task::of(&plan, 0)).expect("prepared");
        // Truncated: nothing is left to read.
        file.as_file().set_len(0).expect("cut");
        prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
    };
    let tolerated = |op, errno| past_the_end(vec![Tolerated { op, errno }]);
    assert_eq!(tolerated(Direction::Read, 0).ended, Ended::Time);
    assert!(tolerated(Direction::Read, 0).of(Direction::Read).failed > 1);
    for other in
        [tolerated(Direction::Write, 0), tolerated(Direction::Read, 5), past_the_end(Vec::new())]
    {
        assert_eq!((other.ended, other.of(Direction::Read).failed), (Ended::Failed, 1));
    }
}

#[test]
fn rests_are_counted_by_issue_or_by_completion_and_may_spin_first() {
    let think = |count, spin_first| Think {
        every: 10,
        count,
        spin_first: Nanos(spin_first),
        ..Think::after_each(Nanos(20 * MS))
    };
    let run = |count, spin_first| {
        let pace = Pace { think: Some(think(count, spin_first)), ..Pace::default() };
        run(Blocks { depth: 4, ..null(pace) }, time(200))
    };
    let (slept, spun) = (run(ThinkCount::Issued, 0), run(ThinkCount::Completed, 20 * MS));
    for measurement in [&slept, &spun] {
        let ops = measurement.ops_done();
        assert!((10..=130).contains(&ops), "{ops}");
    }
    let cpu = |m: &Measurement| m.per_worker[0].cpu_user_ns + m.per_worker[0].cpu_system_ns;
    assert!(cpu(&spun) > 2 * cpu(&slept), "{} and {}", cpu(&spun), cpu(&slept));
}

#[test]
fn rests_may_be_cycles_of_the_cpu() {
    const CYCLES: u64 = 20_000_000;
    let rests = |spin_cycles| {
        let think = Think { spin_cycles, ..Think::after_each(Nanos(MS)) };
        let pace = Pace { think: Some(think), ..Pace::default() };
        run(null(pace), Stop { ops: Some(5), ..Stop::default() })
    };
    let (with, without) = (rests(CYCLES), rests(0));
    // The work ends with its fifth operation, behind four rests.
    let least_ns = 4 * (Clock::calibrated().cycles_ns(CYCLES) + MS);
    assert!(with.elapsed_ns * 100 >= least_ns * 99, "{} ns of {least_ns}", with.elapsed_ns);
    let cpu = |m: &Measurement| m.per_worker[0].cpu_user_ns + m.per_worker[0].cpu_system_ns;
    let burnt_ns = cpu(&with).saturating_sub(cpu(&without));
    // Other tests take a part of the CPU meanwhile. A sleep would take hundreds of times less.
    assert!(burnt_ns > least_ns / 20, "{burnt_ns} ns of {least_ns}");
    assert_eq!(with.ops_done(), 5);
}

#[test]
fn a_ramp_may_end_by_an_amount() {
    let run = |together| {
        let file = file();
        let at = |rate| null(Pace { ops: Some(OpsPerSec(rate)), ..Pace::default() });
        let ops = |ops| Stop { ops: Some(ops), ..Stop::default() };
        // 512 KiB are 128 operations: 64 ms of the fast job, 256 ms of the slow one.
        let amount = RampAmount { bytes: Bytes(512 << 10), together };
        let jobs = vec![job("fast", at(2000), ops(80)), job("slow", at(500), ops(20))];
        let begun = Instant::now();
        let phase = Phase { jobs, ramp_amount: Some(amount), ..Phase::default() };
        let measured = run_phase(file.path(), phase);
        let counted: Vec<u64> = measured.iter().map(Measurement::ops_done).collect();
        assert_eq!(counted, [80, 20], "together {together}");
        // 19 gaps of the slow job lie between its 20 operations, and as many of the ramp do not.
        assert!(measured[1].elapsed_ns < 250 * MS, "{}", measured[1].elapsed_ns);
        begun.elapsed()
    };
    let (each, together) = (run(false), run(true));
    assert!(each >= Duration::from_millis(250), "{each:?}");
    assert!(together < each, "{together:?} and {each:?}");
}

#[test]
fn a_job_ends_when_it_is_steady_and_reports_how_steady() {
    let hold = |limit| Steady::Hold {
        figure: SteadyFigure::Ops,
        fit: SteadyFit::Deviation,
        limit,
        percent: true,
        window: Nanos(20 * MS),
        windows: 3,
        ramp: Nanos(10 * MS),
    };
    // At a fixed rate every window has about the same number of operations.
    let pace = Pace { ops: Some(candor_plan::OpsPerSec(10_000)), ..Pace::default() };
    let run = |limit| {
        let steady = Some(hold(limit));
        run(null(pace.clone()), Stop { steady, ..time(1500) })
    };
    let loose = run(100.0);
    assert_eq!(loose.ended, Ended::Steady);
    assert!((70 * MS..1000 * MS).contains(&loose.elapsed_ns), "{}", loose.elapsed_ns);
    let state = loose.steady.expect("a state");
    assert!(state.attained && state.windows.len() == 3 && state.mean > 1000.0, "{state:?}");
    let strict = run(0.0);
    let state = strict.steady.expect("a state");
    assert_eq!((strict.ended, state.attained), (Ended::Time, false), "{state:?}");
}

#[test]
fn without_another_bound_a_job_goes_on_until_it_is_steady() {
    let steady = Some(Steady::Agree { window: Nanos(20 * MS), windows: 3, percent: 100.0 });
    let measurement = run(null(Pace::default()), Stop { steady, ..Stop::default() });
    assert_eq!(measurement.ended, Ended::Steady);
    assert!(measurement.ops_done() > 256, "more than one pass over the file");
}

#[test]
fn a_job_below_its_floor_fails_alone() {
    let floor = |reads| {
        let ops = PerDirection { read: candor_plan::OpsPerSec(reads), ..Floor::default().ops };
        let pace = Pace {
            ops: Some(candor_plan::OpsPerSec(1000)),
            floor: Some(Floor { ops, cycle: Nanos(100 * MS), ..Floor::default() }),
            ..Pace::default()
        };
        job("floor", null(pace), time(2600))
    };
    let file = file();
    let all = run_all(file.path(), vec![floor(2000), floor(500)]);
    assert_eq!([all[0].ended, all[1].ended], [Ended::Failed, Ended::Time]);
    let error = &all[0].errors[0];
    assert!(error.message.contains("read rate of 2000/s operations not met"), "{}", error.message);
    assert!(all[0].elapsed_ns < 2500 * MS, "it ends after the first cycle that is judged");
}

#[test]
fn the_end_of_one_job_ends_the_others_where_planned() {
    let file = file();
    let short = |on_done| Job { on_done, ..job("short", null(Pace::default()), time(30)) };
    let long = || job("long", null(Pace::default()), time(20_000));
    let all = run_all(file.path(), vec![short(OnDone::EndPhase), long()]);
    assert_eq!([all[0].ended, all[1].ended], [Ended::Time, Ended::Done]);
    assert!(all[1].elapsed_ns < 10_000 * MS && all[1].ops_done() > 0);
    let waits = Job { delay: Nanos(60 * MS), ..short(OnDone::GoOn) };
    let all = run_all(file.path(), vec![short(OnDone::GoOn), waits]);
    assert_eq!([all[0].ended, all[1].ended], [Ended::Time, Ended::Time]);
}
