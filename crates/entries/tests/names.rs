//! Steps over names of targets.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Job, Phase, Plan, Stop, Target, TargetKind, check};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_entries::EntriesFamily
}

const FILES: u32 = 50;

/// One step over fifty names in a directory, by three workers.
fn done(directory: &Path, over: Over, step: Step) -> Measurement {
    let target = Target {
        path: directory.into(),
        kind: TargetKind::FileSet,
        files: FILES,
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let entries = Entries { over, steps: vec![step], ..Entries::default() };
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
