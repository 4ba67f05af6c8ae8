//! Directories of small files as a tree.

use candor_plan::blocks::Pace;
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::units::{Mix, SizeSpec};
use candor_plan::{Bytes, Create, Job, Stop, Target, TargetKind, Tree};

use super::{Context, content, phases};
use crate::elbencho::setup::{PhaseKind, Setup};

/// Begin of the name of a tree whose directories are made.
const MADE: &str = "directories";
/// Begin of the name of a tree that is there.
const THERE: &str = "files";

/// Names of the trees of all paths, among which directories are dealt.
fn named(setup: &Setup, begin: &str) -> Vec<String> {
    match &setup.asked.paths[..] {
        [_] => vec![begin.into()],
        paths => paths.iter().map(|path| format!("{begin} in {path}")).collect(),
    }
}

/// The tree of each path, once to be made and once as it is: of what is missing, nothing is made
/// but by the phase that is asked to.
pub(super) fn targets(setup: &Setup) -> Vec<Target> {
    let target = |(name, path): (String, &String), create| Target {
        name,
        path: path.into(),
        kind: TargetKind::Tree,
        create,
        keep: true,
        overwrite: true,
        tree: Some(shape(setup)),
        ..Target::default()
    };
    let each = |begin| named(setup, begin).into_iter().zip(&setup.asked.paths);
    let mut all: Vec<Target> = each(MADE).map(|tree| target(tree, Create::Files)).collect();
    all.extend(each(THERE).map(|tree| target(tree, Create::Nothing)));
    all.extend(phases::targets(setup));
    all
}

/// `r<rank>/d<dir>/r<rank>-f<file>`; without directories the files stand in the path.
fn shape(setup: &Setup) -> Tree {
    let (asked, run) = (&setup.asked.tree, &setup.asked.run);
    let name = |text: &str| text.parse().ok();
    let flat = asked.dirs == 0;
    let own = !flat && !asked.dir_sharing;
    Tree {
        depth: if flat { 0 } else { 1 },
        width: u32::try_from(asked.dirs).unwrap_or(u32::MAX),
        items: asked.files,
        items_per_rank: !own,
        leaves_only: true,
        per_rank: own,
        first_rank: run.rank_offset,
        file_size: SizeSpec::Fixed(Bytes(setup.file_bytes)),
        root_name: match (flat, own) {
            (true, _) => None,
            (false, true) => name("r{rank}"),
            (false, false) => name("r0"),
        },
        directory_name: name("d{child}"),
        item_name: name("r{rank}-f{number}"),
    }
}

/// The job of a phase.
pub(super) fn jobs(context: &Context<'_>, kind: PhaseKind) -> Vec<Job> {
    let Setup { asked, file_bytes, block_bytes, .. } = context.setup;
    let has_bytes = *file_bytes > 0;
    let over = match kind {
        PhaseKind::MakeDirs | PhaseKind::RemoveDirs => Over::Directories,
        _ => Over::Items,
    };
    let steps = steps(context.setup, kind);
    let moves = steps.iter().any(|step| matches!(step, Step::Read | Step::Write));
    let entries = Entries {
        over,
        size: (moves && has_bytes).then_some(Bytes(*block_bytes)),
        direct: asked.io.direct && moves,
        depth: if moves { asked.io.depth } else { 1 },
        // The blocks in flight are of one file.
        items_at_once: (moves && asked.io.depth > 1).then_some(1),
        pace: match kind {
            PhaseKind::Write => content::pace(context.setup, Mix::WRITE, asked.run.threads),
            PhaseKind::Read => content::pace(context.setup, Mix::READ, asked.run.threads),
            _ => Pace::default(),
        },
        content: content::content(context.setup),
        verify: content::verify_items(context.setup).filter(|_| moves),
        steps,
        ..Entries::default()
    };
    let removes = matches!(kind, PhaseKind::RemoveFiles | PhaseKind::RemoveDirs);
    let stop = Stop { continue_on_error: removes && asked.tree.no_delete_errors, ..context.stop() };
    let target = if kind == PhaseKind::MakeDirs { MADE } else { THERE };
    vec![Job {
        name: "workers".into(),
        workers: asked.run.threads,
        targets: named(context.setup, target),
        placement: context.placement.clone(),
        stop: Some(stop),
        work: entries.into(),
        ..Job::default()
    }]
}

/// Operations of each file in a phase.
pub fn operations_per_file(setup: &Setup, kind: PhaseKind) -> u64 {
    let blocks = setup.file_bytes.div_ceil(setup.block_bytes.max(1));
    let of_step = |step: &Step| match step {
        Step::Read | Step::Write => blocks,
        _ => 1,
    };
    steps(setup, kind).iter().map(of_step).sum()
}

/// Steps done to each name in a phase.
fn steps(setup: &Setup, kind: PhaseKind) -> Vec<Step> {
    let (tree, has_bytes) = (&setup.asked.tree, setup.file_bytes > 0);
    let of_file = |open: Step, moves: &[(bool, Step)]| {
        let wanted = moves.iter().filter(|(wanted, _)| *wanted).map(|(_, step)| *step);
        std::iter::once(open).chain(wanted).chain([Step::Close]).collect()
    };
    let stat = (tree.stat_inline, Step::Stat);
    let write = (has_bytes, Step::Write);
    let read_back = (tree.read_inline && has_bytes, Step::Read);
    match kind {
        PhaseKind::MakeDirs => vec![Step::Mkdir],
        PhaseKind::Write => of_file(Step::Create, &[stat, write, read_back]),
        PhaseKind::Read => of_file(Step::Open, &[stat, (has_bytes, Step::Read)]),
        PhaseKind::RemoveFiles => vec![Step::Unlink],
        PhaseKind::RemoveDirs => vec![Step::Rmdir],
        PhaseKind::Stat | PhaseKind::Sync | PhaseKind::DropCaches => vec![Step::Stat],
    }
}
