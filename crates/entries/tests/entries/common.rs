//! Jobs over the names of targets, without a plan around them.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::entries::Entries;
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target, TargetKind, check};
use candor_record::Measurement;

/// The only family of these tests.
pub fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_entries::EntriesFamily
}

/// Names in a directory.
pub const FILES: u32 = 50;
/// Bytes of the file behind each.
pub const FILE_BYTES: u64 = 10_000;

/// Runs steps over all names, by three workers.
pub fn run(directory: &Path, entries: Entries) -> Measurement {
    run_until(directory, entries, Stop { continue_on_error: true, ..Stop::default() })
}

/// The same, until then.
pub fn run_until(directory: &Path, entries: Entries, stop: Stop) -> Measurement {
    let target = Target {
        path: directory.into(),
        kind: TargetKind::FileSet,
        files: FILES,
        size: Some(Bytes(FILE_BYTES)),
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let targets = vec![target.name.clone()];
    let job = Job { workers: 3, targets, work: entries.into(), ..Job::default() };
    let phase = Phase { stop, jobs: vec![job], ..Phase::default() };
    run_plan(&Plan { targets: vec![target], phases: vec![phase], ..Plan::default() })
}

/// Runs the only job of a plan that makes sense.
pub fn run_plan(plan: &Plan) -> Measurement {
    let errors: Vec<_> =
        check::check(plan).into_iter().filter(candor_plan::Problem::is_error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let prepared =
        Prepared::new(&mut Session::new(families), &Task::of(plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
}
