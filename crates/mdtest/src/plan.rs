//! Lowering of a test to a plan.

mod jobs;
mod targets;
#[cfg(test)]
mod tests;

pub use jobs::log_file;

use candor_plan::{Nanos, OnFailure, Phase, Plan, Work};
use candor_record::Note;

use super::options::{Options, Reading};
use super::setup::{self, Setup, Test};
use candor_front::{Diagnostic, Diagnostics, Host};

/// Part of a result row that a phase of the plan measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The operations, or the first part of them.
    Work,
    /// Open and write of the files that task 0 has created for all tasks.
    Fill,
    /// Command before the phase, outside its time.
    Before,
    /// Command after the phase, within its time.
    After,
}

/// A phase of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchPhase {
    /// Number of tasks.
    pub tasks: u32,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Row of the result.
    pub test: Test,
    /// Part in that row.
    pub part: Part,
    /// The last phase of its tasks.
    pub is_last: bool,
}

/// A plan, and data for the output that its report does not have.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<BenchPhase>,
    /// The options, and the numbers of items.
    pub setup: Setup,
    /// Differences between plan and request.
    pub notes: Vec<Note>,
}

/// Lowers a command line to a plan.
///
/// # Errors
/// All errors.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let setup = setup::settle(reading, host, &mut out);
    reading.all_notes(&setup.asked).into_iter().for_each(|note| out.add_note(note));
    if !out.errors.is_empty() {
        return Err(out.errors);
    }
    let phases = order(&setup);
    let planned = phases.iter().map(|bench| phase(&setup, bench)).collect();
    let plan = Plan {
        name: "mdtest".into(),
        seed: setup.random_seed.unwrap_or(setup.data_seed),
        targets: targets::all(&setup, &phases),
        phases: planned,
        ..Plan::default()
    };
    Ok(Lowered { plan, phases, notes: out.notes, setup })
}

/// Rows of an iteration in run order.
pub fn tests(setup: &Setup) -> Vec<Test> {
    let Options { phases, .. } = &setup.asked;
    let dirs = phases.dirs && setup.items > 0;
    let files = phases.files && setup.items > 0;
    let all = [
        (phases.create, Test::TreeCreate),
        (dirs && phases.create, Test::DirCreate),
        (dirs && phases.stat, Test::DirStat),
        // A single item per task is not renamed.
        (dirs && phases.rename && setup.items > 1, Test::DirRename),
        (dirs && phases.remove, Test::DirRemove),
        (files && phases.create, Test::FileCreate),
        (files && phases.stat, Test::FileStat),
        (files && phases.read, Test::FileRead),
        (files && phases.remove, Test::FileRemove),
        (phases.remove, Test::TreeRemove),
    ];
    all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, test)| test).collect()
}

/// The phases in their order.
fn order(setup: &Setup) -> Vec<BenchPhase> {
    let (run, tests) = (&setup.asked.run, tests(setup));
    let fills = setup.asked.making.collective && !setup.asked.making.mknod;
    let mut phases: Vec<BenchPhase> = Vec::new();
    for tasks in setup.task_counts.iter().copied() {
        for iteration in 0..run.iterations {
            for test in tests.iter().copied() {
                let hooked = !test.is_of_tree();
                let parts = [
                    (hooked && run.before.is_some(), Part::Before),
                    (true, Part::Work),
                    (fills && test == Test::FileCreate, Part::Fill),
                    (hooked && run.after.is_some(), Part::After),
                ];
                let wanted = parts.into_iter().filter(|(wanted, _)| *wanted);
                phases.extend(wanted.map(|(_, part)| BenchPhase {
                    tasks,
                    iteration,
                    test,
                    part,
                    is_last: false,
                }));
            }
        }
        if let Some(last) = phases.last_mut() {
            last.is_last = true;
        }
    }
    phases
}

/// A phase of the plan.
fn phase(setup: &Setup, bench: &BenchPhase) -> Phase {
    let name = bench.test.name();
    let name = match bench.part {
        Part::Work => name.to_owned(),
        Part::Fill => format!("{name}: open"),
        Part::Before => format!("before {name}"),
        Part::After => format!("after {name}"),
    };
    let first_of = [Test::DirCreate, Test::DirStat, Test::DirRename, Test::DirRemove];
    let first_of_files = [Test::FileCreate, Test::FileStat, Test::FileRead, Test::FileRemove];
    let is_first = |among: &[Test]| {
        tests(setup).into_iter().find(|test| among.contains(test)) == Some(bench.test)
    };
    let hooks = setup.asked.run.before.is_some();
    let begins = bench.part == if hooks { Part::Before } else { Part::Work };
    let waits = begins && (is_first(&first_of) || is_first(&first_of_files));
    let delay = if waits { setup.asked.run.delay_s } else { 0 };
    Phase {
        name,
        delay: Nanos::from_secs(delay),
        on_failure: if setup.asked.run.warnings_are_errors {
            OnFailure::EndRun
        } else {
            OnFailure::EndJob
        },
        jobs: vec![jobs::job(setup, bench)],
        ..Phase::default()
    }
}

/// True for a job that runs a command.
pub fn is_command(work: &Work) -> bool {
    matches!(work, Work::Program(_))
}
