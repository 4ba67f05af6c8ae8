//! Jobs with more files than a process may open at first. The test has a binary of its own, because
//! the limit is that of the process.

use std::sync::atomic::AtomicBool;

use candor_blocks::targets::descriptors::make_room;
use candor_engine::{Prepared, Session, Task};
use candor_plan::units::Direction;
use candor_plan::{Blocks, Bytes, Job, Layout, Member, Phase, Plan, Target, TargetKind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

const FILES: u64 = 300;

#[test]
fn a_job_may_have_more_files_than_the_limit_allows_at_first() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let name = |at: u64| format!("f{at}");
    for at in 0..FILES {
        // All contents differ, from the first block on.
        std::fs::write(dir.path().join(name(at)), vec![1; 4096 * (1 + at as usize % 3)]).unwrap();
    }
    let members =
        (0..FILES).map(|at| Member { name: name(at), size: Some(Bytes(4096 * (1 + at % 3))) });
    let target = Target {
        path: dir.path().into(),
        kind: TargetKind::FileSet,
        members: members.collect(),
        layout: Layout::Never,
        ..Target::default()
    };
    let targets = vec![target.name.clone()];
    let job = Job { targets, workers: 2, work: Blocks::default().into(), ..Job::default() };
    let phase = Phase { jobs: vec![job], ..Phase::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    let limit = Rlimit { current: Some(100), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).expect("lowered");
    let prepared =
        Prepared::new(&mut Session::new(families), &Task::of(&plan, 0)).expect("prepared");
    let all = prepared.run(&AtomicBool::new(false), &mut ());
    assert_eq!((all[0].of(Direction::Read).ops, all[0].errors.len()), (2 * FILES * 2, 0));
    drop(all);
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), ..getrlimit(Resource::Nofile) })
        .expect("lowered");
    assert_eq!(make_room(FILES), Ok(()));
    assert!(getrlimit(Resource::Nofile).current.is_none_or(|limit| limit >= FILES));
    let refused = make_room(u64::MAX / 2).expect_err("no kernel has so many");
    assert!(refused > FILES, "{refused}");
}
