//! Directories of small files as a tree.

use candor_plan::entries::{Division, Entries, EntriesEngine, Over, Step};
use candor_plan::units::{Mix, SizeSpec};
use candor_plan::{Bytes, Create, Job, Target, TargetKind, Tree, path_of};

use super::{Context, blocks, content, phases};
use crate::setup::{Listed, PhaseKind, Setup};

/// Prefix of the names of trees whose directories are created.
const MADE: &str = "directories";
/// Prefix of the names of existing trees.
const THERE: &str = "files";

/// Names of the trees of all paths, which share the directories.
fn named(setup: &Setup, begin: &str) -> Vec<String> {
    match &setup.asked.paths[..] {
        [_] => vec![begin.into()],
        paths => paths.iter().map(|path| format!("{begin} in {path}")).collect(),
    }
}

/// Each path as two trees: to be created, and as found; only the phases that create files create
/// anything in the latter.
pub(super) fn targets(setup: &Setup) -> Vec<Target> {
    let target = |(name, path): (String, &String), create| Target {
        name,
        path: path_of(path),
        kind: TargetKind::Tree,
        create,
        keep: true,
        overwrite: true,
        tree: setup.listed.is_none().then(|| shape(setup)),
        listing: setup.listed.as_ref().map(|Listed { listing, .. }| listing.clone()),
        ..Target::default()
    };
    let each = |begin| named(setup, begin).into_iter().zip(&setup.asked.paths);
    let mut all: Vec<Target> = each(MADE).map(|tree| target(tree, Create::Files)).collect();
    all.extend(each(THERE).map(|tree| target(tree, Create::Nothing)));
    all.extend(phases::targets(setup));
    all
}

/// `r<rank>/d<dir>/r<rank>-f<file>`; without directories, files are in the path itself.
pub(super) fn shape(setup: &Setup) -> Tree {
    let asked = &setup.asked.tree;
    let name = |text: &str| text.parse().ok();
    let flat = asked.dirs == 0;
    let own = !flat && !asked.dir_sharing;
    Tree {
        first_rank: setup.asked.run.rank_offset,
        depth: if flat { 0 } else { 1 },
        width: u32::try_from(asked.dirs).unwrap_or(u32::MAX),
        items: asked.files,
        items_per_rank: !own,
        leaves_only: true,
        per_rank: own,
        file_size: SizeSpec::Fixed(Bytes(setup.file_bytes)),
        root_name: match (flat, own) {
            (true, _) => None,
            (false, true) => name("r{rank}"),
            (false, false) => name("r0"),
        },
        directory_name: name("d{child}"),
        item_name: name("r{rank}-f{number}"),
        ..Tree::default()
    }
}

/// The jobs of a phase: one job, or readers and writers.
pub(super) fn jobs(context: &Context<'_>, kind: PhaseKind) -> Vec<Job> {
    let asked = &context.setup.asked;
    if kind == PhaseKind::Write && asked.mix.read_threads.is_some() {
        return phases::readers_and_writers(context.setup, |name, workers, kind| {
            job(context, kind, name, workers, THERE)
        });
    }
    let target = if kind == PhaseKind::MakeDirs { MADE } else { THERE };
    vec![job(context, kind, "workers", asked.run.threads, target)]
}

/// A job of `workers` workers on the trees with this name prefix.
fn job(context: &Context<'_>, kind: PhaseKind, name: &str, workers: u32, target: &str) -> Job {
    Job {
        name: name.into(),
        workers,
        targets: named(context.setup, target),
        placement: context.placement.clone(),
        threads: context.threads.clone(),
        stop: Some(context.stop()),
        work: entries(context.setup, kind, workers).into(),
        ..Job::default()
    }
}

/// Operations of `workers` workers in a phase.
fn entries(setup: &Setup, kind: PhaseKind, workers: u32) -> Entries {
    let Setup { asked, block_bytes, .. } = setup;
    let steps = steps(setup, kind);
    let over = match kind {
        PhaseKind::MakeDirs | PhaseKind::RemoveDirs => Over::Directories,
        _ => Over::Items,
    };
    // Every worker creates and removes the shared directories.
    let shares = over == Over::Directories && asked.tree.dir_sharing && setup.listed.is_none();
    let division = if shares { Division::Every } else { Division::Own };
    let idempotent = match kind {
        PhaseKind::MakeDirs => true,
        PhaseKind::RemoveDirs => shares || setup.listed.is_some() || asked.tree.no_delete_errors,
        PhaseKind::RemoveFiles => setup.listed.is_some() || asked.tree.no_delete_errors,
        _ => false,
    };
    // Each worker creates and removes the directories of ranks, which no rate includes.
    let roots = over == Over::Directories && setup.dirs_of_ranks() > 0;
    let entries = Entries {
        over,
        steps,
        division,
        idempotent,
        with_roots: roots,
        roots_apart: roots,
        ..Entries::default()
    };
    let mix = match kind {
        PhaseKind::Write => {
            let read = asked.mix.read_percent.unwrap_or(0);
            Mix { read, write: 100_u8.saturating_sub(read), trim: 0 }
        }
        PhaseKind::Read => Mix::READ,
        _ => return entries,
    };
    let (io, writes) = (&asked.io, kind == PhaseKind::Write);
    let opened =
        Entries { truncate_at_open: io.truncate && writes, advice: blocks::advice(io), ..entries };
    if !setup.has_bytes() {
        return opened;
    }
    Entries {
        size: Some(Bytes(*block_bytes)),
        access: blocks::order(&asked.access, mix),
        align: blocks::align(setup),
        read_percent: if writes { mix.read } else { 0 },
        direct: io.direct && !io.mmap,
        lock: blocks::lock(io),
        map_advice: blocks::map_advice(io),
        depth: io.in_flight(),
        // The I/Os in flight belong to one file.
        items_at_once: (io.in_flight() > 1).then_some(1),
        engine: match (io.mmap, io.in_flight()) {
            (true, _) => Some(EntriesEngine::Mmap),
            (false, 1) => None,
            (false, _) => Some(EntriesEngine::Libaio),
        },
        pace: content::pace(setup, mix, workers),
        content: content::content(setup),
        verify: content::verify_items(setup, writes),
        ..opened
    }
}

/// Steps of each entry in a phase.
fn steps(setup: &Setup, kind: PhaseKind) -> Vec<Step> {
    let (tree, has_bytes) = (&setup.asked.tree, setup.has_bytes());
    let of_file = |open: Step, moves: &[(bool, Step)]| {
        let wanted = moves.iter().filter(|(wanted, _)| *wanted).map(|(_, step)| *step);
        std::iter::once(open).chain(wanted).chain([Step::Close]).collect()
    };
    let stat = (tree.stat_inline, Step::Stat);
    let write = (has_bytes, Step::Write);
    let extend = (setup.asked.io.truncate_to_size, Step::Ftruncate);
    let allocate = (setup.asked.io.preallocate, Step::Fallocate);
    match kind {
        PhaseKind::MakeDirs => vec![Step::Mkdir],
        PhaseKind::Write => of_file(Step::Create, &[extend, allocate, stat, write]),
        PhaseKind::Read => of_file(Step::Open, &[stat, (has_bytes, Step::Read)]),
        PhaseKind::RemoveFiles => vec![Step::Unlink],
        PhaseKind::RemoveDirs => vec![Step::Rmdir],
        PhaseKind::Stat | PhaseKind::Sync | PhaseKind::DropCaches | PhaseKind::OfStore(_) => {
            vec![Step::Stat]
        }
    }
}
