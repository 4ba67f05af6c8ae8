//! The job of a phase, and the tree of sets and objects.

use candor_plan::blocks::{Pace, Think, ThinkCount};
use candor_plan::entries::{Entries, Over, Step, Window};
use candor_plan::units::SizeSpec;
use candor_plan::{
    Bytes, Create, Job, Nanos, OperationsLog, Stonewall, Stop, Target, TargetKind, Tree, path_of,
};

use super::{BenchPhase, Part, Stage};
use crate::setup::Setup;
use candor_ior_family::content;

/// Name of the target of sets to create.
const NEW: &str = "new sets";
/// Name of the target of existing sets.
const THERE: &str = "sets";

/// The targets: the directory of the sets, to be created and as found.
pub(super) fn targets(setup: &Setup) -> Vec<Target> {
    let target = |name: &str, create| Target {
        name: name.to_owned(),
        path: path_of(&setup.asked.objects.prefix),
        kind: TargetKind::Tree,
        create,
        // Objects stay until the phase that removes them.
        keep: true,
        overwrite: true,
        tree: Some(tree(setup)),
        ..Target::default()
    };
    let new = setup.asked.run.precreate.then(|| target(NEW, Create::Parents));
    new.into_iter().chain([target(THERE, Create::Nothing)]).collect()
}

/// `<rank>_<set>/file-<number>`.
fn tree(setup: &Setup) -> Tree {
    let objects = &setup.asked.objects;
    Tree {
        depth: 1,
        // The option has 31 bits.
        width: objects.sets as u32,
        items: objects.precreate,
        leaves_only: true,
        per_rank: true,
        shared_root: true,
        items_across: true,
        file_size: SizeSpec::Fixed(Bytes(setup.asked.data.size)),
        directory_name: "{rank}_{child}".parse().ok(),
        item_name: "file-{number}".parse().ok(),
        ..Tree::default()
    }
}

/// True for a phase that continues after a failure.
pub(super) fn goes_on(setup: &Setup, bench: &BenchPhase) -> bool {
    bench.stage != Stage::Precreate || setup.asked.run.ignore_precreate_errors
}

pub(super) fn job(setup: &Setup, bench: &BenchPhase) -> Job {
    let makes_sets = (bench.stage, bench.part) == (Stage::Precreate, Part::Sets);
    Job {
        name: "processes".into(),
        workers: setup.asked.ranks,
        targets: vec![if makes_sets { NEW } else { THERE }.to_owned()],
        stop: Some(stop(setup, bench)),
        operations_log: log(setup, bench),
        work: entries(setup, bench).into(),
        ..Job::default()
    }
}

/// End of a phase: all its objects. After the time limit of a benchmark, all processes complete
/// equal counts.
fn stop(setup: &Setup, bench: &BenchPhase) -> Stop {
    let run = &setup.asked.run;
    let ends = bench.stage == Stage::Benchmark && run.stonewall_s > 0;
    Stop {
        passes: Some(1),
        continue_on_error: goes_on(setup, bench),
        time: ends.then(|| Nanos::from_secs(run.stonewall_s)),
        stonewall: if ends { Stonewall::WearOut } else { Stonewall::Cut },
        ..Stop::default()
    }
}

/// The log of a phase; the operation times come from it.
fn log(setup: &Setup, bench: &BenchPhase) -> Option<OperationsLog> {
    let prefix = setup.asked.output.latency_prefix.as_ref()?;
    let file = path_of(&log_file(prefix, bench));
    (bench.part == Part::Objects).then_some(OperationsLog { file, ..OperationsLog::default() })
}

/// File of a phase's operations, until the operation times are written.
pub fn log_file(prefix: &str, bench: &BenchPhase) -> String {
    let BenchPhase { stage, iteration, waiting, .. } = bench;
    format!("{prefix}-{waiting:.4}-{iteration}-{}.operations.jsonl", stage.name())
}

fn entries(setup: &Setup, bench: &BenchPhase) -> Entries {
    let objects = &setup.asked.objects;
    let window = |enter: Vec<Step>, rank_step| Window {
        // No number has more than 31 bits.
        start: setup.start * objects.sets,
        enter,
        rank_step,
    };
    let benchmarks = bench.stage == Stage::Benchmark;
    let (steps, enter) = steps(setup, bench);
    let entries = Entries {
        over: match bench.part {
            Part::Sets => Over::Directories,
            Part::Objects => Over::Items,
        },
        steps,
        first: benchmarks.then_some(objects.steps * objects.sets),
        window: (bench.part == Part::Objects)
            .then(|| window(enter, if benchmarks { objects.offset } else { 0 })),
        pace: if benchmarks { pace(bench.waiting) } else { Pace::default() },
        ..Entries::default()
    };
    if !entries.moves_bytes() {
        return entries;
    }
    let verifies = setup.asked.data.verify_read && benchmarks;
    Entries {
        direct: setup.asked.data.direct,
        verify: verifies.then(content::verify),
        content: setup.asked.data.packet.content(setup.data_seed),
        ..entries
    }
}

/// Pauses after the operations.
fn pace(waiting: f64) -> Pace {
    let think = Think {
        relative: waiting,
        count: ThinkCount::Completed,
        // A sleep may last longer than most operations.
        spin_first: Nanos(if waiting > 0.0 { SPIN_NS } else { 0 }),
        ..Think::after_each(Nanos(0))
    };
    Pace { think: (waiting > 0.0).then_some(think), ..Pace::default() }
}

/// Longest pause without sleep, in ns.
const SPIN_NS: u64 = 10_000_000;

/// Steps of each object, and of the object that enters the window.
fn steps(setup: &Setup, bench: &BenchPhase) -> (Vec<Step>, Vec<Step>) {
    use Step::*;
    let moves = setup.asked.data.size > 0;
    let with = |steps: &[Step]| -> Vec<Step> {
        steps.iter().filter(|step| moves || !step.moves_bytes()).copied().collect()
    };
    let create = with(&[Create, Write, Close]);
    let look = with(&[Stat, Open, Read, Close]);
    match (bench.stage, bench.part) {
        (Stage::Precreate, Part::Sets) => (vec![Mkdir], Vec::new()),
        (Stage::Precreate, Part::Objects) => (create, Vec::new()),
        (Stage::Benchmark, _) if setup.asked.run.read_only => (look, Vec::new()),
        (Stage::Benchmark, _) => ([look, vec![Unlink]].concat(), create),
        (Stage::Cleanup, Part::Objects) => (vec![Unlink], Vec::new()),
        (Stage::Cleanup, Part::Sets) => (vec![Rmdir], Vec::new()),
    }
}
