//! Jobs that replay traces, and logs of traces.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{Access, Blocks, Engine, TraceFile};
use candor_plan::trace::{Action, Step, Trace};
use candor_plan::units::{Direction, Mix};
use candor_plan::{Bytes, Job, Layout, LogPlan, Measure, Phase, Plan, Stop, Target};
use candor_record::Measurement;

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const FILE_BYTES: u64 = 1 << 20;

/// Reads and writes of two files with flushes between them.
fn steps(gap_ns: u64) -> Vec<Step> {
    let actions = [
        Action::Move(Direction::Write),
        Action::Move(Direction::Read),
        Action::Move(Direction::Read),
        Action::Fdatasync,
        Action::Move(Direction::Write),
        Action::Move(Direction::Read),
        Action::Fsync,
    ];
    (0..100)
        .map(|nth| {
            let action = actions[nth as usize % actions.len()];
            let moves = action.op().is_some();
            let (offset, length) = if moves { (nth * 8192, 4096) } else { (0, 0) };
            Step { at_ns: nth * gap_ns, offset, length, file: (nth % 2) as u32, action }
        })
        .collect()
}

/// Replays a trace on two files, and logs submitted operations.
fn follow(folder: &Path, steps: Vec<Step>, blocks: Blocks) -> Measurement {
    let target = |name: &str| {
        let path = folder.join(name);
        std::fs::write(&path, vec![1; FILE_BYTES as usize]).expect("written");
        let size = Some(Bytes(FILE_BYTES));
        Target { name: name.into(), path, size, layout: Layout::Never, ..Target::default() }
    };
    let trace = TraceFile { file: "made".into(), trace: Some(Arc::new(Trace::new(steps))) };
    let log = LogPlan { trace: true, ..LogPlan::default() };
    let blocks = Blocks {
        access: Access::Trace(trace),
        mix: Mix { read: 50, write: 50, trim: 0 },
        measure: Measure { log, ..Measure::default() },
        ..blocks
    };
    let targets = vec!["a".into(), "b".into()];
    let stop = Some(Stop { passes: Some(1), ..Stop::default() });
    let job = Job { targets, work: blocks.into(), stop, ..Job::default() };
    let phase = Phase { jobs: vec![job], ..Phase::default() };
    let targets = vec![target("a"), target("b")];
    let plan = Plan { targets, phases: vec![phase], ..Plan::default() };
    let mut session = Session::new(families);
    let prepared = Prepared::new(&mut session, &Task::of(&plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory")
}

#[test]
fn every_engine_does_the_steps_in_order_and_logs_them() {
    let folder = scratch();
    for engine in [Engine::Psync, Engine::Vsync, Engine::LIBAIO, Engine::IO_URING, Engine::Threads]
    {
        let blocks = Blocks { engine, depth: 8, ..Blocks::default() };
        let measured = follow(folder.path(), steps(0), blocks);
        assert!(measured.errors.is_empty(), "{engine:?}: {:?}", measured.errors);
        assert_eq!(
            (measured.of(Direction::Read).ops, measured.of(Direction::Write).ops),
            (43, 29),
            "{engine:?}"
        );
        let log = measured.log.expect("a log");
        let logged: Vec<Step> = log.trace.iter().map(|step| Step { at_ns: 0, ..*step }).collect();
        assert_eq!(logged, steps(0), "{engine:?}");
        assert_eq!(log.lost, 0);
    }
}

#[test]
fn flushes_wait_for_what_is_before_them() {
    let folder = scratch();
    let blocks = Blocks { engine: Engine::IO_URING, depth: 16, ..Blocks::default() };
    let measured = follow(folder.path(), steps(0), blocks);
    let trace = measured.log.expect("a log").trace;
    // Operations behind a flush are submitted after it, and so at another time.
    for pair in trace.windows(2) {
        if pair.iter().any(|step| step.action.op().is_none()) {
            assert!(pair[0].at_ns < pair[1].at_ns, "{pair:?}");
        }
    }
}

#[test]
fn steps_wait_for_their_times_and_do_not_drift() {
    let folder = scratch();
    let gap_ns = 2_000_000;
    let measured = follow(folder.path(), steps(gap_ns), Blocks::default());
    let trace = measured.log.expect("a log").trace;
    for (nth, step) in trace.iter().enumerate() {
        assert!(step.at_ns >= nth as u64 * gap_ns, "step {nth} is early: {step:?}");
    }
    let late_ns = trace.last().map_or(u64::MAX, |last| last.at_ns - 99 * gap_ns);
    assert!(late_ns < 100 * gap_ns, "the last step is {late_ns} ns late");
}
