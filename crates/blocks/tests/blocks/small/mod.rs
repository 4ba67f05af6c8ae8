//! Phases on a file of 1 MiB.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::family::Family;
use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::Blocks;
use candor_plan::{Bytes, Job, Phase, Plan, Stop, Target, Work};
use candor_record::Measurement;

/// The only family of these tests.
pub fn families(_: &Work) -> &'static dyn Family {
    &candor_blocks::BlocksFamily
}

/// A job of one worker with the file.
pub fn job(name: &str, blocks: Blocks, stop: Stop) -> Job {
    Job {
        name: name.into(),
        targets: vec!["target".into()],
        work: blocks.into(),
        stop: Some(stop),
        ..Job::default()
    }
}

/// Runs a phase of such jobs.
pub fn run_phase(path: &Path, phase: Phase) -> Vec<Measurement> {
    let target = Target { path: path.into(), size: Some(Bytes(1 << 20)), ..Target::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    let mut session = Session::new(families);
    let prepared = Prepared::new(&mut session, &Task::of(&plan, 0)).expect("prepared");
    prepared.run(&AtomicBool::new(false), &mut ())
}

/// The file, written.
pub fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    std::fs::write(file.path(), vec![7; 1 << 20]).expect("written");
    file
}
