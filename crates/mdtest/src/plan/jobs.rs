//! The job of a phase.

use candor_plan::blocks::{Access, Content, Fill};
use candor_plan::entries::{Division, Entries, Over, Select, Step, VerifyItems};
use candor_plan::units::Mix;
use candor_plan::{Blocks, Engine, Job, Nanos, OperationsLog, Program, Stonewall, Stop, Work};

use super::{BenchPhase, Part, targets};
use crate::options::BackEnd;
use crate::setup::{Setup, Test};
use candor_ior_family::content;

pub(super) fn job(setup: &Setup, bench: &BenchPhase) -> Job {
    let run = &setup.asked.run;
    match (bench.part, &run.before, &run.after) {
        (Part::Before, Some(command), _) | (Part::After, _, Some(command)) => program(command),
        _ => tasks(setup, bench),
    }
}

/// A job that ends with a command.
fn program(command: &str) -> Job {
    let command = ["sh", "-c", command].map(str::to_owned).into();
    let work = Work::Program(Program { command, until_end: true, ..Program::default() });
    Job { name: "command".into(), work, ..Job::default() }
}

/// The tasks of a phase with DUMMY: an operation of the null engine for each item.
fn dummies(setup: &Setup, bench: &BenchPhase) -> Job {
    let (each, of_all) = if bench.test.is_of_tree() {
        (setup.directories, setup.directories)
    } else {
        (setup.items, setup.all_items(bench.tasks))
    };
    let by_first = division(setup, bench) == Division::First;
    let stop = Stop { ops: Some(if by_first { of_all } else { each }), ..stop(setup, bench) };
    let reads = matches!(bench.test, Test::DirStat | Test::FileStat | Test::FileRead);
    let blocks = Blocks {
        engine: Engine::Null,
        mix: if reads { Mix::READ } else { Mix::WRITE },
        access: Access::Random,
        content: Content { fill: Fill::Once, ..Content::default() },
        ..Blocks::default()
    };
    Job {
        name: "tasks".into(),
        workers: if by_first { 1 } else { bench.tasks },
        targets: vec![targets::NOTHING.into()],
        stop: Some(Stop { passes: None, ..stop }),
        work: blocks.into(),
        ..Job::default()
    }
}

/// The tasks of a phase.
fn tasks(setup: &Setup, bench: &BenchPhase) -> Job {
    if setup.asked.data.back_end == BackEnd::Dummy {
        return dummies(setup, bench);
    }
    let entries = entries(setup, bench);
    Job {
        name: "tasks".into(),
        workers: bench.tasks,
        targets: targets::names(setup, bench),
        rank_shift: shift(setup, bench.test),
        // mdtest allows answers from caches, and its users expect these rates.
        allows_cache: true,
        stop: Some(stop(setup, bench)),
        operations_log: log(setup, bench),
        work: entries.into(),
        ..Job::default()
    }
}

/// Distance in tasks to the owner of the items: one shift more for each phase.
fn shift(setup: &Setup, test: Test) -> i64 {
    let phases = match test {
        _ if setup.asked.making.shared => 0,
        Test::DirStat | Test::DirRename | Test::FileStat => 1,
        Test::FileRead => 2,
        Test::DirRemove | Test::FileRemove => 3,
        Test::DirCreate | Test::DirRead | Test::FileCreate => 0,
        Test::TreeCreate | Test::TreeRemove => 0,
    };
    // Task 0 works on the items of all tasks.
    let collective =
        setup.asked.making.collective && matches!(test, Test::DirRemove | Test::FileRemove);
    if collective { 0 } else { phases * setup.asked.run.shift as i64 }
}

/// End of a phase: one pass over the items. After the time limit of file creation, all tasks
/// complete equal counts.
fn stop(setup: &Setup, bench: &BenchPhase) -> Stop {
    let run = &setup.asked.run;
    let ends = bench.test == Test::FileCreate && bench.part == Part::Work && run.stonewall_s > 0;
    Stop {
        passes: Some(1),
        continue_on_error: !run.warnings_are_errors,
        time: ends.then(|| Nanos::from_secs(run.stonewall_s)),
        stonewall: if ends { Stonewall::WearOut } else { Stonewall::Cut },
        ..Stop::default()
    }
}

