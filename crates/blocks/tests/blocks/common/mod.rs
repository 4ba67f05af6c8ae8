//! A plan of one job on a real file.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_blocks::layout::{self, Wanted};
use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::Verify;
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target, Work};
use candor_record::Measurement;

/// Size of the file.
pub const FILE_BYTES: u64 = 4 << 20;

/// Plan of one job on one file.
pub fn plan(path: &Path, workers: u32, stop: Stop, work: impl Into<Work>) -> Plan {
    let target = Target { path: path.into(), size: Some(Bytes(FILE_BYTES)), ..Target::default() };
    let targets = vec![target.name.clone()];
    let job = Job { workers, targets, work: work.into(), ..Job::default() };
    let phase = Phase { stop, jobs: vec![job], ..Phase::default() };
    Plan { targets: vec![target], phases: vec![phase], ..Plan::default() }
}

/// Runs the only phase of a plan.
pub fn run(session: &mut Session, plan: &Plan) -> Measurement {
    let prepared = Prepared::new(session, &Task::of(plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ()).remove(0)
}

/// Creates the file and writes it.
pub fn lay_out(session: &mut Session, path: &Path, verify: Option<Verify>) {
    let wanted = Wanted { verify, ..Wanted::written(FILE_BYTES, 1) };
    let stop = AtomicBool::new(false);
    std::fs::File::create_new(path).expect("created");
    let made = layout::lay_out(session.kept.of(), path, &wanted, &stop, &mut |_| {});
    made.expect("laid out").expect("it was empty").sync_all().expect("flushed");
}

/// A directory on a real filesystem: direct I/O on tmpfs means little.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory")
}
