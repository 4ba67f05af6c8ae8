//! Steps over the names of targets.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target, TargetKind, check};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_entries::EntriesFamily
}

const FILES: u32 = 50;

/// Runs one step over fifty names in a directory, by three workers.
fn done(directory: &Path, over: Over, step: Step) -> Measurement {
    run(directory, Entries { over, steps: vec![step], ..Entries::default() })
}

fn run(directory: &Path, entries: Entries) -> Measurement {
    let target = Target {
        path: directory.into(),
        kind: TargetKind::FileSet,
        files: FILES,
        size: Some(Bytes(10_000)),
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let targets = vec![target.name.clone()];
    let job = Job { workers: 3, targets, work: entries.into(), ..Job::default() };
    let stop = Stop { continue_on_error: true, ..Stop::default() };
    let phase = Phase { stop, jobs: vec![job], ..Phase::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    let errors: Vec<_> =
        check::check(&plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let prepared =
        Prepared::new(&mut Session::new(families), &Task::of(&plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
}

fn names_in(directory: &Path) -> usize {
    std::fs::read_dir(directory).expect("read").count()
}

#[test]
fn names_are_made_looked_at_and_removed_once_each() {
    for (over, make, remove) in [
        (Over::TargetFiles, Step::Create, Step::Unlink),
        (Over::TargetDirectories, Step::Mkdir, Step::Rmdir),
    ] {
        let dir = tempfile::tempdir().expect("a scratch directory");
        for step in [make, Step::Stat, Step::Lstat, Step::Statx, remove] {
            let measured = done(dir.path(), over, step);
            assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
            let stats = measured.operation(step.name());
            assert_eq!((stats.ops, stats.failed, stats.bytes), (50, 0, 0), "{step:?}");
            assert_eq!(stats.latency.as_ref().map(|latency| latency.count), Some(50));
            assert_eq!(measured.engine.name, step.name());
            let left = if step == remove { 0 } else { FILES as usize };
            assert_eq!(names_in(dir.path()), left, "{step:?}");
        }
    }
}

#[test]
fn names_that_are_not_there_are_failures_with_their_path() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let measured = done(dir.path(), Over::TargetFiles, Step::Stat);
    assert_eq!(measured.operation("stat").failed, 50);
    assert!(measured.errors.iter().all(|error| error.errno == libc::ENOENT));
    assert!(measured.errors[0].path.starts_with(&dir.path().display().to_string()));
}

#[test]
fn opening_and_closing_are_operations_with_times_of_their_own() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let entries = |steps: &[Step], size| Entries {
        over: Over::TargetFiles,
        steps: steps.into(),
        size,
        ..Entries::default()
    };
    let count = |measured: &Measurement, name: &str| {
        let stats = measured.operation(name);
        let timed = stats.latency.as_ref().map_or(0, |latency| latency.count);
        assert_eq!((stats.failed, timed), (0, stats.ops), "{name}: {:?}", measured.errors);
        (stats.ops, stats.bytes)
    };
    let steps = [Step::Create, Step::Write, Step::Fsync, Step::Close];
    let made = run(dir.path(), entries(&steps, None));
    let counts = ["create", "write", "fsync", "close"].map(|name| count(&made, name));
    assert_eq!(counts, [(50, 0), (50, 500_000), (50, 0), (50, 0)]);
    let path = dir.path().join("candor.target.7");
    assert_eq!(path.metadata().expect("made").len(), 10_000);
    let steps = [Step::Open, Step::Read, Step::Close, Step::Unlink];
    let read = run(dir.path(), entries(&steps, Some(Bytes(4096))));
    let counts = ["open", "read", "close", "unlink"].map(|name| count(&read, name));
    assert_eq!(counts, [(50, 0), (150, 500_000), (50, 0), (50, 0)]);
    assert_eq!(names_in(dir.path()), 0);
}

#[test]
fn steps_after_a_file_that_could_not_be_opened_fail_for_the_same_reason() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let steps = vec![Step::Open, Step::Read, Step::Close];
    let entries = Entries { over: Over::TargetFiles, steps, ..Entries::default() };
    let measured = run(dir.path(), entries);
    let failed = ["open", "read", "close"].map(|name| measured.operation(name).failed);
    assert_eq!(failed, [50, 50, 50]);
    assert!(measured.errors.iter().all(|error| error.errno == libc::ENOENT), "{measured:?}");
}
