//! Programs and burning CPU, as jobs.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::family::Family;
use candor_engine::{Prepared, Session, Task};
use candor_plan::{Burn, Job, Nanos, Phase, Plan, Program, Stop, Work};
use candor_record::{Ended, Measurement, ProgramEnd};

/// The only family of these tests.
fn families(_: &Work) -> &'static dyn Family {
    &candor_compute::ComputeFamily
}

fn run(stop: Stop, work: impl Into<Work>) -> Measurement {
    let job = Job { work: work.into(), ..Job::default() };
    let phase = Phase { stop, jobs: vec![job], ..Phase::default() };
    let plan = Plan { phases: vec![phase], ..Plan::default() };
    let prepared = Prepared::new(&mut Session::new(families), &Task::of(&plan, 0));
    prepared.expect("prepared").run(&AtomicBool::new(false), &mut ()).remove(0)
}

#[test]
fn a_program_runs_as_long_as_its_job_and_no_longer() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("output");
    let run_it = |words: &[&str], grace_ms: u64| {
        let program = Program {
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            output: Some(path.clone()),
            grace: Nanos(grace_ms * 1_000_000),
            ..Program::default()
        };
        let stop = Stop { time: Some(Nanos(200_000_000)), ..Stop::default() };
        run(stop, program)
    };
    let script = "echo $$; trap 'echo asked; exit 3' TERM; while true; do sleep 0.01; done";
    let measured = run_it(&["sh", "-c", script], 5000);
    let text = std::fs::read_to_string(&path).expect("written");
    assert!(text.ends_with("asked\n"), "{text}");
    assert_eq!((measured.bytes_moved(), measured.errors.len()), (0, 0));
    let stubborn = "echo $$; trap '' TERM; while true; do sleep 0.01; done";
    run_it(&["sh", "-c", stubborn], 20);
    let text = std::fs::read_to_string(&path).expect("written");
    let process = Path::new("/proc").join(text.trim());
    assert!(!process.exists(), "{text}");
    let measured = run_it(&["sh", "-c", "exit 7"], 20);
    assert_eq!(measured.engine.features, ["the program ended: exit status: 7"]);
    assert_eq!(measured.program_end, Some(ProgramEnd::Exited(7)));
    let measured = run_it(&["sh", "-c", "kill -9 $$"], 20);
    assert_eq!(measured.program_end, Some(ProgramEnd::Killed(9)));
    let program = Program {
        command: ["sleep", "0.1"].map(str::to_owned).into(),
        until_end: true,
        ..Program::default()
    };
    let measured = run(Stop::default(), program);
    assert_eq!((measured.ended, measured.errors.len()), (Ended::Done, 0));
    assert!((100_000_000..1_000_000_000).contains(&measured.elapsed_ns), "{measured:?}");
    let measured = run_it(&["/dev/null/nothing"], 20);
    assert_eq!(measured.errors.first().map(|error| error.errno), Some(libc::ENOTDIR));
}

#[test]
fn an_optional_program_may_be_missing() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let path = dir.path().join("output");
    let program = Program {
        command: vec!["/dev/null/nothing".to_owned()],
        errors: Some(path.clone()),
        until_end: true,
        optional: true,
        ..Program::default()
    };
    let measured = run(Stop::default(), program);
    assert_eq!((measured.ended, measured.errors.len()), (Ended::Done, 0));
    let text = std::fs::read_to_string(&path).expect("written");
    assert!(text.starts_with("/dev/null/nothing: Not a directory"), "{text}");
    assert!(measured.engine.features[0].starts_with("the program did not start"), "{measured:?}");
}

#[test]
fn the_cpu_is_burnt_for_as_long_as_planned() {
    for sort in [false, true] {
        let burn = Burn { chunk: Nanos(20_000_000), sort, ..Burn::default() };
        let stop = Stop { ops: Some(5), ..Stop::default() };
        let measured = run(stop, burn);
        let latency = measured.operation("burn").latency.as_ref().expect("measured");
        assert!(latency.min_ns >= 19_000_000, "{latency:?}");
        assert_eq!((measured.ops_done(), measured.bytes_moved()), (5, 0));
        let user: u64 = measured.per_worker.iter().map(|worker| worker.cpu_user_ns).sum();
        assert!(user > 0);
    }
}