/// The log of a phase; the operation times come from it.
fn log(setup: &Setup, bench: &BenchPhase) -> Option<OperationsLog> {
    let prefix = setup.asked.output.per_op_prefix.as_ref()?;
    let last = bench.iteration + 1 == setup.asked.run.iterations;
    let is_of_files = bench.test >= Test::FileCreate && !bench.test.is_of_tree();
    let file = log_file(prefix, bench.test).into();
    (last && is_of_files && bench.part == Part::Work)
        .then_some(OperationsLog { file, ..OperationsLog::default() })
}

/// File of a phase's operations, until the operation times are written.
pub fn log_file(prefix: &str, test: Test) -> String {
    format!("{prefix}-{}.operations.jsonl", test.name())
}

fn entries(setup: &Setup, bench: &BenchPhase) -> Entries {
    let (asked, test) = (&setup.asked, bench.test);
    let steps = steps(setup, bench);
    let random = setup.random_seed.is_some()
        && matches!(test, Test::DirStat | Test::FileStat | Test::FileRead);
    let changes = steps.iter().any(|step| step.changes_names() || *step == Step::Write);
    let entries = Entries {
        over: if test.is_of_tree() { Over::Directories } else { Over::Items },
        select: if random { Select::Shuffled } else { Select::Sequential },
        division: division(setup, bench),
        first: setup.first_items.filter(|_| !test.is_of_tree() && !test.is_of_dirs()),
        as_reached: asked.run.stonewall_s > 0
            && test >= Test::FileCreate
            && !test.is_of_tree()
            && (test, bench.part) != (Test::FileCreate, Part::Work),
        with_roots: test.is_of_tree(),
        rename_chain: test == Test::DirRename,
        syncfs_at_end: asked.making.sync && changes,
        steps,
        ..Entries::default()
    };
    if !entries.moves_bytes() {
        return entries;
    }
    let writes = entries.has(Step::Write);
    let verifies = if writes { asked.data.verify_write } else { asked.data.verify_read };
    let verify = VerifyItems { read_back: writes, ..content::verify() };
    Entries {
        direct: asked.data.direct,
        content: asked.data.packet.content(setup.data_seed),
        verify: verifies.then_some(verify),
        ..entries
    }
}

/// Division of the items among tasks.
fn division(setup: &Setup, bench: &BenchPhase) -> Division {
    let (making, unique) = (&setup.asked.making, setup.asked.tree.unique);
    match bench.test {
        Test::TreeCreate | Test::TreeRemove if !unique || making.collective => Division::First,
        Test::TreeCreate | Test::TreeRemove => Division::Own,
        Test::FileRemove if making.shared => Division::First,
        _ if making.shared => Division::Every,
        Test::DirCreate | Test::DirRemove | Test::FileCreate | Test::FileRemove
            if making.collective && bench.part == Part::Work =>
        {
            Division::First
        }
        _ => Division::Own,
    }
}

/// Steps of each item in a phase.
fn steps(setup: &Setup, bench: &BenchPhase) -> Vec<Step> {
    let (making, data) = (&setup.asked.making, &setup.asked.data);
    let writes = [(true, Step::Write), (making.fsync, Step::Fsync)];
    let writes = writes.into_iter().filter(|(wanted, _)| *wanted && data.write_bytes > 0);
    let writes = writes.map(|(_, step)| step);
    let reads = (data.read_bytes > 0).then_some(Step::Read);
    match bench.test {
        Test::TreeCreate | Test::DirCreate => vec![Step::Mkdir],
        Test::TreeRemove | Test::DirRemove => vec![Step::Rmdir],
        Test::DirStat | Test::FileStat | Test::DirRead => vec![Step::Stat],
        Test::DirRename => vec![Step::Rename],
        Test::FileRemove => vec![Step::Unlink],
        Test::FileRead => [Step::Open].into_iter().chain(reads).chain([Step::Close]).collect(),
        Test::FileCreate if making.mknod => vec![Step::Mknod],
        // Task 0 creates the files of all tasks; each task opens and writes its own files in the
        // next phase.
        Test::FileCreate if making.collective && bench.part == Part::Work => {
            vec![Step::Create, Step::Close]
        }
        Test::FileCreate => [Step::Create].into_iter().chain(writes).chain([Step::Close]).collect(),
    }
}
